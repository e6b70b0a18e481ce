// The plugins that need only reads, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Clock, createManualClock } from '../../base/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { createAdmissionChain } from '../chain.ts';
import type { ReadsOf } from '../reads.ts';
import { isSelected, orderPlugins } from '../plugin-names.ts';
import { createDefaultPlugins } from './defaults.ts';
import { createLimitRanger } from './pods/limit-ranger.ts';

const plurals: Readonly<Record<string, readonly [string, string]>> = {
  Pod: ['', 'pods'], PersistentVolumeClaim: ['', 'persistentvolumeclaims'], Ingress: ['networking.k8s.io', 'ingresses'], Node: ['', 'nodes'],
};

const namespace = { metadata: { name: 'ns' } } as KubeObject;

/** Runs all plugins over a new object and returns it. */
async function admit(kind: string, object: object, present: Readonly<Record<string, readonly object[]>> = {}): Promise<KubeObject> {
  const [group, plural] = plurals[kind] as readonly [string, string];
  const readsOf: ReadsOf = (_group, name) => ({
    find: async (wanted) => (name === 'namespaces' ? namespace : (present[name] as KubeObject[] | undefined)?.find(({ metadata }) => metadata.name === wanted)),
    list: () => Promise.resolve((present[name] ?? []) as KubeObject[]),
  });
  const plugins = createDefaultPlugins({ readsOf, clock: createManualClock() }).filter(({ name }) => isSelected(name, { enabled: [], disabled: [] }));
  const chain = createAdmissionChain(orderPlugins(plugins));
  const attributes = {
    resource: { group, kind, plural, namespaced: true }, version: 'v1', namespace: 'ns', operation: 'CREATE', subresource: '', name: 'x',
    object: { metadata: { name: 'x' }, ...structuredClone(object) }, oldObject: undefined, context: { user: { name: 'u' }, warnings: [] },
  } as unknown as AdmissionAttributes;
  await chain.mutate(attributes);
  await chain.validate(attributes);
  return attributes.object as KubeObject;
}

const container = (resources: object = {}) => ({ containers: [{ name: 'c', resources }] });
const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

test('createPriority resolves classes and refuses numbers of one\'s own', async () => {
  const priorityclasses = [named('high', { value: 7, preemptionPolicy: 'Never' })];
  const { spec } = await admit('Pod', { spec: { ...container(), priorityClassName: 'high' } }, { priorityclasses });
  assert.deepEqual([(spec as { priority: number }).priority, (spec as { preemptionPolicy: string }).preemptionPolicy], [7, 'Never']);
  await assert.rejects(admit('Pod', { spec: { priorityClassName: 'none' } }), { message: 'pods "x" is forbidden: no PriorityClass with name none was found' });
  await assert.rejects(admit('Pod', { spec: { priority: 55 } }), /the integer value of priority \(55\) must not be provided in pod spec/);
});

test('createDefaultTolerationSeconds adds what a pod does not tolerate already', async () => {
  const keys = async (tolerations: object[]) =>
    ((await admit('Pod', { spec: { tolerations } })) as unknown as { spec: { tolerations: { key?: string }[] } }).spec.tolerations.map(({ key }) => key);
  assert.deepEqual(await keys([]), ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);
  assert.deepEqual(await keys([{ operator: 'Exists' }]), [undefined]);
});

test('createLimitRanger fills in and refuses', async () => {
  const limits = [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '500m' }, max: { cpu: '1' }, maxLimitRequestRatio: { cpu: '4' } }];
  const limitranges = [named('lr', { spec: { limits } })];
  const pod = await admit('Pod', { spec: container() }, { limitranges });
  assert.equal(pod.metadata.annotations?.['kubernetes.io/limit-ranger'], 'LimitRanger plugin set: cpu request for container c; cpu limit for container c');
  await assert.rejects(admit('Pod', { spec: container({ limits: { cpu: '2' }, requests: { cpu: '1' } }) }, { limitranges }),
    { message: 'pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2' });
  await assert.rejects(admit('Pod', { spec: container({ limits: { cpu: '1' }, requests: { cpu: '100m' } }) }, { limitranges }),
    { message: 'pods "x" is forbidden: cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000' });
  const resources = { limits: { cpu: '2' }, requests: { cpu: '1' } };
  const two = { containers: [{ name: 'a', resources }, { name: 'b', resources }] };
  await assert.rejects(admit('Pod', { spec: two }, { limitranges }),
    { message: 'pods "x" is forbidden: maximum cpu usage per Container is 1, but limit is 2' });
});

test('createLimitRanger bounds what a pod needs: its own cpu and memory, or those of its containers beside its sidecars', async () => {
  const limitranges = [named('lr', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } })];
  const box = (cpu: string, more: object = {}) => ({ name: 'c', resources: { limits: { cpu }, requests: { cpu } }, ...more });
  const refusal = (limit: string) => ({ message: `pods "x" is forbidden: maximum cpu usage per Pod is 1, but limit is ${limit}` });
  const sidecar = box('600m', { restartPolicy: 'Always' });
  await assert.rejects(admit('Pod', { spec: { containers: [box('600m')], initContainers: [sidecar] } }, { limitranges }), refusal('1200m'));
  await assert.rejects(admit('Pod', { spec: { containers: [box('1m')], initContainers: [sidecar, box('500m')] } }, { limitranges }), refusal('1100m'));
  await admit('Pod', { spec: { containers: [box('1m')], initContainers: [box('500m'), sidecar] } }, { limitranges });
  const resources = { limits: { cpu: '2' }, requests: { cpu: '2' } };
  await assert.rejects(admit('Pod', { spec: { ...container(), resources } }, { limitranges }), refusal('2'));
});

test('createLimitRanger lists the ranges of a namespace once for a request', async () => {
  let lists = 0;
  const list = async (): Promise<KubeObject[]> => {
    lists += 1;
    return [];
  };
  const chain = createAdmissionChain([createLimitRanger({ find: async () => undefined, list }, createManualClock())]);
  const attributes = { resource: { group: '', kind: 'Pod', plural: 'pods' }, namespace: 'ns', operation: 'CREATE', subresource: '',
    object: { metadata: {}, spec: container() }, context: {} } as unknown as AdmissionAttributes;
  await chain.mutate(attributes);
  await chain.validate(attributes);
  assert.equal(lists, 1);
});

const manyAmounts = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`example.com/r${index}`, '1']));
const manyContainers = { containers: Array.from({ length: 500 }, (_, index) => ({ name: `c${index}` })) };

test('createLimitRanger gives no more than annotations can describe', async () => {
  const limitranges = [named('lr', { spec: { limits: [{ type: 'Container', default: manyAmounts }] } })];
  await assert.rejects(admit('Pod', { spec: manyContainers }, { limitranges }),
    { message: 'Pod "x" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes' });
});

test('createLimitRanger gives turns while it checks bounds, and stops with the request', async () => {
  let nowMs = 0;
  let turns = 0;
  const clock: Clock = {
    ...createManualClock(), monotonicMs: () => ++nowMs,
    after(_ms, run) {
      turns += 1;
      queueMicrotask(run);
      return { cancel() {} };
    },
  };
  const range = named('lr', { spec: { limits: [{ type: 'Container', maxLimitRequestRatio: manyAmounts }] } }) as KubeObject;
  const plugin = createLimitRanger({ find: async () => undefined, list: async () => [range] }, clock);
  const signal = {
    get aborted() {
      return turns >= 3;
    },
  };
  const object = { metadata: { name: 'x' }, spec: manyContainers };
  const attributes = { resource: { group: '', kind: 'Pod', plural: 'pods' }, object, namespace: 'ns', context: { signal } } as unknown as AdmissionAttributes;
  await assert.rejects(async () => plugin.validate?.(attributes), /request did not complete within the allotted timeout/);
  assert.equal(turns, 3);
});

test('createDefaultStorageClass and createDefaultIngressClass choose the newest default', async () => {
  const make = (mark: string) => ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'].map((creationTimestamp, i) =>
    ({ metadata: { name: `c${i}`, creationTimestamp, annotations: { [mark]: 'true' } } }));
  const claim = await admit('PersistentVolumeClaim', { spec: {} }, { storageclasses: make('storageclass.kubernetes.io/is-default-class') });
  assert.deepEqual([claim['spec'], claim.metadata.finalizers], [{ storageClassName: 'c1' }, ['kubernetes.io/pvc-protection']]);
  const ingress = await admit('Ingress', { spec: {} }, { ingressclasses: make('ingressclass.kubernetes.io/is-default-class') });
  assert.deepEqual(ingress['spec'], { ingressClassName: 'c1' });
});

test('createRuntimeClass takes over overhead and node selectors', async () => {
  const runtimeclasses = [named('rc', { overhead: { podFixed: { cpu: '250m' } }, scheduling: { nodeSelector: { zone: 'a' } } })];
  const pod = await admit('Pod', { spec: { runtimeClassName: 'rc' } }, { runtimeclasses });
  const spec = pod['spec'] as { overhead: object; nodeSelector: object };
  assert.deepEqual([spec.overhead, spec.nodeSelector], [{ cpu: '250m' }, { zone: 'a' }]);
  await assert.rejects(admit('Pod', { spec: { runtimeClassName: 'none' } }), { message: 'pods "x" is forbidden: pod rejected: RuntimeClass "none" not found' });
  for (const [name, message] of [['', 'resource name may not be empty'], ['a/%', `invalid resource name "a/%": [may not contain '/' may not contain '%']`]]) {
    await assert.rejects(admit('Pod', { spec: { runtimeClassName: name } }), { code: 500, message });
  }
  await assert.rejects(admit('Pod', { spec: { overhead: { cpu: '1' } } }), /Pod Overhead set without corresponding RuntimeClass defined Overhead/);
});
