// The order of merged lists in a strategic merge patch: items of the patch in its order, items of the server alone where they stood among them.
import { equalValues, isMap, ownValue } from '../apply/value.ts';

/** The same item of a list: equal merge keys, or equal values where there is no merge key. */
export function sameItem(a: unknown, b: unknown, mergeKey: string | undefined): boolean {
  if (mergeKey === undefined) return equalValues(a, b);
  return isMap(a) && isMap(b) && equalValues(ownValue(a, mergeKey), ownValue(b, mergeKey));
}

interface Orders {
  readonly server: readonly unknown[];
  readonly mergeKey: string | undefined;
}

/**
 * Interleaves two lists, each keeping its own order: an item of `left` goes before the next of `right` when the server had it before.
 * Worked example: left [s], right [b, a], server [b, s, a] → [b, s, a].
 */
export function mergeSortedItems(left: readonly unknown[], right: readonly unknown[], { server, mergeKey }: Orders): unknown[] {
  const place = (item: unknown): number => server.findIndex((other) => sameItem(other, item, mergeKey));
  const [leftPlaces, rightPlaces] = [left.map(place), right.map(place)];
  const out: unknown[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [lp, rp] = [leftPlaces[l] ?? -1, rightPlaces[r] ?? -1];
    const takeLeft = r >= right.length || (l < left.length && lp >= 0 && rp >= 0 && lp < rp);
    out.push(takeLeft ? left[l++] : right[r++]);
  }
  return out;
}

/** The merged items: those that the patch names in its order, the others in the server's. */
export function arrangeItems(merged: readonly unknown[], { patch, server, mergeKey }: Orders & { readonly patch: readonly unknown[] }): unknown[] {
  const placeIn = (list: readonly unknown[], item: unknown): number => list.findIndex((other) => sameItem(other, item, mergeKey));
  const named = merged.filter((item) => placeIn(patch, item) >= 0).sort((a, b) => placeIn(patch, a) - placeIn(patch, b));
  const others = merged.filter((item) => placeIn(patch, item) < 0).sort((a, b) => placeIn(server, a) - placeIn(server, b));
  return mergeSortedItems(others, named, { server, mergeKey });
}
