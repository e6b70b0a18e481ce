// What stops decoding, in the words of Go's encoding/json, and the names of Go types that those words hold.
import { quoteGo } from '../../quote.ts';
import type { Schema } from '../schema.ts';

/** A wrong type: what was found, which Go type was wanted. `kind` is Go's kind of that type, where it does not decode itself. */
export interface Mismatch {
  readonly found: string;
  readonly wanted: string;
  /** The fields that lead there. */
  readonly at?: string;
  readonly kind?: string;
  /** The value found is a number with a fraction, or beyond 64 bits. */
  readonly isFraction?: boolean;
  /** The value found is a number below zero. */
  readonly isNegative?: boolean;
}

/** A value that does not fit its schema; the message is Go's. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** Set for wrong types, so that an enclosing decoder can name its own place, and another one use its own words. */
  readonly mismatch: Mismatch | undefined;

  constructor(message: string, mismatch?: Mismatch) {
    super(message);
    this.mismatch = mismatch;
  }
}

const scalarTypes: Readonly<Record<string, string>> = { boolean: 'bool', number: 'float64', string: 'string', integer: 'int64' };

/** The Go type of a schema as errors print it: `int32`, `v1.Protocol`, `[]v1.Container`, `map[string]string`. */
export function formatGoType(schema: Schema): string {
  if (schema.goType !== undefined) return schema.goType;
  // Lists that protobuf wraps are named types.
  if (schema.format === 'wrapped') return 'v1.ExtraValue';
  if (schema.type === 'array') return `[]${formatGoType(schema.items!)}`;
  if (schema.type === 'map') return `map[string]${formatGoType(schema.items!)}`;
  if (schema.name !== undefined) return schema.name.split('.').slice(-2).join('.');
  if (schema.format === 'byte') return '[]uint8';
  if (schema.format === 'int32' || schema.format === 'int64') return schema.format;
  return scalarTypes[schema.type] ?? 'map[string]interface {}';
}

/** Go's kind of the type of a schema: `struct`, `map`, `slice`, `string`, `bool`, `int32`. */
export function kindOfGoType(schema: Schema): string {
  if (schema.goType === 'uint8') return schema.goType;
  if (schema.type === 'array' || schema.format === 'byte' || schema.format === 'wrapped') return 'slice';
  if (schema.type === 'map') return 'map';
  if (schema.type === 'object') return 'struct';
  return schema.format === 'int32' || schema.format === 'int64' ? schema.format : scalarTypes[schema.type] ?? 'map';
}

/** The kind of a JSON value as errors print it. */
export function describeJson(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'boolean') return 'bool';
  return type === 'bigint' ? 'number' : type;
}

/** A strict error as the reference words it: `unknown field "spec.foo"`. */
export function formatStrictError(problem: 'unknown' | 'duplicate', path: string): string {
  return `${problem} field ${quoteGo(path)}`;
}
