// The JSON types of values as kube-openapi distinguishes them, and equality of JSON values.
import type { OpenAPIV3Schema } from '../structural.ts';

export type JsonType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object' | (string & {});

const maxInt64 = 2n ** 63n;

/** Whole numbers that fit 64 bits are integers, all others are numbers. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
  if (typeof value === 'bigint') return value >= -maxInt64 && value < maxInt64 ? 'integer' : 'number';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** What Go's reflection calls a number of a type; '' for what is no number. */
export function goFormatOf(type: JsonType): string {
  return type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '';
}

/** The types that a schema allows; none means any. */
export function typesOf(schema: OpenAPIV3Schema): readonly JsonType[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type ? [schema.type] : [];
}

/** Whether two JSON values are the same; the order of keys does not matter. */
export function equalDeep(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof b === 'bigint') return (typeof a === 'number' || typeof b === 'number') && a == b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equalDeep(item, b[i]));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equalDeep((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]));
}
