// Validation of claims, classes and slices of devices, in the words of the reference.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { strategyOf } from '../kinds.suite.ts';

const group = 'resource.k8s.io';
const context = { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: '' };

function make(kind: string, body: object): KubeObject {
  const key = `${group}/${kind}`;
  const object = { metadata: { name: 'a' }, ...structuredClone(body) } as KubeObject;
  const strategy = strategyOf(key);
  strategy.applyDefaults?.(object, 'v1');
  strategy.prepareForCreate?.(object, context);
  return object;
}

const show = (errors: Iterable<{ field: string; message: string }> = []): readonly string[] => [...errors].map(({ field, message }) => `${field}: ${message}`);
const create = (kind: string, body: object): readonly string[] => show(strategyOf(`${group}/${kind}`).validate?.(make(kind, body), context));

const opaque = { driver: 'gpu.example.com', parameters: { x: 1 } };
const claim = { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } };
const label = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character "
  + "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const expectedClaim = [
  'spec.devices.requests[0].exactly.deviceClassName: Required value',
  'spec.devices.requests[0].exactly.selectors[0].cel: Required value',
  "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
  'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty for operator `Exists`',
  'spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: "No": supported values: "NoExecute", "NoSchedule", "None"',
  'spec.devices.requests[1]: Required value: exactly one of `exactly` or `firstAvailable` is required',
  `spec.devices.requests[2].name: Invalid value: "": ${label}`,
  'spec.devices.requests[2].firstAvailable[0].allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
  'spec.devices.requests[2].firstAvailable[1]: Duplicate value: "s"',
  'spec.devices.requests[1]: Duplicate value: "r"',
  'spec.devices.constraints[0].requests[2]: Invalid value: "x": must be the name of a request in the claim or the name of a request '
    + "and a subrequest separated by '/'",
  'spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": must be the name of a request in the claim or the name of a '
    + "request and a subrequest separated by '/'",
  'spec.devices.constraints[0].requests[1]: Duplicate value: "r"',
  'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
  'spec.devices.constraints[1]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
  'spec.devices.config[0].opaque.driver: Invalid value: "Bad_Driver": a lowercase RFC 1123 subdomain must consist of lower case '
    + "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    + "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
  'spec.devices.config[1].opaque: Required value',
];

const expectedUpdate = [
  'spec: Invalid value: '
    + '{"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"gpu","Selectors":null,"AllocationMode":"ExactCount","Count":1,'
    + '"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":[{"Requests":null,'
    + '"Opaque":{"Driver":"gpu.example.com","Parameters":{"x":1}}}]}}: field is immutable',
];

const expectedStatus = [
  'status.reservedFor[1].resource: Required value',
  'status.reservedFor[1].name: Required value',
  'status.reservedFor[1]: Duplicate value: "u"',
  'status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"d","ShareID":""}: must be an allocated device in the claim',
  'status.devices[0].conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"',
  'status.devices[0].conditions[0].lastTransitionTime: Required value',
  'status.devices[0].conditions[0].reason: Invalid value: "-": a condition reason must start with alphabetic character, optionally '
    + "followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or "
    + "'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    + "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
  'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
  'status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes',
  'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
  'status.devices[0].networkData.ips[1]: Invalid value: "10.0.0.01/8": must be in canonical form ("10.0.0.1/8")',
  'status.devices[0].networkData.ips[2]: Invalid value: "::ffff:10.0.0.1/104": must be in canonical form ("10.0.0.1/8")',
  'status.allocation.devices.results[0].request: Invalid value: "x": must be the name of a request in the claim or the name of a '
    + "request and a subrequest separated by '/'",
  'status.allocation.devices.results[0].driver: Required value',
  'status.allocation.devices.results[0].pool: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case '
    + "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    + "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  'status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
  'status.allocation.devices.results[0].shareID: Invalid value: "abc": error validating uid: invalid UUID length: 3',
];

const expectedClass = [
  'spec.config[0].opaque.parameters: Required value',
  'spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name',
];

const expectedSlice = [
  'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
  'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
  'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` '
    + 'is required, but multiple fields are set',
  'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
  `spec.devices[0].attributes: Invalid value: "a b": a valid C identifier must start with alphabetic character or '_', followed by a `
    + "string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    + "'[A-Za-z_][A-Za-z0-9_]*')",
  'spec.devices[0].attributes[a b]: Invalid value: '
    + '{"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,'
    + '"VersionValues":null}: exactly one value must be specified',
  'spec.devices[0].attributes: Invalid value: "": the name must not be empty',
  'spec.devices[0].attributes[x.y/].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0',
  'spec.devices[0].attributes[z]: Invalid value: "": exactly one value must be specified',
  'spec.devices[0].taints[0].effect: Required value',
  'spec.devices[0].consumesCounters[0].counterSet: Required value',
  `spec.devices[0].consumesCounters[0].counters: Invalid value: "C": ${label}`,
  'spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set '
    + 'to true in the ResourceSlice spec',
  'spec.devices[1].bindingFailureConditions[1]: Duplicate value: "a"',
  'spec.devices[1].bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions',
  'spec.devices[1]: Duplicate value: "d"',
  'spec.sharedCounters[0].counters: Required value',
];

const expectedCapacity = [
  'spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "2": min is larger than max: 1',
  'spec.devices[0].capacity[a].requestPolicy.validRange.max: Invalid value: "3": default is more than max: 1',
  'spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "3": one step 5 is larger than capacity value: 4',
  'spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (3) from (2)',
  'spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "1": value is not a multiple of a given step (3) from (2)',
  'spec.devices[0].capacity[b].requestPolicy.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
  'spec.devices[0].capacity[b].requestPolicy.validValues[0]: Invalid value: "5": option is larger than capacity value: 4',
  'spec.devices[0].capacity[b].requestPolicy.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
  'spec.devices[0].capacity[c].requestPolicy.default: Required value: required when validValues is defined',
];

test('validateResourceClaim knows which requests there are, and what they must say', () => {
  assert.deepEqual(create('ResourceClaim', { spec: { devices: {
    requests: [
      { name: 'r', exactly: { allocationMode: 'All', count: 2, selectors: [{}], tolerations: [
        { key: 'k', operator: 'Exists', value: 'v', effect: 'No' }, { operator: 'Equal' },
      ] } },
      { name: 'r' }, { name: '', firstAvailable: [{ name: 's', deviceClassName: 'gpu', allocationMode: 'Some' }, { name: 's', deviceClassName: 'gpu' }] },
    ],
    constraints: [{ requests: ['r', 'r', 'x', 'a/b/c'], matchAttribute: 'model' }, {}],
    config: [{ opaque: { driver: 'Bad_Driver', parameters: [] } }, {}],
  } } }), expectedClaim);
});

test('validateResourceClaimUpdate shows what the claim would be', () => {
  const old = make('ResourceClaim', { spec: claim });
  const changed = make('ResourceClaim', { spec: { devices: { ...claim.devices, config: [{ opaque }] } } });
  assert.deepEqual(show(strategyOf(`${group}/ResourceClaim`).validateUpdate?.(changed, old, context)), expectedUpdate);
});

test('validateResourceClaimStatus compares devices with what is allocated', () => {
  const claimed = make('ResourceClaim', { spec: claim });
  const status = {
    reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }, { uid: 'u' }],
    allocation: { devices: { results: [{ request: 'x', driver: '', pool: 'a//b', device: 'd', shareID: 'abc', bindingConditions: ['a'] }] } },
    devices: [{
      driver: 'd', pool: 'p', device: 'd', data: 'x', networkData: { interfaceName: 'i'.repeat(257), ips: ['10.0.0.1', '10.0.0.01/8', '::ffff:10.0.0.1/104'] },
      conditions: [{ type: 'A', status: 'Yes', reason: '-' }],
    }],
  };
  const updated = show(strategyOf(`${group}/ResourceClaim`).validateUpdate?.({ ...claimed, status }, claimed, { ...context, subresource: 'status' }));
  assert.deepEqual(updated, expectedStatus);
});

test('validateDeviceClass wants an extended resource', () => {
  assert.deepEqual(create('DeviceClass', { spec: { extendedResourceName: 'cpu', config: [{ opaque: { driver: 'gpu.example.com' } }] } }), expectedClass);
});

const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };

test('validateResourceSlice wants one way to name nodes, and devices that make sense', () => {
  assert.deepEqual(create('ResourceSlice', { spec: {
    driver: 'gpu.example.com', pool: { name: 'p', resourceSliceCount: 0, generation: -1 }, nodeName: 'n', allNodes: true, sharedCounters: [{ name: 'c' }],
    devices: [
      {
        name: 'd', attributes: { 'a b': { int: 1, bool: true }, 'x.y/': { version: '1.2' }, z: { ints: [1] } }, nodeName: 'n',
        taints: [{ key: 'k' }], consumesCounters: [{ counterSet: '', counters: { C: { value: '1' } } }],
      },
      { name: 'd', bindingFailureConditions: ['a', 'a'] },
    ],
  } }), expectedSlice);
});

test('checkCapacity lets several ask for what fits', () => {
  const capacity = {
    a: { value: '4', requestPolicy: { default: '3', validRange: { min: '2', max: '1', step: '3' } } },
    b: { value: '4', requestPolicy: { default: '3', validValues: ['5', '1'] } },
    c: { value: '4', requestPolicy: { validValues: ['1'] } },
  };
  const slice = (allowMultipleAllocations: boolean): object =>
    ({ spec: { driver: 'd', pool, allNodes: true, devices: [{ name: 'd', allowMultipleAllocations, capacity }] } });
  assert.deepEqual(create('ResourceSlice', slice(true)), expectedCapacity);
  assert.equal(create('ResourceSlice', slice(false))[0],
    'spec.devices[0].capacity[a].requestPolicy: Forbidden: allowMultipleAllocations must be true');
});

test('checkSteps answers where the reference divides by zero', () => {
  const capacity = { a: { value: '4', requestPolicy: { default: '3', validRange: { min: '2', step: '0' } } } };
  const devices = [{ name: 'd', allowMultipleAllocations: true, capacity }];
  assert.deepEqual(create('ResourceSlice', { spec: { driver: 'd', pool, allNodes: true, devices } }), [
    'spec.devices[0].capacity[a].requestPolicy.validRange.step: Invalid value: "3": value is not a multiple of a given step (0) from (2)',
  ]);
});

test('a name of a pool with very many parts has bounded problems', () => {
  const pool = { name: 'A/'.repeat(20_000), resourceSliceCount: 1, generation: 1 };
  const errors = create('ResourceSlice', { spec: { driver: 'a', nodeName: 'n', pool } }).filter((text) => text.startsWith('spec.pool.name'));
  assert.equal(errors.length, 1001);
  assert.match(errors[0] as string, /Too long/);
});

test('prepareForUpdate of a slice counts what it drops as a change', () => {
  const slice = (rest: object): KubeObject =>
    ({ metadata: { name: 'a', generation: 1 }, spec: { devices: [{ name: 'd', ...rest }] } }) as unknown as KubeObject;
  const change = (rest: object): readonly [unknown, unknown] => {
    const object = slice(rest);
    strategyOf(`${group}/ResourceSlice`).prepareForUpdate?.(object, slice({}), context);
    return [object.metadata.generation, object['spec']];
  };
  assert.deepEqual(change({ nodeAllocatableResourceMappings: { cpu: {} } }), [2, { devices: [{ name: 'd' }] }]);
  assert.deepEqual(change({}), [1, { devices: [{ name: 'd' }] }]);
});
