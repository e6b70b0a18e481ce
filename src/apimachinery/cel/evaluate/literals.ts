// List and map literals: their constants, and how the entries of a map are filed.
import type { Expr, ListExpr, MapExpr } from '../parse/ast.ts';
import { ArrayList, CelDouble, CelError, CelOptional, CelUint, EntryMap, Failure, type MapKey, type Value, mapKeyOf, typeOf } from '../values/values.ts';
import type { Step } from './frame.ts';

/** The value of a list or map of constants; undefined where some part is none. */
export function constantCollection(expr: ListExpr | MapExpr, constantOf: (part: Expr) => Value | undefined): Value | undefined {
  if (expr.type === 'list') {
    const items = expr.elements.map(constantOf);
    return expr.optional.length > 0 || items.includes(undefined) ? undefined : new ArrayList(items as Value[]);
  }
  if (expr.entries.some((entry) => entry.optional)) return undefined;
  const filed = new Map<MapKey, readonly [Value, Value]>();
  for (const entry of expr.entries) {
    const key = constantOf(entry.key);
    const value = constantOf(entry.value);
    if (key === undefined || value === undefined || putEntry(filed, { key, value, optional: false }) !== undefined) return undefined;
  }
  return new EntryMap(filed);
}

/** Files one entry of a map literal; the failure it meets, if any. */
export function putEntry(filed: Map<MapKey, readonly [Value, Value]>, entry: { key: Value; value: Value; optional: boolean }): Failure | undefined {
  const { key, value } = entry;
  if (key instanceof Failure) return key;
  if (value instanceof Failure) return value;
  const id = mapKeyOf(key);
  if (id === undefined) return new CelError(`unsupported key type: ${typeOf(key).name}`);
  if (entry.optional && !(value instanceof CelOptional)) return notOptionalEntry(key, value);
  const inner = entry.optional ? (value as CelOptional).value : value;
  if (inner === undefined) return undefined;
  filed.set(id, [key, inner]);
  return undefined;
}

/** An element that is marked as optional and is none. */
export const notOptional = (value: Value): CelError => new CelError(`cannot initialize optional list element from non-optional value ${showPlainly(value)}`);
const notOptionalEntry = (key: Value, value: Value): CelError =>
  new CelError(`cannot initialize optional entry '${showPlainly(key)}' from non-optional value ${showPlainly(value)}`);
const showPlainly = (value: Value): string => (value instanceof CelDouble || value instanceof CelUint ? String(value.value)
  : typeof value === 'object' && value !== null ? typeOf(value).name : String(value));

/** True for `[]` and `{}`. */
export const isEmptyLiteral = (expr: Expr): boolean =>
  (expr.type === 'list' && expr.elements.length === 0) || (expr.type === 'map' && expr.entries.length === 0);
/** A list or map of its own for every evaluation. */
export const newAccumulator = (type: string): Step => (type === 'list' ? () => new ArrayList([]) : () => new EntryMap(new Map()));
