// The operators that do not need all of their arguments: && and || absorb the failure of one side when the other decides, ?: evaluates one branch.
import { CelError, Failure, type Value, noSuchOverload } from '../values/values.ts';
import type { Step } from './frame.ts';

/** The failure that a logical operator gives when neither side decides. */
function undecided(left: Value, right: Value): Value {
  if (left instanceof Failure && !(left instanceof CelError)) return left;
  if (right instanceof Failure && !(right instanceof CelError)) return right;
  if (left instanceof Failure) return left;
  return right instanceof Failure && typeof left === 'boolean' ? right : noSuchOverload;
}

/** `&&`. */
export function conjunction(left: Step, right: Step): Step {
  return (frame) => {
    const x = left(frame);
    if (x === false) return false;
    const y = right(frame);
    if (y === false) return false;
    return x === true && y === true ? true : undecided(x, y);
  };
}

/** `||`. */
export function disjunction(left: Step, right: Step): Step {
  return (frame) => {
    const x = left(frame);
    if (x === true) return true;
    const y = right(frame);
    if (y === true) return true;
    return x === false && y === false ? false : undecided(x, y);
  };
}

/** `?:`. */
export function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const decided = condition(frame);
    if (decided === true) return yes(frame);
    if (decided === false) return no(frame);
    return decided instanceof Failure ? decided : noSuchOverload;
  };
}

/** The condition of a fold: a failure does not end it, only false does. */
export function notStrictlyFalse(operand: Step): Step {
  return (frame) => {
    const value = operand(frame);
    frame.charge(1);
    return value !== false;
  };
}
