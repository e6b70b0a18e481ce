// resource.Quantity: fixed-point numbers with suffixes, read and written as upstream does. Time and memory are linear in the text: a scanner reads it
// once, and a number of more than 1,024 digits is refused, however it is written.
//
// Worked examples: 1000m → 1 · 0.5 → 500m · 1024Mi → 1Gi · 1000Ki → 1000Ki · 1e9 → 1e9 · 1E3 → 1E3 · 128974848000m → 128974848

/** How a quantity is written: with SI suffixes, with binary ones, or with an exponent. */
type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The value `mantissa` × 10^`exponent`. */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

/** A text that is not a quantity; the message is upstream's. */
export class QuantityError extends Error {}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';
const WRONG_SUFFIX = "unable to parse quantity's suffix";
const decimalSuffixes: ReadonlyMap<string, number> = new Map(Object.entries({ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }));
const binarySuffixes: ReadonlyMap<string, number> = new Map(Object.entries({ Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }));
const decimalNames = new Map(Array.from(decimalSuffixes, ([name, exponent]) => [exponent, name]));
const binaryNames = new Map(Array.from(binarySuffixes, ([name, exponent]) => [exponent, name]));
const MAX_INT64 = 2n ** 63n - 1n;
/** Decimal digits that upstream's fast path takes. */
const FAST_DIGITS = 18;
const NANO_EXPONENT = -9;
/** Digits below this power of ten cannot reach a nano, not even when they are multiplied by 2^60. */
const FINEST_EXPONENT = -40;
/** Digits that a number may have, written out or by its exponent. The reference has no bound; no amount of anything has a tenth of these digits. */
const MAX_DIGITS = 1024;

/** The pieces of a text; the whole part has no leading zeros. */
interface Parts {
  readonly negative: boolean;
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

interface Suffix {
  readonly format: QuantityFormat;
  readonly base2: number;
  readonly base10: number;
}

const isSign = (char: string | undefined): boolean => char === '-' || char === '+';

/** The index behind a run of characters; a million characters take 1 ms so, and 20 ms in a loop that is not compiled yet. */
function skipRun(run: RegExp, text: string, from: number): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

const skipZeros = (text: string, from: number): number => skipRun(/0*/y, text, from);
const skipDigits = (text: string, from: number): number => skipRun(/[0-9]*/y, text, from);

/** Finds the pieces in one pass. A missing number counts as zero (`m`, `.` and `+` are zero), as in the reference. */
function splitText(text: string): Parts {
  if (text === '') throw new QuantityError(WRONG_FORMAT);
  const start = skipZeros(text, isSign(text[0]) ? 1 : 0);
  const wholeEnd = skipDigits(text, start);
  const fractionEnd = text[wholeEnd] === '.' ? skipDigits(text, wholeEnd + 1) : wholeEnd;
  const nameEnd = skipRun(/[eEinumkKMGTP]*/y, text, fractionEnd);
  const end = skipDigits(text, isSign(text[nameEnd]) ? nameEnd + 1 : nameEnd);
  if (end !== text.length) throw new QuantityError(WRONG_FORMAT);
  return { negative: text[0] === '-', whole: text.slice(start, wholeEnd), fraction: text.slice(wholeEnd + 1, fractionEnd), suffix: text.slice(fractionEnd) };
}

function interpretSuffix(suffix: string): Suffix {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { format: 'DecimalSI', base2: 0, base10: decimal };
  const binary = binarySuffixes.get(suffix);
  if (binary !== undefined) return { format: 'BinarySI', base2: binary, base10: 0 };
  const exponent = readExponent(suffix);
  if (exponent === undefined) throw new QuantityError(WRONG_SUFFIX);
  return { format: 'DecimalExponent', base2: 0, base10: exponent };
}

/** The number behind `e` or `E`: an int64, of which upstream keeps the low 32 bits. */
function readExponent(suffix: string): number | undefined {
  if (suffix[0] !== 'e' && suffix[0] !== 'E') return undefined;
  const start = isSign(suffix[1]) ? 2 : 1;
  if (start === suffix.length || skipDigits(suffix, start) !== suffix.length) return undefined;
  const size = suffix.slice(skipZeros(suffix, start));
  if (size.length > 19) return undefined;
  const value = suffix[1] === '-' ? -BigInt(size || 0) : BigInt(size || 0);
  return BigInt.asIntN(64, value) === value ? Number(BigInt.asIntN(32, value)) : undefined;
}

/** Rounds away from zero to whole nanos, as the reference does with finer values. */
function roundUpToNano(quantity: Quantity): Quantity {
  const excess = NANO_EXPONENT - quantity.exponent;
  if (excess <= 0 || quantity.mantissa === 0n) return quantity;
  const sign = quantity.mantissa < 0n ? -1n : 1n;
  const digits = (quantity.mantissa * sign).toString();
  const kept = digits.length > excess ? BigInt(digits.slice(0, digits.length - excess)) : 0n;
  const lost = digits.length <= excess || !isAllZeros(digits.slice(digits.length - excess));
  return { ...quantity, mantissa: sign * (lost ? kept + 1n : kept), exponent: NANO_EXPONENT };
}

const isAllZeros = (digits: string): boolean => skipZeros(digits, 0) === digits.length;

/** Reads a quantity; throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const parts = splitText(text);
  return readParts(parts, interpretSuffix(parts.suffix));
}

function readParts({ negative, whole, fraction }: Parts, { format, base2, base10 }: Suffix): Quantity {
  const { digits, exponent } = trimDigits(whole + fraction, base10 - fraction.length);
  const size = roundUpToNano({ mantissa: BigInt(digits) << BigInt(base2), exponent, format });
  const bounded = format === 'BinarySI' && exceedsInt64(size) ? { mantissa: MAX_INT64, exponent: 0, format } : size;
  return negative ? { ...bounded, mantissa: -bounded.mantissa } : bounded;
}

/** Replaces digits that are too fine to matter by one that says whether there were any; throws QuantityError when too many are left. */
function trimDigits(all: string, exponent: number): { readonly digits: string; readonly exponent: number } {
  const start = skipZeros(all, 0);
  const kept = all.length - Math.max(0, FINEST_EXPONENT - exponent);
  if (kept >= all.length) return { digits: checkLength(all.slice(start), exponent), exponent };
  const sticky = isAllZeros(all.slice(Math.max(start, kept))) ? '0' : '1';
  return { digits: checkLength(all.slice(start, Math.max(start, kept)), 0) + sticky, exponent: FINEST_EXPONENT - 1 };
}

function checkLength(digits: string, exponent: number): string {
  if (digits !== '' && digits.length + Math.max(0, exponent) > MAX_DIGITS) throw new QuantityError(WRONG_NUMBER);
  return digits;
}

/** Only quantities with binary suffixes are capped; what exceeds an int64 there has at least 19 digits. */
function exceedsInt64({ mantissa, exponent }: Quantity): boolean {
  return exponent >= 0 ? mantissa > MAX_INT64 : mantissa > MAX_INT64 * 10n ** BigInt(-exponent);
}

/** The value as an integer when it is one within reach (|exponent| ≤ 40). */
function asInteger({ mantissa, exponent }: Quantity): bigint | undefined {
  if (mantissa === 0n) return 0n;
  if (exponent >= 0) return exponent <= 40 ? mantissa * 10n ** BigInt(exponent) : undefined;
  if (exponent < -40) return undefined;
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

function formatBinary(quantity: Quantity): string | undefined {
  const value = asInteger(quantity);
  if (value === undefined || (value > -1024n && value < 1024n)) return undefined;
  let [amount, power] = [value, 0];
  while (amount % 1024n === 0n && power < 60) [amount, power] = [amount / 1024n, power + 10];
  return `${amount}${binaryNames.get(power) ?? ''}`;
}

/** Beyond `E` there is no suffix: such values are written with an exponent, as releases of the reference after 1.36 do (1.36 loses the magnitude). */
function formatDecimal({ mantissa, exponent, format }: Quantity): string {
  const text = mantissa.toString();
  let end = text.length;
  while (text[end - 1] === '0') end--;
  const power = exponent + text.length - end;
  const shift = ((power % 3) + 3) % 3;
  const amount = text.slice(0, end) + '0'.repeat(shift);
  if (format === 'DecimalExponent') return power === shift ? amount : `${amount}e${power - shift}`;
  return `${amount}${decimalNames.get(power - shift) ?? `e${power - shift}`}`;
}

/** Writes the canonical form: no fraction, the largest suffix that loses nothing. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0n) return '0';
  const binary = quantity.format === 'BinarySI' ? formatBinary(quantity) : undefined;
  return binary ?? formatDecimal(quantity.format === 'BinarySI' ? { ...quantity, format: 'DecimalSI' } : quantity);
}

/** The text that the reference writes for a quantity it has read, which is mostly the canonical form; throws QuantityError. */
export function canonicalizeQuantity(text: string): string {
  if (/^[1-9]\d{0,2}[mkMG]?$/.test(text)) return text;
  const parts = splitText(text);
  const suffix = interpretSuffix(parts.suffix);
  const quantity = readParts(parts, suffix);
  return keepsText(parts, suffix, quantity) ? text : formatQuantity(quantity);
}

/** Upstream keeps a short text as it is when a look at its digits finds nothing to shorten: so `1E3`, `+1`, `007` and `1.500` stay. */
function keepsText({ whole, fraction }: Parts, { format, base2, base10 }: Suffix, { mantissa }: Quantity): boolean {
  const digits = (whole || '0') + fraction;
  if (digits === '0' || mantissa === 0n) return false;
  if (format === 'BinarySI') return fraction === '' && whole.length <= 14 - Math.trunc(base2 * 0.3) && BigInt(whole) % 8n !== 0n;
  const scale = base10 - fraction.length;
  return digits.length <= FAST_DIGITS && scale >= NANO_EXPONENT && scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
}

/** Negative, zero or positive as a is below, equal to or above b. Huge exponents are compared by magnitude. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [signA, signB] = [signOf(a.mantissa), signOf(b.mantissa)];
  if (signA !== signB || signA === 0) return signA - signB;
  const difference = magnitude(a) - magnitude(b);
  if (difference !== 0) return difference * signA;
  const shift = a.exponent - b.exponent;
  const left = shift > 0 ? a.mantissa * 10n ** BigInt(shift) : a.mantissa;
  const right = shift < 0 ? b.mantissa * 10n ** BigInt(-shift) : b.mantissa;
  return signOf(left - right);
}

const signOf = (value: bigint): number => (value > 0n ? 1 : value < 0n ? -1 : 0);
const magnitude = ({ mantissa, exponent }: Quantity): number => (mantissa < 0n ? -mantissa : mantissa).toString().length + exponent;

/** Sums of quantities keep the format of the first that is not zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  if (a.mantissa === 0n) return b;
  if (b.mantissa === 0n) return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (q: Quantity): bigint => q.mantissa * 10n ** BigInt(q.exponent - exponent);
  return { mantissa: scaled(a) + scaled(b), exponent, format: a.format };
}

/** The quantity with the other sign. */
export const negateQuantity = (quantity: Quantity): Quantity => ({ ...quantity, mantissa: -quantity.mantissa });

/** The quantity as a number of limited precision. */
export const approximateQuantity = ({ mantissa, exponent }: Quantity): number => Number(mantissa) * Number(`1e${exponent}`);
