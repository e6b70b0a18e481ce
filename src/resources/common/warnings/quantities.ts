// Warnings about amounts of bytes with a fraction.
import { type Field, at } from '../validation/check.ts';
import { isWhole } from '../validation/quantities.ts';
import { toText } from '../values.ts';

/** Warns of a quantity of bytes that is not an integer. */
export function warnOfFraction(list: Field, name: string): readonly string[] {
  const amount = at(list, name);
  const text = toText(amount.value);
  return text === '' || isWhole(amount) ? [] : [`${list.path}[${name}]: fractional byte value "${text}" is invalid, must be an integer`];
}
