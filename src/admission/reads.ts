// What plugins look up: objects by name and lists of a row, as the caches have them; see findKnown for how new that is.
import type { KubeObject } from '../apimachinery/index.ts';
import { type Clock, createTimeSlice, invariant } from '../base/index.ts';
import { type Catalog, type Registry, type Resource, everything, findKnownObject } from '../registry/index.ts';

/** Reads of one row of the catalog. */
export interface RowReads {
  find(name: string, namespace?: string): Promise<KubeObject | undefined>;
  list(namespace?: string): Promise<readonly KubeObject[]>;
}

/** Reads of `plural` of `group`, in its storage version. */
export type ReadsOf = (group: string, plural: string) => RowReads;

/** Longest that objects are decoded before others have their turn. */
const SLICE_MS = 10;

/** Makes reads; both functions are asked when a read happens. */
export function createReads(registry: () => Registry, catalog: () => Catalog, clock: Clock): ReadsOf {
  return (group, plural) => {
    const row = (): Resource => {
      const resource = catalog().findResource(group, plural);
      invariant(resource !== undefined, `${plural} are served`);
      return resource;
    };
    const target = (namespace: string) => ({ resource: row(), version: row().storageVersion, namespace });
    return {
      find: (name, namespace = '') => findKnownObject(registry(), { ...target(namespace), name }),
      async list(namespace = '') {
        const { items } = await registry().list(target(namespace), { predicate: everything, resourceVersion: '0' });
        const pause = createTimeSlice(clock, SLICE_MS);
        const objects: KubeObject[] = [];
        for (const item of items) {
          const turn = pause();
          if (turn !== undefined) await turn;
          objects.push(item.object(row().storageVersion));
        }
        return objects;
      },
    };
  };
}
