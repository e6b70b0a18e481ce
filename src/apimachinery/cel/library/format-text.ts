// 'text %s'.format([values]), as version 2 of the extension has it, which is the one of Kubernetes: values in lists and maps are written as expressions
// write them, numbers with a point in the English way.
import { compareKeys } from '../../../base/index.ts';
import { quoteGo } from '../../quote.ts';
import { type Clause, TemplateError, fillTemplate, wrongArgument } from '../values/format-template.ts';
import { BUILD_WORK, type Meter, VISIT_WORK } from '../values/meter.ts';
import { formatDouble } from '../values/numbers.ts';
import { formatDuration, formatTimestamp } from '../values/time.ts';
import { CelType } from '../values/types.ts';
import { CelDouble, CelDuration, CelError, CelList, CelMap, CelTimestamp, CelUint, type Value, typeOf } from '../values/values.ts';

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const DEFAULT_PRECISION = 6;
/** The reference keeps precisions in a byte. */
const PRECISIONS = 256;
const LONGEST_PADDING = 1_000_000;

/** Fills the clauses of a template. */
export function formatText(meter: Meter, template: string, args: CelList): Value {
  const enter = (index: number): void => {
    if (index >= args.size) throw new TemplateError(`index ${index} out of range`);
  };
  try {
    return fillTemplate(template, { size: args.size, enter, format: (index, clause) => formatClause(args.get(index), clause, meter) });
  } catch (error) {
    if (error instanceof TemplateError) return new CelError(error.message);
    throw error;
  }
}

function formatClause(value: Value, { verb, precision }: Clause, meter: Meter): string {
  switch (verb) {
    case 's': return showValue(value, meter);
    case 'd': return showDecimal(value);
    case 'f': return showFixed(value, (precision ?? DEFAULT_PRECISION) % PRECISIONS);
    case 'e': return showScientific(value, precision ?? DEFAULT_PRECISION, meter);
    case 'b': return showRadix(value, 2);
    case 'o': return showRadix(value, 8);
    default: return showHex(value, verb === 'X');
  }
}

const wrong = (verb: string, value: Value): TemplateError => wrongArgument(verb, typeOf(value).name);

/** The text of a value; each value in a list or map is counted as work, for a nested list can hold one value very many times. */
function showValue(value: Value, meter: Meter): string {
  meter.work(VISIT_WORK);
  if (typeof value === 'string') {
    meter.work(value.length * BUILD_WORK);
    return value;
  }
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof CelDouble) return formatDouble(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelList) return `[${value.toArray().map((item) => showInner(item, meter)).join(', ')}]`;
  if (value instanceof CelMap) return showMap(value, meter);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof Uint8Array) return decodeText(value);
  if (value instanceof CelType) return value.name;
  throw wrong('s', value);
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new TemplateError('error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string');
  }
}

/** A value in a list or a map. */
function showInner(value: Value, meter: Meter): string {
  if (typeof value === 'string') return quoteGo(showValue(value, meter));
  if (value instanceof Uint8Array) return `b${quoteGo(showValue(value, meter))}`;
  if (value instanceof CelTimestamp) return `timestamp("${showValue(value, meter)}")`;
  if (value instanceof CelDuration) return `duration("${showValue(value, meter)}")`;
  if (value instanceof CelDouble) return Number.isFinite(value.value) ? fixed(value.value, DEFAULT_PRECISION) : `"${formatDouble(value.value)}"`;
  const shown = value === null || typeof value !== 'object' || [CelUint, CelList, CelMap, CelType].some((kind) => value instanceof kind);
  if (shown) return showValue(value, meter);
  throw new TemplateError(`error during formatting: no formatting function for ${typeOf(value).name}`);
}

function showMap(map: CelMap, meter: Meter): string {
  const shown = map.keys().map((key) => {
    if (key === null || (typeof key === 'object' && !(key instanceof CelUint))) {
      throw new TemplateError(`error during formatting: no formatting function for map key of type ${typeOf(key).name}`);
    }
    return [showInner(key, meter), showInner(map.find(key)!, meter)] as const;
  });
  return `{${shown.sort(([a], [b]) => compareKeys(a, b)).map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function showDecimal(value: Value): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof CelUint) return String(value.value);
  throw wrong('d', value);
}

function floatingOf(value: Value, verb: string): number {
  if (value instanceof CelDouble) return value.value;
  if (value === 'NaN') return NaN;
  if (value === 'Infinity' || value === '-Infinity') return Number(value);
  throw wrong(verb, value);
}

function specialNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? undefined : value > 0 ? '∞' : '-∞';
}

function showFixed(value: Value, precision: number): string {
  const number = floatingOf(value, 'f');
  const special = specialNumber(number);
  if (special !== undefined) return special;
  const [whole, fraction] = fixed(number, precision).split('.') as [string, string?];
  const grouped = whole.replace(/\d(?=(?:\d{3})+$)/g, '$&,');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** All digits of a double to a precision; halves are rounded to even. */
function fixed(number: number, precision: number): string {
  let [mantissa, halvings] = [Math.abs(number), 0];
  for (; !Number.isInteger(mantissa); halvings++) mantissa *= 2;
  const divisor = 2n ** BigInt(halvings);
  const scaled = BigInt(mantissa) * 10n ** BigInt(precision);
  const [quotient, twice] = [scaled / divisor, 2n * (scaled % divisor)];
  const rounded = twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient;
  const digits = rounded.toString().padStart(precision + 1, '0');
  const sign = number < 0 ? '-' : '';
  return precision === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** Six digits whatever the precision, which is taken for the width; the exponent is raised: 1.500000×10⁰³. */
function showScientific(value: Value, width: number, meter: Meter): string {
  const number = floatingOf(value, 'e');
  if (width > LONGEST_PADDING) throw new TemplateError(`error during formatting: a width of ${width} is more than ${LONGEST_PADDING}`);
  meter.work(width * BUILD_WORK);
  return (specialNumber(number) ?? raised(number)).padStart(width, ' ');
}

function raised(number: number): string {
  const [mantissa, exponent] = number.toExponential(DEFAULT_PRECISION).split('e') as [string, string];
  const digits = Math.abs(Number(exponent)).toString().padStart(2, '0').replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!);
  return `${mantissa}×10${Number(exponent) < 0 ? '⁻' : ''}${digits}`;
}

function showRadix(value: Value, radix: 2 | 8): string {
  if (radix === 2 && typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString(radix);
  if (value instanceof CelUint) return value.value.toString(radix);
  throw wrong(radix === 2 ? 'b' : 'o', value);
}

function showHex(value: Value, upper: boolean): string {
  const shown = hexOf(value);
  return upper ? shown.toUpperCase() : shown;
}

function hexOf(value: Value): string {
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString(16);
  if (value instanceof CelUint) return value.value.toString(16);
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  throw wrong('x', value);
}
