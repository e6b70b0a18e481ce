// Selections and indexes as steps. Each costs one when it is tried; an optional one, or one after it, only when it finds something. An optional without a
// value ends the reading.
import { CelError, CelOptional, Failure, type Value, noneOptional } from '../values/values.ts';
import { hasField, qualify, qualifyIfPresent } from './fields.ts';
import type { Frame, Step } from './frame.ts';

/** Reads what is there of a value, as an optional. */
function readOptional(frame: Frame, value: Value, key: Value): Value {
  const inner = value instanceof CelOptional ? value.value : value;
  const found = inner === undefined ? undefined : qualifyIfPresent(inner, key);
  if (found === undefined) return noneOptional;
  if (found instanceof CelError) return found;
  frame.charge(1);
  return found instanceof Failure || found instanceof CelOptional ? found : new CelOptional(found);
}

/** `operand.field`. */
export function selected(operand: Step, field: string): Step {
  return (frame) => {
    const value = operand(frame);
    if (value instanceof Failure) return value;
    if (value instanceof CelOptional) return readOptional(frame, value, field);
    frame.charge(1);
    return qualify(value, field);
  };
}

/** `operand.?field`. */
export function optionalSelected(operand: Step, field: string): Step {
  return (frame) => {
    const value = operand(frame);
    return value instanceof Failure ? value : readOptional(frame, value, field);
  };
}

interface Sides {
  readonly operand: Step;
  readonly index: Step;
}

/** `operand[index]`. */
export function indexed({ operand, index }: Sides): Step {
  return (frame) => {
    const value = operand(frame);
    if (value instanceof Failure) return value;
    if (value instanceof CelOptional && value.value === undefined) return value;
    const key = index(frame);
    if (key instanceof Failure && value instanceof CelOptional) return key;
    if (value instanceof CelOptional) return readOptional(frame, value, key);
    frame.charge(1);
    return key instanceof Failure ? key : qualify(value, key);
  };
}

/** `operand[?index]`. */
export function optionalIndexed({ operand, index }: Sides): Step {
  return (frame) => {
    const value = operand(frame);
    if (value instanceof Failure || (value instanceof CelOptional && value.value === undefined)) return value;
    const key = index(frame);
    return key instanceof Failure ? key : readOptional(frame, value, key);
  };
}

/** `has(operand.field)`. */
export function presence(operand: Step, field: string): Step {
  return (frame) => {
    const value = operand(frame);
    if (value instanceof Failure) return value;
    if (value instanceof CelOptional && value.value === undefined) return false;
    frame.charge(1);
    return hasField(value, field);
  };
}
