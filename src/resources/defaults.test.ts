// Defaults of created objects, against what the reference made of the same bodies.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../apimachinery/index.ts';
import { choosePullPolicy } from './core/pods/defaults/images.ts';
import { applyPodDefaults } from './core/pods/defaults/pod.ts';
import { strategyOf } from './kinds.suite.ts';
import { kindSpecs } from './table.ts';

const { created } = JSON.parse(readFileSync('test/data/builtin-objects.json', 'utf8')) as { created: readonly KubeObject[] };

function applyDefaults(object: KubeObject): KubeObject {
  const [group, version] = object.apiVersion?.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  strategyOf(`${group}/${object.kind}`).applyDefaults?.(object, version ?? '');
  return object;
}

for (const [index, object] of created.entries()) {
  test(`applyDefaults leaves what the reference made as it is: ${object.kind} ${index}`, () => {
    const before = structuredClone(object);
    assert.deepEqual(applyDefaults(structuredClone(before)), before);
  });
}

/** An object with everything removed that the reference added: `removed` are paths such as `spec.type`. */
function without(object: KubeObject, ...removed: readonly string[]): KubeObject {
  const copy = structuredClone(object);
  for (const path of removed) {
    const names = path.split('.');
    const last = names.pop() as string;
    let parents: Record<string, unknown>[] = [copy];
    for (const name of names) parents = parents.flatMap((parent) => parent[name] ?? []) as Record<string, unknown>[];
    for (const parent of parents) delete parent[last];
  }
  return copy;
}

const podSpecDefaults = ['restartPolicy', 'terminationGracePeriodSeconds', 'dnsPolicy', 'securityContext', 'schedulerName'];
const containerDefaults = ['terminationMessagePath', 'terminationMessagePolicy', 'imagePullPolicy'];
const podDefaults = (path: string): string[] => [
  ...podSpecDefaults.map((name) => `${path}.${name}`), ...containerDefaults.map((name) => `${path}.containers.${name}`),
];
const template = podDefaults('spec.template.spec');

const defaulted: Readonly<Record<string, readonly string[]>> = {
  'v1 Service': ['spec.type', 'spec.sessionAffinity', 'spec.internalTrafficPolicy', 'spec.ports.protocol', 'spec.ports.targetPort'],
  'v1 Pod': [...podDefaults('spec'), 'spec.enableServiceLinks'],
  'v1 ReplicationController': [...template, 'spec.replicas', 'spec.selector'],
  'apps/v1 Deployment': [...template, 'spec.replicas', 'spec.strategy', 'spec.revisionHistoryLimit', 'spec.progressDeadlineSeconds'],
  'apps/v1 DaemonSet': [...template, 'spec.updateStrategy', 'spec.revisionHistoryLimit'],
  'apps/v1 StatefulSet': [
    ...template, 'spec.replicas', 'spec.updateStrategy', 'spec.podManagementPolicy', 'spec.persistentVolumeClaimRetentionPolicy',
    'spec.volumeClaimTemplates.kind', 'spec.volumeClaimTemplates.apiVersion', 'spec.volumeClaimTemplates.status', 'spec.volumeClaimTemplates.spec.volumeMode',
  ],
  'batch/v1 Job': [...template.slice(1), 'spec.backoffLimit', 'spec.completionMode', 'spec.suspend', 'spec.manualSelector', 'spec.podReplacementPolicy'],
  'v1 Secret': ['type'],
  'scheduling.k8s.io/v1 PriorityClass': ['preemptionPolicy'],
  'storage.k8s.io/v1 StorageClass': ['reclaimPolicy', 'volumeBindingMode'],
  'networking.k8s.io/v1 NetworkPolicy': ['spec.policyTypes', 'spec.ingress.ports.protocol'],
  'flowcontrol.apiserver.k8s.io/v1 FlowSchema': ['spec.matchingPrecedence'],
  'rbac.authorization.k8s.io/v1 RoleBinding': ['roleRef.apiGroup'],
};

for (const [kind, paths] of Object.entries(defaulted)) {
  const object = created.find((candidate) => `${candidate.apiVersion} ${candidate.kind}` === kind);
  test(`applyDefaults fills what a client of ${kind} may leave out`, () => {
    assert.ok(object);
    assert.deepEqual(applyDefaults(without(object, ...paths)), object);
  });
}

test('applyDefaults is idempotent on whatever an object holds', () => {
  const member = fc.constantFrom('spec', 'status', 'template', 'containers', 'ports', 'volumes', 'metadata', 'labels', 'strategy', 'resources', 'metrics');
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), fc.constant(null), fc.array(tie('any'), { maxLength: 2 }), fc.dictionary(member, tie('any'))),
  })).any;
  const kinds = [...kindSpecs.keys()];
  fc.assert(fc.property(fc.constantFrom(...kinds), fc.dictionary(member, value), (key, body) => {
    const [group, kind] = key.split('/');
    const object = { ...body, apiVersion: group === '' ? 'v1' : `${group}/v1`, kind, metadata: { name: 'a' } } as KubeObject;
    const once = structuredClone(applyDefaults(structuredClone(object)));
    assert.deepEqual(applyDefaults(structuredClone(once)), once);
  }), { numRuns: 300 });
});

test('choosePullPolicy knows which references mean the latest image', () => {
  for (const image of ['nginx', 'nginx:latest', 'a.b:5000/c/d', 'localhost/x']) assert.equal(choosePullPolicy(image), 'Always', image);
  for (const image of ['nginx:1', 'a.b:5000/c:2', `x@sha256:${'0'.repeat(64)}`, '', 'Not/A Reference', undefined]) {
    assert.equal(choosePullPolicy(image), 'IfNotPresent', String(image));
  }
});

test('applyPodDefaults requests what is limited and keeps thousandths', () => {
  const resources = { limits: { cpu: '0.0015', memory: '1Gi' }, requests: { cpu: '1m' } };
  const pod: KubeObject = { metadata: {}, spec: { containers: [{ name: 'c', image: 'x:1', resources }] } };
  applyPodDefaults(pod);
  const [container] = (pod['spec'] as { containers: { resources: unknown }[] }).containers;
  assert.deepEqual(container?.resources, { limits: { cpu: '2m', memory: '1Gi' }, requests: { cpu: '1m', memory: '1Gi' } });
});
