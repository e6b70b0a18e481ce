// Amounts of resources by name, as quotas count them. Names come from users: they are keys of a Map, never of an object.
import {
  type PodContainers, type Quantity, type ResourceList, addQuantities, compareQuantities, formatQuantity, joinInto, negateQuantity, parseQuantity,
  sumContainers,
} from '../../apimachinery/index.ts';

/** Amounts by the name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

const zeroAmount = parseQuantity('0');

/** One of something. */
export const oneAmount = parseQuantity('1');

/** None of something. */
export const none = zeroAmount;

/** A whole number as an amount. */
export const countOf = (count: number): Quantity => parseQuantity(String(count));

/** Reads `hard`, `used`, `requests` or `limits` of an object. */
export const readAmounts = (texts: unknown): Amounts =>
  new Map(Object.entries((texts ?? {}) as Record<string, unknown>).map(([name, text]) => [name, parseQuantity(String(text))]));

/** Amounts as an object of the API has them, by name. */
export function writeAmounts(amounts: Amounts): Record<string, string> {
  const sorted = [...amounts].sort(([one], [two]) => (one < two ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, quantity]) => [name, formatQuantity(quantity)]));
}

/** The sum of two; a name that only one of them has keeps its amount. */
export function addAmounts(one: Amounts, two: Amounts): Amounts {
  const sum = new Map(one);
  addTo(sum, two);
  return sum;
}

/** Adds amounts to a sum, in place. */
export const addTo = (sum: Map<string, Quantity>, amounts: Amounts): void => joinInto(sum, amounts, addQuantities);

/** The amounts that the containers of a pod have in a list together. */
export const amountsOfContainers = (spec: PodContainers, list: ResourceList): Map<string, Quantity> =>
  sumContainers(spec, list, { read: readAmounts, add: addQuantities, compare: compareQuantities });

/** The first without the second; never below zero. */
export function subtractAmounts(one: Amounts, two: Amounts): Amounts {
  return new Map(Array.from(one, ([name, quantity]) => {
    const rest = addQuantities(quantity, negateQuantity(two.get(name) ?? zeroAmount));
    return [name, compareQuantities(rest, zeroAmount) < 0 ? zeroAmount : rest];
  }));
}

/** The amounts of these names only. */
export const maskAmounts = (amounts: Amounts, names: ReadonlySet<string>): Amounts => new Map([...amounts].filter(([name]) => names.has(name)));

/** Without what is zero. */
export const dropZeros = (amounts: Amounts): Amounts => new Map([...amounts].filter(([, quantity]) => quantity.mantissa !== 0n));

/** The names of which the first has more than the second permits; a name without a limit is not limited. */
export function findExceeded(amounts: Amounts, limits: Amounts): string[] {
  return [...amounts].filter(([name, quantity]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(quantity, limit) > 0;
  }).map(([name]) => name);
}

/** Whether both have the same names with equal amounts. */
export const isSameAmounts = (one: Amounts, two: Amounts): boolean =>
  one.size === two.size && [...one].every(([name, quantity]) => two.has(name) && compareQuantities(quantity, two.get(name) as Quantity) === 0);

/** `name=amount` with commas, in the order of the names. */
export const formatAmounts = (amounts: Amounts): string => Object.entries(writeAmounts(amounts)).map(([name, text]) => `${name}=${text}`).join(',');
