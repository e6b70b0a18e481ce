// GET of one object: most recent, any, or not older than a version.
import { notFound, tooLargeResourceVersion } from '../apimachinery/index.ts';
import type { GetOptions, ObjectVersion, Target } from './contract.ts';
import { type Core, type Place, freshnessLimitMs } from './core.ts';
import { groupResource } from './errors.ts';
import { objectKey } from './keys.ts';
import { parseResourceVersion, plainError } from './options.ts';

/** Waits until the cache is as new as asked for; throws 504 for versions that do not come. */
export async function awaitRevision(place: Place, revision: number, text: string): Promise<void> {
  const { cache } = place.shelf;
  if (cache.revision >= revision) return;
  if (!(await cache.waitUntil(revision, freshnessLimitMs))) throw tooLargeResourceVersion(text, cache.revision);
}

/** Registry.get. */
export async function getObject(core: Core, target: Target & { readonly name: string }, options: GetOptions): Promise<ObjectVersion> {
  const key = objectKey(core.root, core.place(target).shelf.resource, target);
  const wanted = parseResourceVersion(options.resourceVersion, plainError);
  const place = await core.readyPlace(target);
  const { shelf } = place;
  let fromCache = true;
  if (wanted === undefined) fromCache = await shelf.cache.waitUntilCurrent(freshnessLimitMs);
  else if (wanted > 0) await awaitRevision(place, wanted, options.resourceVersion as string);
  if (!fromCache) await core.assureStore();
  const version = fromCache ? shelf.cache.latest().get(key)?.value : await core.readStored(shelf, key);
  if (version === undefined) throw notFound(groupResource(target.resource), target.name);
  return place.show(version);
}
