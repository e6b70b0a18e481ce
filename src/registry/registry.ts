// The registry: seven verbs over rows. Nothing above it knows a Pod from a custom resource, nothing below it knows either.
import { catchMaybe, mapMaybe } from '../base/index.ts';
import type { GetOptions, StoredObject, Registry, Target, WriteContext } from './contract.ts';
import { listReady, watchReady } from './conversion/converted-reads.ts';
import { Core, type RegistryOptions, FRESHNESS_LIMIT_MS } from './core.ts';
import { createObject } from './verbs/create.ts';
import { deleteObjects } from './verbs/delete-collection.ts';
import { deleteObject } from './verbs/delete.ts';
import { throwAsStatus } from './errors.ts';
import { getObject } from './verbs/get.ts';
import { convertForGet, readyObject } from './conversion/remote-conversion.ts';
import type { Resource } from './resource.ts';
import { updateObject } from './verbs/update.ts';

/** A registry that its owner can also end. */
export interface OwnedRegistry extends Registry {
  /** Starts to fill the cache of a row, which otherwise happens at first use. Resolves when it is filled; rejects with 429 when that takes too long. */
  warm(resource: Resource): Promise<void>;
  /** Ends cache and watches of a row that is no longer served. */
  release(resource: Resource): void;
  /** Resolves when the cache of a row has what the store has now, or after three seconds. */
  catchUp(resource: Resource): Promise<void>;
  /** Ends all caches and watches; the store stays open. */
  close(): void;
}

const isRemote = (object: StoredObject): boolean => object.resource.convertRemotely !== undefined;

/** The object, readable in the version of the request; what any state will do for comes from what lists have made. */
function readRemote(object: StoredObject, { version }: Target, { resourceVersion }: GetOptions): Promise<StoredObject> {
  return resourceVersion === '0' ? readyObject(object, version) : convertForGet(object, version);
}

/** What a write came to, with its object readable in the version of the request. */
async function written<T extends { readonly object: StoredObject }>(
  core: Core, { context, ...target }: Target & { readonly context: WriteContext }, write: () => Promise<T>,
): Promise<T> {
  const { resource, version } = target;
  try {
    const result = await write();
    if (resource.answersFromCache === true && !context.dryRun) await core.scope(target).storage.cache.waitUntil(result.object.revision, FRESHNESS_LIMIT_MS);
    if (isRemote(result.object)) await readyObject(result.object, version);
    return result;
  } catch (error) {
    return throwAsStatus(error);
  }
}

/** A registry over a store and a catalog. */
export function createRegistry(options: RegistryOptions): OwnedRegistry {
  const core = new Core(options);
  return {
    get: (target, getOptions) => catchMaybe(
      () => mapMaybe(getObject(core, target, getOptions), (object) => (isRemote(object) ? readRemote(object, target, getOptions) : object)), throwAsStatus),
    list: (target, listOptions) => listReady(core, target, listOptions).catch(throwAsStatus),
    cachedRevision: (target) => core.scope(target).storage.cache.revision,
    watch: (target, watchOptions) => watchReady(core, target, watchOptions).catch(throwAsStatus),
    create: (request) => written(core, request, () => createObject(core, request)),
    update: (request) => written(core, request, () => updateObject(core, request)),
    delete: (request) => written(core, request, () => deleteObject(core, request)),
    deleteCollection: (target, list, deleteOptions, context) => deleteObjects(core, target, { list, options: deleteOptions, context }).catch(throwAsStatus),
    warm: async (resource) => {
      await core.readyScope({ resource, version: resource.storageVersion, namespace: '' });
    },
    release: (resource) => core.release(resource),
    async catchUp(resource) {
      await core.scope({ resource, version: resource.storageVersion, namespace: '' }).storage.cache.waitUntilCurrent(FRESHNESS_LIMIT_MS);
    },
    close: () => core.close(),
  };
}
