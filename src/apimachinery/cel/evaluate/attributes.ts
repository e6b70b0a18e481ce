// Reading names: slots of folds, variables of the caller, and which expressions continue such a reading.
import type { Expr } from '../parse/ast.ts';
import { CelError, type Value } from '../values/values.ts';
import type { Step } from './frame.ts';

/** A local name of a fold. */
export interface Local {
  readonly name: string;
  readonly slot: number;
  /** True for a list or map that only its fold can see: it grows in place. */
  readonly growing: boolean;
  /** Fills the slot when it is first read, where it is not filled before. */
  readonly fill?: Step;
}

/** What compiling one node needs of the compiler of the tree. */
export interface NodeCompiler {
  compile(expr: Expr): Step;
  /** Compiles what is read for an index or as a branch of ?:, which costs one less where it is an attribute. */
  resolve(expr: Expr): Step;
  /** The value of a constant expression. */
  constantOf(expr: Expr): Value | undefined;
  /** Notes what keeps the program from being made. */
  reject(problem: string): void;
  /** The local name that an expression reads. */
  localOf(expr: Expr): Local | undefined;
}

/** Reads a local name. */
export function readSlot(slot: number, cost: number): Step {
  return (frame) => {
    frame.charge(cost);
    return frame.slots[slot]!;
  };
}

/** Reads a slot that is filled when it is first read. */
export function readLazySlot(slot: number, fill: Step, cost: number): Step {
  return (frame) => {
    frame.charge(cost);
    return (frame.slots[slot] ??= fill(frame));
  };
}

/** Reads a variable of the caller. */
export function readVariable(name: string, cost: number): Step {
  const missing = new CelError(`no such attribute(s): ${name}`);
  return (frame) => {
    frame.charge(cost);
    const value = frame.bindings(name);
    return value === undefined ? missing : value;
  };
}

/** Selections and indexes extend what cel-go calls an attribute; on anything else they start one, which costs one more. */
export function isAttribute(expr: Expr): boolean {
  return expr.type === 'ident' || (expr.type === 'select' && !expr.testOnly) || (expr.type === 'call' && /^_(?:\[\??_\]|\?\._|\?_:_)$/.test(expr.name));
}

/** A step that costs so much more, whatever comes of it. */
export function charged(step: Step, cost: number): Step {
  if (cost === 0) return step;
  return (frame) => {
    const value = step(frame);
    frame.charge(cost);
    return value;
  };
}
