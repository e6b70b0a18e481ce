// The registry as controllers use it: objects by name, as a member of system:masters, without a request around them.
import { type JsonObject, type KubeObject, type Schema, StatusError, decodeObject, formatGroupVersion } from '../apimachinery/index.ts';
import { invariant } from '../base/index.ts';
import {
  type Catalog, type DeleteOptions, type Registry, type Resource, type Target, type WriteContext, applyObject, defaultObject, everything,
} from '../registry/index.ts';

/** Where an object is. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** Typed access to one resource. */
export interface ResourceClient {
  readonly target: (namespace: string) => Target;
  /** The newest state, or undefined when it does not exist. */
  get(key: ObjectKey): Promise<KubeObject | undefined>;
  list(namespace: string): Promise<readonly KubeObject[]>;
  /** Creates unless somebody else did; false then. */
  createIfAbsent(namespace: string, object: KubeObject): Promise<boolean>;
  /** Changes an object that exists; false when it does not. `change` answers undefined when there is nothing to do. */
  update(key: ObjectKey, subresource: string, change: (current: KubeObject) => KubeObject): Promise<boolean>;
  /** Applies a status, whoever else has stated one; `state` answers what is stated, undefined when there is nothing to do. */
  applyStatus(key: ObjectKey, nowMs: number, state: (current: KubeObject) => JsonObject | undefined): Promise<void>;
  /** Deletes unless somebody else did. */
  delete(key: ObjectKey): Promise<void>;
  deleteAll(namespace: string, options: DeleteOptions): Promise<void>;
  /** Deletes one object; false when it is not what the preconditions say. */
  remove(key: ObjectKey, options: DeleteOptions): Promise<boolean>;
  /** Names of up to `limit` objects in all namespaces, as the cache has them. */
  names(limit: number): Promise<readonly string[]>;
}

function schemaOf({ versions, storageVersion }: Resource): Schema {
  const schema = versions.find(({ name }) => name === storageVersion)?.schema;
  invariant(schema !== undefined, 'the storage version has a schema');
  return schema;
}

/** Makes of objects in the storage version what the body of a request becomes: fields in their order, defaults filled in. */
function completerOf(resource: Resource): (object: KubeObject) => KubeObject {
  const { group, kind, storageVersion, custom } = resource;
  if (custom) return (object) => object;
  const schema = schemaOf(resource);
  const type = { apiVersion: formatGroupVersion({ group, version: storageVersion }), kind };
  return (object) => defaultObject({ ...decodeObject(schema, object).object, ...type } as KubeObject, { resource, version: storageVersion });
}

/** A client of the row in its storage version; `manager` is its name in managedFields. */
export function createClient(registry: Registry, resource: Resource, manager: string): ResourceClient {
  const version = resource.storageVersion;
  const target = (namespace: string): Target => ({ resource, version, namespace });
  const complete = completerOf(resource);
  return {
    target,
    get: ({ namespace, name }) => absentIsUndefined((async () => (await registry.get({ ...target(namespace), name }, {})).object(resource.storageVersion))()),
    async list(namespace) {
      const result = await registry.list(target(namespace), { predicate: everything });
      return Array.from(result.items, (item) => item.object(resource.storageVersion));
    },
    async createIfAbsent(namespace, object) {
      try {
        await registry.create({ ...target(namespace), object: complete(object), context: createContext(manager) });
        return true;
      } catch (error) {
        if (hasReason(error, 'AlreadyExists')) return false;
        throw error;
      }
    },
    async update({ namespace, name }, subresource, change) {
      const found = await absentIsUndefined(registry.update({
        ...target(namespace), name, subresource, createIfAbsent: false, context: createContext(manager),
        transform(current) {
          invariant(current !== undefined, 'an update without create has a current object');
          const changed = change(current);
          return changed === current ? current : complete(changed);
        },
      }));
      return found !== undefined;
    },
    async applyStatus({ namespace, name }, nowMs, state) {
      const transform = (current: KubeObject | undefined): KubeObject => {
        invariant(current !== undefined, 'an update without create has a current object');
        const status = state(current);
        const applied = { apiVersion: formatGroupVersion({ group: resource.group, version }), kind: resource.kind, metadata: { name }, status };
        if (status === undefined) return current;
        return complete(applyObject({
          resource, version, subresource: 'status', schema: schemaOf(resource), manager, force: true, nowMs, current, applied,
        }));
      };
      await absentIsUndefined(registry.update({
        ...target(namespace), name, subresource: 'status', createIfAbsent: false, managedFields: 'keep', context: createContext(manager), transform,
      }));
    },
    async delete({ namespace, name }) {
      await absentIsUndefined(registry.delete({ ...target(namespace), name, options: {}, context: createContext(manager) }));
    },
    async deleteAll(namespace, options) {
      await registry.deleteCollection(target(namespace), { predicate: everything }, options, createContext(manager));
    },
    async remove({ namespace, name }, options) {
      try {
        await registry.delete({ ...target(namespace), name, options, context: createContext(manager) });
        return true;
      } catch (error) {
        if (hasReason(error, 'Conflict')) return false;
        if (hasReason(error, 'NotFound')) return true;
        throw error;
      }
    },
    async names(limit) {
      const result = await registry.list(target(''), { predicate: everything, resourceVersion: '0', limit });
      return Array.from(result.items, (item) => item.name);
    },
  };
}

/** The client of a built-in resource. */
export function createClientFor(
  context: { registry: Registry; catalog: Catalog }, [group, version, plural]: readonly [string, string, string], manager: string,
): ResourceClient {
  const resource = context.catalog.find(group, version, plural);
  invariant(resource !== undefined, `${plural} is served`);
  return createClient(context.registry, resource, manager);
}

function createContext(manager: string): WriteContext {
  return { user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, dryRun: false, fieldManager: manager, warnings: [] };
}

/** Whether an error is a Status with this reason. */
export const hasReason = (error: unknown, reason: string): boolean => error instanceof StatusError && error.reason === reason;

/** Whether an error says that the namespace is ending: nothing more can be done in it. */
export const isTerminating = (error: unknown): boolean =>
  error instanceof StatusError && error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;

async function absentIsUndefined<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
