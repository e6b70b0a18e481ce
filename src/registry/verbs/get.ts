// GET of one object: most recent, any, or not older than a version. Where the cache is known to have what is asked for, which is nearly
// always so, the answer is found in the same turn.
import { notFound, tooLargeResourceVersion } from '../../apimachinery/index.ts';
import type { MaybePromise } from '../../base/index.ts';
import type { GetOptions, StoredObject, Target } from '../contract.ts';
import { type Core, type RequestScope, FRESHNESS_LIMIT_MS } from '../core.ts';
import { groupResource } from '../errors.ts';
import { objectKey } from '../objects/keys.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import { parseResourceVersion, plainError } from '../options.ts';

/** Waits until the cache is as new as asked for; throws 504 for versions that do not come. */
export async function awaitRevision(scope: RequestScope, revision: number, text: string): Promise<void> {
  const { cache } = scope.storage;
  if (cache.revision >= revision) return;
  if (!(await cache.waitUntil(revision, FRESHNESS_LIMIT_MS))) throw tooLargeResourceVersion(text, cache.revision);
}

/** Registry.get. */
export function getObject(core: Core, target: Target & { readonly name: string }, options: GetOptions): MaybePromise<StoredObject> {
  const scope = core.scope(target);
  const { cache, resource } = scope.storage;
  const key = objectKey(core.root, resource, target);
  const wanted = parseResourceVersion(options.resourceVersion, plainError);
  const atHand = cache.revision > 0 && (wanted === undefined ? cache.isCurrent() : cache.revision >= wanted);
  return atHand ? show(scope, target.name, cache.get(key)?.value) : getLater(core, scope, { key, name: target.name, wanted, options });
}

function show(scope: RequestScope, name: string, version: StoredRevision | undefined): StoredObject {
  if (version === undefined) throw notFound(groupResource(scope.target.resource), name);
  return scope.show(version);
}

interface Wanted {
  readonly key: string;
  readonly name: string;
  readonly wanted: number | undefined;
  readonly options: GetOptions;
}

async function getLater(core: Core, scope: RequestScope, { key, name, wanted, options }: Wanted): Promise<StoredObject> {
  const { storage } = scope;
  // A cache that does not fill, since a value of its resource cannot be read, is no reason to refuse the others.
  if (wanted !== undefined) await core.awaitFilled(scope);
  let fromCache = true;
  if (wanted === undefined) fromCache = storage.cache.revision > 0 && await storage.cache.waitUntilCurrent(FRESHNESS_LIMIT_MS);
  else if (wanted > 0) await awaitRevision(scope, wanted, options.resourceVersion as string);
  if (!fromCache) await core.assureStore(storage);
  return show(scope, name, fromCache ? storage.cache.get(key)?.value : await core.readStored(storage, key));
}
