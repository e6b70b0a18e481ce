// The registry: seven verbs over rows. Nothing above it can tell a Pod from a custom resource, nothing below it knows either.
import { type Soon, attempt, follow } from '../base/index.ts';
import type { ObjectVersion, Registry, Target } from './contract.ts';
import { listReady, watchReady } from './converted.ts';
import { Core, type RegistryOptions } from './core.ts';
import { createObject } from './create.ts';
import { deleteObjects } from './delete-collection.ts';
import { deleteObject } from './delete.ts';
import { throwAsStatus } from './errors.ts';
import { getObject } from './get.ts';
import { readyVersion } from './remote.ts';
import type { Resource } from './resource.ts';
import { updateObject } from './update.ts';

/** A registry that its owner can also end. */
export interface OwnedRegistry extends Registry {
  /** Starts to fill the cache of a row, which otherwise happens at first use. Resolves when it is filled; rejects with 429 when that takes too long. */
  warm(resource: Resource): Promise<void>;
  /** Ends cache and watches of a row that is no longer served. */
  release(resource: Resource): void;
  /** Ends all caches and watches; the store stays open. */
  close(): void;
}

/** The result of a verb, with its object in the version of the request. */
async function ready<T extends { readonly object: ObjectVersion }>({ version }: Target, work: Promise<T>): Promise<T> {
  const result = await work;
  await readyVersion(result.object, version);
  return result;
}

/** Only rows with remote conversion have to be waited for. */
function getReady(object: ObjectVersion, version: string): Soon<ObjectVersion> {
  return object.resource.convertRemotely === undefined ? object : readyVersion(object, version);
}

/** A registry over a store and a catalog. */
export function createRegistry(options: RegistryOptions): OwnedRegistry {
  const core = new Core(options);
  return {
    get: (target, getOptions) => attempt(() => follow(getObject(core, target, getOptions), (object) => getReady(object, target.version)), throwAsStatus),
    list: (target, listOptions) => listReady(core, target, listOptions).catch(throwAsStatus),
    watch: (target, watchOptions) => watchReady(core, target, watchOptions).catch(throwAsStatus),
    create: (request) => ready(request, createObject(core, request)).catch(throwAsStatus),
    update: (request) => ready(request, updateObject(core, request)).catch(throwAsStatus),
    delete: (request) => ready(request, deleteObject(core, request)).catch(throwAsStatus),
    deleteCollection: (target, list, deleteOptions, context) => deleteObjects(core, target, { list, options: deleteOptions, context }).catch(throwAsStatus),
    warm: async (resource) => {
      await core.readyPlace({ resource, version: resource.storageVersion, namespace: '' });
    },
    release: (resource) => core.release(resource),
    close: () => core.close(),
  };
}
