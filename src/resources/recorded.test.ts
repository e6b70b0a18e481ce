// All kinds, against objects and tables that were recorded from the reference, and against arbitrary objects.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../apimachinery/index.ts';
import { columnsOf, contextOf, strategyOf } from './kinds.suite.ts';
import { kindSpecs } from './table.ts';

interface TableCase {
  readonly scenario: string;
  readonly columns: readonly (readonly [string, string, string, number])[];
  readonly cells: readonly unknown[];
  readonly object: KubeObject;
}

// The recording left uids out, but they are values of labels.
const uid = '3f1c5b0e-0000-4000-8000-000000000000';
const { tables } = JSON.parse(readFileSync('test/data/builtin-objects.json', 'utf8').replaceAll('<uid>', uid)) as { tables: readonly TableCase[] };
const ages = new Set(['Age', 'Created At', 'Last Seen', 'First Seen', 'Last Schedule', 'Duration']);
const { created } = JSON.parse(readFileSync('test/data/builtin-objects.json', 'utf8')) as { created: readonly KubeObject[] };

function applyDefaults(object: KubeObject): KubeObject {
  const [group, version] = object.apiVersion?.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  strategyOf(`${group}/${object.kind}`).applyDefaults?.(object, version ?? '');
  return object;
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

for (const { scenario, columns, cells, object } of tables) {
  const group = object.apiVersion?.includes('/') ? object.apiVersion.slice(0, object.apiVersion.indexOf('/')) : '';
  test(`columns of ${object.kind} print what the reference printed in ${scenario}`, () => {
    const own = columnsOf(`${group}/${object.kind}`);
    const declared = own.filter((column) => !column.undeclared);
    assert.deepEqual(declared.map(({ name, type, format, priority }) => [name, type, format, priority]), columns);
    for (const [index, { name, cell }] of declared.entries()) if (!ages.has(name)) assert.deepEqual(cell(object, 0), cells[index], name);
  });
}

test('columns survives objects that hold nothing and objects that hold nonsense', () => {
  const nonsense = { metadata: {}, spec: 7, status: [null], data: 'x', webhooks: {}, subsets: [1], series: true, conditions: 'no' } as unknown as KubeObject;
  for (const columns of [...kindSpecs.keys()].map(columnsOf)) {
    for (const object of [{ metadata: {} }, nonsense]) for (const { cell } of columns) assert.notEqual(cell(object, 0), undefined);
  }
});

for (const [index, object] of created.entries()) {
  test(`applyDefaults leaves what the reference made as it is: ${object.kind} ${index}`, () => {
    const before = structuredClone(object);
    assert.deepEqual(applyDefaults(structuredClone(before)), before);
  });
}

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

test('validate answers for whatever an object holds', () => {
  const names = ['spec', 'template', 'containers', 'ports', 'volumes', 'metadata', 'labels', 'selector', 'matchLabels', 'data', 'rules', '__proto__'];
  const member = fc.constantFrom(...names);
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 5 }, fc.string(), fc.integer(), fc.constant(null), fc.array(tie('any'), { maxLength: 2 }), fc.dictionary(member, tie('any'))),
  })).any;
  fc.assert(fc.property(fc.constantFrom(...kindSpecs.keys()), fc.dictionary(member, value), (key, body) => {
    const object = { ...body, metadata: { name: 'a' } } as KubeObject;
    assert.ok(Array.isArray(strategyOf(key).validate?.(object, contextOf()) ?? []));
    assert.ok(Array.isArray(strategyOf(key).validateUpdate?.(object, { metadata: { name: 'a' } }, contextOf()) ?? []));
  }), { numRuns: 500 });
});
