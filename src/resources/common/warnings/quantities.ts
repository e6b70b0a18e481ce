// Warnings about amounts of bytes with a fraction.
import { parseQuantity } from '../../../apimachinery/index.ts';
import type { Field } from '../validation/check.ts';
import { readPath, toText } from '../values.ts';

/** Warns of a quantity of bytes that is not an integer. */
export function warnOfFraction({ path, value }: Field, name: string): readonly string[] {
  const text = toText(readPath(value, name));
  if (text === '') return [];
  const { mantissa, exponent } = parseQuantity(text);
  const isWhole = exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n;
  return isWhole ? [] : [`${path}[${name}]: fractional byte value "${text}" is invalid, must be an integer`];
}
