// The RBAC mode: may this caller do this, and what may they do at all. Decisions are synchronous once the index has been read.
// Mirrors the reference's reasons, also of refusals that end at a role which does not exist.
import { BoundedCache } from '../../base/index.ts';
import { formatGroupResource } from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { Attributes, Authorize, Decision } from './attributes.ts';
import type { Binding, PolicyIndex } from './policy-index.ts';
import { type PolicyRule, type RoleRef, allowsRequest, describeSubject } from './rule.ts';

/** The rules that a user has in a namespace ('' for the cluster), and the texts of what could not be resolved. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[];
  readonly errors: readonly string[];
}

/** Finds the rules of a user. */
export type ResolveRules = (user: User, namespace: string) => ResolvedRules;

const RBAC_GROUP = 'rbac.authorization.k8s.io';

function describeMissingRole({ kind, name }: RoleRef): string {
  return `${formatGroupResource({ group: RBAC_GROUP, resource: kind.toLowerCase() })} ${JSON.stringify(name)} not found`;
}

function describeBinding({ name, namespace, roleRef, subjects }: Binding, user: User): string {
  const binding = namespace === '' ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  return `RBAC: allowed by ${binding} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${describeSubject(subjects, namespace, user)}`;
}

interface Finding {
  readonly decision: Decision;
  /** No rule that was looked at is for certain names only. */
  readonly isForAnyName: boolean;
}

/** Asks an index that has caught up. */
function decide(index: PolicyIndex, attributes: Attributes): Finding {
  const { user } = attributes;
  const errors = new Set<string>();
  let granting: Binding | undefined;
  let isForAnyName = true;
  index.someBinding(user, attributes.isResource ? attributes.namespace : '', (binding) => {
    const rules = index.findRole(binding.roleRef, binding.namespace);
    if (rules === undefined) errors.add(describeMissingRole(binding.roleRef));
    else if (rules.some((rule) => {
      isForAnyName &&= (rule.resourceNames ?? []).length === 0;
      return allowsRequest(rule, attributes);
    })) granting = binding;
    return granting !== undefined;
  });
  if (granting !== undefined) return { decision: { type: 'allow', reason: describeBinding(granting, user) }, isForAnyName };
  return { decision: { type: 'none', reason: errors.size === 0 ? '' : `RBAC: ${joinErrors([...errors])}` }, isForAnyName };
}

const MOST_REMEMBERED = 256;

/** Lengths first: whatever a path holds, two requests share a text only when all their parts are the same. */
function describeRequest({ verb, group, resource, subresource, namespace }: Attributes): string {
  return `${verb.length},${group.length},${resource.length},${subresource.length}:${verb}${group}${resource}${subresource}${namespace}`;
}

/** What callers were allowed whatever the name, until a role or a binding changes. A caller is an object: those of a token are the same one. */
class RbacDecisions {
  readonly #index: PolicyIndex;
  #generation = -1;
  #allowed = new WeakMap<User, BoundedCache<string, Decision>>();

  constructor(index: PolicyIndex) {
    this.#index = index;
  }

  decide(attributes: Attributes): Decision {
    this.#index.catchUp();
    if (!attributes.isResource) return decide(this.#index, attributes).decision;
    const known = this.#find(attributes.user);
    const request = describeRequest(attributes);
    const remembered = known.peek(request);
    if (remembered !== undefined) return remembered;
    const { decision, isForAnyName } = decide(this.#index, attributes);
    if (decision.type === 'allow' && isForAnyName) known.set(request, decision);
    return decision;
  }

  #find(user: User): BoundedCache<string, Decision> {
    const { generation } = this.#index;
    if (generation !== this.#generation) this.#allowed = new WeakMap();
    this.#generation = generation;
    let known = this.#allowed.get(user);
    if (known === undefined) this.#allowed.set(user, known = new BoundedCache({ limit: MOST_REMEMBERED }));
    return known;
  }
}

/** Several errors as the reference's aggregate prints them. */
export const joinErrors = (errors: readonly string[]): string => (errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]`);

/** The authorizer. Until the index is read and `until` has come (the bootstrap roles are there), callers wait. */
export function createRbacAuthorizer(index: PolicyIndex, until: Promise<void>): Authorize {
  let open = false;
  const opened = Promise.all([index.ready, until]).then(() => {
    open = true;
  });
  const decisions = new RbacDecisions(index);
  return (attributes) => (open ? decisions.decide(attributes) : opened.then(() => decisions.decide(attributes)));
}

/** The rules of a user; a role that is bound twice counts twice, as in the reference. */
export function resolveRules(index: PolicyIndex, user: User, namespace: string): ResolvedRules {
  const rules: PolicyRule[] = [];
  const errors = new Set<string>();
  const seen = new Set<Binding>();
  index.catchUp();
  index.someBinding(user, namespace, (binding) => {
    if (seen.has(binding)) return false;
    seen.add(binding);
    const found = index.findRole(binding.roleRef, binding.namespace);
    if (found === undefined) errors.add(describeMissingRole(binding.roleRef));
    else for (const rule of found) rules.push(rule);
    return false;
  });
  return { rules, errors: [...errors] };
}
