// What admission is shown of each kind of write, and what becomes of an object that a plugin has changed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '../../apimachinery/index.ts';
import type { Admission, AdmissionAttributes } from '../contract.ts';
import type { Resource } from '../resource.ts';
import { type Bench, createBench, makeContext, openAdmission, rows, select, show } from '../testing.ts';
import { admitUnstored } from './admit.ts';

interface Seen extends Omit<AdmissionAttributes, 'object' | 'oldObject'> {
  readonly phase: 'mutate' | 'validate';
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
}

/** Admission that writes down what it is shown, and a bench with it. `change` is the mutating plugin. */
function record(change: (attributes: AdmissionAttributes) => unknown = () => undefined): { readonly seen: Seen[]; readonly bench: Bench } {
  const seen: Seen[] = [];
  const note = (phase: Seen['phase']) => async (attributes: AdmissionAttributes): Promise<void> => {
    seen.push({ ...attributes, phase, object: structuredClone(attributes.object), oldObject: structuredClone(attributes.oldObject) });
    if (phase === 'mutate') await change(attributes);
  };
  const admission: Admission = { mutate: note('mutate'), validate: note('validate') };
  return { seen, bench: createBench({ admission }) };
}

const brief = ({ phase, operation, subresource, name, namespace, kind, options, object, oldObject }: Seen) =>
  ({ phase, operation, subresource, name, namespace, kind: kind.kind, options: options?.kind, has: [object !== undefined, oldObject !== undefined] });

const configMap = (name: string, more: object = {}) => ({ metadata: { name }, data: { k: 'v' }, ...more });

test('create shows CREATE, first without identity, then with it', async () => {
  const { seen, bench } = record();
  await bench.create(rows.configMaps, configMap('a'), { options: { fieldManager: 'm' } });
  const common = { operation: 'CREATE', subresource: '', name: 'a', namespace: 'ns', kind: 'ConfigMap', options: 'CreateOptions', has: [true, false] };
  assert.deepEqual(seen.map(brief), [{ phase: 'mutate', ...common }, { phase: 'validate', ...common }]);
  assert.deepEqual(seen[0]?.options, { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'm' });
  assert.deepEqual(seen.map(({ object }) => [object?.metadata.uid !== undefined, object?.metadata.creationTimestamp !== undefined]),
    [[false, false], [true, true]]);
});

test('create with generateName shows no name; the object has it when it is validated', async () => {
  const { seen, bench } = record();
  await bench.create(rows.configMaps, { metadata: { generateName: 'a-' } });
  assert.deepEqual(seen.map(({ name }) => name), ['', '']);
  assert.deepEqual(seen.map(({ object }) => /^a-.{5}$/.test(object?.metadata.name ?? '')), [false, true]);
});

test('update shows UPDATE with both objects, and the subresource', async () => {
  const { seen, bench } = record();
  await bench.create(rows.pods, { metadata: { name: 'p' }, spec: {} });
  seen.length = 0;
  await bench.patch(rows.pods, 'p', (pod) => Object.assign(pod, { status: { phase: 'Running' } }), { subresource: 'status' });
  const common = { operation: 'UPDATE', subresource: 'status', name: 'p', namespace: 'ns', kind: 'Pod', options: 'UpdateOptions', has: [true, true] };
  assert.deepEqual(seen.map(brief), [{ phase: 'mutate', ...common }, { phase: 'validate', ...common }]);
  assert.deepEqual(seen.map(({ object, oldObject }) => [object?.['status'], oldObject?.['status']]), [[{ phase: 'Running' }, undefined],
    [{ phase: 'Running' }, undefined]]);
});

test('update of an absent object shows CREATE with CreateOptions', async () => {
  const { seen, bench } = record();
  await bench.put(rows.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} }, { createIfAbsent: true });
  assert.deepEqual(seen.map(({ operation, name, options }) => [operation, name, options?.kind]),
    [['CREATE', 'l', 'CreateOptions'], ['CREATE', 'l', 'CreateOptions']]);
});

test('delete shows DELETE with the old object alone, and asks again about what grace of zero seconds has marked', async () => {
  const { seen, bench } = record();
  await bench.create(rows.configMaps, configMap('a'));
  await bench.create(rows.pods, { metadata: { name: 'p' }, spec: {} });
  seen.length = 0;
  await bench.remove(rows.configMaps, 'a', {}, { options: { propagationPolicy: 'Background' } });
  const common = { operation: 'DELETE', subresource: '', name: 'a', namespace: 'ns', kind: 'ConfigMap', options: 'DeleteOptions', has: [false, true] };
  assert.deepEqual(seen.map(brief), [{ phase: 'mutate', ...common }, { phase: 'validate', ...common }]);
  assert.equal(seen[0]?.options?.['propagationPolicy'], 'Background');
  seen.length = 0;
  await bench.remove(rows.pods, 'p');
  assert.deepEqual(seen.map(({ options, oldObject }) => [options?.['gracePeriodSeconds'], oldObject?.metadata.deletionTimestamp !== undefined]),
    [[0, false], [0, false], [0, true], [0, true]]);
});

test('delete with preconditions that fail asks no admission plugin', async () => {
  const { seen, bench } = record();
  await bench.create(rows.configMaps, configMap('a'));
  seen.length = 0;
  await assert.rejects(bench.remove(rows.configMaps, 'a', { preconditions: { uid: 'other' } }), { code: 409 });
  assert.deepEqual(seen, []);
});

test('deleteCollection shows each object, without a name', async () => {
  const { seen, bench } = record();
  for (const name of ['a', 'b']) await bench.create(rows.configMaps, configMap(name));
  seen.length = 0;
  await bench.registry.deleteCollection(bench.at(rows.configMaps), { predicate: select(rows.configMaps, {}) }, {}, makeContext());
  const deleted = seen.filter(({ phase }) => phase === 'validate').map(({ name, oldObject }) => [name, oldObject?.metadata.name]);
  assert.deepEqual(deleted.sort(), [['', 'a'], ['', 'b']]);
});

test('a mutating plugin may set another object; a validating one sees it, and so does the store', async () => {
  const { seen, bench } = record((attributes) => {
    attributes.object = { ...(attributes.object as KubeObject), data: { k: 'changed' } };
  });
  const { object } = await bench.create(rows.configMaps, configMap('a'));
  assert.deepEqual(show(object)['data'], { k: 'changed' });
  assert.deepEqual(seen[1]?.object?.['data'], { k: 'changed' });
});

test('managedFields that a plugin breaks are put back with a warning; other changes of them stay', async () => {
  const entry: ManagedFieldsEntry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } };
  const write = async (change: (entries: ManagedFieldsEntry[]) => void): Promise<{ kept: unknown; warnings: string[] }> => {
    const { bench } = record(({ object, operation }) => {
      if (operation === 'UPDATE') change(object?.metadata.managedFields as ManagedFieldsEntry[]);
    });
    const warnings: string[] = [];
    await bench.create(rows.configMaps, configMap('a'));
    const { object } = await bench.patch(rows.configMaps, 'a', (current) => Object.assign(current.metadata, { managedFields: [{ ...entry }] }),
      { managedFields: 'keep', context: makeContext({ warnings }) });
    return { kept: show(object).metadata.managedFields, warnings };
  };
  const broken = await write(([first]) => Object.assign(first as object, { operation: 'Wrong' }));
  assert.deepEqual(broken.kept, [entry]);
  assert.deepEqual(broken.warnings, ['.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
    'admission controller; please fix your requests: operation must be `Apply` or `Update`']);
  const renamed = await write(([first]) => Object.assign(first as object, { manager: 'other' }));
  assert.deepEqual(renamed, { kept: [{ ...entry, manager: 'other' }], warnings: [] });
});

test('mutating admission runs again when another write came first', async () => {
  let writes = 0;
  const { seen, bench } = record(({ operation, context }) => {
    if (operation !== 'UPDATE' || context.fieldManager === 'other' || ++writes > 1) return undefined;
    return bench.patch(rows.configMaps, 'a', (object) => Object.assign(object, { data: { k: 'theirs' } }),
      { context: makeContext({ fieldManager: 'other' }) });
  });
  await bench.create(rows.configMaps, configMap('a'));
  seen.length = 0;
  const { object } = await bench.patch(rows.configMaps, 'a', (current) => {
    (current['data'] as Record<string, string>)['mine'] = 'yes';
  });
  assert.equal(seen.filter(({ phase, context }) => phase === 'mutate' && context.fieldManager === 'test').length, 2);
  assert.deepEqual(show(object)['data'], { k: 'theirs', mine: 'yes' });
});

const scaled: Resource = {
  ...rows.pods, plural: 'sets', kind: 'Set', storagePrefix: 'sets', strategy: {},
  subresources: [{ name: 'scale', verbs: ['get', 'update'], kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } }],
  versions: [{ name: 'v1', served: true, schema: { type: 'object', preserveUnknownFields: true }, columns: [],
    scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas' } }],
};

test('a write of scale shows Scales, whose replicas a plugin may change', async () => {
  const { seen, bench } = record(({ object, subresource }) => {
    if (subresource === 'scale') Object.assign(object as KubeObject, { spec: { replicas: 7 } });
  });
  bench.catalog.add(scaled);
  await bench.create(scaled, { metadata: { name: 's' }, spec: { replicas: 1, other: true } });
  seen.length = 0;
  const { object } = await bench.patch(scaled, 's', (current) => Object.assign(current['spec'] as object, { replicas: 3 }), { subresource: 'scale' });
  assert.deepEqual(show(object)['spec'], { replicas: 7, other: true });
  assert.deepEqual(seen.map(({ kind, object: scale, oldObject }) => [kind, scale?.['spec'], oldObject?.['spec']]), [
    [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }, { replicas: 3 }, { replicas: 1 }],
    [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }, { replicas: 7 }, { replicas: 1 }],
  ]);
});

test('writes that another request covers pass no admission', async () => {
  const { seen, bench } = record();
  await bench.create(rows.configMaps, configMap('a'), { admitted: true });
  await bench.patch(rows.configMaps, 'a', () => undefined, { context: makeContext({ admitted: true }) });
  await bench.remove(rows.configMaps, 'a', {}, { admitted: true });
  assert.deepEqual(seen, []);
});

test('admitUnstored shows CONNECT without options, in the kind of the subresource', async () => {
  const seen: AdmissionAttributes[] = [];
  const admission: Admission = { ...openAdmission, validate: (attributes) => void seen.push(attributes) };
  const resource: Resource = { ...rows.pods, subresources: [{ name: 'exec', verbs: ['create'], connect: true,
    kind: { group: '', version: 'v1', kind: 'PodExecOptions' } }] };
  const object = { kind: 'PodExecOptions', stdin: true } as unknown as KubeObject;
  await admitUnstored(admission, { operation: 'CONNECT', target: { resource, version: 'v1', namespace: 'ns' }, subresource: 'exec', name: 'p', object,
    context: makeContext({ options: {} }) });
  assert.deepEqual(seen.map(({ kind, options, object: shown }) => [kind.kind, options, shown]), [['PodExecOptions', undefined, object]]);
});
