// Quantities as validations compare and show them.
import { type FieldError, type Quantity, canonicalizeQuantity, compareQuantities, invalidValue, parseQuantity } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import { type Errors, type Field, at } from './check.ts';

const zero = parseQuantity('0');

/** The quantity of a field; zero when it is absent. */
export const quantityAt = ({ value }: Field): Quantity => (value === undefined || value === null ? zero : parseQuantity(toText(value)));

/** The quantity as messages print it; an absent one is zero. */
export const showQuantity = ({ value }: Field): string => (value === undefined || value === null ? '0' : canonicalizeQuantity(toText(value)));

/** Negative, zero or positive as the first quantity is less than, equal to or more than the second. */
export const compareAt = (one: Field, other: Field): number => compareQuantities(quantityAt(one), quantityAt(other));

/** The quantity must be above zero. */
export function checkPositive(place: Field): Errors {
  return compareQuantities(quantityAt(place), zero) > 0 ? [] : [invalidValue(place.path, showQuantity(place), 'must be greater than zero')];
}

/** The quantity must not be below zero. */
export function checkNatural(place: Field): Errors {
  return compareQuantities(quantityAt(place), zero) >= 0 ? [] : [invalidValue(place.path, showQuantity(place), 'must be greater than or equal to 0')];
}

/** Larger powers of ten make no difference: a quantity is compared with numbers of at most 64 bits. */
const MAX_EXPONENT = 40;

/** The quantity as a whole number of units (of thousandths at -3), rounded away from zero. */
export function roundUpToWhole(place: Field, unitExponent = 0): bigint {
  const { mantissa, exponent: own } = quantityAt(place);
  const exponent = own - unitExponent;
  if (exponent >= 0) return mantissa * 10n ** BigInt(Math.min(exponent, MAX_EXPONENT));
  const unit = 10n ** BigInt(-exponent);
  return mantissa % unit === 0n ? mantissa / unit : mantissa / unit + (mantissa < 0n ? -1n : 1n);
}

/** A quantity whose whole number is negative is none. */
export function checkAmount(entry: Field): Errors {
  const amount = roundUpToWhole(entry);
  return amount < 0n ? [invalidValue(entry.path, amount, 'must be a valid resource quantity')] : [];
}

/** Digits of a mantissa that the reference keeps as an int64 with an exponent. */
const FAST_LIMIT = 10n ** 18n;
/** Powers of ten by which the reference multiplies at once; it lets the product overflow. With others it gives up, and has zero. */
const wrappingPowers = [1, 2, 3, 6, 9];

/** The quantity in thousandths, as an int64 that overflows as the reference's does. */
function toMilli(place: Field): bigint {
  const { mantissa, exponent } = quantityAt(place);
  const exact = roundUpToWhole(place, -3);
  const wrapped = BigInt.asIntN(64, exact);
  const isSmall = mantissa < FAST_LIMIT && mantissa > -FAST_LIMIT;
  return wrapped === exact || !isSmall || exponent <= -3 || wrappingPowers.includes(exponent + 3) ? wrapped : 0n;
}

/** Whether the quantity is a whole number, and stays one as the reference counts its thousandths. */
export const isWhole = (place: Field): boolean => toMilli(place) % 1000n === 0n;

/** The quantity must be a whole number. */
export function checkWhole(place: Field): readonly FieldError[] {
  return isWhole(place) ? [] : [invalidValue(place.path, showQuantity(place), 'must be an integer')];
}

/** The entries of a list of resources, by name, as `list[name]`. */
export function entriesOf(list: Field): readonly (Field & { readonly name: string })[] {
  const value = list.value;
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).sort().map((name) => ({ name, path: `${list.path}[${name}]`, value: at(list, name).value }));
}

/** An entry names a resource that nodes have without a driver. */
export const checkNativeName = ({ name, path }: ReturnType<typeof entriesOf>[number]): readonly FieldError[] =>
  (!name.includes('/') || name.includes('kubernetes.io/') ? [] : [invalidValue(path, name, 'must be a node allocatable resource name')]);
