// What feature gates change about built-in kinds, in the words of the reference: rules, defaults, fields that stay, and objects that use a feature whose
// gate is off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, loadSchemas } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { STRICT_GATE, buildStrategy, isOnByDefault } from '../build-resource.ts';
import { box, contextOf, makeObject, specOfKind } from '../kinds.suite.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources, withGates } from '../table.ts';

/** The strategy of a kind on a server with these gates. */
const withGate = (key: string, ...gates: string[]): Strategy => buildStrategy(specOfKind(key), (gate) => isOnByDefault(gate) || gates.includes(gate));

function write(strategy: Strategy, body: object, old?: KubeObject): { readonly object: KubeObject; readonly errors: readonly string[] } {
  const object = makeObject(body);
  const context = contextOf();
  strategy.applyDefaults?.(object, 'v1');
  if (old === undefined) strategy.prepareForCreate?.(object, context);
  else strategy.prepareForUpdate?.(object, old, context);
  const errors = (old === undefined ? strategy.validate?.(object, context) : strategy.validateUpdate?.(object, old, context)) ?? [];
  return { object, errors: errors.map(({ field, message }) => `${field}: ${message}`) };
}

const pod = (spec: object, container: object = {}): object => ({ spec: { containers: [box(container)], ...spec } });
const toleration = (value: string): object => ({ tolerations: [{ key: 'k', operator: 'Lt', value, effect: 'NoSchedule' }] });
const template = (spec: object): object => ({ selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, ...pod(spec) } });
const external = { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } };
const autoscaler = (spec: object): object =>
  ({ spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics: [external], ...spec } });
const NO_LESS = 'spec.minReplicas: Invalid value: -1: must be greater than or equal to';
const VALUE = 'spec.tolerations[0].value: Invalid value';
const CANONICAL = 'must be a valid decimal integer in canonical form';
const NO_OPERATOR = 'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"';
const SIGNAL = 'spec.containers[0].lifecycle.stopSignal';
const NO_SYSTEM = 'Forbidden: may not be set for containers with empty `spec.os.name`';
const NO_WINDOWS_SIGNAL = 'Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"';
const INCLUDES = "device.attributes['a'].b.includes(1)";
const onLinux = (stopSignal: string): object => pod({ os: { name: 'linux' } }, { lifecycle: { stopSignal } });
const policy = (seLinuxChangePolicy: string): object => pod({ securityContext: { seLinuxChangePolicy } });

interface Rule {
  readonly gate: string;
  readonly key: string;
  readonly body: object;
  readonly off: readonly string[];
  readonly on: readonly string[];
}

const rules: readonly Rule[] = [
  ...([[0, [`${NO_LESS.replace('-1', '0')} 1`], []], [-1, [`${NO_LESS} 1`], [`${NO_LESS} 0`]]] as const).map(([minReplicas, off, on]) =>
    ({ gate: 'HPAScaleToZero', key: 'autoscaling/HorizontalPodAutoscaler', body: autoscaler({ minReplicas }), off, on })),
  ...([
    ['-5', []], ['', [`${VALUE}: "": must be non-empty`, `${VALUE}: "": strconv.ParseInt: parsing "": invalid syntax`]],
    ['05', [`${VALUE}: "05": ${CANONICAL}`]],
    ['\u0001', [`${VALUE}: "\\x01": ${CANONICAL}`, `${VALUE}: "\\x01": strconv.ParseInt: parsing "\\x01": invalid syntax`]],
    ['x', [`${VALUE}: "x": ${CANONICAL}`, `${VALUE}: "x": strconv.ParseInt: parsing "x": invalid syntax`]], ['9223372036854775807', []],
    ['9223372036854775808', [`${VALUE}: "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range`]],
  ] as const).map(([value, on]) => ({ gate: 'TaintTolerationComparisonOperators', key: '/Pod', body: pod(toleration(value)), off: [NO_OPERATOR], on })),
  {
    gate: 'TaintTolerationComparisonOperators', key: 'node.k8s.io/RuntimeClass', body: { handler: 'h', scheduling: toleration('5') },
    off: [`scheduling.${NO_OPERATOR.slice(5)}`], on: [`scheduling.${NO_OPERATOR.slice(5)}`],
  },
  {
    gate: 'UserNamespacesHostNetworkSupport', key: '/Pod', body: pod({ hostUsers: false, hostNetwork: true, hostPID: true }),
    off: ['spec.hostNetwork: Forbidden: when `hostUsers` is false', 'spec.HostPID: Forbidden: when `hostUsers` is false'],
    on: ['spec.HostPID: Forbidden: when `hostUsers` is false'],
  },
  {
    gate: 'SELinuxMount', key: '/Pod', body: policy('MountOption'),
    off: ['spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported values: "Recursive"'], on: [],
  },
  {
    gate: 'SELinuxMount', key: '/Pod', body: policy('X'),
    off: ['spec.securityContext.seLinuxChangePolicy: Unsupported value: "X": supported values: "Recursive"'],
    on: ['spec.securityContext.seLinuxChangePolicy: Unsupported value: "X": supported values: "MountOption", "Recursive"'],
  },
  ...([
    [onLinux('SIGRTMAX-14'), []], [pod({}, { lifecycle: { stopSignal: 'SIGTERM' } }), [`${SIGNAL}: ${NO_SYSTEM}`]],
    [pod({ os: { name: 'windows' } }, { lifecycle: { stopSignal: 'SIGHUP' } }), [`${SIGNAL}: ${NO_WINDOWS_SIGNAL}`]],
  ] as const).map(([body, on]) => ({ gate: 'ContainerStopSignals', key: '/Pod', body, off: [], on })),
  {
    gate: 'MaxUnavailableStatefulSet', key: 'apps/StatefulSet', off: [],
    body: { spec: { ...template({}), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '0%' } } } },
    on: ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0%": cannot be 0'],
  },
  {
    gate: 'DRAListTypeAttributes', key: 'resource.k8s.io/DeviceClass', body: { spec: { selectors: [{ cel: { expression: INCLUDES } }] } },
    off: [`spec.selectors[0].cel.expression: Invalid value: "${INCLUDES}": compilation failed: ERROR: <input>:1:34: undeclared reference to `
      + `'includes' (in container '')\n | ${INCLUDES}\n | .................................^`],
    on: [],
  },
];

for (const { gate, key, body, off, on } of rules) {
  test(`${gate} decides what ${key} may be: ${JSON.stringify(body)}`, () => {
    assert.deepEqual([write(withGate(key), body).errors, write(withGate(key, gate), body).errors], [off, on]);
  });
}

test('ContainerStopSignals names all signals of Linux', () => {
  const [error = ''] = write(withGate('/Pod', 'ContainerStopSignals'), onLinux('TERM')).errors;
  assert.equal(error.startsWith(`${SIGNAL}: Unsupported value: "TERM": supported values: "SIGABRT", "SIGALRM"`), true, error);
  assert.equal(error.split(',').length, 65);
});

test('an update of an object that uses a feature follows its rules although its gate is off', () => {
  const uses: readonly (readonly [key: string, gate: string, body: object])[] = [
    ['autoscaling/HorizontalPodAutoscaler', 'HPAScaleToZero', autoscaler({ minReplicas: 0 })],
    ['apps/Deployment', 'TaintTolerationComparisonOperators', { spec: template(toleration('5')) }],
    ['apps/Deployment', 'UserNamespacesHostNetworkSupport', { spec: template({ hostUsers: false, hostNetwork: true }) }],
    ['apps/Deployment', 'SELinuxMount', { spec: template({ securityContext: { seLinuxChangePolicy: 'MountOption' } }) }],
  ];
  for (const [key, gate, body] of uses) {
    const { object: old, errors } = write(withGate(key, gate), body);
    assert.deepEqual(errors, [], gate);
    assert.notDeepEqual(write(withGate(key), body).errors, [], gate);
    assert.deepEqual(write(withGate(key), body, old).errors, [], gate);
  }
});

test('dropGatedFields keeps a field where its gate is on, and where the stored object has another of its feature', () => {
  const stays = (key: string, gate: string, body: object): boolean => {
    const text = (object: KubeObject): string => JSON.stringify(object['spec']);
    const [kept, dropped] = [write(withGate(key, gate), body).object, write(withGate(key), body).object];
    return text(kept).includes('wanted') && !text(dropped).includes('wanted');
  };
  const projected = { sources: [{ clusterTrustBundle: { name: 'wanted' } }] };
  assert.ok(stays('/Pod', 'ClusterTrustBundleProjection', pod({ volumes: [{ name: 'v', projected }] })));
  assert.ok(stays('/PersistentVolumeClaim', 'CrossNamespaceVolumeDataSource', { spec: { dataSourceRef: { kind: 'X', name: 'y', namespace: 'wanted' } } }));
  const signal = (list: string): object => ({ [list]: [box({ lifecycle: { stopSignal: 'SIGINT' } })] });
  const [old, changed] = [makeObject({ spec: signal('containers') }), makeObject({ spec: { ...signal('containers'), ...signal('initContainers') } })];
  withGate('/Pod').prepareForUpdate?.(changed, old, contextOf());
  assert.deepEqual(changed['spec'], { ...signal('containers'), ...signal('initContainers') });
});

test('defaults of features that are on are there, and rows name the gates, so that what was stored without is read with them', () => {
  const [sets, drivers] = ['apps/StatefulSet', 'storage.k8s.io/CSIDriver'];
  const rollingOf = ({ object }: { object: KubeObject }): unknown =>
    (object['spec'] as { updateStrategy: { rollingUpdate?: object } }).updateStrategy.rollingUpdate;
  assert.deepEqual(rollingOf(write(withGate(sets, 'MaxUnavailableStatefulSet'), { spec: template({}) })), { partition: 0, maxUnavailable: 1 });
  assert.deepEqual(rollingOf(write(withGate(sets), { spec: template({}) })), { partition: 0 });
  const prevents = (object: KubeObject): unknown => (object['spec'] as Record<string, unknown>)['preventPodSchedulingIfMissing'];
  const written = [withGate(drivers), withGate(drivers, 'VolumeLimitScaling')].map((strategy) => prevents(write(strategy, {}).object));
  assert.deepEqual(written, [undefined, false]);
  const keysWith = (isOn: boolean): unknown =>
    createBuiltinResources(loadSchemas(schemaData)).flatMap((row) => withGates(row, (gate) => gate === STRICT_GATE || isOn).defaultsKey ?? []);
  assert.deepEqual([keysWith(false), keysWith(true)], [[], ['MaxUnavailableStatefulSet', 'VolumeLimitScaling']]);
});

test('selectors of a DeviceClass that an update leaves as they are may call functions of features that are off', () => {
  const key = 'resource.k8s.io/DeviceClass';
  const body = (...expressions: string[]): object => ({ spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) } });
  const old = makeObject(body(INCLUDES));
  assert.deepEqual(write(withGate(key), { ...body(INCLUDES), metadata: { labels: { a: 'b' } } }, old).errors, []);
  assert.match(write(withGate(key), body(INCLUDES, 'true'), old).errors.join(), /undeclared reference to 'includes'/);
});

test('a source that is not known stays where the stored claim has one in another namespace', () => {
  const old = makeObject({ spec: { dataSourceRef: { kind: 'X', name: 'y', namespace: 'n' } } });
  const { object } = write(withGate('/PersistentVolumeClaim'), { spec: { dataSource: { kind: 'Z', name: 'y' } } }, old);
  assert.deepEqual((object['spec'] as { dataSource?: object }).dataSource, { kind: 'Z', name: 'y' });
});

test('a CSIDriver does not change by a field that is dropped', () => {
  const { object: old } = write(withGate('storage.k8s.io/CSIDriver'), {});
  const { object } = write(withGate('storage.k8s.io/CSIDriver'), { spec: { ...old['spec'] as object, preventPodSchedulingIfMissing: true } }, old);
  assert.deepEqual([object.metadata.generation, object['spec']], [undefined, old['spec']]);
});

test('MutablePVNodeAffinity lets volumes move to other nodes', () => {
  const volume = (value: string): KubeObject => makeObject({ spec: {
    capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], local: { path: '/x' },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: [value] }] }] } },
  } });
  const fields = (...gates: string[]): unknown =>
    withGate('/PersistentVolume', ...gates).validateUpdate?.(volume('b'), volume('c'), contextOf()).map(({ field }) => field);
  assert.deepEqual([fields(), fields('MutablePVNodeAffinity')], [['nodeAffinity'], []]);
});

test('statuses of pods name digests of images, and claims that take from the node', () => {
  const status = {
    containerStatuses: [{ name: 'c', volumeMounts: [{ name: 'v', volumeStatus: { image: { imageRef: '' } } }] }],
    nodeAllocatableResourceClaimStatuses: [{ resourceClaimName: 'x', containers: ['c'], resources: { 'a.b/c': '-1' } }, {}],
  };
  const [now, old] = [makeObject({ ...pod({}), status }), makeObject(pod({}))];
  const check = (...gates: string[]): readonly string[] =>
    (withGate('/Pod', ...gates).validateUpdate?.(now, old, contextOf('status')) ?? []).map(({ field, message }) => `${field}: ${message}`);
  const claim = (index: number, rest: string): string => `status.nodeAllocatableResourceClaimStatuses[${index}].${rest}`;
  const claims = [
    claim(0, 'resourceClaimName: Invalid value: "x": no mapping found in pod reference'),
    claim(0, 'resources[a.b/c]: Invalid value: "a.b/c": must be a node allocatable resource name'),
    claim(0, 'resources[a.b/c]: Invalid value: "-1": must be non-negative'), claim(1, 'resourceClaimName: Required value: must not be empty'),
    claim(1, 'resourceClaimName: Invalid value: "": no mapping found in pod reference'), claim(1, 'containers: Required value: must not be empty'),
    claim(1, 'resources: Required value: must not be empty'),
  ];
  const digest = 'status.containerStatuses[0].volumeMounts[0].volumeStatus.imageVolumeStatus.imageRef: Required value: imageRef must not be empty';
  assert.deepEqual([check(), check('ImageVolumeWithDigest')], [claims, [...claims, digest]]);
});

test('features of devices that are on by default can be off: their fields are dropped, and kept where the stored object has one', () => {
  const device = (fields: object): object => ({ spec: { driver: 'd', pool: { name: 'p', resourceSliceCount: 1 }, devices: [{ name: 'd', ...fields }] } });
  const claim = (requests: object): object => ({ spec: { devices: { requests: [{ name: 'r', ...requests }] } } });
  const lists = { firstAvailable: [{ name: 'a', deviceClassName: 'wanted' }] };
  const cases: readonly (readonly [key: string, gate: string, body: object])[] = [
    ['ResourceSlice', 'DRAPartitionableDevices', { spec: { sharedCounters: [{ name: 'wanted', counters: {} }] } }],
    ['ResourceSlice', 'DRAPartitionableDevices', device({ nodeName: 'wanted' })],
    ['ResourceSlice', 'DRADeviceBindingConditions', device({ bindingConditions: ['wanted'] })],
    ['ResourceSlice', 'DRADeviceTaints', device({ taints: [{ key: 'wanted', effect: 'NoSchedule' }] })],
    ['ResourceSlice', 'DRAConsumableCapacity', device({ capacity: { c: { value: '1', requestPolicy: { default: 'wanted' } } } })],
    ['DeviceClass', 'DRAExtendedResource', { spec: { extendedResourceName: 'example.com/wanted' } }],
    ['ResourceClaim', 'DRADeviceTaints', claim({ exactly: { tolerations: [{ key: 'wanted' }] } })],
    ['ResourceClaim', 'DRAConsumableCapacity', { spec: { devices: { constraints: [{ distinctAttribute: 'wanted' }] } } }],
    ['ResourceClaim', 'DRAPrioritizedList', claim(lists)],
    ['ResourceClaimTemplate', 'DRAPrioritizedList', { spec: claim(lists) }],
  ];
  for (const [kind, gate, body] of cases) {
    const strategy = (isOn: boolean): Strategy => buildStrategy(specOfKind(`resource.k8s.io/${kind}`), (one) => (one === gate ? isOn : isOnByDefault(one)));
    const has = (isOn: boolean, old?: KubeObject): boolean => JSON.stringify(write(strategy(isOn), body, old).object['spec']).includes('wanted');
    assert.deepEqual([has(true), has(false), has(false, makeObject(body))], [true, false, true], gate);
  }
  const status = { devices: [{ driver: 'd', pool: 'p', device: 'wanted' }],
    allocation: { devices: { results: [{ request: 'r', driver: 'd', pool: 'p', device: 'x', bindingConditions: ['c'] }] } } };
  const withStatus = (...off: string[]): unknown => {
    const object = makeObject({ ...claim({}), status });
    const strategy = buildStrategy(specOfKind('resource.k8s.io/ResourceClaim'), (gate) => isOnByDefault(gate) && !off.includes(gate));
    strategy.prepareForUpdate?.(object, makeObject(claim({})), { ...contextOf(), subresource: 'status' });
    const text = JSON.stringify(object['status']);
    return [text.includes('wanted'), text.includes('bindingConditions')];
  };
  assert.deepEqual([withStatus(), withStatus('DRAResourceClaimDeviceStatus'), withStatus('DRADeviceBindingConditions')],
    [[true, true], [false, true], [true, false]]);
});

test('without DRAConsumableCapacity devices are not shared', () => {
  const errors = (kind: string, body: object): readonly string[] => write(
    buildStrategy(specOfKind(`resource.k8s.io/${kind}`), (gate) => isOnByDefault(gate) && gate !== 'DRAConsumableCapacity'), body).errors;
  const selectors = { spec: { selectors: [{ cel: { expression: 'device.allowMultipleAllocations == true' } }] } };
  assert.match(errors('DeviceClass', selectors).join(), /undefined field 'allowMultipleAllocations'/);
  assert.deepEqual(write(withGate('resource.k8s.io/DeviceClass'), selectors).errors, []);
  const claim = { spec: { devices: {
    requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } }], constraints: [{ distinctAttribute: 'a/b' }],
  } } };
  assert.deepEqual(errors('ResourceClaim', claim), ['spec.devices.constraints[0].matchAttribute: Required value']);
  assert.deepEqual(write(withGate('resource.k8s.io/ResourceClaim'), claim).errors, []);
});

test('an update of a ResourceSlice that says what is dropped counts as a change', () => {
  const strategy = buildStrategy(specOfKind('resource.k8s.io/ResourceSlice'), (gate) => isOnByDefault(gate) && gate !== 'DRAPartitionableDevices');
  const slice = (fields: object): object => ({ metadata: { generation: 1 }, spec: { devices: [{ name: 'd', ...fields }] } });
  const { object } = write(strategy, slice({ allNodes: true }), makeObject(slice({})));
  assert.deepEqual([object['spec'], object.metadata.generation], [(slice({}) as KubeObject)['spec'], 2]);
});

test('devices say what they take from the resources of the node', () => {
  const key = 'resource.k8s.io/ResourceSlice';
  const slice = (nodeAllocatableResourceMappings: object): object => ({ spec: {
    driver: 'a.b', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
    devices: [{ name: 'd', capacity: { m: { value: '1' } }, nodeAllocatableResourceMappings }],
  } });
  const { object, errors } = write(withGate(key, 'DRANodeAllocatableResources'), slice({ cpu: { capacityKey: 'm' } }));
  assert.deepEqual([errors, JSON.stringify(object['spec']).includes('"cpu":{"capacityKey":"m","allocationMultiplier":"1"}')], [[], true]);
  const at = (rest: string): string => `spec.devices[0].nodeAllocatableResourceMappings${rest}`;
  const wrong = { 'x.y/z': { allocationMultiplier: '-2' }, memory: { capacityKey: 'none' }, cpu: { capacityKey: '' } };
  assert.deepEqual(write(withGate(key, 'DRANodeAllocatableResources'), slice(wrong)).errors, [
    at('[cpu].capacityKey: Invalid value: "": capacityKey must not be an empty string'), at('[memory].capacityKey: Not found: "none"'),
    at('[x.y/z]: Invalid value: "x.y/z": must be a node allocatable resource name'), at('[x.y/z].allocationMultiplier: Invalid value: "-2": must be positive'),
  ]);
  assert.deepEqual(write(withGate(key), slice(wrong)).errors, []);
});
