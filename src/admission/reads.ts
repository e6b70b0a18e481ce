// What plugins look up: objects by name and lists of a row, as the caches have them; see findKnown for how new that is.
import { type KubeObject, formatGroupVersion } from '../apimachinery/index.ts';
import { BoundedCache, type Clock, createTimeSlice, invariant } from '../base/index.ts';
import { type Catalog, type Registry, type Resource, type StoredObject, type Target, everything, findKnown } from '../registry/index.ts';

/** Reads of one row of the catalog. */
export interface RowReads {
  find(name: string, namespace?: string): Promise<KubeObject | undefined>;
  /** All, or those whose JSON has an ASCII text anywhere: the others are not decoded. */
  list(namespace?: string, mentioned?: string): Promise<readonly KubeObject[]>;
}

/** Reads of `plural` of `group`, in its storage version. */
export type ReadsOf = (group: string, plural: string) => RowReads;

/** So many objects stay decoded, those asked for last: each write asks for its namespace, and most of pods for the classes and ranges that there are. */
const MOST_OBJECTS = 256;
/** Larger ones take too much memory. */
const MOST_BYTES = 16 * 1024;

/** So many bytes of lists stay decoded. */
const MOST_LISTED_BYTES = 2 ** 21;
/** What an empty list counts. */
const LIST_BYTES = 64;

/** What a list of one namespace was at a revision of the row. */
interface KnownList {
  readonly revision: number;
  readonly objects: readonly KubeObject[];
  readonly bytes: number;
}

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
  const readAll = async (place: Target, mentioned = ''): Promise<KnownList> => {
    const { items, revision } = await registry().list(place, { predicate: everything, resourceVersion: '0' });
    const pause = createTimeSlice(clock, SLICE_MS);
    const objects: KubeObject[] = [];
    let bytes = LIST_BYTES;
    for (const item of items) {
      const turn = pause();
      if (turn !== undefined) await turn;
      if (mentioned !== '' && !item.contains(mentioned)) continue;
      objects.push(decode(item, place.version));
      bytes += item.size;
    }
    return { revision, objects, bytes };
  };
  return (group, plural) => {
    let known: { readonly resource: Resource; readonly generation: number } | undefined;
    const row = (): Resource => {
      const served = catalog();
      if (known !== undefined && known.generation === served.generation) return known.resource;
      const resource = served.findResource(group, plural);
      invariant(resource !== undefined, `${plural} are served`);
      known = { resource, generation: served.generation };
      return resource;
    };
    const target = (namespace: string) => {
      const resource = row();
      return { resource, version: resource.storageVersion, namespace };
    };
    // Each pod asks for the limit ranges and priority classes that there are, which seldom change: 40 µs of its create.
    const lists = new BoundedCache<string, KnownList>({ limit: MOST_LISTED_BYTES, sizeOf: ({ bytes }) => bytes });
    return {
      async find(name, namespace = '') {
        const place = target(namespace);
        const found = await findKnown(registry(), { ...place, name });
        return found && decode(found, place.version);
      },
      async list(namespace = '', mentioned = '') {
        const place = target(namespace);
        if (mentioned !== '') return (await readAll(place, mentioned)).objects;
        const listed = lists.get(namespace);
        if (listed !== undefined && listed.revision === registry().cachedRevision(place)) return listed.objects;
        const { revision, objects, bytes } = await readAll(place);
        lists.set(namespace, { revision, objects, bytes });
        return objects;
      },
    };
  };
}
