// Bounds of numbers as kube-openapi checks them: the range of the format first, then multipleOf, maximum, minimum.
import type { OpenAPIV3Schema } from '../structural.ts';
import { jsonTypeOf, typesOf } from './value-type.ts';

interface Bounds {
  readonly multipleOf?: number;
  readonly maximum?: number;
  readonly minimum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly exclusiveMinimum?: boolean;
}

const MAX_FLOAT32 = 3.4028234663852886e38;
const EPSILON = 1e-9;

/** `range`: the type that the value is out of; `bounds`: texts after `in body`. */
export function checkNumber(schema: OpenAPIV3Schema, value: number | bigint): { readonly range: string | undefined; readonly bounds: readonly string[] } {
  const types = typesOf(schema);
  return { range: types.length === 1 ? checkRange(types[0] as string, schema.format ?? '', value) : undefined, bounds: checkBounds(schema as Bounds, value) };
}

function checkRange(type: string, format: string, value: number | bigint): string | undefined {
  const fails = type === 'integer' ? !fitsInteger(format, value) : format === 'float' && Math.abs(Number(value)) > MAX_FLOAT32;
  if (!fails) return undefined;
  return format === '' ? `${type} (default format)` : `${type} with format ${format}`;
}

function fitsInteger(format: string, value: number | bigint): boolean {
  if (jsonTypeOf(value) !== 'integer') return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

function checkBounds({ multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum }: Bounds, value: number | bigint): string[] {
  const found: string[] = [];
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) found.push(`should be a multiple of ${multipleOf}`);
  if (maximum !== undefined) {
    if (exclusiveMaximum === true && value >= maximum) found.push(`should be less than ${maximum}`);
    else if (value > maximum) found.push(`should be less than or equal to ${maximum}`);
  }
  if (minimum !== undefined) {
    if (exclusiveMinimum === true && value <= minimum) found.push(`should be greater than ${minimum}`);
    else if (value < minimum) found.push(`should be greater than or equal to ${minimum}`);
  }
  return found;
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (factor <= 0) return true;
  if (typeof value === 'bigint' && Number.isSafeInteger(factor)) return value % BigInt(factor) === 0n;
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  const nearest = Math.trunc(quotient);
  if (quotient === nearest) return true;
  return Math.abs(quotient - nearest) / (Math.abs(quotient) + Math.abs(nearest)) < EPSILON;
}
