// Bounds of numbers as kube-openapi checks them: the range of the format first, then multipleOf, maximum, minimum.
import { formatGoFloat } from '../../patch/go-format.ts';
import type { OpenAPIV3Schema } from '../structural.ts';
import { jsonTypeOf, typesOf } from './value-type.ts';

interface Bounds {
  readonly multipleOf?: number;
  readonly maximum?: number;
  readonly minimum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly exclusiveMinimum?: boolean;
}

const EPSILON = 1e-9;

/** A problem of a number: `why` stands after `in body`, `text` is the whole message about `value`. */
export type NumberProblem = { readonly why: string } | { readonly text: string; readonly value: unknown };

/** The problems of a number that stands at `path`. */
export function checkNumber(schema: OpenAPIV3Schema, value: number | bigint, path: string): readonly NumberProblem[] {
  const types = typesOf(schema);
  const checkRange = (name: string, number: number | bigint): readonly NumberProblem[] => {
    const range = types.length === 1 ? findRange(types[0] as string, schema.format ?? '', number) : undefined;
    return range === undefined ? [] : [{ text: `${name} value must be of type ${range} in ${path}`, value: '' }];
  };
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Bounds;
  const check = (name: string, bound: number | undefined, compare: (bound: number, shown: string, isWhole: boolean) => NumberProblem | undefined):
  readonly NumberProblem[] => {
    if (bound === undefined) return [];
    const wrong = checkRange(name, bound);
    // The bounds of whole numbers lose their fractions, unless that is reported.
    const isWhole = wrong.length === 0 && jsonTypeOf(value) === 'integer';
    const problem = isWhole ? compare(Math.trunc(bound), String(Math.trunc(bound)), true) : compare(bound, formatGoFloat(bound), false);
    return problem === undefined ? wrong : [...wrong, problem];
  };
  return [
    ...checkRange('Checked', value),
    ...check('MultipleOf', multipleOf, (factor, shown, isWhole) => checkMultiple(value, { factor, shown, isWhole }, path)),
    ...check('Minimum boundary', minimum, (bound, shown) => (exclusiveMinimum === true ? value > bound : value >= bound) ? undefined
      : { why: `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${shown}` }),
    ...check('Maximum boundary', maximum, (bound, shown) => (exclusiveMaximum === true ? value < bound : value <= bound) ? undefined
      : { why: `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${shown}` }),
  ];
}

interface Factor {
  readonly factor: number;
  readonly shown: string;
  /** Both numbers are whole: the remainder is exact. */
  readonly isWhole: boolean;
}

function checkMultiple(value: number | bigint, { factor, shown, isWhole }: Factor, path: string): NumberProblem | undefined {
  if (factor <= 0) return { text: `factor MultipleOf declared for ${path} must be positive: ${shown}`, value: factor };
  return (isWhole ? BigInt(value) % BigInt(factor) === 0n : isMultiple(value, factor)) ? undefined : { why: `should be a multiple of ${shown}` };
}

/** The formats that messages name. */
const numberFormats: ReadonlySet<string> = new Set(['int32', 'int64', 'float', 'double']);

function findRange(type: string, format: string, value: number | bigint): string | undefined {
  const fails = type === 'integer' ? !fitsInteger(format, value) : format === 'float' && !Number.isFinite(Math.fround(Number(value)));
  if (!fails) return undefined;
  return !numberFormats.has(format) ? `${type} (default format)` : `${type} with format ${format}`;
}

function fitsInteger(format: string, value: number | bigint): boolean {
  if (jsonTypeOf(value) !== 'integer') return false;
  return format !== 'int32' || (value >= -(2 ** 31) && value < 2 ** 31);
}

function isMultiple(value: number | bigint, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  if (Math.abs(quotient) > Number.MAX_SAFE_INTEGER) return false;
  const nearest = Math.trunc(quotient);
  if (quotient === nearest) return true;
  return Math.abs(quotient - nearest) / (Math.abs(quotient) + Math.abs(nearest)) < EPSILON;
}
