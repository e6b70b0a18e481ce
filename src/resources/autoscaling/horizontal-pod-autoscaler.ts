// autoscaling HorizontalPodAutoscaler: stored as v2, served as v2 and v1.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { ensureStruct, readPointer, readStructs, setAbsent } from '../common/defaults.ts';
import { status } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';
import { autoscalerRowColumns } from './columns.ts';
import { convertAutoscaler, fieldKeys, hasAnnotatedMetrics } from './convert.ts';
import { validateAutoscaler, validateAutoscalerStatus } from './validation.ts';

const CPU_TARGET = 80;

const scaleUpRules = {
  stabilizationWindowSeconds: 0, selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { type: 'Percent', value: 100, periodSeconds: 15 }],
};

const scaleDownRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** Defaults of horizontalpodautoscalers in either version. */
function applyAutoscalerDefaults(autoscaler: KubeObject, version: string): void {
  const spec = ensureStruct(autoscaler, 'spec');
  setAbsent(spec, { minReplicas: 1 });
  if (version === 'v1') {
    if (!hasAnnotatedMetrics(autoscaler)) setAbsent(spec, { targetCPUUtilizationPercentage: CPU_TARGET });
    return;
  }
  if (readStructs(spec, 'metrics').length === 0) {
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_TARGET } } }];
  }
  const behavior: JsonObject | undefined = readPointer(spec, 'behavior');
  if (behavior === undefined) return;
  setAbsent(ensureStruct(behavior, 'scaleUp'), scaleUpRules);
  setAbsent(ensureStruct(behavior, 'scaleDown'), scaleDownRules);
}

/** The spec of HorizontalPodAutoscaler. */
export const horizontalPodAutoscalerKind: KindSpec = {
  kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', shortNames: ['hpa'], categories: ['all'],
  versions: ['v2', 'v1'], convert: convertAutoscaler, fieldAnnotations: fieldKeys,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  columns: autoscalerRowColumns,
  applyDefaults: applyAutoscalerDefaults,
  validation: { object: (autoscaler) => validateAutoscaler(autoscaler), update: validateAutoscaler, status: validateAutoscalerStatus },
};
