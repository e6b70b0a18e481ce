// The API versions of what autoscalers refer to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { validateAutoscaler } from './validation.ts';

const autoscaler = (kind: string, apiVersion: string | undefined, described = 'v1'): KubeObject => ({
  apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' },
  spec: {
    maxReplicas: 3, scaleTargetRef: { kind, name: 'web', ...(apiVersion !== undefined && { apiVersion }) },
    metrics: [{
      type: 'Object', object: {
        describedObject: { kind: 'Service', name: 'web', apiVersion: described }, metric: { name: 'rps' }, target: { type: 'Value', value: '1' },
      },
    }],
  },
} as KubeObject);
const pathsOf = (now: KubeObject, old?: KubeObject) => validateAutoscaler(now, old).map(({ field }) => field);
const target = 'spec.scaleTargetRef.apiVersion';

test('a ReplicationController needs no group, any other target does', () => {
  assert.deepEqual(pathsOf(autoscaler('ReplicationController', undefined)), []);
  assert.deepEqual(pathsOf(autoscaler('ReplicationController', 'v1')), []);
  assert.deepEqual(pathsOf(autoscaler('ReplicationController', 'a/b/c')), [target]);
  assert.deepEqual([pathsOf(autoscaler('Deployment', undefined)), pathsOf(autoscaler('Deployment', 'v1'))], [[target], [target]]);
});

test('an update keeps what an autoscaler refers to, and may not make it worse', () => {
  const old = autoscaler('Deployment', 'v1', 'a/b/c');
  assert.deepEqual(pathsOf(old, old), []);
  assert.deepEqual(pathsOf(autoscaler('Other', 'v1', 'a/b/c'), old), [target]);
  const sound = autoscaler('Deployment', 'apps/v1');
  assert.deepEqual(pathsOf(autoscaler('Deployment', 'apps/v1', 'a/b/c'), sound), ['spec.metrics[0].object.describedObject.apiVersion']);
});
