// The optional plugins and the small ones: what each changes and what it refuses, in the words of the reference.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import type { AdmissionAttributes, Catalog } from '../../registry/index.ts';
import { type AdmissionPlugin, createAdmissionChain } from '../chain.ts';
import { optionalPlugins, pluginNames, isSelected, orderPlugins } from '../plugin-names.ts';
import type { RowReads } from '../reads.ts';
import { type ClaimRight, createDeviceClaims } from './access/device-claims.ts';
import { createOwnerReferences } from './access/owner-references.ts';
import { createAlwaysDeny } from './always.ts';
import { createEventRateLimit } from './events/event-rate-limit.ts';
import { createNamespaceAutoProvision, createNamespaceExists } from './namespaces/existence.ts';
import { createExternalIpDenial } from './network/external-ips.ts';
import { createAlwaysPullImages } from './pods/always-pull-images.ts';
import { createPodNodeSelector, createTolerationRestriction } from './pods/namespace-rules.ts';
import { createAntiAffinityLimit, createExtendedResourceToleration, createPodTopologyLabels } from './pods/node-placement.ts';
import { createDeclaredFeatures } from './pods/declared-features.ts';
import { createPodResizeValidator } from './pods/resize-validator.ts';
import { createClaimResize } from './storage/claim-resize.ts';

interface Request {
  readonly plural?: string;
  readonly kind?: string;
  readonly object?: object;
  readonly oldObject?: object;
  readonly operation?: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly subresource?: string;
  readonly user?: string;
}

const named = (parts: object): KubeObject => ({ metadata: { name: 'x', ...(parts as { metadata?: object }).metadata },
  ...without(parts) }) as unknown as KubeObject;
const without = (parts: object): object => Object.fromEntries(Object.entries(parts).filter(([key]) => key !== 'metadata'));
const readsOf = (...objects: readonly object[]): RowReads => {
  const all = objects.map(named);
  return { find: async (name) => all.find(({ metadata }) => metadata.name === name), list: async () => all };
};

/** Runs a plugin over a request; returns the object, or the message of the refusal, or the problems that validation is to refuse. */
async function run(plugin: AdmissionPlugin, { plural = 'pods', kind = 'Pod', object = {}, oldObject, ...more }: Request): Promise<KubeObject | string> {
  const attributes = {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE', subresource: '', resource: { group: '', plural, kind, namespaced: true }, version: 'v1',
    kind: { group: '', version: 'v1', kind }, namespace: 'ns', name: 'x', object: named(object), oldObject: oldObject && named(oldObject),
    context: { user: { name: more.user ?? 'u', groups: [] }, warnings: [], dryRun: false }, ...without(more),
  } as unknown as AdmissionAttributes;
  const chain = createAdmissionChain([plugin]);
  try {
    await chain.mutate(attributes);
    const { problems = [] } = attributes;
    if (problems.length > 0) return problems.map(({ field, message }) => `${field}: ${message}`).join(', ');
    await chain.validate(attributes);
    return attributes.object as KubeObject;
  } catch (error) {
    return (error as Error).message;
  }
}
const specOf = (result: KubeObject | string): Record<string, any> => (result as unknown as { spec: Record<string, any> }).spec;

describe('createDeviceClaims', () => {
  const where = { resource: { group: 'resource.k8s.io', plural: 'resourceclaims', kind: 'ResourceClaim', namespaced: true } };
  const asked: ClaimRight[] = [];
  const plugin = (mayDo: (right: ClaimRight) => boolean, asksStatusRights = true): AdmissionPlugin => createDeviceClaims({
    namespaces: readsOf({ metadata: { name: 'ns', labels: {} } }, { metadata: { name: 'admins', labels: { 'resource.kubernetes.io/admin-access': 'true' } } }),
    asksStatusRights, findRefusal: async (_user, right) => {
      asked.push(right);
      return mayDo(right) ? undefined : `no ${right.verb} ${right.subresource}`;
    },
  });
  const rights = (mayDo: (right: ClaimRight) => boolean, object: object, oldObject: object, context = {}) => {
    asked.length = 0;
    return run(plugin(mayDo), { ...where, subresource: 'status', object: { status: object }, oldObject: { status: oldObject }, ...context });
  };
  const nodeSelector = { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }] };
  const device = (name: string, driver = 'd') => ({ driver, pool: 'p', device: name });
  const allocation = { nodeSelector, devices: { results: [device('a'), device('b', 'e')] } };

  it('wants the label of the namespace for access as an administrator', async () => {
    const claim = { spec: { devices: { requests: [{ name: 'a', exactly: {} }, { name: 'r', exactly: { adminAccess: true } }] } } };
    const flat = { spec: { devices: { requests: [{ name: 'r', adminAccess: true }] } } };
    const refused = 'Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace';
    assert.match(String(await run(plugin(() => true), { ...where, object: claim })), new RegExp(`spec.devices.requests\\[1\\].adminAccess: ${refused}`));
    assert.match(String(await run(plugin(() => true), { ...where, object: flat })), /requests\[0\]\.adminAccess: Forbidden/);
    const template = { resource: { ...where.resource, plural: 'resourceclaimtemplates' } };
    assert.match(String(await run(plugin(() => true), { ...template, object: { spec: claim } })), /requests\[1\]\.adminAccess: Forbidden/);
    assert.notEqual(typeof await run(plugin(() => true), { ...where, object: claim, ...{ namespace: 'admins' } }), 'string');
    const result = { ...device('a'), adminAccess: true };
    assert.match(String(await rights(() => true, { allocation: { devices: { results: [result] } } }, {})),
      /status\.allocation\.devices\.results\[0\]\.adminAccess: Forbidden/);
  });

  it('asks for the right to bind when allocation or consumers change', async () => {
    assert.match(String(await rights(() => false, { allocation }, {})),
      /status\.allocation: Forbidden: changing .* requires resource="resourceclaims\/binding", verb="update" permission: no update binding/);
    assert.match(String(await rights(() => false, { allocation, reservedFor: [{ name: 'p' }] }, { allocation })), /no update binding/);
    assert.deepEqual(asked, [{ verb: 'update', version: 'v1', subresource: 'binding', namespace: '', name: '' }]);
    assert.notEqual(typeof await rights(() => false, { allocation, conditions: [], reservedFor: null }, { allocation }), 'string');
    const status = { object: { status: { allocation } }, oldObject: { status: {} } };
    assert.notEqual(typeof await run(plugin(() => false, false), { ...where, subresource: 'status', ...status }), 'string');
  });

  it('asks for a right for each driver whose devices have another status', async () => {
    const devices = [{ ...device('a'), data: { x: 1 } }, device('b', 'e')];
    const old = { allocation, devices: [device('a'), device('b', 'e')] };
    assert.match(String(await rights(() => false, { allocation, devices }, old)),
      /status\.devices: Forbidden: changing .*"resourceclaims\/driver", verb="\[arbitrary-node:update\]" permission: no arbitrary-node:update driver/);
    assert.deepEqual(asked.map(({ name, namespace }) => [name, namespace]), [['d', 'ns']]);
    await rights(() => false, { allocation }, old);
    assert.deepEqual(asked.map(({ name }) => name), ['d', 'e']);
    const returned = { ...allocation, devices: { results: [device('a')] } };
    await rights(({ subresource }) => subresource === 'binding', { allocation: returned, devices: [device('a'), device('b', 'e')] }, old);
    assert.deepEqual(asked.map(({ subresource, name }) => [subresource, name]), [['binding', ''], ['driver', 'e']]);
  });

  it('asks service accounts of the node for a narrower right first', async () => {
    const onNode = (node: string) => ({ context: {
      user: { name: 'system:serviceaccount:ns:driver', groups: [], extra: { 'authentication.kubernetes.io/node-name': [node] } }, verb: 'patch', warnings: [],
    } });
    const narrow = ({ verb }: ClaimRight): boolean => verb === 'associated-node:patch';
    const change = [{ allocation, devices: [device('a')] }, { allocation }] as const;
    assert.notEqual(typeof await rights(narrow, ...change, onNode('n')), 'string');
    assert.match(String(await rights(narrow, ...change, onNode('m'))), /verb="\[arbitrary-node:patch\]"/);
    assert.match(String(await rights(() => false, ...change, onNode('n'))),
      /verb="\[associated-node:patch arbitrary-node:patch\]" .*: no associated-node:patch/);
  });
});

describe('plugin names', () => {
  it('orderPlugins: what the reference checks in its storage follows everything that mutates', () => {
    const names = ['ValidatingAdmissionPolicy', 'RBACEscalation', 'MutatingAdmissionWebhook', 'Own', 'PodSecurity'];
    assert.deepEqual(orderPlugins(names.map((name) => ({ name }))).map(({ name }) => name),
      ['PodSecurity', 'Own', 'MutatingAdmissionWebhook', 'RBACEscalation', 'ValidatingAdmissionPolicy']);
  });


  it('isSelected: what is on by default can be turned off, the rest can be turned on', () => {
    assert.equal(isSelected('PodSecurity', { enabled: [], disabled: [] }), true);
    assert.equal(isSelected('PodSecurity', { enabled: [], disabled: ['PodSecurity'] }), false);
    assert.equal(isSelected('AlwaysDeny', { enabled: [], disabled: [] }), false);
    assert.equal(isSelected('AlwaysDeny', { enabled: ['AlwaysDeny'], disabled: [] }), true);
    assert.ok([...optionalPlugins].every((name) => pluginNames.includes(name)));
  });

  it('orderPlugins: in the order of the reference, others before policies and webhooks', () => {
    const names = ['ResourceQuota', 'Ours', 'ValidatingAdmissionWebhook', 'NamespaceLifecycle', 'DefaultIngressClass'];
    assert.deepEqual(orderPlugins(names.map((name) => ({ name }))).map(({ name }) => name),
      ['NamespaceLifecycle', 'DefaultIngressClass', 'Ours', 'ValidatingAdmissionWebhook', 'ResourceQuota']);
  });
});

describe('plugins of pods', () => {
  it('AlwaysPullImages sets the policy of new images, and leaves updates without new images alone', async () => {
    const pod = { spec: { containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }], volumes: [{ name: 'v', image: {} }] } };
    const spec = specOf(await run(createAlwaysPullImages(), { object: pod }));
    assert.deepEqual([spec['containers'][0].imagePullPolicy, spec['volumes'][0].image.pullPolicy], ['Always', 'Always']);
    assert.equal(specOf(await run(createAlwaysPullImages(), { object: { spec: { containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Never' }] } },
      oldObject: { spec: { containers: [{ name: 'c', image: 'i' }] } } }))['containers'][0].imagePullPolicy, 'Never');
  });

  it('ExtendedResourceToleration adds one toleration for each extended resource', async () => {
    const containers = [{ name: 'c', resources: { requests: { 'example.com/gpu': '1', cpu: '1' } } }];
    const gpu = { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' };
    assert.deepEqual(specOf(await run(createExtendedResourceToleration(), { object: { spec: { containers } } }))['tolerations'], [gpu]);
    assert.deepEqual(specOf(await run(createExtendedResourceToleration(), { object: { spec: { containers, tolerations: [gpu] } } }))['tolerations'], [gpu]);
  });

  it('LimitPodHardAntiAffinityTopology refuses wider topologies than a node', async () => {
    const pod = (topologyKey: string): object =>
      ({ spec: { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } } } });
    assert.equal(typeof await run(createAntiAffinityLimit(), { object: pod('kubernetes.io/hostname') }), 'object');
    assert.equal(await run(createAntiAffinityLimit(), { object: pod('zone') }), 'pods "x" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has '
      + 'TopologyKey zone but only key kubernetes.io/hostname is allowed');
  });

  it('PodTopologyLabels copies zone and region to bindings and to pods with a node', async () => {
    const nodes = readsOf({ metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z', other: 'o' } } });
    const labels = async (request: Request): Promise<unknown> => (await run(createPodTopologyLabels(nodes), request) as KubeObject).metadata.labels;
    assert.deepEqual(await labels({ subresource: 'binding', kind: 'Binding', object: { target: { kind: 'Node', name: 'n' } } }),
      { 'topology.kubernetes.io/zone': 'z' });
    assert.deepEqual(await labels({ object: { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'n' } } }), { a: 'b', 'topology.kubernetes.io/zone': 'z' });
    assert.equal(await labels({ object: { spec: { nodeName: 'absent' } } }), undefined);
  });

  it('PodNodeSelector merges the selector of the namespace and refuses contradictions', async () => {
    const namespace = { metadata: { name: 'ns', annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'pool=a, disk=ssd' } } };
    const plugin = createPodNodeSelector(readsOf(namespace), { ns: 'pool=a,disk=ssd,x=y' });
    assert.deepEqual(specOf(await run(plugin, { object: { spec: { nodeSelector: { x: 'y' } } } }))['nodeSelector'], { pool: 'a', disk: 'ssd', x: 'y' });
    assert.match(String(await run(plugin, { object: { spec: { nodeSelector: { pool: 'b' } } } })), /conflicts with its namespace node label selector$/);
    assert.match(String(await run(plugin, { object: { spec: { nodeSelector: { w: '1' } } } })), /labels conflict with its namespace whitelist$/);
    assert.deepEqual(specOf(await run(createPodNodeSelector(readsOf({ metadata: { name: 'ns' } }), { clusterDefaultNodeSelector: 'a=b' }),
      { object: { spec: {} } }))['nodeSelector'], { a: 'b' });
  });

  it('PodTolerationRestriction adds the defaults of the namespace and holds pods to its list', async () => {
    const toleration = { key: 'k', operator: 'Exists' };
    const annotations = {
      'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([toleration]),
      'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify([toleration]),
    };
    const plugin = createTolerationRestriction(readsOf({ metadata: { name: 'ns', annotations } }));
    assert.deepEqual(specOf(await run(plugin, { object: { spec: { tolerations: [{ key: 'k', value: 'v' }] } } }))['tolerations'], [toleration]);
    assert.match(String(await run(plugin, { object: { spec: { tolerations: [{ key: 'other' }] } } })), /conflict with its namespace whitelist$/);
    const broken =
      createTolerationRestriction(readsOf({ metadata: { name: 'ns', annotations: { 'scheduler.alpha.kubernetes.io/defaultTolerations': '[{' } } }));
    assert.equal(await run(broken, { object: { spec: {} } }), 'unexpected end of JSON input');
  });

  it('PodTolerationRestriction lets pods that ask for a processor or memory tolerate nodes that run short of it', async () => {
    const plugin = createTolerationRestriction(readsOf({ metadata: { name: 'ns' } }));
    const tolerated = async (resources: object, more: object = {}): Promise<unknown> =>
      (specOf(await run(plugin, { object: { spec: { containers: [{ name: 'c', resources }], ...more } } })))['tolerations'];
    const pressure = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }];
    assert.deepEqual(await tolerated({ requests: { cpu: '1' } }), pressure);
    assert.deepEqual(await tolerated({ limits: { memory: '1Gi' } }), pressure);
    assert.equal(await tolerated({ requests: { 'example.com/gpu': '1', cpu: '0' } }), undefined);
    assert.deepEqual(await tolerated({}, { resources: { requests: { memory: '1' } } }), pressure);
  });

  it('createDeclaredFeatures: what only some kubelets can do needs a node that declares it', async () => {
    const plugin = createDeclaredFeatures(readsOf({ metadata: { name: 'old' } }, {
      metadata: { name: 'new' }, status: { declaredFeatures: ['InPlacePodLevelResourcesVerticalScaling'] } }));
    const resize = (nodeName: string, more: object = {}) => run(plugin, { subresource: 'resize',
      object: { spec: { nodeName, resources: { requests: { cpu: '2' } }, ...more } }, oldObject: { spec: { nodeName, resources: { requests: { cpu: '1' } } } } });
    assert.equal(await resize('old'), 'pods "x" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling ' +
      'which are not available on node "old"');
    assert.equal(await resize('gone'), 'pods "x" is forbidden: node "gone" not found');
    assert.equal(specOf(await resize('new')).nodeName, 'new');
    const init = (cpu: string, restartPolicy?: string): object =>
      ({ spec: { nodeName: 'new', initContainers: [{ restartPolicy, resources: { limits: { cpu } } }] } });
    assert.equal(await run(plugin, { object: init('2'), oldObject: init('1') }),
      'pods "x" is forbidden: pod update requires features InPlacePodVerticalScalingInitContainers which are not available on node "new"');
    assert.equal(specOf(await run(plugin, { object: init('2', 'Always'), oldObject: init('1', 'Always') })).nodeName, 'new');
  });

  it('PodResizeValidator wants a Linux node with room for the pod', async () => {
    const node = (metadata: object): object => ({ metadata: { name: 'n', ...metadata }, status: { allocatable: { cpu: '2', memory: '1Gi' } } });
    const pod = (cpu: string, nodeName = 'n'): object => ({ spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu } } }] } });
    const resize = (nodes: RowReads, object: object): Promise<KubeObject | string> =>
      run(createPodResizeValidator(nodes), { subresource: 'resize', object, oldObject: pod('1') });
    assert.equal(typeof await resize(readsOf(node({})), pod('1500m')), 'object');
    assert.equal(await resize(readsOf(), pod('1500m')), 'pods "x" is forbidden: node "n" not found');
    assert.match(String(await resize(readsOf(node({})), pod('2500m'))), /allocatable resources: cpu, requested: 2500, allocatable: 2000$/);
    const windows = node({ labels: { 'kubernetes.io/os': 'windows' } });
    assert.match(String(await resize(readsOf(windows), pod('2'))), /only supported on linux nodes, node "n" is "windows"$/);
  });
});

describe('other plugins', () => {
  it('NamespaceExists and NamespaceAutoProvision', async () => {
    assert.equal(await run(createNamespaceExists(readsOf()), {}), 'namespaces "ns" not found');
    const made: string[] = [];
    await run(createNamespaceAutoProvision(readsOf(), async (name) => void made.push(name)), {});
    await run(createNamespaceAutoProvision(readsOf({ metadata: { name: 'ns' } }), async (name) => void made.push(name)), {});
    assert.deepEqual(made, ['ns']);
  });

  it('DenyServiceExternalIPs refuses addresses that were not there', async () => {
    const service = (...externalIPs: readonly string[]): object => ({ spec: { externalIPs } });
    const write = (object: object, oldObject?: object): Promise<KubeObject | string> =>
      run(createExternalIpDenial(), { plural: 'services', kind: 'Service', object, ...(oldObject && { oldObject }) });
    assert.match(String(await write(service('1.1.1.1'))), /Use of external IPs is denied by admission control$/);
    assert.equal(typeof await write(service('1.1.1.1'), service('1.1.1.1', '2.2.2.2')), 'object');
  });

  it('PersistentVolumeClaimResize lets bound claims of expandable classes grow', async () => {
    const claim = (storage: string, phase = 'Bound'): object =>
      ({ spec: { storageClassName: 's', resources: { requests: { storage } } }, status: { phase } });
    const grow = (allowVolumeExpansion: boolean, phase?: string): Promise<KubeObject | string> => run(
      createClaimResize(readsOf({ metadata: { name: 's' }, allowVolumeExpansion })),
      { plural: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', object: claim('2Gi'), oldObject: claim('1Gi', phase) });
    assert.equal(typeof await grow(true), 'object');
    assert.match(String(await grow(false)), /the storageclass that provisions the pvc must support resize$/);
    assert.match(String(await grow(true, 'Pending')), /Only bound persistent volume claims can be expanded$/);
  });

  it('EventRateLimit takes as many events as its buckets hold', async () => {
    const clock = createManualClock();
    const plugin = createEventRateLimit([{ type: 'User', qps: 1, burst: 2, cacheSize: 2 }], clock);
    const post = async (user: string): Promise<boolean> => typeof await run(plugin, { plural: 'events', kind: 'Event', user }) === 'object';
    assert.deepEqual([await post('a'), await post('a'), await post('a'), await post('b')], [true, true, false, true]);
    clock.advance(1000);
    assert.deepEqual([await post('a'), await post('a')], [true, false]);
    assert.equal(await run(plugin, { plural: 'events', kind: 'Event', user: 'a' }), 'Too many requests: limit reached on type User for key a');
    // Keys that are too long together are not kept together, whatever their number.
    const [long, other] = ['l'.repeat(1_200_000), 'm'.repeat(1_200_000)];
    assert.deepEqual([await post(long), await post(long), await post(long), await post(other), await post(long)], [true, true, false, true, true]);
  });

  it('AlwaysDeny refuses every write', async () => {
    assert.equal(await run(createAlwaysDeny(), {}), 'pods "x" is forbidden: admission control is denying all modifications');
  });

  it('OwnerReferencesPermissionEnforcement wants the rights to delete and to set finalizers', async () => {
    const asked: string[] = [];
    const catalog = { findKind: () => ({ plural: 'configmaps', namespaced: true, versions: [{ name: 'v1' }] }) } as unknown as Catalog;
    const plugin = (allowed: readonly string[]): AdmissionPlugin => createOwnerReferences(async (_user, right) => {
      const shown = `${right.verb} ${right.resource}/${right.subresource} ${right.name}`;
      asked.push(shown);
      return { isAllowed: allowed.includes(shown), reason: 'no' };
    }, () => catalog);
    const owned = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1', blockOwnerDeletion: true }] } };
    assert.equal(typeof await run(plugin(['update */finalizers *']), { object: owned }), 'object');
    assert.equal(typeof await run(plugin(['update configmaps/finalizers o']), { object: owned }), 'object');
    assert.match(String(await run(plugin([]), { object: owned })), /refers to a resource you can't set finalizers on: no, <nil>$/);
    assert.match(String(await run(plugin([]), { object: owned, oldObject: {} })), /cannot set an ownerRef on a resource you can't delete: no, <nil>$/);
    assert.equal(asked.at(-1), 'delete pods/ x');
  });
});
