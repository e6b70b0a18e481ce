// What the objects of RBAC permit, and by which binding and role: the rules for a subject, and the subjects for an action.

/** A rule of a role. */
export interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Meta {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** A Role or ClusterRole. */
export interface RoleObject extends Meta {
  readonly rules?: readonly Rule[] | null;
}

/** A RoleBinding or ClusterRoleBinding. */
export interface BindingObject extends Meta {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[] | null;
}

/** Everything that RBAC decides by. */
export interface Policy {
  readonly roles: readonly RoleObject[];
  readonly clusterRoles: readonly RoleObject[];
  readonly bindings: readonly BindingObject[];
  readonly clusterBindings: readonly BindingObject[];
}

/** A user with its groups, as requests carry them. */
export interface Caller {
  readonly user: string;
  readonly groups: readonly string[];
}

/** A rule in force, and why. */
export interface Grant {
  readonly rule: Rule;
  /** '' for the whole cluster. */
  readonly namespace: string;
  readonly binding: BindingObject;
  readonly subject: Subject;
}

/** An action on objects of a kind. */
export interface Action {
  readonly verb: string;
  readonly group: string;
  /** A subresource stands behind a slash. */
  readonly resource: string;
  readonly namespace: string;
  /** '' for any. */
  readonly name: string;
}

/** A service account as a caller. */
export const accountCaller = (namespace: string, name: string): Caller => ({
  user: `system:serviceaccount:${namespace}:${name}`, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** A caller by the name of its user: service accounts have their groups, others those that are given. */
export function findCaller(user: string, groups: readonly string[]): Caller {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace !== undefined && name !== undefined) return accountCaller(namespace, name);
  return { user, groups: [...new Set([...groups, user === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated'])] };
}

function isCaller({ kind, name, namespace = '' }: Subject, { user, groups }: Caller, bindingNamespace: string): boolean {
  if (kind === 'User') return name === user;
  if (kind === 'Group') return groups.includes(name);
  return user === `system:serviceaccount:${namespace === '' ? bindingNamespace : namespace}:${name}`;
}

/** Every rule that a binding puts in force, for each of its subjects that `holds`. */
function listGrants({ roles, clusterRoles, bindings, clusterBindings }: Policy, holds: (subject: Subject, namespace: string) => boolean): Grant[] {
  const ofCluster = new Map(clusterRoles.map((role) => [role.metadata.name, role]));
  const ofNamespace = new Map(roles.map((role) => [`${role.metadata.namespace}/${role.metadata.name}`, role]));
  return [...clusterBindings, ...bindings].flatMap((binding) => {
    const { namespace = '' } = binding.metadata;
    const { kind, name } = binding.roleRef;
    const role = kind === 'ClusterRole' ? ofCluster.get(name) : ofNamespace.get(`${namespace}/${name}`);
    const subjects = (binding.subjects ?? []).filter((subject) => holds(subject, namespace));
    return subjects.flatMap((subject) => (role?.rules ?? []).map((rule): Grant => ({ rule, namespace, binding, subject })));
  });
}

/** The rules for a caller. */
export const grantsFor = (policy: Policy, caller: Caller): Grant[] => listGrants(policy, (subject, namespace) => isCaller(subject, caller, namespace));

/** Whether a rule covers an action. */
export function covers({ verbs = [], apiGroups = [], resources = [], resourceNames = [] }: Rule, { verb, group, resource, name }: Action): boolean {
  const has = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);
  const slash = resource.indexOf('/');
  const isNamed = resourceNames.length === 0 || (name !== '' && resourceNames.includes(name));
  const coversResource = has(resources, resource) || (slash !== -1 && resources.includes(`*${resource.slice(slash)}`));
  return has(verbs, verb) && has(apiGroups, group) && coversResource && isNamed;
}

/** The grants that permit an action; a grant of one namespace permits nothing elsewhere. */
export const grantsOf = (grants: readonly Grant[], action: Action): Grant[] =>
  grants.filter(({ rule, namespace }) => (namespace === '' || namespace === action.namespace) && covers(rule, action));

/** Every subject that may do something, with why. */
export const subjectsFor = (policy: Policy, action: Action): Grant[] => grantsOf(listGrants(policy, () => true), action);
