// Kinds and versions that are off by default, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import { contextOf, create, makeObject, prepareChanged, printCell, specOfKind, strategyOf, update, updateStatus } from './kinds.suite.ts';

const candidate = (spec: object): object => ({ spec: { leaseName: 'l', binaryVersion: '1.30.0', strategy: 'example.com/first', ...spec } });

test('validateCandidate compares semantic versions, pre-releases included', () => {
  const errors = (spec: object) => create('coordination.k8s.io/LeaseCandidate', candidate(spec));
  for (const emulationVersion of ['1.30.0', '1.30.0-rc.1', '1.29.99', '1.30.0+build.7']) assert.deepEqual(errors({ emulationVersion }), [], emulationVersion);
  const older = ['spec.binaryVersion: Invalid value: "1.30.0-alpha.2": must be greater than or equal to `emulationVersion`'];
  for (const emulationVersion of ['1.30.0', '1.30.0-alpha.10', '1.30.0-beta', '2.0.0-alpha.1']) {
    assert.deepEqual(errors({ binaryVersion: '1.30.0-alpha.2', emulationVersion }), older, emulationVersion);
  }
  for (const emulationVersion of ['1.3', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3+a+b', 'v1.2.3']) {
    assert.deepEqual(errors({ emulationVersion })[0], `spec.emulationVersion: Invalid value: "${emulationVersion}": must be a valid semantic version`);
  }
});

test('validateCandidate wants the version that its strategy compares', () => {
  const required = 'spec.emulationVersion: Required value: must be specified when `strategy` is \'OldestEmulationVersion\'';
  assert.deepEqual(create('coordination.k8s.io/LeaseCandidate', candidate({ strategy: 'OldestEmulationVersion' })), [required]);
  assert.deepEqual(create('coordination.k8s.io/LeaseCandidate', candidate({ strategy: 'x' })), [
    'spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"',
  ]);
  assert.deepEqual(update('coordination.k8s.io/LeaseCandidate', candidate({}), { old: candidate({ leaseName: 'm' }) }), [
    'spec.leaseName: Invalid value: "l": field is immutable',
  ]);
});

test('storageVersionKind wants servers that agree with what they have in common', () => {
  const server = { apiServerID: 'a', encodingVersion: 'v1', decodableVersions: ['v1'] };
  const errors = (status: object) => updateStatus('internal.apiserver.k8s.io/StorageVersion', { status });
  assert.deepEqual(errors({ storageVersions: [server], commonEncodingVersion: 'v1' }), []);
  assert.deepEqual(errors({ storageVersions: [server] }), ['status.commonEncodingVersion: Invalid value: null: the common encoding version is v1']);
  assert.deepEqual(errors({ storageVersions: [{ ...server, decodableVersions: ['v2'], servedVersions: ['v1'] }], commonEncodingVersion: 'v1' }), [
    'status.storageVersions[0].decodableVersions: Invalid value: ["v2"]: decodableVersions must include encodingVersion v1',
    'status.storageVersions[0].servedVersions[0]: Invalid value: "v1": individual served version : v1 must be included in decodableVersions : [v2]',
  ]);
  assert.deepEqual(create('internal.apiserver.k8s.io/StorageVersion', { metadata: { name: 'things' } }), [
    'metadata.name: Invalid value: "things": name must be in the form of <group>.<resource>',
  ]);
  assert.equal(printCell('internal.apiserver.k8s.io/StorageVersion', 'StorageVersions', { status: { storageVersions: [server] } }), 'a=v1');
});

test('storageVersionMigrationKind ends once', () => {
  const condition = (type: string): object => ({ type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' });
  const done = { spec: { resource: { resource: 'pods' } }, status: { resourceVersion: '7', conditions: [condition('Succeeded')] } };
  const key = 'storagemigration.k8s.io/StorageVersionMigration';
  assert.deepEqual(updateStatus(key, done), []);
  assert.deepEqual(updateStatus(key, { ...done, status: { resourceVersion: '08', conditions: [] } }, done), [
    'status.resourceVersion: Invalid value: "08": resource version is not well formed: 08',
    'status.resourceVersion: Invalid value: "08": field is immutable',
    'status.conditions: Invalid value: []: Success condition cannot be set to false once it is true',
  ]);
  assert.equal(printCell(key, 'Status', done), 'Succeeded');
});

test('validateBundle wants names that begin with the signer, and certificates', () => {
  const bundle = (name: string, spec: object): readonly string[] => create('certificates.k8s.io/ClusterTrustBundle', { metadata: { name }, spec });
  assert.deepEqual(bundle('b', { signerName: 'a.b/c', trustBundle: '' }), [
    'metadata.name: Invalid value: "b": ClusterTrustBundle for signerName a.b/c must be named with prefix a.b:c:',
    'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided',
  ]);
  const block = (type: string, body: string): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
  assert.deepEqual(bundle('b', { trustBundle: block('KEY', 'AAAA') + block('CERTIFICATE', 'AAAA') }), [
    'spec.trustBundle: Invalid value: "<value omitted>": entry 0 has bad block type: KEY',
    'spec.trustBundle: Invalid value: "<value omitted>": entry 1 does not parse as X.509',
  ]);
});

test('deviceTaintRuleKind sets a new time with a new effect', () => {
  const rule = (effect: string, timeAdded: string): object => ({ spec: { taint: { key: 'k', effect, timeAdded } } });
  const before = '2020-01-01T00:00:00Z';
  const after = (object: object): unknown => {
    const { spec } = prepareChanged('resource.k8s.io/DeviceTaintRule', { object, old: rule('NoSchedule', before) }) as KubeObject & { spec: any };
    return spec.taint.timeAdded;
  };
  assert.equal(after(rule('NoSchedule', before)), before);
  assert.equal(after(rule('NoExecute', before)), '2024-01-01T00:00:00Z');
  assert.equal(after(rule('NoExecute', '2021-01-01T00:00:00Z')), '2021-01-01T00:00:00Z');
});

test('resourcePoolStatusRequestKind is answered once', () => {
  const key = 'resource.k8s.io/ResourcePoolStatusRequest';
  const asked = { spec: { driver: 'd' } };
  const pool = { driver: 'd', poolName: 'p', generation: 1, totalDevices: 3 };
  const pools = [{ ...pool, validationError: 'x' }, { ...pool, poolName: 'q', totalDevices: 4 }];
  const answered = { ...asked, status: { poolCount: 5, pools, conditions: [{ type: 'Complete', status: 'True' }] } };
  assert.deepEqual(updateStatus(key, { ...asked, status: { pools } }, asked), ['status.poolCount: Required value']);
  assert.match(updateStatus(key, { ...asked, status: { poolCount: 1 } }, answered).join(), /^status: Invalid value: .*: field is immutable$/);
  const cells = ['Total', 'Errors', 'Pools', 'Status'].map((name) => printCell(key, name, answered));
  assert.deepEqual(cells, ['7', '1', 5, 'Complete (2/5 pools)']);
  assert.equal(printCell(key, 'Total', asked), '-');
});

test('convertClaim and convertSlice are their own inverse between v1beta1 and v1', () => {
  const alternative = { name: 'b', deviceClassName: '', firstAvailable: [] };
  const claim = makeObject({ spec: { devices: { requests: [{ name: 'a', deviceClassName: 'c', count: 2 }, alternative] } } });
  const { convert } = specOfKind('resource.k8s.io/ResourceClaim');
  const stored = convert!(claim, 'v1beta1', 'v1');
  const requests = [{ name: 'a', exactly: { deviceClassName: 'c', count: 2 } }, { name: 'b', firstAvailable: [] }];
  assert.deepEqual(stored['spec'], { devices: { requests } });
  assert.deepEqual(convert!(stored, 'v1', 'v1beta1'), claim);
  const slice = makeObject({ spec: { driver: 'd', devices: [{ name: 'x', basic: { attributes: { a: { int: 1 } } } }, { name: 'y', basic: {} }] } });
  const { convert: convertSlice } = specOfKind('resource.k8s.io/ResourceSlice');
  const flat = convertSlice!(slice, 'v1beta1', 'v1beta2');
  assert.deepEqual((flat['spec'] as any).devices, [{ name: 'x', attributes: { a: { int: 1 } } }, { name: 'y' }]);
  assert.deepEqual(convertSlice!(flat, 'v1beta2', 'v1beta1'), slice);
});

test('actInVersion validates and prepares what v1beta1 says as v1 would', () => {
  const context = { ...contextOf(), version: 'v1beta1' };
  const strategy = strategyOf('resource.k8s.io/ResourceSlice');
  const devices = [{ name: 'x', basic: { taints: [{ key: 'k' }] } }];
  const slice = makeObject({ spec: { driver: 'd', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', devices } });
  strategy.prepareForCreate?.(slice, context);
  const [device] = (slice['spec'] as any).devices;
  assert.deepEqual(device.basic.taints, [{ key: 'k', timeAdded: '2024-01-01T00:00:00Z' }]);
  assert.deepEqual([...strategy.validate!(slice, context)].map(({ field }) => field), ['spec.devices[0].taints[0].effect']);
});
