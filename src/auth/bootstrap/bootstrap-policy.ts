// The objects that every cluster begins with, made from the bootstrap data.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { PolicyRule, RoleRef, Subject } from '../authorize/rule.ts';
import { clusterRoles } from './cluster-roles.data.ts';
import { clusterRoleBindings, controllerRoles, namespacedRoles } from './controller-roles.data.ts';
import type { GatedRuleData, RoleData, RuleData } from './role-data.ts';

/** The rules that there are with these gates, as RBAC objects carry them. */
export function expandRules(rules: readonly (RuleData | GatedRuleData)[], isGateOn: (gate: string) => boolean): PolicyRule[] {
  return rules.flatMap((rule) => ('gate' in rule ? isGateOn(rule.gate) ? [rule.rule] : [] : [rule])).map(expandRule);
}

/** A rule of the notation as RBAC objects carry it. */
function expandRule(data: RuleData): PolicyRule {
  if ('urls' in data) return { verbs: data.verbs.split(' '), nonResourceURLs: data.urls.split(' ') };
  const [groups, resources, verbs, names] = data;
  return {
    verbs: verbs.split(' '), apiGroups: groups.split(' ').map((group) => (group === 'core' ? '' : group)), resources: resources.split(' '),
    ...(names !== undefined && { resourceNames: names.split(' ') }),
  };
}

const API_GROUP = 'rbac.authorization.k8s.io';
const aggregationLabel = (role: string): string => `${API_GROUP}/aggregate-to-${role}`;

function expandSubject(text: string): Subject {
  const [kind, name] = text.split(' ') as [string, string | undefined];
  if (name !== undefined) return { kind: kind === 'user' ? 'User' : 'Group', apiGroup: API_GROUP, name };
  const [namespace, account] = text.split('/') as [string, string];
  return { kind: 'ServiceAccount', name: account, namespace };
}

function createHead(kind: string, name: string, more: { readonly namespace?: string; readonly labels?: Record<string, string> } = {}): KubeObject {
  const { namespace, labels } = more;
  return {
    apiVersion: `${API_GROUP}/v1`, kind,
    metadata: {
      name, ...(namespace !== undefined && { namespace }), labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
      annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
    },
  };
}

function createClusterRole({ name, rules, aggregates, partOf }: RoleData, isGateOn: (gate: string) => boolean): KubeObject {
  const head = createHead('ClusterRole', name, partOf === undefined ? {} : { labels: { [aggregationLabel(partOf)]: 'true' } });
  if (aggregates === undefined) return { ...head, rules: expandRules(rules, isGateOn) };
  return { ...head, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(aggregates)]: 'true' } }] } };
}

function createBinding(head: KubeObject, { kind, name }: Pick<RoleRef, 'kind' | 'name'>, subjects: readonly string[]): KubeObject {
  return { ...head, ...(subjects.length > 0 && { subjects: subjects.map(expandSubject) }), roleRef: { apiGroup: API_GROUP, kind, name } };
}

/** The objects that every cluster begins with. */
interface BootstrapPolicy {
  readonly clusterRoles: readonly KubeObject[];
  readonly clusterRoleBindings: readonly KubeObject[];
  readonly roles: readonly KubeObject[];
  readonly roleBindings: readonly KubeObject[];
}

/** Makes new objects at each call; roles of features are among them where their gate is on. */
export function createBootstrapPolicy(isGateOn: (gate: string) => boolean = () => false): BootstrapPolicy {
  const isThere = ({ gate }: RoleData): boolean => gate === undefined || isGateOn(gate);
  const controllers = controllerRoles.filter(isThere).map((role) => ({ ...role, name: `system:controller:${role.name}`, account: role.name }));
  const own = clusterRoles.filter(isThere);
  const missing = new Set(clusterRoles.filter((role) => !isThere(role)).map(({ name }) => name));
  const bindings = [
    ...clusterRoleBindings.filter(([role]) => !missing.has(role)), ...controllers.map(({ name, account }) => [name, [`kube-system/${account}`]] as const),
  ];
  return {
    clusterRoles: [...own, ...controllers].map((role) => createClusterRole(role, isGateOn)),
    clusterRoleBindings: bindings.map(([name, subjects]) => createBinding(createHead('ClusterRoleBinding', name), { kind: 'ClusterRole', name }, subjects)),
    roles: namespacedRoles.map(({ namespace, name, rules }) => ({ ...createHead('Role', name, { namespace }), rules: expandRules(rules, isGateOn) })),
    roleBindings: namespacedRoles.map(({ namespace, name, binding = name, subjects }) =>
      createBinding(createHead('RoleBinding', binding, { namespace }), { kind: 'Role', name }, subjects)),
  };
}
