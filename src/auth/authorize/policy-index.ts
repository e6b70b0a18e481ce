// Roles by name and bindings by subject, fed by four reflectors. A decision touches the bindings of the caller's name and groups only,
// however many others there are. Bindings of one subject and namespace stay sorted by name, so that decisions do not depend on history.
import { type Clock, invariant } from '../../base/index.ts';
import { type Catalog, type Reflector, type Registry, type StoredObject, startReflector } from '../../registry/index.ts';
import type { User } from '../user.ts';
import { type PolicyRule, type RoleRef, type Subject, groupKey, readRules, subjectKey, userKey } from './rule.ts';

/** A binding as decisions need it. */
export interface Binding {
  readonly name: string;
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** What the rules of a role are, or that there is no such role. */
type RoleRules = readonly PolicyRule[] | undefined;

interface StoredBinding extends Binding {
  readonly keys: readonly string[];
}

const byName = (one: Binding, two: Binding): number => (one.name < two.name ? -1 : one.name > two.name ? 1 : 0);

/** What the index keeps of one resource. */
interface PolicyTable {
  reset(): void;
  put(object: StoredObject): void;
  remove(object: StoredObject): void;
}

/** Bindings of one kind. */
class BindingTable implements PolicyTable {
  /** How often something changed. */
  changes = 0;
  readonly #all = new Map<string, StoredBinding>();
  /** Subject, then namespace. */
  readonly #bySubject = new Map<string, Map<string, StoredBinding[]>>();

  reset(): void {
    this.changes += 1;
    this.#all.clear();
    this.#bySubject.clear();
  }

  put(object: StoredObject): void {
    this.changes += 1;
    this.remove(object);
    const binding = readBinding(object);
    this.#all.set(`${object.namespace}/${object.name}`, binding);
    for (const key of binding.keys) {
      const namespaces = this.#bySubject.get(key) ?? new Map<string, StoredBinding[]>();
      this.#bySubject.set(key, namespaces);
      const bindings = namespaces.get(binding.namespace) ?? [];
      namespaces.set(binding.namespace, bindings);
      insertSorted(bindings, binding);
    }
  }

  remove({ namespace, name }: StoredObject): void {
    const known = this.#all.get(`${namespace}/${name}`);
    if (known === undefined) return;
    this.changes += 1;
    this.#all.delete(`${namespace}/${name}`);
    for (const key of known.keys) this.#forget(key, known);
  }

  #forget(key: string, binding: StoredBinding): void {
    const namespaces = this.#bySubject.get(key);
    const bindings = namespaces?.get(binding.namespace);
    if (namespaces === undefined || bindings === undefined) return;
    bindings.splice(bindings.indexOf(binding), 1);
    if (bindings.length > 0) return;
    namespaces.delete(binding.namespace);
    if (namespaces.size === 0) this.#bySubject.delete(key);
  }

  /** Bindings of one subject in one namespace. */
  find(key: string, namespace: string): readonly Binding[] | undefined {
    return this.#bySubject.get(key)?.get(namespace);
  }
}

function insertSorted(bindings: StoredBinding[], binding: StoredBinding): void {
  let low = 0;
  for (let high = bindings.length; low < high;) {
    const middle = (low + high) >> 1;
    if (byName(bindings[middle] as Binding, binding) < 0) low = middle + 1;
    else high = middle;
  }
  bindings.splice(low, 0, binding);
}

function readBinding(object: StoredObject): StoredBinding {
  const body = object.object('v1');
  const subjects = (body['subjects'] ?? []) as readonly Subject[];
  const keys = new Set(subjects.map((subject) => subjectKey(subject, object.namespace)).filter((key) => key !== undefined));
  return { name: object.name, namespace: object.namespace, roleRef: body['roleRef'] as RoleRef, subjects, keys: [...keys] };
}

/** A role, whose rules are read when a decision first asks for them: most servers never ask for most of the bootstrap roles. */
class StoredRole {
  readonly #object: StoredObject;
  #rules: readonly PolicyRule[] | undefined;

  constructor(object: StoredObject) {
    this.#object = object;
  }

  get rules(): readonly PolicyRule[] {
    return (this.#rules ??= readRules(this.#object.object('v1')));
  }
}

/** Roles of one kind. */
class RoleTable implements PolicyTable {
  changes = 0;
  readonly #roles = new Map<string, StoredRole>();

  reset(): void {
    this.changes += 1;
    this.#roles.clear();
  }

  put(object: StoredObject): void {
    this.changes += 1;
    this.#roles.set(`${object.namespace}/${object.name}`, new StoredRole(object));
  }

  remove({ namespace, name }: StoredObject): void {
    this.changes += 1;
    this.#roles.delete(`${namespace}/${name}`);
  }

  find(namespace: string, name: string): RoleRules {
    return this.#roles.get(`${namespace}/${name}`)?.rules;
  }
}

interface PolicyIndexOptions {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** RBAC's objects, ready for decisions. Every question sees everything that is committed. */
export class PolicyIndex {
  /** Resolves when all four resources have been read. */
  readonly ready: Promise<void>;
  readonly #roles = new RoleTable();
  readonly #clusterRoles = new RoleTable();
  readonly #bindings = new BindingTable();
  readonly #clusterBindings = new BindingTable();
  readonly #reflectors: readonly Reflector[];

  constructor({ registry, catalog, clock, onError }: PolicyIndexOptions) {
    const reflect = (plural: string, table: PolicyTable): Reflector => {
      const resource = catalog.find('rbac.authorization.k8s.io', 'v1', plural);
      invariant(resource !== undefined, `${plural} are served`);
      return startReflector({
        registry, clock, onError, delivery: 'on-demand', target: { resource, version: 'v1', namespace: '' },
        onReset: () => table.reset(),
        onChange: (type, object) => (type === 'deleted' ? table.remove(object) : table.put(object)),
      });
    };
    this.#reflectors = [
      reflect('roles', this.#roles), reflect('clusterroles', this.#clusterRoles),
      reflect('rolebindings', this.#bindings), reflect('clusterrolebindings', this.#clusterBindings),
    ];
    this.ready = Promise.all(this.#reflectors.map(({ synced }) => synced)).then(() => undefined);
  }

  /** Grows with every change that was taken in: answers of one generation hold for all of it. */
  get generation(): number {
    return this.#roles.changes + this.#clusterRoles.changes + this.#bindings.changes + this.#clusterBindings.changes;
  }

  /** Takes in every committed change; each question comes after it. */
  catchUp(): void {
    for (const reflector of this.#reflectors) reflector.catchUp();
  }

  /**
   * Calls `visit` for the bindings that concern the user, those of the cluster first, until it answers true. A binding that names the
   * user several times may be visited as often.
   */
  someBinding(user: User, namespace: string, visit: (binding: Binding) => boolean): boolean {
    if (visitTable(this.#clusterBindings, user, { namespace: '', visit })) return true;
    return namespace !== '' && visitTable(this.#bindings, user, { namespace, visit });
  }

  /** The rules of a role that a binding in `namespace` refers to. */
  findRole({ kind, name }: Pick<RoleRef, 'kind' | 'name'>, namespace: string): RoleRules {
    return kind === 'ClusterRole' ? this.#clusterRoles.find('', name) : this.#roles.find(namespace, name);
  }

  stop(): void {
    for (const reflector of this.#reflectors) reflector.stop();
  }
}

function visitTable(table: BindingTable, user: User, { namespace, visit }: { namespace: string; visit: (binding: Binding) => boolean }): boolean {
  if (table.find(userKey(user.name), namespace)?.some(visit) === true) return true;
  for (const group of user.groups) if (table.find(groupKey(group), namespace)?.some(visit) === true) return true;
  return false;
}
