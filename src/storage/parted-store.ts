// One Store of several: keys below some prefixes are in Stores of their own. Each has its own revisions, so a revision says something about the keys of
// one part only, and a read or a watch stays within one part.
import type { Store } from './store.ts';

/** A Store that keeps what is below the prefixes of `parts` in those, and all else in `main`; the parts and `main` are closed with it. */
export function createPartedStore(main: Store, parts: ReadonlyMap<string, Store>): Store {
  const entries = [...parts];
  const find = (key: string): Store => entries.find(([prefix]) => key.startsWith(prefix))?.[1] ?? main;
  return {
    range: (request) => find(request.start).range(request),
    txn: (request) => find(request.key).txn(request),
    watch: (range, from, observer) => find(range.start).watch(range, from, observer),
    // Callers of these two name a revision and no key: they are of the main part, and etcd compacts the others by the interval of each.
    compact: (revision) => main.compact(revision),
    timesToLive: () => main.timesToLive(),
    revision: (key = '') => find(key).revision(),
    async close() {
      await Promise.all([...new Set([main, ...parts.values()])].map((store) => store.close()));
    },
  };
}
