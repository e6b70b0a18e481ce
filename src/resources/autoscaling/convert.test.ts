// Autoscalers in both versions: what one cannot say travels in annotations, and comes back.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { convertAutoscaler } from './convert.ts';

const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };

function autoscaler(spec: object, status: object = { desiredReplicas: 0, currentMetrics: null }): KubeObject {
  return { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 3, ...spec }, status };
}
const toV1 = (object: KubeObject): KubeObject => convertAutoscaler(object, 'v2', 'v1');
const toV2 = (object: KubeObject): KubeObject => convertAutoscaler(object, 'v1', 'v2');
const annotations = (object: KubeObject): Record<string, string> => object.metadata.annotations ?? {};

test('convertAutoscaler gives CPU utilization the field that v1 has for it', () => {
  const old = toV1(autoscaler({ minReplicas: 1, metrics: [cpu] }));
  assert.deepEqual(old['spec'], { scaleTargetRef, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 });
  assert.deepEqual(old['status'], { currentReplicas: 0, desiredReplicas: 0 });
  assert.equal(old.metadata.annotations, undefined);
});

test('convertAutoscaler writes the annotations as the reference does', () => {
  const old = toV1(autoscaler({
    metrics: [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '512Mi' } } },
      { type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '1k' } } },
    ],
    behavior: {
      scaleUp: {
        stabilizationWindowSeconds: 0, selectPolicy: 'Max',
        policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { type: 'Percent', value: 100, periodSeconds: 15 }],
      },
      scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
    },
  }));
  assert.deepEqual(annotations(old), {
    'autoscaling.alpha.kubernetes.io/behavior': '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max",'
      + '"Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},'
      + '{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max",'
      + '"Policies":[{"Type":"Percent","Value":10,"PeriodSeconds":60}],"Tolerance":null}}',
    'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"512Mi"}},'
      + '{"type":"Pods","pods":{"metricName":"rps","targetAverageValue":"1k"}}]',
  });
});

test('convertAutoscaler writes the current metrics as the reference does', () => {
  const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '100m', averageUtilization: 20 } } }];
  const old = toV1(autoscaler({ metrics: [cpu] }, { currentReplicas: 1, desiredReplicas: 2, currentMetrics }));
  assert.deepEqual(old['status'], { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 20 });
  assert.deepEqual(annotations(old), {
    'autoscaling.alpha.kubernetes.io/current-metrics':
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":20,"currentAverageValue":"100m"}}]',
  });
});

test('convertAutoscaler loses nothing on the way to v1 and back', () => {
  const selector = { matchLabels: { a: 'b' } };
  const object = autoscaler({
    minReplicas: 2,
    metrics: [
      {
        type: 'Object',
        object: { describedObject: { kind: 'Ingress', name: 'i' }, metric: { name: 'hits', selector }, target: { type: 'Value', value: '10' } },
      },
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } } },
      { type: 'External', external: { metric: { name: 'queue', selector }, target: { type: 'AverageValue', averageValue: '3' } } },
      cpu,
    ],
    behavior: { scaleDown: { selectPolicy: 'Disabled', tolerance: '100m' } },
  }, {
    observedGeneration: 2, lastScaleTime: '2024-01-01T00:00:00Z', currentReplicas: 1, desiredReplicas: 2,
    currentMetrics: [{ type: 'Pods', pods: { metric: { name: 'rps' }, current: { averageValue: '7' } } }],
    conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' }],
  });
  const before = structuredClone(object);
  assert.deepEqual(toV2(toV1(object)), before);
  assert.deepEqual(object, before);
});

test('convertAutoscaler ignores annotations that are not JSON', () => {
  const old = toV1(autoscaler({ metrics: [cpu] }));
  const broken = { ...old, metadata: { name: 'h', annotations: { 'autoscaling.alpha.kubernetes.io/metrics': '{', keep: 'me' } } };
  const object = toV2(broken);
  assert.deepEqual((object['spec'] as { metrics: unknown }).metrics, [cpu]);
  assert.deepEqual(object.metadata.annotations, { keep: 'me' });
});
