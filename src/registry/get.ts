// GET of one object: most recent, any, or not older than a version. Where the cache is known to have what is asked for, which is nearly
// always so, the answer is found in the same turn.
import { notFound, tooLargeResourceVersion } from '../apimachinery/index.ts';
import type { Soon } from '../base/index.ts';
import type { GetOptions, ObjectVersion, Target } from './contract.ts';
import { type Core, type Place, freshnessLimitMs } from './core.ts';
import { groupResource } from './errors.ts';
import { objectKey } from './keys.ts';
import type { StoredVersion } from './object-version.ts';
import { parseResourceVersion, plainError } from './options.ts';

/** Waits until the cache is as new as asked for; throws 504 for versions that do not come. */
export async function awaitRevision(place: Place, revision: number, text: string): Promise<void> {
  const { cache } = place.shelf;
  if (cache.revision >= revision) return;
  if (!(await cache.waitUntil(revision, freshnessLimitMs))) throw tooLargeResourceVersion(text, cache.revision);
}

/** Registry.get. */
export function getObject(core: Core, target: Target & { readonly name: string }, options: GetOptions): Soon<ObjectVersion> {
  const place = core.place(target);
  const { cache, resource } = place.shelf;
  const key = objectKey(core.root, resource, target);
  const wanted = parseResourceVersion(options.resourceVersion, plainError);
  const atHand = cache.revision > 0 && (wanted === undefined ? cache.isCurrent() : cache.revision >= wanted);
  return atHand ? show(place, target.name, cache.get(key)?.value) : getLater(core, place, { key, name: target.name, wanted, options });
}

function show(place: Place, name: string, version: StoredVersion | undefined): ObjectVersion {
  if (version === undefined) throw notFound(groupResource(place.target.resource), name);
  return place.show(version);
}

interface Wanted {
  readonly key: string;
  readonly name: string;
  readonly wanted: number | undefined;
  readonly options: GetOptions;
}

async function getLater(core: Core, place: Place, { key, name, wanted, options }: Wanted): Promise<ObjectVersion> {
  await core.awaitFilled(place);
  const { shelf } = place;
  let fromCache = true;
  if (wanted === undefined) fromCache = await shelf.cache.waitUntilCurrent(freshnessLimitMs);
  else if (wanted > 0) await awaitRevision(place, wanted, options.resourceVersion as string);
  if (!fromCache) await core.assureStore();
  return show(place, name, fromCache ? shelf.cache.get(key)?.value : await core.readStored(shelf, key));
}
