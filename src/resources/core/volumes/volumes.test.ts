// PersistentVolumes and claims, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, update, updateFrom, warn } from '../../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['/PersistentVolume', { spec: { capacity: {}, accessModes: ['Always'], hostPath: { path: '/a/../b' } } }, [
    'spec.accessModes: Unsupported value: "Always": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    'spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
  ]],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateClaimStatus knows what can grow, and how', () => {
  const status = { capacity: { storage: '-1' }, allocatedResources: { cpu: '1' }, allocatedResourceStatuses: { storage: 'Odd' } };
  assert.deepEqual(update('/PersistentVolumeClaim', { status }, { subresource: 'status' }), [
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", '
      + '"NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"',
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
  ]);
});

test('validateClaimUpdate shows what changed of what cannot change', () => {
  const claim = (size: string) => ({ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } } });
  const shown = '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n';
  assert.deepEqual(updateFrom('/PersistentVolumeClaim', claim('2Gi'), claim('1Gi')), [
    `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${shown}`,
  ]);
});

test('validateVolume checks each kind of source, and counts flex volumes behind others for nothing', () => {
  const errorsOf = (spec: object): readonly string[] =>
    create('/PersistentVolume', { spec: { capacity: { storage: '1' }, accessModes: ['ReadWriteOnce'], ...spec } });
  assert.deepEqual(errorsOf({ hostPath: { path: '/x' }, flexVolume: { driver: 'a' }, cephfs: { monitors: ['m'] } }),
    ['spec.cephFS: Forbidden: may not specify more than 1 volume type']);
  assert.deepEqual(errorsOf({ csi: { driver: 'a', volumeHandle: 'h', nodePublishSecretRef: {} } }), [
    'spec.csi.nodePublishSecretRef.name: Required value', 'spec.csi.nodePublishSecretRef.namespace: Required value',
  ]);
  assert.deepEqual(errorsOf({ hostPath: { path: '/x' }, nodeAffinity: {}, volumeAttributesClassName: '' }), [
    'spec.nodeAffinity.required: Required value: must specify required node constraints',
    'spec.volumeAttributesClassName: Required value: an empty string is disallowed',
    'spec.csi: Required value: has to be specified when using volumeAttributesClassName',
  ]);
});

test('validateClaim accepts fractions of bytes, with a warning', () => {
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '500m' } } } };
  assert.deepEqual(create('/PersistentVolumeClaim', claim), []);
  assert.deepEqual(warn('/PersistentVolumeClaim', claim), ['spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer']);
  assert.deepEqual(create('/PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0' } } } }),
    ['spec.resources[storage]: Invalid value: "0": must be greater than zero']);
});
