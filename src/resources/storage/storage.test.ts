// Kinds of storage.k8s.io, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults, create, prepareChanged } from '../kinds.suite.ts';

test('validateCsiDriver wants one token for an audience, and time between updates', () => {
  const tokenRequests = [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }];
  assert.deepEqual(create('storage.k8s.io/CSIDriver', { spec: { tokenRequests, nodeAllocatableUpdatePeriodSeconds: 1 } }), [
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 seconds',
  ]);
});

test('csiDriverStrategy counts changes from the first one on', () => {
  const driver = prepareChanged('storage.k8s.io/CSIDriver', { object: { spec: { attachRequired: true } }, old: { spec: { attachRequired: false } } });
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

test('validateCsiNode wants each key once', () => {
  const drivers = [{ name: 'D', nodeID: 'n', topologyKeys: ['a', 'a'] }];
  assert.deepEqual(create('storage.k8s.io/CSINode', { spec: { drivers } }), ['spec.drivers[0]: Duplicate value: "a"']);
});

test('checkProvisioner takes qualified names in any case', () => {
  const parameters = { a: 'b' };
  assert.deepEqual(create('storage.k8s.io/VolumeAttributesClass', { driverName: 'Example.com/Driver', parameters }), []);
  assert.deepEqual(create('storage.k8s.io/VolumeAttributesClass', { driverName: '', parameters }), ['driverName: Required value']);
  assert.match(create('storage.k8s.io/StorageClass', { provisioner: 'A/B/C' }).join(), /^provisioner: Invalid value: "a\/b\/c": /);
});

test('validateInlineVolume wants the source of a driver, and nothing that volumes of their own have', () => {
  const inline = (inlineVolumeSpec: object): readonly string[] =>
    create('storage.k8s.io/VolumeAttachment', { spec: { attacher: 'a', nodeName: 'n', source: { inlineVolumeSpec } } })
      .map((error) => error.replace('spec.source.inlineVolumeSpec.', ''));
  const csi = { driver: 'd', volumeHandle: 'h' };
  assert.deepEqual(inline({ accessModes: ['ReadWriteOnce'], csi, volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' }), []);
  assert.deepEqual(inline({ capacity: { storage: '1' }, hostPath: { path: '/a' }, persistentVolumeReclaimPolicy: 'Delete', storageClassName: 'c' }), [
    'capacity: Forbidden: may not be specified in the context of inline volumes', 'csi: Required value: has to be specified in the context of inline volumes',
    'accessModes: Required value', 'persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
    'storageClassName: Forbidden: may not be specified in the context of inline volumes',
  ]);
});

test('checkParameters bounds the parameters of classes in number and size', () => {
  const errorsOf = (kind: string, parameters: object): readonly string[] =>
    create(`storage.k8s.io/${kind}`, { provisioner: 'a', driverName: 'a', volumeBindingMode: 'Immediate', parameters });
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`p${index}`, '']));
  for (const kind of ['StorageClass', 'VolumeAttributesClass']) {
    assert.deepEqual(errorsOf(kind, many), ['parameters: Too long: may not be more than 512 bytes']);
    assert.deepEqual(errorsOf(kind, { '': 'é'.repeat(131_073) }),
      ['parameters: Invalid value: "": field can not be empty.', 'parameters: Too long: may not be more than 262144 bytes']);
    assert.deepEqual(errorsOf(kind, { a: 'x'.repeat(262_143) }), []);
  }
  assert.deepEqual(errorsOf('VolumeAttributesClass', {}), ['parameters: Required value: must contain at least one key/value pair']);
  assert.deepEqual(errorsOf('StorageClass', {}), []);
});

test('applyDefaults of a volumeattachment drops an empty capacity of the volume inside it', () => {
  const attachment = (capacity: object): object => ({ spec: { source: { inlineVolumeSpec: { capacity } } } });
  assert.deepEqual(applyDefaults('storage.k8s.io/VolumeAttachment', attachment({}))['spec'], { source: { inlineVolumeSpec: {} } });
  const attached = attachment({ storage: '1' }) as { spec: object };
  assert.deepEqual(applyDefaults('storage.k8s.io/VolumeAttachment', attached)['spec'], attached.spec);
});
