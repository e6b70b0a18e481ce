// The syntax tree. Every node has an id, which positions, types and references are filed under; macros are expanded while parsing, so
// that `all` and its kin are comprehensions here.
import type { CelDouble, CelUint } from '../values/values.ts';

/** A constant of the text. Whole numbers are numbers, or bigints where a number is not exact. */
export type Literal = null | boolean | number | bigint | string | Uint8Array | CelDouble | CelUint;

interface LiteralExpr { readonly type: 'literal'; readonly id: number; readonly value: Literal }
interface IdentExpr { readonly type: 'ident'; readonly id: number; readonly name: string }
/** `operand.field`, or `has(operand.field)` when it only tests. */
export interface SelectExpr { readonly type: 'select'; readonly id: number; readonly operand: Expr; readonly field: string; readonly testOnly: boolean }
/** A call of a function, an operator or a method. */
export interface CallExpr {
  readonly type: 'call';
  readonly id: number;
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** `[a, b]`. */
export interface ListExpr { readonly type: 'list'; readonly id: number; readonly elements: readonly Expr[]; readonly optional: readonly number[] }
/** One `key: value` of a map. */
export interface MapEntry { readonly id: number; readonly key: Expr; readonly value: Expr; readonly optional: boolean }
/** `{a: b}`. */
export interface MapExpr { readonly type: 'map'; readonly id: number; readonly entries: readonly MapEntry[] }
/** One `field: value` of a message. */
export interface FieldEntry { readonly id: number; readonly field: string; readonly value: Expr; readonly optional: boolean }
/** `Name{field: value}`. */
export interface StructExpr { readonly type: 'struct'; readonly id: number; readonly name: string; readonly fields: readonly FieldEntry[] }

/** A fold: `result` of `step` applied to the elements of `range` while `condition` holds. */
export interface FoldExpr {
  readonly type: 'fold';
  readonly id: number;
  readonly range: Expr;
  readonly variable: string;
  /** With two variables the first is the index or key, the second the value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** Whether a fold only names a value: what `cel.bind` and `optMap` become. */
export function isBinding({ range, condition, accumulator }: FoldExpr): boolean {
  return range.type === 'list' && range.elements.length === 0 && condition.type === 'literal' && condition.value === false && accumulator !== '@result';
}

/** Any node of the tree. */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | FoldExpr;

/** A parsed text: the tree and where its nodes stand. */
export interface ParsedExpr {
  readonly text: string;
  readonly root: Expr;
  /** Rune offset by node id. */
  readonly offsets: ReadonlyMap<number, number>;
}

/** The children of a node, in the order in which they are evaluated. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.type) {
    case 'select': return [expr.operand];
    case 'call': return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list': return expr.elements;
    case 'map': return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct': return expr.fields.map((field) => field.value);
    case 'fold': return [expr.range, expr.init, expr.condition, expr.step, expr.result];
    default: return [];
  }
}

/** The dotted name that a chain of identifiers and selections spells; undefined for anything else. */
export function qualifiedName(expr: Expr): string | undefined {
  if (expr.type === 'ident') return expr.name;
  if (expr.type !== 'select' || expr.testOnly) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
