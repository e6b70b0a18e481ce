// What each kind does differently on creates and updates.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import type { StrategyContext } from '../registry/index.ts';
import { computeQosClass } from './core/pods/qos.ts';
import { strategyOf } from './kinds.suite.ts';

const nowMs = Date.parse('2024-01-01T00:00:00.5Z');
function contextOf(subresource = ''): StrategyContext {
  return { nowMs, namespace: 'n', user: { name: 'alice', uid: 'u', groups: ['devs'] }, version: 'v1', subresource };
}
function create(key: string, object: object): KubeObject {
  const made = { metadata: { name: 'a', uid: 'uid-1' }, ...structuredClone(object) } as KubeObject;
  strategyOf(key).prepareForCreate?.(made, contextOf());
  return made;
}
function update(key: string, { object, old, subresource }: { object: object; old: object; subresource?: string }): KubeObject {
  const changed = { metadata: { name: 'a' }, ...structuredClone(object) } as KubeObject;
  strategyOf(key).prepareForUpdate?.(changed, { metadata: { name: 'a' }, ...structuredClone(old) } as KubeObject, contextOf(subresource));
  return changed;
}

test('prepareForUpdate of a status keeps the labels of deployments and all user metadata of flowschemas', () => {
  const old = { metadata: { name: 'a', labels: { x: 'old' }, annotations: { y: 'old' } }, spec: {} };
  const object = { metadata: { name: 'a', labels: { x: 'new' }, annotations: { y: 'new' } }, spec: {}, status: {} };
  const deployment = update('apps/Deployment', { object, old, subresource: 'status' });
  assert.deepEqual([deployment.metadata.labels, deployment.metadata.annotations], [{ x: 'old' }, { y: 'new' }]);
  const flowSchema = update('flowcontrol.apiserver.k8s.io/FlowSchema', { object, old, subresource: 'status' });
  assert.deepEqual([flowSchema.metadata.labels, flowSchema.metadata.annotations], [{ x: 'old' }, { y: 'old' }]);
});

test('computeQosClass follows limits and requests of all containers', () => {
  const full = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } };
  assert.equal(computeQosClass({ containers: [{ resources: full }] }), 'Guaranteed');
  assert.equal(computeQosClass({ containers: [{ resources: full }, {}] }), 'Burstable');
  assert.equal(computeQosClass({ containers: [{ resources: { requests: { cpu: '0' } } }] }), 'BestEffort');
  assert.equal(computeQosClass({ containers: [{ resources: { limits: { 'example.com/gpu': '1' } } }] }), 'BestEffort');
});

test('prepareForCreate of a pod forgets its status and says that it is gated', () => {
  const pod = create('/Pod', { spec: { schedulingGates: [{ name: 'g' }] }, status: { phase: 'Running' } });
  const { phase, conditions } = pod['status'] as { phase: string; conditions: { reason: string }[] };
  assert.deepEqual([phase, conditions[0]?.reason], ['Pending', 'SchedulingGated']);
});

test('prepareForUpdate of a resize changes the resources of containers and nothing else', () => {
  const old = { spec: { nodeName: 'x', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] } };
  const object = { spec: { nodeName: 'y', containers: [{ name: 'c', image: 'j', resources: { requests: { cpu: '2' } } }] } };
  const pod = update('/Pod', { object, old, subresource: 'resize' });
  assert.deepEqual(pod['spec'], { nodeName: 'x', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }] });
});

test('prepareForCreate of a job makes the selector, unless it is set by hand', () => {
  const job = create('batch/Job', { spec: { template: { metadata: {} } } });
  const labels = { 'batch.kubernetes.io/controller-uid': 'uid-1', 'batch.kubernetes.io/job-name': 'a', 'controller-uid': 'uid-1', 'job-name': 'a' };
  assert.deepEqual(job.metadata.labels, labels);
  assert.deepEqual(job['spec'], {
    template: { metadata: { labels } }, selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } },
  });
  const manual = { spec: { manualSelector: true, selector: { matchLabels: { x: 'y' } } } };
  assert.deepEqual(create('batch/Job', manual)['spec'], manual.spec);
});

test('prepareForUpdate of a daemonset counts changes of its template', () => {
  const key = 'deprecated.daemonset.template.generation';
  const old = { metadata: { name: 'a', annotations: { [key]: '3' } }, spec: { template: { spec: { a: 1 } } } };
  assert.equal(update('apps/DaemonSet', { object: { spec: { template: { spec: { a: 2 } } } }, old }).metadata.annotations?.[key], '4');
  assert.equal(update('apps/DaemonSet', { object: { spec: { template: { spec: { a: 1 } }, x: 1 } }, old }).metadata.annotations?.[key], '3');
  assert.equal(create('apps/DaemonSet', { spec: {} }).metadata.annotations?.[key], '1');
});

test('prepareForCreate of a namespace labels it and adds the finalizer', () => {
  const namespace = create('/Namespace', { spec: { finalizers: ['example.com/hold'] }, status: { phase: 'Terminating' } });
  assert.deepEqual(namespace.metadata.labels, { 'kubernetes.io/metadata.name': 'a' });
  assert.deepEqual([namespace['spec'], namespace['status']], [{ finalizers: ['example.com/hold', 'kubernetes'] }, { phase: 'Active' }]);
});

test('prepareForUpdate of a namespace lets only finalize change its finalizers', () => {
  const old = { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
  const object = { spec: { finalizers: [] }, status: { phase: 'Terminating' } };
  assert.deepEqual(update('/Namespace', { object, old })['spec'], old.spec);
  const finalized = update('/Namespace', { object, old, subresource: 'finalize' });
  assert.deepEqual(finalized['spec'], object.spec);
});

test('prepareForCreate of a certificatesigningrequest records who asks', () => {
  const request = create('certificates.k8s.io/CertificateSigningRequest', { spec: { request: 'x', username: 'root', extra: { a: ['b'] } } });
  assert.deepEqual(request['spec'], { request: 'x', username: 'alice', uid: 'u', groups: ['devs'] });
});

test('prepareForUpdate of a certificatesigningrequest decides through approval only', () => {
  const key = 'certificates.k8s.io/CertificateSigningRequest';
  const old = { spec: { a: 1 } };
  const object = { spec: { a: 2 }, status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'eA==' } };
  const approved = update(key, { object, old, subresource: 'approval' });
  const time = '2024-01-01T00:00:00Z';
  assert.deepEqual([approved['spec'], approved['status']], [
    old.spec, { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: time, lastTransitionTime: time }] },
  ]);
  assert.deepEqual((update(key, { object, old, subresource: 'status' })['status'] as { certificate: string }).certificate, 'eA==');
});

test('prepareForUpdate of a deployment counts a change of annotations', () => {
  const old = { metadata: { name: 'a', generation: 3, annotations: { a: 'b' } }, spec: {} } as unknown as KubeObject;
  const same = structuredClone(old);
  const other = { ...structuredClone(old), metadata: { name: 'a', generation: 3, annotations: {} } } as KubeObject;
  for (const object of [same, other]) strategyOf('apps/Deployment').prepareForUpdate?.(object, old, contextOf());
  assert.deepEqual([same.metadata.generation, other.metadata.generation], [3, 4]);
});

test('prepareForCreate of a serviceaccount keeps the names of its secrets', () => {
  const account = { metadata: { name: 'a' }, secrets: [{ name: 's', kind: 'Secret', uid: 'u' }, {}] } as unknown as KubeObject;
  strategyOf('/ServiceAccount').prepareForCreate?.(account, contextOf());
  assert.deepEqual(account['secrets'], [{ name: 's' }, {}]);
});
