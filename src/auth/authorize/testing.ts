// What the tests and the bench of authorization share: an index over hand-made roles and bindings, without a server.
import type { KubeObject } from '../../apimachinery/index.ts';
import { systemClock } from '../../base/index.ts';
import type { Catalog, ListResult, StoredObject, Registry, RegistryEvent, RegistryWatch, Resource } from '../../registry/index.ts';
import type { Attributes } from './attributes.ts';
import { PolicyIndex } from './policy-index.ts';
import type { PolicyRule, Subject } from './rule.ts';

/** Just enough of a registry: rows of objects, and watches that wake in the turn of a change. */
export class PolicyStore {
  readonly #rows = new Map<string, Map<string, StoredObject>>();
  readonly #watches = new Map<string, Set<(event: RegistryEvent) => void>>();
  #revision = 1;

  /** Adds or replaces. */
  put(object: KubeObject): void {
    const plural = `${(object.kind as string).toLowerCase()}s`;
    const version = this.#createVersion(object);
    this.#row(plural).set(`${version.namespace}/${version.name}`, version);
    this.#tell(plural, { type: 'MODIFIED', object: version, revision: version.revision });
  }

  /** Removes; the object must be there. */
  remove(kind: string, namespace: string, name: string): void {
    const plural = `${kind.toLowerCase()}s`;
    const object = this.#row(plural).get(`${namespace}/${name}`) as StoredObject;
    this.#row(plural).delete(`${namespace}/${name}`);
    this.#tell(plural, { type: 'DELETED', object, revision: ++this.#revision });
  }

  /** An index that has read everything. */
  async open(): Promise<PolicyIndex> {
    const catalog = { find: (_group: string, _version: string, plural: string) => ({ plural }) as Resource } as unknown as Catalog;
    const registry = {
      list: ({ resource }: { resource: Resource }) =>
        Promise.resolve({ revision: this.#revision, items: [...this.#row(resource.plural).values()], count: 0 } as ListResult),
      watch: ({ resource }: { resource: Resource }) => Promise.resolve(this.#watch(resource.plural)),
    } as unknown as Registry;
    const index = new PolicyIndex({ registry, catalog, clock: systemClock, onError: () => {} });
    await index.ready;
    return index;
  }

  #row(plural: string): Map<string, StoredObject> {
    const row = this.#rows.get(plural) ?? new Map<string, StoredObject>();
    this.#rows.set(plural, row);
    return row;
  }

  #createVersion(object: KubeObject): StoredObject {
    const { name = '', namespace = '' } = object.metadata;
    return { name, namespace, revision: ++this.#revision, labels: object.metadata.labels, object: () => object } as unknown as StoredObject;
  }

  #tell(plural: string, event: RegistryEvent): void {
    for (const hear of this.#watches.get(plural) ?? []) hear(event);
  }

  #watch(plural: string): RegistryWatch {
    let queue: RegistryEvent[] = [];
    let wake: (() => void) | undefined;
    const hear = (event: RegistryEvent): void => {
      queue.push(event);
      const waiting = wake;
      wake = undefined;
      waiting?.();
    };
    this.#watches.set(plural, (this.#watches.get(plural) ?? new Set()).add(hear));
    return {
      take(limit) {
        const taken = queue.slice(0, limit);
        queue = queue.slice(limit);
        return taken;
      },
      onReadable(next) {
        if (queue.length > 0) next();
        else wake = next;
      },
      revision: 0, end: undefined, fork: () => this.#watch(plural), close: () => void this.#watches.get(plural)?.delete(hear),
    };
  }
}

const API_GROUP = 'rbac.authorization.k8s.io';
const head = (kind: string, name: string, namespace: string): KubeObject =>
  ({ apiVersion: `${API_GROUP}/v1`, kind, metadata: { name, ...(namespace !== '' && { namespace }) } });

/** A Role, or a ClusterRole when the namespace is ''. */
export const makeRole = (namespace: string, name: string, ...rules: readonly PolicyRule[]): KubeObject =>
  ({ ...head(namespace === '' ? 'ClusterRole' : 'Role', name, namespace), rules });

/** A binding of `Role/name` or `ClusterRole/name`. */
export function makeBinding(namespace: string, role: string, ...subjects: readonly Subject[]): KubeObject {
  const [kind, name] = role.split('/') as [string, string];
  return { ...head(namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', `to-${name}`, namespace), roleRef: { apiGroup: API_GROUP, kind, name }, subjects };
}

/** A request. `what` is `verb resource[/subresource][.group] [name]`, or `verb /path`. */
export function makeRequest(who: string, what: string, namespace = 'ns'): Attributes {
  const [name, ...groups] = who.split(' ') as [string, ...string[]];
  const [verb, target, object = ''] = what.split(' ') as [string, string, string | undefined];
  const isResource = !target.startsWith('/');
  const [path = '', ...group] = isResource ? target.split('.') : [target];
  const [resource = '', subresource = ''] = isResource ? path.split('/') : [];
  return {
    user: { name, groups }, verb, isResource, group: group.join('.'), version: 'v1', namespace: isResource ? namespace : '', resource, subresource,
    name: object, path: isResource ? '' : target,
  };
}
