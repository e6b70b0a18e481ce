// The order of merged lists in a strategic merge patch: items of the patch in its order, items of the server alone where they stood among them.
// Items are found by an index, so that the work stays linear in lists of any length.
import { isJsonObject } from '../../base/index.ts';
import { ownValue, putKey } from '../apply/value.ts';

/** Equal texts for items that are the same: equal merge keys, or equal values where there is no merge key. undefined: an item without identity. */
export function identify(item: unknown, mergeKey: string | undefined): string | undefined {
  if (mergeKey === undefined) return identifyValue(item);
  return isJsonObject(item) ? identifyValue(ownValue(item, mergeKey)) : undefined;
}

/** Equal texts for equal values: numbers are equal whatever their type, the order of keys does not matter. */
export function identifyValue(value: unknown): string {
  switch (typeof value) {
    case 'string': return `s${value}`;
    case 'number': case 'bigint': return `n${value}`;
    default: return typeof value === 'object' && value !== null ? `j${JSON.stringify(sortKeys(value))}` : `${value}`;
  }
}

function sortKeys(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) putKey(out, key, sortKeys(value[key]));
  return out;
}

/** Says where an item stands first in a list; -1 when it does not. */
export function createIndex(list: readonly unknown[], mergeKey: string | undefined): (item: unknown) => number {
  const places = new Map<string, number>();
  for (const [place, item] of list.entries()) {
    const id = identify(item, mergeKey);
    if (id !== undefined && !places.has(id)) places.set(id, place);
  }
  return (item) => places.get(identify(item, mergeKey) ?? '') ?? -1;
}

interface Orders {
  readonly server: readonly unknown[];
  readonly mergeKey: string | undefined;
}

/**
 * Interleaves two lists, each keeping its own order: an item of `left` stands before the next of `right` when the server had it before.
 * Worked example: left [s], right [b, a], server [b, s, a] → [b, s, a].
 */
export function mergeSortedItems(left: readonly unknown[], right: readonly unknown[], { server, mergeKey }: Orders): unknown[] {
  const placeOf = createIndex(server, mergeKey);
  const [leftPlaces, rightPlaces] = [left.map(placeOf), right.map(placeOf)];
  const out: unknown[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [lp, rp] = [leftPlaces[l] ?? -1, rightPlaces[r] ?? -1];
    const takeLeft = r >= right.length || (l < left.length && lp >= 0 && rp >= 0 && lp < rp);
    out.push(takeLeft ? left[l++] : right[r++]);
  }
  return out;
}

/** Items in the order of their places; equal places keep their order. */
export function sortByPlace(items: readonly unknown[], placeOf: (item: unknown) => number): unknown[] {
  return items.map((item) => ({ item, place: placeOf(item) })).sort((a, b) => a.place - b.place).map(({ item }) => item);
}

/** The merged items: those that the patch names in its order, the others in the server's. */
export function arrangeItems(merged: readonly unknown[], { patch, server, mergeKey }: Orders & { readonly patch: readonly unknown[] }): unknown[] {
  const inPatch = createIndex(patch, mergeKey);
  const named = sortByPlace(merged.filter((item) => inPatch(item) >= 0), inPatch);
  const others = sortByPlace(merged.filter((item) => inPatch(item) < 0), createIndex(server, mergeKey));
  return mergeSortedItems(others, named, { server, mergeKey });
}

type Item = Readonly<Record<string, unknown>>;

/**
 * The list of the server as the reference finds it after a merge: it deletes in place, and what it adds takes the places that
 * this leaves at the end. So an added item has a place among those of the server where another was deleted.
 * Worked example: server [1, 2, 4], patch [3, delete 1] → [2, 4, 3].
 */
export function listMergedInPlace(server: readonly Item[], patch: readonly Item[], mergeKey: string): readonly Item[] {
  const idOf = (item: Item): string => identifyValue(ownValue(item, mergeKey));
  const isDeletion = (item: Item): boolean => ownValue(item, '$patch') === 'delete';
  const doomed = new Set(patch.filter(isDeletion).map(idOf));
  if (doomed.size === 0) return server;
  const kept = server.filter((item) => !doomed.has(idOf(item)));
  const out = [...kept];
  const added = patch.some((item) => ownValue(item, '$patch') === 'replace') ? [] : patch.filter((item) => !isDeletion(item));
  const known = new Set(kept.map(idOf));
  for (const item of added) {
    if (out.length >= server.length) break;
    if (known.has(idOf(item))) continue;
    known.add(idOf(item));
    out.push(item);
  }
  return out;
}
