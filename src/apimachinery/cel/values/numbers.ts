// Arithmetic with the ranges of 64 bits, and the texts of doubles as Go prints them.
import { CelDouble, CelError, CelUint, type Value, integerOverflow, MAX_INT64, MAX_UINT64, MIN_INT64, narrowInt } from './values.ts';

/** Error of a result that is no uint. */
export const unsignedOverflow = new CelError('unsigned integer overflow');
const divisionByZero = new CelError('division by zero');
const modulusByZero = new CelError('modulus by zero');

/** More digits, leading zeros left out, are no number of 64 bits. */
const MAX_DIGITS = 20;

/** The number that a text of digits spells; undefined for any other text, and for numbers that are far too large. */
export function digitsOf(text: string): bigint | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined;
  let first = 0;
  while (first < text.length - 1 && text[first] === '0') first++;
  return text.length - first > MAX_DIGITS ? undefined : BigInt(text.slice(first));
}

/** Whether a text of digits spells an int. */
export const fitsInt = (digits: string): boolean => (digitsOf(digits) ?? MAX_INT64 + 1n) <= MAX_INT64;

const decimalPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const hexPattern = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/;

/** The number that a text spells as Go reads floats: decimal or hexadecimal, with underscores between digits. Infinite where it is too large. */
export function readDouble(text: string): number | undefined {
  const isHex = /^[+-]?0[xX]/.test(text);
  const misplaced = isHex ? /(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])/ : /(?<!\d)_|_(?!\d)/;
  if (text.includes('_') && misplaced.test(text)) return undefined;
  const plain = text.replaceAll('_', '');
  if (!isHex) return decimalPattern.test(plain) ? Number(plain) : undefined;
  const [, sign, whole = '', fraction = '', exponent] = hexPattern.exec(plain) ?? [];
  if (whole + fraction === '') return undefined;
  const value = scaleByTwo(BigInt(`0x${whole}${fraction}`), Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}

/** `mantissa` times two to the power of `exponent`, rounded to even. */
function scaleByTwo(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  const bits = mantissa.toString(2).length;
  const top = bits - 1 + exponent;
  if (top > 1023) return Infinity;
  if (top < -1075) return 0;
  const excess = bits - Math.min(53, 1075 + top);
  if (excess <= 0) return Number(mantissa) * 2 ** exponent;
  const kept = mantissa >> BigInt(excess);
  const rest = (mantissa - (kept << BigInt(excess))) * 2n;
  const half = 1n << BigInt(excess);
  const isUp = rest > half || (rest === half && (kept & 1n) === 1n);
  return Number(isUp ? kept + 1n : kept) * 2 ** (exponent + excess);
}

/** An int if 64 bits hold it. */
export function makeInt(value: bigint): Value {
  return value > MAX_INT64 || value < MIN_INT64 ? integerOverflow : narrowInt(value);
}

/** A uint if 64 bits hold it. */
export function makeUint(value: bigint): Value {
  return value > MAX_UINT64 || value < 0n ? unsignedOverflow : new CelUint(value);
}

type Int = number | bigint;

/** Sum, or the error of an overflow. */
export function addInts(a: Int, b: Int): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return makeInt(BigInt(a) + BigInt(b));
}

/** Difference, or the error of an overflow. */
export function subtractInts(a: Int, b: Int): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return makeInt(BigInt(a) - BigInt(b));
}

/** Product, or the error of an overflow. */
export function multiplyInts(a: Int, b: Int): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return makeInt(BigInt(a) * BigInt(b));
}

/** Quotient towards zero, or the error of a zero or an overflow. */
export function divideInts(a: Int, b: Int): Value {
  if (b === 0) return divisionByZero;
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
  return makeInt(BigInt(a) / BigInt(b));
}

/** Remainder with the sign of the dividend, or the error of a zero or an overflow. */
export function remainderInts(a: Int, b: Int): Value {
  if (b === 0) return modulusByZero;
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  if (a === MIN_INT64 && b === -1) return integerOverflow;
  return makeInt(BigInt(a) % BigInt(b));
}

/** Quotient, or the error of a zero. */
export function divideUints(a: CelUint, b: CelUint): Value {
  return b.value === 0n ? divisionByZero : new CelUint(a.value / b.value);
}

/** Remainder, or the error of a zero. */
export function remainderUints(a: CelUint, b: CelUint): Value {
  return b.value === 0n ? modulusByZero : new CelUint(a.value % b.value);
}

/** The int that a double truncates to. */
export function intOfDouble(value: number): Value {
  return Number.isFinite(value) && value > -9223372036854775808 && value < 9223372036854775808 ? narrowInt(BigInt(Math.trunc(value))) : integerOverflow;
}

/** The uint that a double truncates to. */
export function uintOfDouble(value: number): Value {
  return Number.isFinite(value) && value >= 0 && value < 18446744073709551616 ? new CelUint(BigInt(Math.trunc(value))) : unsignedOverflow;
}

/** Any number as a JS number. */
export function toNumber(value: Int | CelDouble | CelUint): number {
  if (typeof value === 'number') return value;
  return Number(typeof value === 'bigint' ? value : value.value);
}

/** A double as Go prints the shortest %g: with an exponent from 1e+06 and below 1e-04. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  return exponent >= -4 && exponent < 6 ? expandDouble(value, exponent) : formatExponent(mantissa, exponent);
}

function expandDouble(value: number, exponent: number): string {
  return exponent < 0 ? value.toFixed(Math.min(100, -exponent + value.toExponential().split('e')[0]!.replace(/[-.]/g, '').length - 1)) : String(value);
}

function formatExponent(mantissa: string, exponent: number): string {
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
