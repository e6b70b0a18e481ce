// The modes besides RBAC: their order, the kubelet's rights, and a webhook that answers, denies, fails and is remembered.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import { createAuthorizer } from './authorize.ts';
import { createNodeAuthorizer, listReferences } from './node.ts';
import { readFieldSelector } from './selectors.ts';
import { makeRequest } from './testing.ts';
import { createWebhookAuthorizer } from './webhook.ts';

const pod = (name: string, spec: Record<string, unknown>): KubeObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns' }, spec });
const objects = new Map<string, KubeObject>(([
  ['/persistentvolumes v', { claimRef: { name: 'c', namespace: 'ns' }, azureFile: { secretName: 'mount' }, csi: {
    nodeStageSecretRef: { name: 'stage', namespace: 'ns' }, controllerPublishSecretRef: { name: 'control', namespace: 'ns' },
  } }], ['/persistentvolumes w', { claimRef: { name: 'd', namespace: 'ns' } }],
  ['storage.k8s.io/volumeattachments a', { nodeName: 'n1' }], ['storage.k8s.io/volumeattachments b', { nodeName: 'n2' }],
  ['resource.k8s.io/resourceslices a', { nodeName: 'n1' }], ['resource.k8s.io/resourceslices b', { nodeName: 'n2' }],
] as const).map(([key, spec]) => [key, { apiVersion: 'v1', kind: 'X', metadata: { name: key }, spec }]));
const pods = [
  pod('mine', {
    nodeName: 'n1', serviceAccountName: 'robot', volumes: [{ secret: { secretName: 's' } }, { persistentVolumeClaim: { claimName: 'c' } }],
    containers: [{ envFrom: [{ configMapRef: { name: 'm' } }] }], imagePullSecrets: [{ name: 'pull' }], resourceClaims: [{ resourceClaimName: 'r' }],
  }),
  pod('theirs', { nodeName: 'n2', volumes: [{ secret: { secretName: 'other' } }] }),
];

describe('createNodeAuthorizer', () => {
  const nodeOf = ({ spec }: KubeObject): unknown => (spec as { readonly nodeName: string }).nodeName;
  const authorize = createNodeAuthorizer({
    listPods: async (node) => pods.filter((one) => nodeOf(one) === node),
    hasPodWith: async (node, _namespace, reference) => pods.some((one) => nodeOf(one) === node && listReferences(one).has(reference)),
    listVolumesWith: async () => [...objects.values()].filter(({ metadata }) => metadata.name?.startsWith('/persistentvolumes ')),
    find: async (resource, _namespace, name) =>
      (resource === '/pods' ? pods.find(({ metadata }) => metadata.name === name) : objects.get(`${resource} ${name}`)),
  });
  const n1 = 'system:node:n1 system:nodes';
  const rows: readonly (readonly [who: string, what: string, namespace: string, expected: 'allow' | 'none'])[] = [
    [n1, 'get secrets s', 'ns', 'allow'],
    [n1, 'get secrets pull', 'ns', 'allow'],
    [n1, 'get secrets other', 'ns', 'none'],
    [n1, 'get secrets mount', 'ns', 'allow'],
    [n1, 'get secrets stage', 'ns', 'allow'],
    [n1, 'get secrets stage', 'elsewhere', 'none'],
    [n1, 'get secrets control', 'ns', 'none'],
    [n1, 'list secrets', 'ns', 'none'],
    [n1, 'list secrets', '', 'none'],
    [n1, 'update secrets s', 'ns', 'none'],
    [n1, 'get configmaps m', 'ns', 'allow'],
    [n1, 'get persistentvolumeclaims c', 'ns', 'allow'],
    [n1, 'patch persistentvolumeclaims/status c', 'ns', 'allow'],
    [n1, 'patch persistentvolumeclaims/status d', 'ns', 'none'],
    [n1, 'patch persistentvolumeclaims c', 'ns', 'none'],
    [n1, 'create serviceaccounts/token robot', 'ns', 'allow'],
    [n1, 'create serviceaccounts/token default', 'ns', 'none'],
    [n1, 'get pods mine', 'ns', 'allow'],
    [n1, 'get pods theirs', 'ns', 'none'],
    [n1, 'list pods', '', 'none'],
    [n1, 'get nodes n1', '', 'allow'],
    [n1, 'get nodes n2', '', 'none'],
    [n1, 'list nodes', '', 'none'],
    [n1, 'delete nodes n1', '', 'none'],
    [n1, 'update leases.coordination.k8s.io n1', 'kube-node-lease', 'allow'],
    [n1, 'update leases.coordination.k8s.io n2', 'kube-node-lease', 'none'],
    [n1, 'update leases.coordination.k8s.io n1', 'default', 'none'],
    [n1, 'get persistentvolumes v', '', 'allow'],
    [n1, 'get persistentvolumes w', '', 'none'],
    [n1, 'list persistentvolumes', '', 'none'],
    [n1, 'get volumeattachments.storage.k8s.io a', '', 'allow'],
    [n1, 'get volumeattachments.storage.k8s.io b', '', 'none'],
    [n1, 'get resourceclaims.resource.k8s.io r', 'ns', 'allow'],
    [n1, 'get resourceclaims.resource.k8s.io other', 'ns', 'none'],
    [n1, 'create resourceslices.resource.k8s.io', '', 'allow'],
    [n1, 'delete resourceslices.resource.k8s.io a', '', 'allow'],
    [n1, 'delete resourceslices.resource.k8s.io b', '', 'none'],
    [n1, 'list resourceslices.resource.k8s.io', '', 'none'],
    [n1, 'get services x', 'ns', 'allow'],
    [n1, 'delete services x', 'ns', 'none'],
    ['system:node:n1', 'get secrets s', 'ns', 'none'],
    ['n1 system:nodes', 'get secrets s', 'ns', 'none'],
    ['system:node: system:nodes', 'get services x', 'ns', 'none'],
  ];
  for (const [who, what, namespace, expected] of rows) {
    it(`${who} ${what} in ${JSON.stringify(namespace)}: ${expected}`, async () => {
      assert.equal((await authorize(makeRequest(who, what, namespace))).type, expected);
    });
  }

  it('says why a kubelet may not', async () => {
    const reasons: readonly (readonly [what: string, namespace: string, reason: string])[] = [
      ['list secrets', 'ns', 'No Object name found'], ['list configmaps', '', 'can only read namespaced object of this type'],
      ['update secrets s', 'ns', 'can only read resources of this type'], ['get secrets/x s', 'ns', 'cannot read subresource'],
      ['list persistentvolumeclaims', 'ns', 'can only get individual resources of this type'],
      ['get persistentvolumeclaims/x c', 'ns', 'cannot get subresource'],
      ['get persistentvolumeclaims/status c', 'ns', 'can only get/update/patch this type'],
      ['list serviceaccounts', 'ns', 'can only create tokens for individual service accounts'],
      ['create serviceaccounts/x robot', 'ns', 'can only create token subresource of serviceaccount'],
      ['list leases.coordination.k8s.io', 'kube-node-lease', 'can only get, create, update, patch, or delete a node lease'],
      ['get leases.coordination.k8s.io n1', 'ns', 'can only access leases in the "kube-node-lease" system namespace'],
      ['get leases.coordination.k8s.io n2', 'kube-node-lease', 'can only access node lease with the same name as the requesting node'],
      ['get csinodes.storage.k8s.io n2', '', 'can only access CSINode with the same name as the requesting node'],
      ['get csinodes/x.storage.k8s.io n1', '', 'cannot authorize CSINode subresources'],
      ['get secrets other', 'ns', "no relationship found between node 'n1' and this object"],
    ];
    for (const [what, namespace, reason] of reasons) assert.deepEqual(await authorize(makeRequest(n1, what, namespace)), { type: 'none', reason }, what);
  });

  it('lets a kubelet list the pods of its node', async () => {
    const ask = (fieldSelector: string) => authorize({ ...makeRequest(n1, 'list pods', ''), fieldSelector: () => readFieldSelector(fieldSelector) });
    assert.equal((await ask('spec.nodeName=n1')).type, 'allow');
    assert.equal((await ask('spec.nodeName=n2')).type, 'none');
  });
});

describe('createWebhookAuthorizer', () => {
  it('asks once, remembers refusals shorter than rights, and has no opinion when no answer comes', async () => {
    const clock = createManualClock();
    const asked: unknown[] = [];
    let answer: unknown = { status: { allowed: true, reason: 'because' } };
    const send = async (review: unknown) => {
      asked.push(review);
      if (answer === undefined) throw new Error('nobody there');
      return answer;
    };
    const authorize = createWebhookAuthorizer({ send, clock });
    const request = makeRequest('alice devs', 'get pods/log x');
    assert.deepEqual(await authorize(request), { type: 'allow', reason: 'because' });
    assert.deepEqual((asked[0] as { spec: unknown }).spec, {
      resourceAttributes: { namespace: 'ns', verb: 'get', version: 'v1', resource: 'pods', subresource: 'log', name: 'x' }, user: 'alice', groups: ['devs'],
    });
    clock.advance(299_000);
    assert.equal((await authorize(request)).type, 'allow');
    assert.equal(asked.length, 1);
    clock.advance(2_000);
    answer = { status: { allowed: false, denied: true } };
    assert.equal((await authorize(request)).type, 'deny');
    clock.advance(29_000);
    await authorize(request);
    assert.equal(asked.length, 2);
    clock.advance(2_000);
    for (answer of [undefined, null, {}, { status: {} }, { status: { allowed: true, denied: true } }]) assert.equal((await authorize(request)).type, 'none');
    answer = undefined;
    assert.deepEqual(await authorize(request), { type: 'none', reason: '', error: 'nobody there' });
  });
});

describe('createAuthorizer', () => {
  const say = (type: 'allow' | 'deny' | 'none', reason: string) => () => Promise.resolve({ type, reason });
  it('asks the modes in order until one decides, and joins the reasons of those that do not', async () => {
    const request = makeRequest('alice', 'get pods x');
    const modes = { RBAC: say('none', 'one'), Node: say('none', ''), Webhook: say('deny', 'two') };
    assert.deepEqual(await createAuthorizer(['RBAC', 'Node', 'Webhook', 'AlwaysAllow'], modes)(request), { type: 'deny', reason: 'two' });
    const fail = (error: string) => () => ({ type: 'none', reason: '', error }) as const;
    const failing = { RBAC: fail('a'), Node: say('none', 'why'), Webhook: fail('b') };
    assert.deepEqual(await createAuthorizer(['RBAC', 'Node'], failing)(request), { type: 'none', reason: 'why', error: 'a' });
    assert.deepEqual(await createAuthorizer(['RBAC', 'Webhook'], failing)(request), { type: 'none', reason: '', error: '[a, b]' });
    assert.equal((await createAuthorizer(['RBAC', 'AlwaysAllow'], failing)(request)).type, 'allow');
    assert.deepEqual(await createAuthorizer(['RBAC', 'AlwaysDeny'], modes)(request), { type: 'none', reason: 'one\nEverything is forbidden.' });
    assert.deepEqual(await createAuthorizer(['RBAC', 'AlwaysAllow'], modes)(request), { type: 'allow', reason: '' });
  });

  it('reports which mode has decided', async () => {
    const decided: unknown[] = [];
    const authorize = createAuthorizer(['RBAC', 'Webhook', 'Webhook', 'AlwaysAllow'], { RBAC: say('none', '') }, {
      webhooks: [say('none', ''), say('deny', '')], onDecided: (...decision) => decided.push(decision),
    });
    await authorize(makeRequest('alice', 'get pods x'));
    await createAuthorizer(['AlwaysAllow'], {}, { onDecided: (...decision) => decided.push(decision) })(makeRequest('alice', 'get pods x'));
    await authorize(makeRequest('root system:masters', 'get pods x'));
    assert.deepEqual(decided, [[2, 'denied'], [0, 'allowed']]);
  });

  it('lets members of system:masters do everything, whatever the modes say', () => {
    assert.deepEqual(createAuthorizer(['AlwaysDeny'], {})(makeRequest('root system:masters', 'delete nodes')), { type: 'allow', reason: '' });
  });
});
