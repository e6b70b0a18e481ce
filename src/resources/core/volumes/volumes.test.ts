// PersistentVolumes and claims, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { box, create, prepareNew, update, updateFrom, warn } from '../../kinds.suite.ts';

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

const disk = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };

test('validateVolume shows a capacity that is absent as null and an empty one as such, and finds the root behind dots', () => {
  const { capacity: _, ...rest } = disk;
  assert.deepEqual(create('/PersistentVolume', { spec: rest }),
    ['spec.capacity: Required value', 'spec.capacity: Unsupported value: null: supported values: "storage"']);
  assert.deepEqual(create('/PersistentVolume', { spec: { ...rest, capacity: {} } }),
    ['spec.capacity: Required value', 'spec.capacity: Unsupported value: {}: supported values: "storage"']);
  const recycled = (path: string): readonly string[] =>
    create('/PersistentVolume', { spec: { ...disk, hostPath: { path }, persistentVolumeReclaimPolicy: 'Recycle' } });
  const refusal = "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'";
  assert.deepEqual(recycled('/a/..'), ['spec.hostPath.path: Invalid value: "/a/..": must not contain \'..\'', refusal]);
  const backwards = ['spec.hostPath.path: Invalid value: "a/..": must not contain \'..\''];
  assert.deepEqual([recycled('//./'), recycled('/a/.'), recycled('a/..')], [[refusal], [], backwards]);
});

test('validateVolume refuses mount options in an annotation of a source that is not mounted with them', () => {
  const volume = (source: object): object => ({
    metadata: { name: 'a', annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source },
  });
  assert.deepEqual(create('/PersistentVolume', volume({ nfs: { server: 's', path: '/' } })), []);
  assert.deepEqual(create('/PersistentVolume', volume({ hostPath: { path: '/a' } })), [
    'metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type',
  ]);
});

test('validateVolumeUpdate lets old labels of nodes become those that follow them, and no others', () => {
  const volume = (...keys: string[]): object => ({
    spec: { ...disk, nodeAffinity: { required: { nodeSelectorTerms: keys.map((key) => ({ matchExpressions: [{ key, operator: 'In', values: ['x'] }] })) } } },
  });
  const errors = (now: object, old: object): number => updateFrom('/PersistentVolume', now, old).length;
  const [zone, region] = ['failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'];
  assert.equal(errors(volume('topology.kubernetes.io/zone', region), volume(zone, region)), 0);
  assert.equal(errors(volume('topology.kubernetes.io/zone', 'topology.kubernetes.io/region'), volume(zone, region)), 0);
  assert.equal(errors(volume('node.kubernetes.io/instance-type'), volume('beta.kubernetes.io/instance-type')), 0);
  assert.equal(errors(volume('topology.kubernetes.io/zone'), volume(region)), 1);
  assert.equal(errors(volume(zone), volume('topology.kubernetes.io/zone')), 1);
  assert.equal(errors(volume('topology.kubernetes.io/zone'), volume(zone, region)), 1);
});

test('prepareForCreate of a claim leaves an empty namespace out of dataSource', () => {
  const dataSourceRef = { apiGroup: 'a.b', kind: 'Copy', name: 'x' };
  const spec = prepareNew('/PersistentVolumeClaim', { spec: { dataSourceRef: { ...dataSourceRef, namespace: '' } } })['spec'] as Record<string, unknown>;
  assert.deepEqual([spec['dataSource'], spec['dataSourceRef']], [dataSourceRef, { ...dataSourceRef, namespace: '' }]);
});

test('validateVolume and validatePod miss monitors in a list that is empty', () => {
  for (const [kind, source] of [['rbd', { image: 'i', monitors: [] }], ['cephfs', { monitors: [] }]] as const) {
    const { hostPath: _, ...rest } = disk;
    assert.deepEqual(create('/PersistentVolume', { spec: { ...rest, [kind]: source } }), [`spec.${kind}.monitors: Required value`]);
    assert.deepEqual(create('/Pod', { spec: { containers: [box()], volumes: [{ name: 'v', [kind]: source }] } }),
      [`spec.volumes[0].${kind}.monitors: Required value`]);
  }
});
