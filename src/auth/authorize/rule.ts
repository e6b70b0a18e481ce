// RBAC's objects as authorization reads them, and whether one rule allows one request. Mirrors the rules of rbac.authorization.k8s.io/v1:
// `*` anywhere, `*/sub` for one subresource of everything, a trailing `*` in paths, names only where a request has one.
import { trimEnd } from '../../base/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { Attributes } from './attributes.ts';

/** One rule of a role. Absent lists are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The role that a binding grants. */
export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** The user, group or service account of a binding. */
export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

const none: readonly string[] = [];

/** The rules of a Role or ClusterRole. */
export function readRules(object: KubeObject): readonly PolicyRule[] {
  return (object['rules'] ?? []) as readonly PolicyRule[];
}

/** Whether one field of a rule names a value, or everything. */
export const matches = (wanted: readonly string[] | undefined, value: string): boolean =>
  wanted !== undefined && (wanted.includes(value) || wanted.includes('*'));

function matchesResource(wanted: readonly string[] = none, resource: string, subresource: string): boolean {
  if (subresource === '') return matches(wanted, resource);
  return matches(wanted, `${resource}/${subresource}`) || wanted.includes(`*/${subresource}`);
}

/** Whether the paths of a rule, which may end in `*`, hold a path. */
export function matchesPath(wanted: readonly string[] = none, path: string): boolean {
  return wanted.some((one) => one === path || (one.endsWith('*') && path.startsWith(trimEnd(one, '*'))));
}

/** Whether the rule allows the request. */
export function allowsRequest(rule: PolicyRule, request: Omit<Attributes, 'user'>): boolean {
  if (!matches(rule.verbs, request.verb)) return false;
  if (!request.isResource) return matchesPath(rule.nonResourceURLs, request.path);
  const { resourceNames = none } = rule;
  return matches(rule.apiGroups, request.group) && matchesResource(rule.resources, request.resource, request.subresource)
    && (resourceNames.length === 0 || resourceNames.includes(request.name));
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** A subject as one text; undefined when it stands for no user. `namespace` is that of the binding. */
export function subjectKey({ kind, name, namespace: own }: Subject, namespace: string): string | undefined {
  if (kind === 'User') return userKey(name);
  if (kind === 'Group') return groupKey(name);
  const home = own === undefined || own === '' ? namespace : own;
  return kind === 'ServiceAccount' && home !== '' ? userKey(`${ACCOUNT_PREFIX}${home}:${name}`) : undefined;
}

/** The keys under which bindings of a user are found. */
export const userKey = (name: string): string => `u${name}`;
/** The key under which bindings of a group are found. */
export const groupKey = (name: string): string => `g${name}`;

/** The first subject that the user is, as the reason of a decision names it. */
export function describeSubject(subjects: readonly Subject[], namespace: string, user: User): string {
  for (const subject of subjects) {
    const { kind, name } = subject;
    if (kind === 'Group' ? user.groups.includes(name) : subjectKey(subject, namespace) === userKey(user.name)) {
      if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
      const home = subject.namespace === undefined || subject.namespace === '' ? namespace : subject.namespace;
      return `ServiceAccount ${JSON.stringify(`${name}/${home}`)}`;
    }
  }
  return '';
}
