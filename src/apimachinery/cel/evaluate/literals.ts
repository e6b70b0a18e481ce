// List and map literals: their constants, and how the entries of a map are filed.
import type { Expr } from '../parse/ast.ts';
import { ArrayList, CelError, CelOptional, EntryMap, Failure, type MapKey, type Value, mapKeyOf, noSuchOverload, typeOf } from '../values/values.ts';
import type { Step } from './frame.ts';

/** The value of a literal, or of a list or map of them. */
export function constantOf(expr: Expr): Value | undefined {
  if (expr.type === 'literal') return expr.value;
  if (expr.type === 'list' && expr.optional.length === 0) {
    const items = expr.elements.map(constantOf);
    return items.includes(undefined) ? undefined : new ArrayList(items as Value[]);
  }
  if (expr.type !== 'map' || expr.entries.some((entry) => entry.optional)) return undefined;
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
  const id = typeof key === 'object' && !(key !== null && 'value' in key && typeof key.value === 'bigint') ? undefined : mapKeyOf(key);
  if (id === undefined) return new CelError(`unsupported key type: ${typeOf(key).name}`);
  if (entry.optional && !(value instanceof CelOptional)) return noSuchOverload;
  const inner = entry.optional ? (value as CelOptional).value : value;
  if (inner === undefined) return undefined;
  if (filed.has(id)) return new CelError(`Failed with repeated key: ${String(id)}`);
  filed.set(id, [key, inner]);
  return undefined;
}

/** True for `[]` and `{}`. */
export const isEmptyLiteral = (expr: Expr): boolean =>
  (expr.type === 'list' && expr.elements.length === 0) || (expr.type === 'map' && expr.entries.length === 0);
/** A list or map of its own for every evaluation. */
export const newAccumulator = (type: string): Step => (type === 'list' ? () => new ArrayList([]) : () => new EntryMap(new Map()));
