// What a controller reads and writes: kinds that it follows are read from its informers, everything else is asked of the server.
import { cloneJson } from '../../registry/index.ts';
import { ApiError, takeBody } from '../api.ts';
import { type KnownResource, resourcePath } from '../discovery.ts';
import type { KubernetesObject } from '../objects.ts';
import type { Connection } from './connection.ts';
import type { KindReference, ObjectName } from './kinds.ts';
import type { Informer } from './informer.ts';

type Kind = Pick<KindReference, 'apiVersion' | 'kind'>;

/** How a write is made. */
export interface WriteOptions {
  /** `status`, `scale`: the part of the object that is written. */
  readonly subresource?: string;
}

/** How an object is applied. */
export interface ApplyOptions extends WriteOptions {
  /** Whether fields of other managers are taken over; true when absent. */
  readonly force?: boolean;
}

/** How an object is deleted. */
export interface DeleteOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Reads and writes of a controller; writes carry its name as field manager. Refusals reject with ApiError. */
export interface ControllerClient {
  /** An object, undefined when there is none: from the informer of the kind where there is one, else from the server. */
  get<T extends KubernetesObject = KubernetesObject>(kind: Kind, name: ObjectName): Promise<T | undefined>;
  /** The same, always from the server. */
  getNow<T extends KubernetesObject = KubernetesObject>(kind: Kind, name: ObjectName): Promise<T | undefined>;
  /** The objects of a kind that an informer has, else those of the server, in one namespace or in all. */
  list<T extends KubernetesObject = KubernetesObject>(kind: Kind, namespace?: string): Promise<T[]>;
  create<T extends KubernetesObject>(object: T): Promise<T>;
  /** Replaces an object; a resourceVersion in it must be the newest. */
  update<T extends KubernetesObject>(object: T, options?: WriteOptions): Promise<T>;
  /** Says what is wanted of an object, server-side: it is created or changed, and fields that were wanted before and are left out are removed. */
  apply<T extends KubernetesObject>(object: T, options?: ApplyOptions): Promise<T>;
  /** Applies the status alone. */
  applyStatus<T extends KubernetesObject>(object: T, status: T['status']): Promise<T>;
  /** Deletes an object as far as its finalizers let it; does nothing when there is none. */
  delete(object: KubernetesObject, options?: DeleteOptions): Promise<void>;
}

/** What the client is made of. */
interface ClientParts {
  readonly connection: Connection;
  readonly name: string;
  /** The informer that has all objects of a kind in a namespace ('' for all namespaces). */
  findInformer(kind: Kind, namespace: string): Informer | undefined;
}

/** Makes the client of a controller. */
export function createControllerClient({ connection, name: manager, findInformer }: ClientParts): ControllerClient {
  const { ask } = connection;
  const locate = async ({ apiVersion = '', kind = '' }: Partial<Kind>): Promise<KnownResource> => {
    const resource = await connection.findKind(apiVersion, kind);
    if (resource === undefined) throw new Error(`${manager}: no resource is served for ${apiVersion} ${kind}`);
    return resource;
  };
  const pathOf = async (object: KubernetesObject, subresource = ''): Promise<string> => {
    const { name = '', namespace } = object.metadata ?? {};
    return `${resourcePath(await locate(object), { name, namespace })}${subresource === '' ? '' : `/${subresource}`}`;
  };
  const send = async (method: string, path: string, body?: unknown): Promise<any> =>
    takeBody(method, path, await ask({ method, path: `${path}${path.includes('?') ? '&' : '?'}fieldManager=${encodeURIComponent(manager)}`, body }));
  const getNow = async (kind: Kind, name: ObjectName): Promise<any> => {
    const path = resourcePath(await locate(kind), name);
    const response = await ask({ path });
    return response.status === 404 ? undefined : takeBody('GET', path, response);
  };
  const client: ControllerClient = {
    getNow,
    async get<T>(kind: Kind, name: ObjectName) {
      const informer = findInformer(kind, name.namespace);
      return (informer === undefined ? getNow(kind, name) : informer.get(name)) as T | undefined;
    },
    async list<T>(kind: Kind, namespace = '') {
      const informer = findInformer(kind, namespace);
      if (informer !== undefined) return informer.list().filter(({ metadata }) => namespace === '' || metadata?.namespace === namespace) as T[];
      const path = resourcePath(await locate(kind), { namespace });
      const { items = [] } = takeBody('GET', path, await ask({ path })) as { readonly items?: object[] };
      return items.map((item) => ({ ...kind, ...item })) as T[];
    },
    async create(object) {
      return send('POST', resourcePath(await locate(object), { namespace: object.metadata?.namespace }), object);
    },
    update: async (object, { subresource } = {}) => send('PUT', await pathOf(object, subresource), object),
    apply: async (object, { subresource, force = true } = {}) =>
      send('PATCH', `${await pathOf(object, subresource)}?force=${force}`, withoutServerFields(object)),
    async applyStatus(object, status) {
      const { apiVersion, kind, metadata } = object;
      const { name, namespace } = metadata ?? {};
      const wanted = { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) }, status };
      return send('PATCH', `${await pathOf(object, 'status')}?force=true`, wanted);
    },
    async delete(object, { propagationPolicy, uid, resourceVersion } = {}) {
      const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
      const path = await pathOf(object);
      const body = {
        apiVersion: 'v1', kind: 'DeleteOptions', ...(propagationPolicy !== undefined && { propagationPolicy }),
        ...(Object.keys(preconditions).length > 0 && { preconditions }),
      };
      const response = await ask({ method: 'DELETE', path, body });
      if (response.status >= 400 && response.status !== 404) throw new ApiError(`DELETE ${path}`, response);
    },
  };
  return client;
}

/** Apply takes no managed fields, and a status only where it has no subresource of its own: an object that was read can be changed and applied. */
function withoutServerFields<T extends KubernetesObject>(object: T): T {
  const { managedFields: _fields, resourceVersion: _version, uid: _uid, creationTimestamp: _time, generation: _generation, ...metadata }
    = object.metadata ?? {};
  return cloneJson({ ...object, metadata } as never) as T;
}
