// Dependents and owners, by uid: the objects that have owners, and those that wait for their dependents. An object without either is not in
// it, so that the graph is as large as what has to be collected one day. Synchronous; knows nothing of what happens to objects.
import type { OwnerReference } from '../../apimachinery/index.ts';

/** One object of the graph. */
export interface GarbageItem {
  /** `group/plural namespace name`. */
  readonly key: string;
  readonly group: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  /** What its deletion waits for: that dependents are gone, or that they are set free. */
  readonly waits: 'foreground' | 'orphan' | undefined;
}

const noItems: ReadonlySet<GarbageItem> = new Set();

/** The graph of all rows. */
export class GarbageGraph {
  readonly #items = new Map<string, GarbageItem>();
  readonly #byUid = new Map<string, GarbageItem>();
  readonly #dependents = new Map<string, Set<GarbageItem>>();
  /** How many dependents block the deletion of an owner. */
  readonly #blocking = new Map<string, number>();

  get(key: string): GarbageItem | undefined {
    return this.#items.get(key);
  }

  withUid(uid: string): GarbageItem | undefined {
    return this.#byUid.get(uid);
  }

  items(): Iterable<GarbageItem> {
    return this.#items.values();
  }

  dependentsOf(uid: string): ReadonlySet<GarbageItem> {
    return this.#dependents.get(uid) ?? noItems;
  }

  isBlocked(uid: string): boolean {
    return (this.#blocking.get(uid) ?? 0) > 0;
  }

  /** Puts an item in the place of the one with its key; answers that one. */
  put(item: GarbageItem): GarbageItem | undefined {
    const before = this.remove(item.key);
    this.#items.set(item.key, item);
    this.#byUid.set(item.uid, item);
    for (const owner of item.owners) {
      let dependents = this.#dependents.get(owner.uid);
      if (dependents === undefined) this.#dependents.set(owner.uid, (dependents = new Set()));
      dependents.add(item);
      if (owner.blockOwnerDeletion === true) this.#blocking.set(owner.uid, (this.#blocking.get(owner.uid) ?? 0) + 1);
    }
    return before;
  }

  /** Takes an item out; answers it. */
  remove(key: string): GarbageItem | undefined {
    const item = this.#items.get(key);
    if (item === undefined) return undefined;
    this.#items.delete(key);
    if (this.#byUid.get(item.uid) === item) this.#byUid.delete(item.uid);
    for (const owner of item.owners) this.#unlink(item, owner);
    return item;
  }

  #unlink(item: GarbageItem, { uid, blockOwnerDeletion }: OwnerReference): void {
    const dependents = this.#dependents.get(uid);
    dependents?.delete(item);
    if (dependents?.size === 0) this.#dependents.delete(uid);
    if (blockOwnerDeletion !== true) return;
    const left = (this.#blocking.get(uid) ?? 1) - 1;
    if (left === 0) this.#blocking.delete(uid);
    else this.#blocking.set(uid, left);
  }
}
