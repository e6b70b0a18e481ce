// Cells of real objects, as the reference was seen to print them.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import { defaultColumns } from './common/columns/columns.ts';
import { formatAge, formatHumanDuration } from './common/columns/duration.ts';
import { podColumns, readPodConditions } from './core/pods/columns.ts';
import { columnsOf } from './kinds.suite.ts';
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

for (const { scenario, columns, cells, object } of tables) {
  const group = object.apiVersion?.includes('/') ? object.apiVersion.slice(0, object.apiVersion.indexOf('/')) : '';
  test(`columns of ${object.kind} print what the reference printed in ${scenario}`, () => {
    const own = columnsOf(`${group}/${object.kind}`);
    const declared = own.filter((column) => !column.undeclared);
    assert.deepEqual(declared.map(({ name, type, format, priority }) => [name, type, format, priority]), columns);
    for (const [index, { name, cell }] of declared.entries()) if (!ages.has(name)) assert.deepEqual(cell(object, 0), cells[index], name);
  });
}

test('columnsByKind survives objects that hold nothing and objects that hold nonsense', () => {
  const nonsense = { metadata: {}, spec: 7, status: [null], data: 'x', webhooks: {}, subsets: [1], series: true, conditions: 'no' } as unknown as KubeObject;
  for (const columns of [...kindSpecs.keys()].map(columnsOf)) {
    for (const object of [{ metadata: {} }, nonsense]) for (const { cell } of columns) assert.notEqual(cell(object, 0), undefined);
  }
});

test('formatHumanDuration prints two units while they are small', () => {
  const seconds: readonly (readonly [number, string])[] = [
    [-2, '<invalid>'], [-1, '0s'], [0, '0s'], [119, '119s'], [120, '2m'], [125, '2m5s'], [600, '10m'], [10_799, '179m'], [10_800, '3h'], [12_000, '3h20m'],
    [28_800, '8h'], [172_799, '47h'], [172_800, '2d'], [187_200, '2d4h'], [691_200, '8d'], [63_072_000, '2y'], [66_528_000, '2y40d'], [252_288_000, '8y'],
  ];
  for (const [duration, text] of seconds) assert.equal(formatHumanDuration(duration * 1000), text, String(duration));
});

test('formatAge does not know the age of what has no time', () => {
  assert.equal(formatAge(undefined, 0), '<unknown>');
  assert.equal(formatAge('2024-01-01T00:00:00Z', Date.parse('2024-01-01T00:05:00Z')), '5m');
});

const printPod = (spec: object, status: object, metadata: object = {}): readonly unknown[] =>
  podColumns.slice(1, 4).map(({ cell }) => cell({ metadata, spec, status } as KubeObject, Date.parse('2024-01-01T00:05:00Z')));
const two = { containers: [{ name: 'a' }, { name: 'b' }] };

test('podColumns tell how far init containers are', () => {
  const spec = { ...two, initContainers: [{ name: 'i' }, { name: 'j' }] };
  const ended = { name: 'i', state: { terminated: { exitCode: 0 } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [ended, { name: 'j', state: { running: {} } }] }), ['0/2', 'Init:1/2', '0']);
  const failed = { name: 'i', restartCount: 2, state: { terminated: { exitCode: 3 } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [failed] }), ['0/2', 'Init:ExitCode:3', '2']);
  const waiting = { name: 'i', restartCount: 0, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  assert.deepEqual(printPod(spec, { phase: 'Pending', initContainerStatuses: [waiting] }), ['0/2', 'Init:CrashLoopBackOff', '0']);
});

test('podColumns count sidecars as containers', () => {
  const spec = { containers: [{ name: 'a' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] };
  const status = {
    phase: 'Running',
    initContainerStatuses: [{ name: 's', started: true, ready: true, restartCount: 1, state: { running: {} } }],
    containerStatuses: [{ name: 'a', ready: true, restartCount: 2, state: { running: {} }, lastState: { terminated: { finishedAt: '2024-01-01T00:00:00Z' } } }],
  };
  assert.deepEqual(printPod(spec, status), ['2/2', 'Running', '3 (5m ago)']);
});

test('podColumns name the state of ended, unreachable and terminating pods', () => {
  const done = { ready: false, state: { terminated: { reason: 'Completed', exitCode: 0 } } };
  const running = { ready: true, state: { running: {} } };
  assert.equal(printPod(two, { phase: 'Running', containerStatuses: [done, running] })[1], 'NotReady');
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], containerStatuses: [done, running] };
  assert.equal(printPod(two, ready)[1], 'Running');
  const killed = { ready: false, state: { terminated: { signal: 9 } } };
  assert.equal(printPod(two, { phase: 'Failed', containerStatuses: [killed] })[1], 'Signal:9');
  const deleted = { deletionTimestamp: '2024-01-01T00:00:00Z' };
  assert.equal(printPod(two, { phase: 'Running', reason: 'NodeLost' }, deleted)[1], 'Unknown');
  assert.equal(printPod(two, { phase: 'Running' }, deleted)[1], 'Terminating');
  assert.equal(printPod(two, { phase: 'Succeeded' }, deleted)[1], 'Succeeded');
});

test('readPodConditions speaks of finished pods only', () => {
  assert.deepEqual(readPodConditions({ metadata: {}, status: { phase: 'Running' } }), []);
  assert.equal(readPodConditions({ metadata: {}, status: { phase: 'Failed' } })[0]?.message, 'The pod failed.');
});

const printCell = (kind: string, name: string, object: object): unknown =>
  columnsOf(kind).find((column) => column.name === name)?.cell({ metadata: { name: 'a' }, ...object } as KubeObject, 0);

test('columnsByKind tell fields that are absent from empty ones', () => {
  assert.equal(printCell('/Service', 'Cluster-IP', { spec: { clusterIPs: [''] } }), '');
  assert.equal(printCell('/Service', 'Cluster-IP', { spec: {} }), '<none>');
  assert.equal(printCell('/Endpoints', 'Endpoints', { subsets: [{}] }), '');
  assert.equal(printCell('/Endpoints', 'Endpoints', {}), '<none>');
  assert.equal(printCell('batch/CronJob', 'Timezone', { spec: { timeZone: '' } }), '');
  assert.equal(printCell('discovery.k8s.io/EndpointSlice', 'Ports', { ports: [{ name: '', port: 5 }, { name: '' }, {}] }), '5,,*');
  assert.equal(printCell('discovery.k8s.io/EndpointSlice', 'Ports', { ports: [{ name: '' }] }), '<unset>');
  assert.equal(printCell('policy/PodDisruptionBudget', 'Min Available', { spec: { minAvailable: '' } }), '');
  assert.equal(defaultColumns[1]?.cell({ metadata: {} } as KubeObject, 0), '0001-01-01T00:00:00Z');
});

test('columnsByKind show the architecture behind the kernel of nodes', () => {
  const print = (nodeInfo: object): unknown => printCell('/Node', 'Kernel-Version', { status: { nodeInfo } });
  assert.deepEqual([print({ kernelVersion: '6.1', architecture: 'arm64' }), print({ architecture: 'arm64' }), print({})],
    ['6.1 (arm64)', '<unknown> (arm64)', '<unknown>']);
});

test('columnsByKind name what addresses and revisions belong to', () => {
  const print = (parentRef: object): unknown => printCell('networking.k8s.io/IPAddress', 'ParentRef', { spec: { parentRef } });
  assert.deepEqual([print({ resource: 'Widgets', group: 'G', namespace: 'N', name: 'X' }), print({ name: 'X' })], ['widgets.g/N/X', '/X']);
  const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: '', name: 'o', uid: 'u', controller: true }] };
  assert.equal(printCell('apps/ControllerRevision', 'Controller', { metadata }), 'o');
});

test('columnsByKind print selectors in the words of their kind', () => {
  const print = (kind: string, selector: unknown): unknown => printCell(kind, 'Selector', { spec: { selector } });
  const bad = { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] };
  assert.deepEqual([print('apps/ReplicaSet', bad), print('apps/ReplicaSet', {}), print('apps/ReplicaSet', undefined)], ['<error>', '<none>', '<none>']);
  assert.deepEqual([print('apps/Deployment', bad), print('apps/Deployment', {}), print('apps/Deployment', undefined)], ['<invalid>', '', '']);
  const selector = { matchLabels: { b: 'c', a: 'b' }, matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }] };
  assert.equal(print('apps/Deployment', selector), 'a=b,b=c,k in (x,y)');
  assert.equal(printCell('admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding', 'ParamRef', { spec: { paramRef: { selector } } }),
    '&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},MatchExpressions:[]LabelSelectorRequirement{'
    + 'LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}');
});
