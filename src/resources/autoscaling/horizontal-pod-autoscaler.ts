// autoscaling HorizontalPodAutoscaler: stored as v2, served as v2 and v1.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { ensureStruct, readPointer, readStructs, setAbsent } from '../common/defaults.ts';
import { status } from '../common/subresources.ts';
import { readPath } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { autoscalerRowColumns } from './columns.ts';
import { CPU_TARGET, convertAutoscaler, cpuMetric, dropFieldAnnotations, fieldKeys, hasAnnotatedMetrics, keepAnnotations } from './convert.ts';
import { TO_ZERO_GATE, validateAutoscaler, validateAutoscalerStatus } from './validation.ts';

const scaleUpRules = {
  stabilizationWindowSeconds: 0, selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { type: 'Percent', value: 100, periodSeconds: 15 }],
};

const scaleDownRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** The reference reads v1 into the form of v2, and shows that as v1 again, before it looks for owners: by then the use of CPU has an annotation. */
function setFieldAnnotations(autoscaler: KubeObject): void {
  const annotations = autoscaler.metadata.annotations ?? {};
  const hasUse = typeof readPath(autoscaler, 'status', 'currentCPUUtilizationPercentage') === 'number';
  if (!hasUse && !fieldKeys.some((key) => Object.hasOwn(annotations, key))) return;
  autoscaler.metadata = convertAutoscaler(convertAutoscaler(autoscaler, 'v1', 'v2'), 'v2', 'v1').metadata;
}

/** Defaults of horizontalpodautoscalers in either version. */
function applyAutoscalerDefaults(autoscaler: KubeObject, version: string): void {
  const spec = ensureStruct(autoscaler, 'spec');
  setAbsent(spec, { minReplicas: 1 });
  if (version === 'v1') {
    if (!hasAnnotatedMetrics(autoscaler)) setAbsent(spec, { targetCPUUtilizationPercentage: CPU_TARGET });
    setFieldAnnotations(autoscaler);
    return;
  }
  dropFieldAnnotations(autoscaler);
  if (readStructs(spec, 'metrics').length === 0) {
    spec['metrics'] = [cpuMetric(CPU_TARGET)];
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
  strategy: {
    prepareForCreate: (autoscaler) => keepAnnotations(autoscaler, undefined, 'status'),
    prepareForUpdate: (autoscaler, old, { subresource }) => keepAnnotations(autoscaler, old, subresource === 'status' ? 'spec' : 'status'),
  },
  featureUses: { [TO_ZERO_GATE]: (autoscaler) => readPath(autoscaler, 'spec', 'minReplicas') === 0 },
  validation: { object: (autoscaler) => validateAutoscaler(autoscaler), update: validateAutoscaler, status: validateAutoscalerStatus },
};
