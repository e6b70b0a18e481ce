// What plugins look up: objects by name and lists of a row, as the caches have them; see findKnown for how new that is.
import { type KubeObject, formatGroupVersion } from '../apimachinery/index.ts';
import { BoundedCache, type Clock, createTimeSlice, invariant } from '../base/index.ts';
import { type Catalog, type Registry, type Resource, type StoredObject, everything, findKnown } from '../registry/index.ts';

/** Reads of one row of the catalog. */
export interface RowReads {
  find(name: string, namespace?: string): Promise<KubeObject | undefined>;
  list(namespace?: string): Promise<readonly KubeObject[]>;
}

/** Reads of `plural` of `group`, in its storage version. */
export type ReadsOf = (group: string, plural: string) => RowReads;

/** So many objects stay decoded, those asked for last: each write asks for its namespace, and most of pods for the classes and ranges that there are. */
const MOST_OBJECTS = 256;
/** Larger ones take too much memory. */
const MOST_BYTES = 16 * 1024;

/** Longest that objects are decoded before others have their turn. */
const SLICE_MS = 10;

/** Makes reads; both functions are asked when a read happens. The objects that they answer are shared and must not be changed. */
export function createReads(registry: () => Registry, catalog: () => Catalog, clock: Clock): ReadsOf {
  const decoded = new BoundedCache<StoredObject, KubeObject>({ limit: MOST_OBJECTS });
  const decode = (stored: StoredObject, version: string): KubeObject => {
    const known = decoded.get(stored);
    if (known?.apiVersion === formatGroupVersion({ group: stored.resource.group, version })) return known;
    const object = stored.object(version);
    return stored.size > MOST_BYTES ? object : decoded.set(stored, object);
  };
  return (group, plural) => {
    const row = (): Resource => {
      const resource = catalog().findResource(group, plural);
      invariant(resource !== undefined, `${plural} are served`);
      return resource;
    };
    const target = (namespace: string) => ({ resource: row(), version: row().storageVersion, namespace });
    return {
      async find(name, namespace = '') {
        const place = target(namespace);
        const found = await findKnown(registry(), { ...place, name });
        return found && decode(found, place.version);
      },
      async list(namespace = '') {
        const { items } = await registry().list(target(namespace), { predicate: everything, resourceVersion: '0' });
        const pause = createTimeSlice(clock, SLICE_MS);
        const objects: KubeObject[] = [];
        for (const item of items) {
          const turn = pause();
          if (turn !== undefined) await turn;
          objects.push(decode(item, row().storageVersion));
        }
        return objects;
      },
    };
  };
}
