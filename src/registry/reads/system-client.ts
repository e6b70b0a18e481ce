// The server's own reads and writes: objects by name, as a member of system:masters, without a request around them. Controllers and definitions
// use it, and whatever else keeps objects of its own.
import { type JsonObject, type KubeObject, type Schema, StatusError, decodeObject, formatGroupVersion } from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';
import type { Catalog, DeleteOptions, Registry, StoredObject, Target, WriteContext } from '../contract.ts';
import { defaultObject } from '../fields/defaults.ts';
import { applyObject } from '../fields/field-manager.ts';
import { type Resource, versionIn } from '../resource.ts';
import { cloneJson } from '../values.ts';
import { everything } from './predicate.ts';

/** Where an object is. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** Computes the next state of an object; the same object when there is nothing to do. */
type Change = (current: KubeObject) => KubeObject;

/** Typed access to one resource. */
export interface SystemClient {
  readonly target: (namespace: string) => Target;
  /** The newest state, or undefined when the object does not exist. */
  get(key: ObjectKey): Promise<KubeObject | undefined>;
  /** All objects, parsed: for kinds of which callers cannot make many. */
  list(namespace: string): Promise<readonly KubeObject[]>;
  /** The objects at one moment, one after the other, however many there are; `pause` gives turns away in between. */
  each(namespace: string, pause: () => Promise<void> | undefined): AsyncIterable<StoredObject>;
  /** How many objects there are; nothing of them is read. */
  count(namespace: string): Promise<number>;
  /** Creates the object; false when it exists already. */
  createIfAbsent(namespace: string, object: KubeObject): Promise<boolean>;
  /** Changes an object that exists and returns what it became; undefined when it does not exist. */
  update(key: ObjectKey, subresource: string, change: Change): Promise<StoredObject | undefined>;
  /** Applies fields to an object that exists, in force; `state` returns them, or undefined when there is nothing to do. */
  apply(key: ObjectKey, options: ApplyOptions, state: (current: KubeObject) => JsonObject | undefined): Promise<void>;
  /** Deletes the object if it exists. */
  delete(key: ObjectKey): Promise<void>;
  deleteAll(namespace: string, options: DeleteOptions): Promise<void>;
  /** Deletes one object; false when the preconditions do not hold. */
  remove(key: ObjectKey, options: DeleteOptions): Promise<boolean>;
  /** Names of up to `limit` objects in all namespaces, as the cache has them. */
  names(limit: number): Promise<readonly string[]>;
}

interface ApplyOptions {
  /** '' for the object itself. */
  readonly subresource: string;
  readonly nowMs: number;
}

/** The context of a write of the server itself; `manager` is its name in managedFields. */
export function createSystemContext(manager: string): WriteContext {
  return { user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, dryRun: false, fieldManager: manager, warnings: [] };
}

/** A client of the resource in its storage version; `manager` is its name in managedFields. */
export function createClientOf(registry: Registry, resource: Resource, manager: string): SystemClient {
  return new RegistryClient(registry, resource, manager);
}

/** The client of a built-in resource. */
export function createSystemClient(
  { registry, catalog }: { registry: Registry; catalog: Catalog }, [group, apiVersion, plural]: readonly [string, string, string], manager: string,
): SystemClient {
  const resource = catalog.find(group, apiVersion, plural);
  invariant(resource !== undefined, `${plural} is served`);
  return createClientOf(registry, resource, manager);
}

class RegistryClient implements SystemClient {
  readonly #registry: Registry;
  readonly #resource: Resource;
  readonly #manager: string;
  readonly #complete: Change;

  constructor(registry: Registry, resource: Resource, manager: string) {
    this.#registry = registry;
    this.#resource = resource;
    this.#manager = manager;
    this.#complete = completerOf(resource);
  }

  readonly target = (namespace: string): Target => ({ resource: this.#resource, version: this.#resource.storageVersion, namespace });

  get(key: ObjectKey): Promise<KubeObject | undefined> {
    return undefinedIfAbsent(async () => (await this.#registry.get(this.#at(key), {})).object(this.#resource.storageVersion));
  }

  async list(namespace: string): Promise<readonly KubeObject[]> {
    const { items } = await this.#registry.list(this.target(namespace), { predicate: everything });
    return Array.from(items, (item) => item.object(this.#resource.storageVersion));
  }

  async *each(namespace: string, pause: () => Promise<void> | undefined): AsyncGenerator<StoredObject> {
    const { items } = await this.#registry.list(this.target(namespace), { predicate: everything });
    for (const item of items) {
      const turn = pause();
      if (turn !== undefined) await turn;
      yield item;
    }
  }

  async count(namespace: string): Promise<number> {
    return (await this.#registry.list(this.target(namespace), { predicate: everything })).count;
  }

  async createIfAbsent(namespace: string, object: KubeObject): Promise<boolean> {
    try {
      await this.#registry.create({ ...this.target(namespace), object: this.#complete(object), context: this.#context });
      return true;
    } catch (error) {
      if (hasReason(error, 'AlreadyExists')) return false;
      throw error;
    }
  }

  update(key: ObjectKey, subresource: string, change: Change): Promise<StoredObject | undefined> {
    const complete = subresource === 'status' ? (changed: KubeObject): KubeObject => withCompleteStatus(changed, this.#complete) : this.#complete;
    const transform = (current: KubeObject): KubeObject => {
      const changed = change(current);
      return changed === current ? current : complete(changed);
    };
    return this.#write(key, { subresource, transform, changes: (current) => change(current) !== current });
  }

  async apply(key: ObjectKey, { subresource, nowMs }: ApplyOptions, state: (current: KubeObject) => JsonObject | undefined): Promise<void> {
    const resource = this.#resource;
    const apiVersion = resource.storageVersion;
    const transform = (current: KubeObject): KubeObject => {
      const fields = state(current);
      if (fields === undefined) return current;
      const applied = { apiVersion: formatGroupVersion({ group: resource.group, version: apiVersion }), kind: resource.kind,
        metadata: { name: key.name }, ...fields };
      const { object } = applyObject({
        resource, version: apiVersion, subresource, schema: schemaOf(resource), manager: this.#manager, force: true, nowMs, current, applied,
      });
      return this.#complete(object);
    };
    await this.#write(key, { subresource, transform, changes: (current) => transform(current) !== current, managedFields: 'keep' });
  }

  async delete(key: ObjectKey): Promise<void> {
    await undefinedIfAbsent(() => this.#registry.delete({ ...this.#at(key), options: {}, context: this.#context }));
  }

  async deleteAll(namespace: string, options: DeleteOptions): Promise<void> {
    await this.#registry.deleteCollection(this.target(namespace), { predicate: everything }, options, this.#context);
  }

  async remove(key: ObjectKey, options: DeleteOptions): Promise<boolean> {
    try {
      await this.#registry.delete({ ...this.#at(key), options, context: this.#context });
      return true;
    } catch (error) {
      if (hasReason(error, 'Conflict')) return false;
      if (hasReason(error, 'NotFound')) return true;
      throw error;
    }
  }

  async names(limit: number): Promise<readonly string[]> {
    const { items } = await this.#registry.list(this.target(''), { predicate: everything, resourceVersion: '0', limit });
    return Array.from(items, (item) => item.name);
  }

  get #context(): WriteContext {
    return createSystemContext(this.#manager);
  }

  #at({ namespace, name }: ObjectKey): Target & { readonly name: string } {
    return { ...this.target(namespace), name };
  }

  /** An object that stays as it is causes no write, so that no admission webhook is asked about it. */
  async #write(key: ObjectKey, { transform, changes, ...request }: WriteRequest): Promise<StoredObject | undefined> {
    const stored = await undefinedIfAbsent(() => this.#registry.get(this.#at(key), {}));
    const current = stored?.object(this.#resource.storageVersion);
    if (stored === undefined || current === undefined || !changes(current)) return stored;
    const written = await undefinedIfAbsent(() => this.#registry.update({
      ...this.#at(key), ...request, createIfAbsent: false, context: this.#context,
      transform(current) {
        invariant(current !== undefined, 'an update without create has a current object');
        return transform(current);
      },
    }));
    return written?.object;
  }
}

interface WriteRequest {
  readonly subresource: string;
  readonly transform: Change;
  /** Whether there is anything to write; an object that changes is completed by `transform` alone. */
  readonly changes: (current: KubeObject) => boolean;
  readonly managedFields?: 'keep';
}

function schemaOf(resource: Resource): Schema {
  const schema = versionIn(resource, resource.storageVersion)?.schema;
  invariant(schema !== undefined, 'the storage version has a schema');
  return schema;
}

/** Makes of an object in the storage version what the body of a request becomes: fields in their order, defaults filled in. */
function completerOf(resource: Resource): Change {
  return resource.custom ? cloneJson : (object) => completeObject(resource, object);
}

/** Writes of a status change nothing else but metadata: what else there is of the object, which may be large, is complete as it was read. */
function withCompleteStatus(changed: KubeObject, complete: Change): KubeObject {
  const { apiVersion, kind, metadata, status } = changed as KubeObject & { readonly status?: JsonObject };
  const completed = complete({ apiVersion, kind, metadata, ...(status !== undefined && { status }) } as KubeObject);
  return { ...changed, metadata: completed.metadata, ...(completed['status'] !== undefined && { status: completed['status'] }) };
}

/** An object of a built-in resource, typed by its schema and defaulted, in the storage version. */
export function completeObject(resource: Resource, object: KubeObject): KubeObject {
  const { group, kind, storageVersion } = resource;
  const type = { apiVersion: formatGroupVersion({ group, version: storageVersion }), kind };
  return defaultObject({ ...decodeObject(schemaOf(resource), object).object, ...type } as KubeObject, { resource, version: storageVersion });
}

/** Whether an error is a Status with this reason. */
export const hasReason = (error: unknown, reason: string): boolean => error instanceof StatusError && error.reason === reason;

/** Whether an error says that the namespace is ending: nothing more can be created in it. */
export const isTerminating = (error: unknown): boolean =>
  error instanceof StatusError && error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;

async function undefinedIfAbsent<T>(call: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
