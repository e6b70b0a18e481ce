// resource.Quantity: fixed-point numbers with suffixes, read and written as upstream does. Time and memory are linear in the text:
// an exponent is never expanded, and values are capped before they are computed with.
//
// Worked examples: 1000m → 1 · 0.5 → 500m · 1024Mi → 1Gi · 1000Ki → 1000Ki · 1e9 → 1e9 · 128974848000m → 128974848

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

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const decimalSuffixes: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const binarySuffixes: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const decimalNames = new Map(Object.entries(decimalSuffixes).map(([name, exponent]) => [exponent, name]));
const binaryNames = new Map(Object.entries(binarySuffixes).map(([name, exponent]) => [exponent, name]));
const maxAllowed = 2n ** 63n - 1n;
/** Decimal digits that the reference's fast path keeps exactly; longer numbers are capped to what an int64 holds. */
const exactDigits = 18;
const nanoExponent = -9;
const maxDecimalPower = 18;

interface Parts {
  negative: boolean;
  whole: string;
  fraction: string;
  suffix: string;
}

function splitText(text: string): Parts {
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (match === null || text === '') throw new QuantityError(wrongFormat);
  const [, sign, whole, fraction, suffix] = match as unknown as [string, string, string, string | undefined, string];
  if (!/[0-9.]/.test(text.slice(sign.length, sign.length + 1))) throw new QuantityError(wrongFormat);
  return { negative: sign === '-', whole: whole === '' ? '0' : whole, fraction: fraction ?? '', suffix };
}

function interpretSuffix(suffix: string): { format: QuantityFormat; base2: number; base10: number } {
  if (Object.hasOwn(decimalSuffixes, suffix)) return { format: 'DecimalSI', base2: 0, base10: decimalSuffixes[suffix] as number };
  if (Object.hasOwn(binarySuffixes, suffix)) return { format: 'BinarySI', base2: binarySuffixes[suffix] as number, base10: 0 };
  if (/^[eE][-+]?\d{1,18}$/.test(suffix)) return { format: 'DecimalExponent', base2: 0, base10: Number(suffix.slice(1)) | 0 };
  throw new QuantityError("unable to parse quantity's suffix");
}

/** Rounds away from zero to whole nanos, as the reference does with finer values. */
function roundUpToNano(quantity: Quantity): Quantity {
  const excess = nanoExponent - quantity.exponent;
  if (excess <= 0 || quantity.mantissa === 0n) return quantity;
  const sign = quantity.mantissa < 0n ? -1n : 1n;
  const digits = (quantity.mantissa * sign).toString();
  const kept = digits.length > excess ? BigInt(digits.slice(0, digits.length - excess)) : 0n;
  const lost = digits.length <= excess || /[1-9]/.test(digits.slice(digits.length - excess));
  return { ...quantity, mantissa: sign * (lost ? kept + 1n : kept), exponent: nanoExponent };
}

/** Reads a quantity; throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  const parts = splitText(text);
  const { format, base2, base10 } = interpretSuffix(parts.suffix);
  const exponent = base10 - parts.fraction.length;
  const digits = (parts.whole + parts.fraction).replace(/^0+(?=\d)/, '');
  const sign = parts.negative ? -1n : 1n;
  const capped: Quantity = { mantissa: sign * maxAllowed, exponent: 0, format };
  if (digits.length > exactDigits && digits.length + exponent > 19) return capped;
  if (digits.length > exactDigits && digits.length + exponent < nanoExponent) return { mantissa: sign, exponent: nanoExponent, format };
  const fine = Math.max(0, nanoExponent - 3 - exponent);
  const shown = digits.length > 64 && fine > 0 ? roundDigits(digits, fine) : { digits, dropped: 0 };
  const value = roundUpToNano({ mantissa: sign * BigInt(shown.digits) * 2n ** BigInt(base2), exponent: exponent + shown.dropped, format });
  return digits.length + base2 / 3 > exactDigits && exceeds(value) ? capped : value;
}

/** Drops digits that cannot matter below a nano; one is kept as "there was something". */
function roundDigits(digits: string, fine: number): { digits: string; dropped: number } {
  const dropped = Math.min(fine, digits.length - 1);
  const rest = /[1-9]/.test(digits.slice(digits.length - dropped)) ? '1' : '0';
  return { digits: digits.slice(0, digits.length - dropped) + rest, dropped: dropped - 1 };
}

function exceeds({ mantissa, exponent }: Quantity): boolean {
  const size = mantissa < 0n ? -mantissa : mantissa;
  return exponent >= 0 ? exponent > 19 || size * 10n ** BigInt(exponent) > maxAllowed : size > maxAllowed * 10n ** BigInt(-exponent);
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

function formatDecimal({ mantissa, exponent, format }: Quantity): string {
  const text = mantissa.toString();
  const stripped = text.replace(/0+$/, '');
  let power = exponent + text.length - stripped.length;
  let amount = stripped;
  for (; power % 3 !== 0; power--) amount += '0';
  if (format === 'DecimalExponent') return power === 0 ? amount : `${amount}e${power}`;
  for (; power > maxDecimalPower && power <= maxDecimalPower + 60; power -= 3) amount += '000';
  return decimalNames.has(power) ? `${amount}${decimalNames.get(power)}` : `${amount}e${power}`;
}

/** Writes the canonical form: no fraction, the largest suffix that loses nothing. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0n) return '0';
  const binary = quantity.format === 'BinarySI' ? formatBinary(quantity) : undefined;
  return binary ?? formatDecimal(quantity.format === 'BinarySI' ? { ...quantity, format: 'DecimalSI' } : quantity);
}

/** The canonical form of a text; throws QuantityError. Most texts are canonical already and are answered without arithmetic. */
export function canonicalizeQuantity(text: string): string {
  if (/^[1-9]\d{0,2}(m|k|M|G|)$/.test(text) && !/000$/.test(text)) return text;
  return formatQuantity(parseQuantity(text));
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
/** Sums of quantities keep the format of the first that is not zero; exponents are aligned, so both must be within reach. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  if (a.mantissa === 0n) return b;
  if (b.mantissa === 0n || Math.abs(a.exponent - b.exponent) > 60) return a;
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (q: Quantity): bigint => q.mantissa * 10n ** BigInt(q.exponent - exponent);
  return { mantissa: scaled(a) + scaled(b), exponent, format: a.format };
}
