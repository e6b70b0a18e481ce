// Core kinds without a folder of their own: validation, preparation and cells, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Propagation } from '../../registry/index.ts';
import { applyDefaults, create, prepareChanged, prepareNew, printCell, specOfKind, strategyOf, update, updateStatus, warn } from '../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['/Secret', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'bm90' } }, [
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'o\' in literal null (expecting \'u\')',
  ]],
  ['/Secret', { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': 'W10=' } }, [
    'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
  ]],
  ['/Endpoints', { subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port: 1 }, { port: 2, name: 'b' }] }] }, [
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'subsets[0].ports[0].name: Required value',
  ]],
  ['/LimitRange', { spec: { limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } }] } }, [
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
    'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
  ]],
  ['/ResourceQuota', { spec: { hard: { secrets: '1.5' }, scopes: ['BestEffort'] } }, [
    'spec.hard[secrets]: Invalid value: "1500m": must be an integer',
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]],
  ['/Node', { spec: { taints: [{ key: 'k', effect: 'Maybe' }], podCIDR: 'nope' } }, [
    'metadata.taints[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'spec.podCIDRs[0]: Invalid value: "nope": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ]],
  ['/ReplicationController', { spec: { replicas: -1 } },
    ['spec.selector: Required value', 'spec.replicas: Invalid value: -1: must be greater than or equal to 0', 'spec.template: Required value']],
  ['/ConfigMap', { data: { k: '' }, binaryData: { k: '' } }, ['data[k]: Invalid value: "k": duplicate of key present in binaryData']],
  ['/Secret', { type: 'kubernetes.io/tls' }, ['data[tls.crt]: Required value', 'data[tls.key]: Required value']],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateResourceQuota knows which scopes can be selected how', () => {
  const matchExpressions = [
    { scopeName: 'Odd', operator: 'X' }, { scopeName: 'BestEffort', operator: 'In' }, { scopeName: 'NotBestEffort', operator: 'Exists', values: ['a'] },
  ];
  assert.deepEqual(create('/ResourceQuota', { spec: { hard: { pods: '1', 'requests.cpu': '1' }, scopeSelector: { matchExpressions } } }), [
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "X": not a valid selector operator',
    'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"Odd","Operator":"X","Values":null},'
      + '{"ScopeName":"BestEffort","Operator":"In","Values":null},{"ScopeName":"NotBestEffort","Operator":"Exists","Values":["a"]}]}: '
      + 'unsupported scope applied to resource',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be \'Exists\' when scope is any of ResourceQuotaScopeTerminating, '
      + 'ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity',
    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    'spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no value when `operator` is \'Exist\' or \'DoesNotExist\' for scope selector',
    'spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes',
  ]);
});

test('validateResourceQuotaUpdate keeps the scopes, in any order', () => {
  const quota = (...scopes: string[]): object => ({ spec: { scopes } });
  assert.deepEqual(update('/ResourceQuota', quota('NotBestEffort'), { old: quota('BestEffort') }),
    ['spec.scopes: Invalid value: ["NotBestEffort"]: field is immutable']);
  assert.deepEqual(update('/ResourceQuota', quota('BestEffort', 'Terminating'), { old: quota('Terminating', 'BestEffort') }), []);
});

test('validateLimitRange knows what containers can have, and compares ratios with bounds', () => {
  const limits = [{ type: 'Odd' }, {
    type: 'Container', max: { cpu: '4', odd: '1' }, min: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' }, default: { 'example.com/x': '2' },
    defaultRequest: { 'example.com/x': '1' },
  }];
  const odd = (name: string): readonly string[] => ['type or fully qualified', 'for containers'].map((end) => {
    return `spec.limits[1].${name}[odd]: Invalid value: "odd": must be a standard resource ${end}`;
  });
  assert.deepEqual(create('/LimitRange', { spec: { limits } }), [
    'spec.limits[0].type: Invalid value: "Odd": must be a standard limit type or fully qualified',
    ...odd('max'), ...odd('default'), ...odd('defaultRequest'),
    'spec.limits[1].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    'spec.limits[1].defaultRequest[example.com/x]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/x',
  ]);
});

test('validateNodeStatus wants whole devices, and features in order', () => {
  const address = { type: 'InternalIP', address: '10.1.1.1' };
  const status = { capacity: { 'example.com/gpu': '1500m', cpu: '-1' }, declaredFeatures: ['B', 'A', 'A', 'x'], addresses: [address, address] };
  assert.deepEqual(update('/Node', { status }, { subresource: 'status' }), [
    'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    'status.capacity.example.com/gpu: Invalid value: "1500m": must be an integer',
    'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically', 'status.declaredFeatures[2]: Duplicate value: "A"',
    'status.declaredFeatures[3]: Invalid value: "x": invalid feature name "x": must start with an UpperCamelCase segment, with subsequent segments '
      + "separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
    'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.1.1.1"}',
  ]);
});

test('validateNodeUpdate names changed ranges between the taints as they are and the taints once more', () => {
  const old = { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] } };
  const taint = 'metadata.taints[0].effect: Required value';
  assert.deepEqual(update('/Node', { spec: { taints: [{ key: 'k' }] } }, { old }),
    [taint, 'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid', taint]);
});

test('prepareForUpdate of a replicationcontroller gives it the labels of its template', () => {
  const spec = { template: { metadata: { labels: { a: 'b' } } } };
  const labelsAfter = (metadata: object): unknown => prepareChanged('/ReplicationController', { object: { metadata, spec }, old: { spec } }).metadata.labels;
  assert.deepEqual([labelsAfter({ name: 'a' }), labelsAfter({ name: 'a', labels: { c: 'd' } })], [{ a: 'b' }, { c: 'd' }]);
});

test('validatePriorityClass holds for new classes, an update may change nothing', () => {
  const tooHigh = 'value: Forbidden: maximum allowed value of a user defined priority is 1000000000';
  assert.deepEqual(create('scheduling.k8s.io/PriorityClass', { value: 2e9, preemptionPolicy: 'Never' }), [tooHigh]);
  assert.deepEqual(update('scheduling.k8s.io/PriorityClass', { value: 2e9, preemptionPolicy: 'Never' }, { old: { value: 1, preemptionPolicy: 'Never' } }),
    ['value: Forbidden: may not be changed in an update.']);
});

test('columns show the architecture behind the kernel of nodes', () => {
  const print = (nodeInfo: object): unknown => printCell('/Node', 'Kernel-Version', { status: { nodeInfo } });
  assert.deepEqual([print({ kernelVersion: '6.1', architecture: 'arm64' }), print({ architecture: 'arm64' }), print({})],
    ['6.1 (arm64)', '<unknown> (arm64)', '<unknown>']);
});

test('validateNamespaceStatus ends a namespace when it is deleted', () => {
  const ending = { metadata: { name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z' }, status: { phase: 'Active' } };
  assert.deepEqual(updateStatus('/Namespace', ending),
    ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty']);
  assert.deepEqual(updateStatus('/Namespace', { status: { phase: 'Terminating' } }),
    ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty']);
});

test('prepareForCreate of a namespace labels it and adds the finalizer', () => {
  const namespace = prepareNew('/Namespace', { spec: { finalizers: ['example.com/hold'] }, status: { phase: 'Terminating' } });
  assert.deepEqual(namespace.metadata.labels, { 'kubernetes.io/metadata.name': 'a' });
  assert.deepEqual([namespace['spec'], namespace['status']], [{ finalizers: ['example.com/hold', 'kubernetes'] }, { phase: 'Active' }]);
});

test('prepareForUpdate of a namespace lets only finalize change its finalizers', () => {
  const old = { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  const object = { spec: { finalizers: [] }, status: { phase: 'Terminating' } };
  assert.deepEqual(prepareChanged('/Namespace', { object, old })['spec'], old.spec);
  const finalized = prepareChanged('/Namespace', { object, old, subresource: 'finalize' });
  assert.deepEqual(finalized['spec'], object.spec);
});

test('prepareForCreate of a serviceaccount keeps the names of its secrets', () => {
  const account = prepareNew('/ServiceAccount', { secrets: [{ name: 's', kind: 'Secret', uid: 'u' }, {}] });
  assert.deepEqual(account['secrets'], [{ name: 's' }, {}]);
});

test('applyDefaults of a node keeps both spellings of its ranges the same', () => {
  const node = applyDefaults('/Node', { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.1.0.0/24', 'x'] } });
  assert.deepEqual(node['spec'], { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
});

test('validateEndpoints accepts canonical addresses only, and others that are stored already', () => {
  const endpoints = (ip: string): object => ({ subsets: [{ addresses: [{ ip }], ports: [{ port: 1, protocol: 'TCP' }] }] });
  const path = 'subsets[0].addresses[0].ip';
  assert.deepEqual(create('/Endpoints', endpoints('010.1.1.1')), [`${path}: Invalid value: "010.1.1.1": must not have leading 0s`]);
  assert.deepEqual(create('/Endpoints', endpoints('::ffff:1.2.3.4')), [`${path}: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address`]);
  assert.deepEqual(update('/Endpoints', endpoints('010.1.1.1'), { old: endpoints('010.1.1.1') }), []);
  assert.equal(create('/Endpoints', endpoints('x')).length, 2);
});

test('names of core events are any path segment', () => {
  assert.equal(specOfKind('/Event').nameRule, 'path-segment');
  assert.equal(specOfKind('events.k8s.io/Event').nameRule, undefined);
});

test('endpoints warn of addresses in other forms than the canonical one, unless their controller wrote them', () => {
  const endpoints = (labels: object) => ({ metadata: { name: 'a', labels }, subsets: [{ notReadyAddresses: [{ ip: 'fd00::0001' }] }] });
  const text = 'subsets[0].notReadyAddresses[0].ip: IPv6 address "fd00::0001" should be in RFC 5952 canonical format ("fd00::1")';
  assert.deepEqual(warn('/Endpoints', endpoints({})), [text]);
  assert.deepEqual(warn('/Endpoints', endpoints({ 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })), []);
});

test('ranges of a node that are none are not of two families', () => {
  assert.deepEqual(create('/Node', { spec: { podCIDRs: ['10.0.0.300/8', 'fd00::/64'] } }).slice(1), [
    'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[0]: <nil> (invalid CIDR address: 10.0.0.300/8)',
    'spec.podCIDRs: Invalid value: ["10.0.0.300/8","fd00::/64"]: may specify no more than one CIDR for each IP family',
  ]);
});

test('validateReplicaStatus compares the counts of a replicationcontroller', () => {
  const less = 'cannot be greater than status.replicas';
  assert.deepEqual(update('/ReplicationController', { status: { replicas: -1, readyReplicas: 0, fullyLabeledReplicas: 2 } }, { subresource: 'status' }), [
    'status.replicas: Invalid value: -1: must be greater than or equal to 0', `status.fullyLabeledReplicas: Invalid value: 2: ${less}`,
    `status.readyReplicas: Invalid value: 0: ${less}`, `status.availableReplicas: Invalid value: 0: ${less}`,
  ]);
  assert.deepEqual(update('/ReplicationController', { status: { replicas: 2, readyReplicas: 1, availableReplicas: 1 } }, { subresource: 'status' }), []);
});

test('a selector that an older release could not convert stays as it is', () => {
  const controller = (selector: object, field = 'selector') => ({
    metadata: { name: 'a', uid: 'u', annotations: { [`non-convertible.kubernetes.io/${field}`]: 'v', 'non-convertible.kubernetes.io': 'x' } },
    spec: { replicas: 1, selector, template: { metadata: { labels: { a: 'b', c: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
  });
  const errors = (now: object, old: object): readonly string[] =>
    update('/ReplicationController', applyDefaults('/ReplicationController', now), { old: applyDefaults('/ReplicationController', old) });
  assert.deepEqual(errors(controller({ a: 'b' }), controller({ a: 'b' })), []);
  assert.deepEqual(errors(controller({ a: 'b' }), controller({ c: 'd' })),
    ['spec.selector: Invalid value: {"a":"b"}: cannot update non-convertible selector']);
  assert.deepEqual(errors(controller({ a: 'b' }), controller({ a: 'b' }, 'x')), ['x: Not found: "v": unknown non-convertible field']);
});

test('a namespace that is deleted gets the finalizers that the options ask for, and keeps its own where they ask for none', () => {
  const after = (finalizers: string[] | undefined, options: Propagation): unknown => {
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', ...(finalizers !== undefined && { finalizers }) } };
    strategyOf('/Namespace').terminate?.(namespace, options);
    return namespace.metadata.finalizers;
  };
  assert.deepEqual(after(undefined, {}), undefined);
  assert.deepEqual(after(undefined, { orphanDependents: false }), ['foregroundDeletion']);
  assert.deepEqual(after(['foregroundDeletion', 'a/b'], { orphanDependents: true }), ['a/b', 'orphan']);
  assert.deepEqual(after(['orphan', 'foregroundDeletion'], {}), ['orphan', 'foregroundDeletion']);
  assert.deepEqual(after(['orphan'], { propagationPolicy: 'Foreground' }), ['foregroundDeletion']);
  assert.deepEqual(after(['orphan'], { propagationPolicy: 'Background' }), []);
});
