// The FlowSchemas and PriorityLevelConfigurations that a server begins with, as the reference names and fills them: two of each are
// mandatory, the others are suggestions that an administrator may change.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';

/** Annotation that says whether the spec follows the server's suggestion. */
export const AUTO_UPDATE_ANNOTATION = 'apf.kubernetes.io/autoupdate-spec';

/** An object that is made, and whether its spec can be changed at all. */
export interface FlowControlDefault {
  readonly object: KubeObject;
  readonly mandatory: boolean;
}

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1';

function makeDefault(kind: string, name: string, { spec, mandatory = false }: { readonly spec: JsonObject; readonly mandatory?: boolean }): FlowControlDefault {
  return { object: { apiVersion: API_VERSION, kind, metadata: { name, annotations: { [AUTO_UPDATE_ANNOTATION]: 'true' } }, spec }, mandatory };
}

interface Limits {
  readonly shares: number;
  readonly lendable: number;
  readonly queues: number;
  readonly hand: number;
}

function makeLevel(name: string, { shares, lendable, queues, hand }: Limits): FlowControlDefault {
  const limitResponse = { type: 'Queue', queuing: { queues, handSize: hand, queueLengthLimit: 50 } };
  const spec = { type: 'Limited', limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable } };
  return makeDefault('PriorityLevelConfiguration', name, { spec });
}

/** All PriorityLevelConfigurations. */
export const defaultLevels: readonly FlowControlDefault[] = [
  makeDefault('PriorityLevelConfiguration', 'exempt', {
    mandatory: true, spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  }),
  makeDefault('PriorityLevelConfiguration', 'catch-all', {
    mandatory: true, spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 } },
  }),
  makeLevel('system', { shares: 30, lendable: 33, queues: 64, hand: 6 }),
  makeLevel('node-high', { shares: 40, lendable: 25, queues: 64, hand: 6 }),
  makeLevel('leader-election', { shares: 10, lendable: 0, queues: 16, hand: 4 }),
  makeLevel('workload-high', { shares: 40, lendable: 50, queues: 128, hand: 6 }),
  makeLevel('workload-low', { shares: 100, lendable: 90, queues: 128, hand: 6 }),
  makeLevel('global-default', { shares: 20, lendable: 50, queues: 128, hand: 6 }),
];

interface SchemaSpec {
  readonly level: string;
  readonly precedence: number;
  readonly distinguishes?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly JsonObject[];
  readonly mandatory?: boolean;
  /** Default: every request. */
  readonly rules?: JsonObject;
}

const groups = (...names: readonly string[]): JsonObject[] => names.map((name) => ({ kind: 'Group', group: { name } }));
const users = (...names: readonly string[]): JsonObject[] => names.map((name) => ({ kind: 'User', user: { name } }));
const systemAccounts: JsonObject = { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } };
const everybody = groups('system:unauthenticated', 'system:authenticated');
const everything: JsonObject = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const leases = (...verbs: readonly string[]): JsonObject =>
  ({ verbs: [...verbs], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] });

function makeSchema(name: string, { level, precedence, distinguishes, subjects, mandatory = false, rules = everything }: SchemaSpec): FlowControlDefault {
  return makeDefault('FlowSchema', name, {
    mandatory,
    spec: {
      priorityLevelConfiguration: { name: level }, matchingPrecedence: precedence,
      ...(distinguishes !== undefined && { distinguisherMethod: { type: distinguishes } }), rules: [{ subjects: [...subjects], ...rules }],
    },
  });
}

/** All FlowSchemas. */
export const defaultSchemas: readonly FlowControlDefault[] = [
  makeSchema('exempt', { level: 'exempt', precedence: 1, subjects: groups('system:masters'), mandatory: true }),
  makeSchema('catch-all', { level: 'catch-all', precedence: 10_000, distinguishes: 'ByUser', subjects: everybody, mandatory: true }),
  makeSchema('probes', {
    level: 'exempt', precedence: 2, subjects: everybody,
    rules: { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  }),
  makeSchema('system-leader-election', {
    level: 'leader-election', precedence: 100, distinguishes: 'ByUser',
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), systemAccounts],
    rules: { resourceRules: [leases('get', 'create', 'update')] },
  }),
  makeSchema('system-node-high', {
    level: 'node-high', precedence: 400, distinguishes: 'ByUser', subjects: groups('system:nodes'),
    rules: {
      resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] }, leases('*')],
    },
  }),
  makeSchema('system-nodes', { level: 'system', precedence: 500, distinguishes: 'ByUser', subjects: groups('system:nodes') }),
  makeSchema('kube-controller-manager', {
    level: 'workload-high', precedence: 800, distinguishes: 'ByNamespace', subjects: users('system:kube-controller-manager'),
  }),
  makeSchema('kube-scheduler', { level: 'workload-high', precedence: 800, distinguishes: 'ByNamespace', subjects: users('system:kube-scheduler') }),
  makeSchema('kube-system-service-accounts', { level: 'workload-high', precedence: 900, distinguishes: 'ByNamespace', subjects: [systemAccounts] }),
  makeSchema('service-accounts', { level: 'workload-low', precedence: 9000, distinguishes: 'ByUser', subjects: groups('system:serviceaccounts') }),
  makeSchema('global-default', { level: 'global-default', precedence: 9900, distinguishes: 'ByUser', subjects: everybody }),
];
