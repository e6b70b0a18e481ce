// 'text %s'.format([values]): the clauses %s %d %f %e %b %o %x %X, with a precision for the floating ones.
import { compareKeys } from '../../../base/index.ts';
import { BUILD_WORK, type Meter, VISIT_WORK } from '../values/meter.ts';
import { formatDouble, toNumber } from '../values/numbers.ts';
import { formatDuration, formatTimestamp } from '../values/time.ts';
import { CelType } from '../values/types.ts';
import { CelDouble, CelDuration, CelError, CelList, CelMap, CelTimestamp, CelUint, type Value, typeOf } from '../values/values.ts';

class FormatError extends Error {}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const MAX_PRECISION = 1000;

/** Fills the clauses of a template. */
export function formatText(meter: Meter, template: string, args: CelList): Value {
  try {
    return fill(template, args, meter);
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message);
    throw error;
  }
}

function fill(template: string, args: CelList, meter: Meter): string {
  let used = 0;
  return template.replace(/%(%|(?:\.(\d*))?(.?))/gsu, (_, whole: string, precision: string | undefined, verb: string | undefined) => {
    if (whole === '%') return '%';
    if (verb === undefined || verb === '') throw new FormatError('unexpected end of string');
    if (used >= args.size) throw new FormatError(`index ${used} out of range`);
    return formatClause(args.get(used++), { verb, precision: precisionOf(precision), meter });
  });
}

function precisionOf(text: string | undefined): number | undefined {
  const precision = text === undefined || text === '' ? undefined : Number(text);
  if (precision !== undefined && precision > MAX_PRECISION) {
    throw new FormatError(`error while parsing precision: precision ${precision} exceeds maximum allowed precision ${MAX_PRECISION}`);
  }
  return precision;
}

interface Clause {
  readonly verb: string;
  readonly precision: number | undefined;
  readonly meter: Meter;
}

function formatClause(value: Value, { verb, precision, meter }: Clause): string {
  switch (verb) {
    case 's': return showValue(value, meter);
    case 'd': return showDecimal(value);
    case 'f': return showFixed(value, precision ?? 6);
    case 'e': return showScientific(value, precision ?? 6);
    case 'b': return showRadix(value, 2);
    case 'o': return showRadix(value, 8);
    case 'x': case 'X': return showHex(value, verb === 'X');
    default: throw new FormatError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

const failed = (expected: string, value: Value): FormatError => new FormatError(`error during formatting: ${expected}, was given ${typeOf(value).name}`);

/** The text of a value; each value in a list or map is counted as work, for a nested list can hold one value very many times. */
function showValue(value: Value, meter: Meter): string {
  meter.work(VISIT_WORK);
  if (typeof value === 'string') {
    meter.work(value.length * BUILD_WORK);
    return value;
  }
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof CelDouble) return specialNumber(value.value) ?? plainDouble(value.value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelList) return `[${value.toArray().map((item) => showValue(item, meter)).join(', ')}]`;
  if (value instanceof CelMap) return showMap(value, meter);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof CelType) return value.name;
  throw failed('string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps', value);
}

function plainDouble(value: number): string {
  const shown = formatDouble(value);
  return /e/.test(shown) && Math.abs(value) < 1e21 && Math.abs(value) >= 1 ? BigInt(Math.trunc(value)).toString() + fractionOf(value) : shown;
}

const fractionOf = (value: number): string => (Number.isInteger(value) ? '' : String(Math.abs(value)).replace(/^\d+/, ''));

function showMap(map: CelMap, meter: Meter): string {
  const shown = map.keys().map((key) => {
    if (key !== null && typeof key === 'object' && !(key instanceof CelUint)) {
      throw new FormatError(`error during formatting: no formatting function for map key of type ${typeOf(key).name}`);
    }
    return [showValue(key, meter), showValue(map.find(key)!, meter)] as const;
  });
  return `{${shown.sort(([a], [b]) => compareKeys(a, b)).map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}

function specialNumber(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? 'Infinity' : '-Infinity';
}

function showDecimal(value: Value): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof CelUint) return String(value.value);
  const special = value instanceof CelDouble ? specialNumber(value.value) : undefined;
  if (special !== undefined) return special;
  throw failed('decimal clause can only be used on integers', value);
}

function floatingOf(value: Value, clause: string): number {
  if (value instanceof CelDouble) return value.value;
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof CelUint) return toNumber(value);
  if (value === 'NaN') return NaN;
  if (value === 'Infinity' || value === '-Infinity') return Number(value);
  throw failed(`${clause} clause can only be used on doubles`, value);
}

function showFixed(value: Value, precision: number): string {
  const number = floatingOf(value, 'fixed-point');
  return specialNumber(number) ?? (precision <= 100 ? number.toFixed(precision) : expandFixed(number, precision));
}

/** All digits of a double, which has at most 1,074 after the point. */
function expandFixed(number: number, precision: number): string {
  let [mantissa, halvings] = [Math.abs(number), 0];
  for (; !Number.isInteger(mantissa); halvings++) mantissa *= 2;
  const divisor = 2n ** BigInt(halvings);
  const digits = ((BigInt(mantissa) * 10n ** BigInt(precision) * 2n + divisor) / (divisor * 2n)).toString().padStart(precision + 1, '0');
  return `${number < 0 ? '-' : ''}${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** The exponent is raised: 1.5×10⁰³. */
function showScientific(value: Value, precision: number): string {
  const number = floatingOf(value, 'scientific');
  const special = specialNumber(number);
  if (special !== undefined) return special;
  const [mantissa, exponent] = number.toExponential(Math.min(100, precision)).split('e') as [string, string];
  const digits = Math.abs(Number(exponent)).toString().padStart(2, '0').replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!);
  return `${mantissa}×10${Number(exponent) < 0 ? '⁻' : ''}${digits}`;
}

function showRadix(value: Value, radix: 2 | 8): string {
  if (radix === 2 && typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString(radix);
  if (value instanceof CelUint) return value.value.toString(radix);
  throw failed(radix === 2 ? 'only integers and bools can be formatted as binary' : 'octal clause can only be used on integers', value);
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
  throw failed('only integers, byte buffers, and strings can be formatted as hex', value);
}
