// What belongs to what: objects under their owners.

/** Something with owners. */
export interface Owned {
  readonly uid: string;
  readonly owners: readonly { readonly uid: string }[];
}

/** An object and what belongs to it. */
export interface Branch<T> {
  readonly item: T;
  readonly children: readonly Branch<T>[];
}

/** The dependents of the object `uid`, each with its own; an object that owns itself by a detour is shown once. */
export function findDependents<T extends Owned>(uid: string, items: readonly T[]): Branch<T>[] {
  const byOwner = new Map<string, T[]>();
  for (const item of items) {
    for (const { uid: owner } of item.owners) {
      const known = byOwner.get(owner);
      if (known === undefined) byOwner.set(owner, [item]);
      else known.push(item);
    }
  }
  const seen = new Set([uid]);
  const grow = (owner: string): Branch<T>[] => (byOwner.get(owner) ?? []).flatMap((item) => {
    if (seen.has(item.uid)) return [];
    seen.add(item.uid);
    return [{ item, children: grow(item.uid) }];
  });
  return grow(uid);
}

/** How many objects are in branches. */
export const countBranches = <T>(branches: readonly Branch<T>[]): number => branches.reduce((sum, { children }) => sum + 1 + countBranches(children), 0);
