// Look-ups of objects that requests depend on (a namespace, a service account, a class), as the reference's plugins make them: from the
// cache, and from the store when the cache has none. A write that this server acknowledged is in its caches already; one that another server
// wrote comes a moment later, and nothing is asked of the store for every request.
import { type KubeObject, StatusError } from '../../apimachinery/index.ts';
import { type MaybePromise, catchMaybe } from '../../base/index.ts';
import type { GetOptions, StoredObject, Registry, Target } from '../contract.ts';
import { isSafeSegment } from '../objects/keys.ts';

type Reads = Pick<Registry, 'get'>;
type Named = Target & { readonly name: string };

/** The object as the cache has it, else as the store has it this moment; undefined when there is none. */
export async function findKnown(registry: Reads, target: Named): Promise<StoredObject | undefined> {
  const known = find(registry, target, asKnown);
  return (known instanceof Promise ? await known : known) ?? findCurrent(registry, target);
}

/** The object as the store has it this moment; undefined when there is none. */
export async function findCurrent(registry: Reads, target: Named): Promise<StoredObject | undefined> {
  return find(registry, target, asStored);
}

/** As findKnown, in a version; the object is shared and must not be changed. */
export async function findKnownObject(registry: Reads, target: Named): Promise<KubeObject | undefined> {
  return (await findKnown(registry, target))?.shared(target.version);
}

const asKnown: GetOptions = { resourceVersion: '0' };
const asStored: GetOptions = {};

/** There is no object of a name that none can have. */
function find(registry: Reads, target: Named, options: GetOptions): MaybePromise<StoredObject | undefined> {
  return isSafeSegment(target.name) ? catchMaybe<StoredObject | undefined>(() => registry.get(target, options), asAbsent) : undefined;
}

function asAbsent(error: unknown): undefined {
  if (!(error instanceof StatusError && error.code === 404)) throw error;
}
