// The registry: seven verbs over rows. Nothing above it can tell a Pod from a custom resource, nothing below it knows either.
import type { Registry } from './contract.ts';
import { Core, type RegistryOptions } from './core.ts';
import { createObject } from './create.ts';
import { deleteObjects } from './delete-collection.ts';
import { deleteObject } from './delete.ts';
import { throwAsStatus } from './errors.ts';
import { getObject } from './get.ts';
import { listObjects } from './list.ts';
import type { Resource } from './resource.ts';
import { updateObject } from './update.ts';
import { watchObjects } from './watch.ts';

/** A registry that its owner can also end. */
export interface OwnedRegistry extends Registry {
  /** Starts to fill the cache of a row, which otherwise happens at first use. Resolves when it is filled; rejects with 429 when that takes too long. */
  warm(resource: Resource): Promise<void>;
  /** Ends cache and watches of a row that is no longer served. */
  release(resource: Resource): void;
  /** Ends all caches and watches; the store stays open. */
  close(): void;
}

/** A registry over a store and a catalog. */
export function createRegistry(options: RegistryOptions): OwnedRegistry {
  const core = new Core(options);
  return {
    get: (target, getOptions) => getObject(core, target, getOptions).catch(throwAsStatus),
    list: (target, listOptions) => listObjects(core, target, listOptions).catch(throwAsStatus),
    watch: (target, watchOptions) => watchObjects(core, target, watchOptions).catch(throwAsStatus),
    create: (request) => createObject(core, request).catch(throwAsStatus),
    update: (request) => updateObject(core, request).catch(throwAsStatus),
    delete: (request) => deleteObject(core, request).catch(throwAsStatus),
    deleteCollection: (target, list, deleteOptions, context) => deleteObjects(core, target, { list, options: deleteOptions, context }).catch(throwAsStatus),
    warm: async (resource) => {
      await core.readyPlace({ resource, version: resource.storageVersion, namespace: '' });
    },
    release: (resource) => core.release(resource),
    close: () => core.close(),
  };
}
