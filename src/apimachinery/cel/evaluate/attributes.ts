// Reading names: slots of folds, variables of the caller, and which expressions continue such a reading.
import type { Expr } from '../parse/ast.ts';
import { CelError } from '../values/values.ts';
import type { Step } from './frame.ts';

/** A local name of a fold. */
export interface Local {
  readonly name: string;
  readonly slot: number;
  /** True for a list or map that only its fold can see: it grows in place. */
  readonly growing: boolean;
}

/** What compiling one node needs of the compiler of the tree. */
export interface NodeCompiler {
  compile(expr: Expr): Step;
  /** The local name that an expression reads. */
  localOf(expr: Expr): Local | undefined;
}

/** Reads a local name. */
export function readSlot(slot: number): Step {
  return (frame) => {
    frame.charge(1);
    return frame.slots[slot]!;
  };
}

/** Reads a variable of the caller. */
export function readVariable(name: string): Step {
  const missing = new CelError(`no such attribute(s): ${name}`);
  return (frame) => {
    frame.charge(1);
    const value = frame.bindings(name);
    return value === undefined ? missing : value;
  };
}

/** Selections and indexes extend what cel-go calls an attribute; on anything else they start one, which costs one more. */
export function isAttribute(expr: Expr): boolean {
  return expr.type === 'ident' || expr.type === 'select' || (expr.type === 'call' && /^_(?:\[\??_\]|\?\._|\?_:_)$/.test(expr.name));
}
