// Validation of quotas and limits, of what drivers and roles select, and of the statuses of jobs and budgets, in the words of the reference.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import { findIndexProblem, findOverlap } from './batch/job-indexes.ts';
import { strategyOf } from './kinds.suite.ts';

const context = { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: '' };
const make = (body: object): KubeObject => ({ metadata: { name: 'a' }, ...structuredClone(body) });
const show = (errors: Iterable<{ field: string; message: string }> = []): readonly string[] => [...errors].map(({ field, message }) => `${field}: ${message}`);

function create(key: string, body: object): readonly string[] {
  const object = make(body);
  strategyOf(key).applyDefaults?.(object, 'v1');
  return show(strategyOf(key).validate?.(object, context));
}

function update(key: string, body: object, { old = body, subresource = '' }: { old?: object; subresource?: string } = {}): readonly string[] {
  return show(strategyOf(key).validateUpdate?.(make(body), make(old), { ...context, subresource }));
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

test('validateResourceQuota tells of very many scopes what fits into an answer', () => {
  const count = 20_000;
  const hard = { cpu: '1', memory: '1' };
  const scopes = Array.from({ length: count }, () => 'BestEffort');
  const matchExpressions = scopes.map((scopeName) => ({ scopeName, operator: 'Exists' }));
  for (const spec of [{ hard, scopes }, { hard, scopeSelector: { matchExpressions } }]) {
    const told = create('/ResourceQuota', { spec });
    assert.ok(told.length > 0 && told.join('').length < 8 * 1024 * 1024);
    assert.match(told[0] as string, /unsupported scope applied to resource$/);
  }
});

test('validatePod knows names of resources that quotas have, which containers cannot ask for', () => {
  const told = (name: string): readonly string[] => {
    const resources = { requests: { [name]: '1' } };
    const containers = [{ name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File', resources }];
    return create('/Pod', { spec: { containers, restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', terminationGracePeriodSeconds: 1 } });
  };
  const field = (name: string): string => `spec.containers[0].resources.requests[${name}]: Invalid value: "${name}":`;
  for (const name of ['requests.cpu', 'services.nodeports', 'requests.hugepages-2Mi']) {
    assert.deepEqual(told(name), [`${field(name)} must be a standard resource for containers`]);
  }
  const problems = ['must be a standard resource type or fully qualified', 'must be a standard resource for containers'];
  assert.deepEqual(told('foo'), problems.map((problem) => `${field('foo')} ${problem}`));
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

test('validateClusterRole wants selectors that select', () => {
  const key = 'rbac.authorization.k8s.io/ClusterRole';
  assert.deepEqual(create(key, { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } }), [
    "aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
  ]);
  assert.deepEqual(create(key, { aggregationRule: {} }), [
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ]);
});

test('validateCsiDriver wants one token for an audience, and time between updates', () => {
  const tokenRequests = [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }];
  assert.deepEqual(create('storage.k8s.io/CSIDriver', { spec: { tokenRequests, nodeAllocatableUpdatePeriodSeconds: 1 } }), [
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 seconds',
  ]);
});

test('csiDriverStrategy counts changes from the first one on', () => {
  const [driver, old] = [make({ spec: { attachRequired: true } }), make({ spec: { attachRequired: false } })];
  strategyOf('storage.k8s.io/CSIDriver').prepareForUpdate?.(driver, old, context);
  assert.equal(driver.metadata.generation, 1);
});

test('validateStorageCapacity wants a class, and no less than nothing', () => {
  const errors = create('storage.k8s.io/CSIStorageCapacity', {
    storageClassName: 'c', nodeTopology: { matchExpressions: [{ key: 'a', operator: 'X' }] }, capacity: '-1',
  });
  assert.deepEqual(errors, [
    'nodeTopology.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator',
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test('checkHints wants each node once', () => {
  const endpoints = [{ addresses: [''], hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }, { name: 'n' }] } }];
  assert.deepEqual(create('discovery.k8s.io/EndpointSlice', { addressType: 'FQDN', endpoints }), [
    'endpoints[0].addresses[0]: Required value', 'endpoints[0].hints.forNodes[1].name: Duplicate value: "n"',
  ]);
});

test('withoutGatedFields forgets who leads by which strategy, and the topology of endpoints', () => {
  const forget = (key: string, body: object): object => {
    const object = make(body);
    strategyOf(key).prepareForCreate?.(object, context);
    return object;
  };
  assert.deepEqual(forget('coordination.k8s.io/Lease', { spec: { strategy: 's', preferredHolder: 'h', holderIdentity: 'i' } }),
    make({ spec: { holderIdentity: 'i' } }));
  assert.deepEqual(forget('discovery.k8s.io/EndpointSlice', { endpoints: [{ addresses: ['a'], deprecatedTopology: { a: 'b' } }] }),
    make({ endpoints: [{ addresses: ['a'] }] }));
});

const at = (seconds: number): string => `2024-01-01T00:00:0${seconds}Z`;
const conditions = (...types: string[]): object[] => types.map((type) => ({ type, status: 'True' }));

test('validateJobStatus wants ends that make sense', () => {
  const spec = { completions: 3, completionMode: 'Indexed', parallelism: 1 };
  const status = {
    completedIndexes: '0,2-1', failedIndexes: '0-5', ready: 1, completionTime: at(0), uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] },
    conditions: conditions('Complete', 'Failed'),
  };
  assert.deepEqual(update('batch/Job', { spec, status }, { old: { spec }, subresource: 'status' }), [
    'status.uncountedTerminatedPods.succeeded[1]: Invalid value: "": must not be empty',
    'status.uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
    'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
    'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
    'status.startTime: Required value: startTime is required for finished job',
    'status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a",""],"Failed":["a"]}: must be empty for finished job',
    'status.completedIndexes: Invalid value: "0,2-1": error parsing completedIndexes: non-increasing order, previous: 2, current: 1',
    'status.failedIndexes: Invalid value: "0-5": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
    'status.ready: Invalid value: 1: cannot set more ready pods than active',
  ]);
});

test('validateJobStatus never goes back', () => {
  const spec = { completions: 3, completionMode: 'Indexed', parallelism: 1 };
  const old = { spec, status: { succeeded: 2, startTime: at(0), completionTime: at(0), conditions: conditions('Complete', 'SuccessCriteriaMet') } };
  const status = { succeeded: 1, startTime: at(1), completionTime: at(0) };
  assert.deepEqual(update('batch/Job', { spec, status }, { old, subresource: 'status' }), [
    `status.completionTime: Invalid value: "${at(0)}": cannot set completionTime when there is no Complete=True condition`,
    `status.completionTime: Invalid value: "${at(0)}": must be equal to or after \`startTime\``,
    'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
    'status.succeeded: Invalid value: 1: cannot decrease the succeeded counter',
    `status.startTime: Invalid value: "${at(1)}": field is immutable for unsuspended job once set`,
    'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
  ]);
});

test('findIndexProblem and findOverlap read lists of indexes', () => {
  assert.equal(findIndexProblem('0,2-4,7', 8), undefined);
  assert.equal(findIndexProblem('3,1', 8), 'non-increasing order, previous: 3, current: 1');
  assert.equal(findIndexProblem('1-2-3', 8),
    'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'');
  assert.equal(findIndexProblem('x', 8), 'cannot convert string to integer for index: "x"');
  assert.equal(findIndexProblem('8', 8), 'too large index: "8"');
  assert.equal(findOverlap('0-2,5', '3,5-6', 8), 5);
  assert.equal(findOverlap('0-2', '3', 8), undefined);
});

test('validateDisruptionBudgetStatus counts from zero', () => {
  const status = { currentHealthy: -1, conditions: [{ type: 'A', status: 'True', lastTransitionTime: at(0), reason: 'R' }, { type: 'A', status: 'Yes' }] };
  assert.deepEqual(update('policy/PodDisruptionBudget', { status }, { subresource: 'status' }), [
    'status.conditions[1].type: Duplicate value: "A"',
    'status.conditions[1].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
    'status.conditions[1].lastTransitionTime: Required value', 'status.conditions[1].reason: Required value',
    'status.currentHealthy: Invalid value: -1: must be greater than or equal to 0',
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

test('validateClaimStatus knows what can grow, and how', () => {
  const status = { capacity: { storage: '-1' }, allocatedResources: { cpu: '1' }, allocatedResourceStatuses: { storage: 'Odd' } };
  assert.deepEqual(update('/PersistentVolumeClaim', { status }, { subresource: 'status' }), [
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", '
      + '"NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
  ]);
});

test('validateCsiNode wants each key once', () => {
  const drivers = [{ name: 'D', nodeID: 'n', topologyKeys: ['a', 'a'] }];
  assert.deepEqual(create('storage.k8s.io/CSINode', { spec: { drivers } }), ['spec.drivers[0]: Duplicate value: "a"']);
});
