// Validation of statuses, in the words of the reference.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../apimachinery/index.ts';
import { strategyOf } from './kinds.suite.ts';

const context = { nowMs: 0, namespace: 'n', user: { name: 'alice', groups: [] }, version: 'v1', subresource: 'status' };

function check(key: string, body: object, old: object = body): readonly string[] {
  const [object, before] = [body, old].map((one) => ({ metadata: { name: 'a' }, ...structuredClone(one) })) as [KubeObject, KubeObject];
  return (strategyOf(key).validateUpdate?.(object, before, context) ?? []).map(({ field, message }) => `${field}: ${message}`);
}

test('validateServiceStatus knows who has a load balancer, and how it is reached', () => {
  const status = (...ingress: object[]): object => ({ loadBalancer: { ingress } });
  assert.deepEqual(check('/Service', { spec: { type: 'ClusterIP' }, status: status({ ip: '1.2.3.4' }) }),
    ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]);
  const balanced = { spec: { type: 'LoadBalancer' }, status: status({ ip: '1.2.3.4', hostname: '1.2.3.4' }, { ipMode: 'VIP' }) };
  assert.deepEqual(check('/Service', balanced), [
    'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    'status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set',
    'status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set',
  ]);
});

test('validateStatefulSetStatus compares counts with each other and with before', () => {
  assert.deepEqual(check('apps/StatefulSet', { status: { replicas: 1, readyReplicas: 2, availableReplicas: 1 } }, { status: { collisionCount: 1 } }), [
    'status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas', 'status.collisionCount: Invalid value: 0: cannot be decremented',
  ]);
});

test('validateNamespaceStatus ends a namespace when it is deleted', () => {
  const ending = { metadata: { name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z' }, status: { phase: 'Active' } };
  assert.deepEqual(check('/Namespace', ending),
    ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty']);
  assert.deepEqual(check('/Namespace', { status: { phase: 'Terminating' } }),
    ['status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty']);
});
