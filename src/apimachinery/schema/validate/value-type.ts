// The JSON types of values as kube-openapi distinguishes them.
import type { OpenAPIV3Schema } from '../structural.ts';

export type JsonType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object' | (string & {});

const MAX_INT64 = 2n ** 63n;

/** Whole numbers that fit 64 bits are integers, all others are numbers. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
  if (typeof value === 'bigint') return value >= -MAX_INT64 && value < MAX_INT64 ? 'integer' : 'number';
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
