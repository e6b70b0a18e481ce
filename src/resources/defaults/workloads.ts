// Defaults of the kinds that make pods: controllers of apps, batch and core, and autoscalers.
import type { JsonObject, JsonValue, KubeObject } from '../../apimachinery/index.ts';
import { hasAnnotatedMetrics } from '../autoscaling/convert.ts';
import { toObject } from '../columns/common.ts';
import { applyTemplateDefaults } from './pods.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from './set.ts';
import { applyClaimDefaults } from './volumes.ts';

/** Defaults of deployments. */
export function applyDeploymentDefaults(deployment: KubeObject): void {
  const spec = ensureStruct(deployment, 'spec');
  applyTemplateDefaults(spec);
  setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
  const strategy = ensureStruct(spec, 'strategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') setAbsent(ensureStruct(strategy, 'rollingUpdate'), { maxUnavailable: '25%', maxSurge: '25%' });
}

const templateGenerationKey = 'deprecated.daemonset.template.generation';

/** How often the template has changed, as the annotation counts it. */
export function readTemplateGeneration(daemonSet: KubeObject): number {
  return Number.parseInt(daemonSet.metadata.annotations?.[templateGenerationKey] ?? '', 10) || 0;
}

/** Counts the changes of the template. */
export function setTemplateGeneration(daemonSet: KubeObject, generation: number): void {
  daemonSet.metadata.annotations = { ...daemonSet.metadata.annotations, [templateGenerationKey]: String(generation) };
}

/** Defaults of daemonsets; the count is always there, so that it is its writer's own. */
export function applyDaemonSetDefaults(daemonSet: KubeObject): void {
  setTemplateGeneration(daemonSet, readTemplateGeneration(daemonSet));
  const spec = ensureStruct(daemonSet, 'spec');
  applyTemplateDefaults(spec);
  setAbsent(spec, { revisionHistoryLimit: 10 });
  const strategy = ensureStruct(spec, 'updateStrategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate') setAbsent(ensureStruct(strategy, 'rollingUpdate'), { maxUnavailable: 1, maxSurge: 0 });
}

/** Defaults of statefulsets; an explicit RollingUpdate without details stays without. */
export function applyStatefulSetDefaults(statefulSet: KubeObject): void {
  const spec = ensureStruct(statefulSet, 'spec');
  applyTemplateDefaults(spec);
  setZero(spec, { podManagementPolicy: 'OrderedReady' });
  setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10 });
  const strategy = ensureStruct(spec, 'updateStrategy');
  if (!strategy['type']) {
    strategy['type'] = 'RollingUpdate';
    ensureStruct(strategy, 'rollingUpdate');
  }
  const rolling = readPointer(strategy, 'rollingUpdate');
  if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) setAbsent(rolling, { partition: 0 });
  setZero(ensureStruct(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  for (const claim of readStructs(spec, 'volumeClaimTemplates')) {
    setZero(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' });
    applyClaimDefaults(claim);
  }
}

/** Defaults of replicasets. */
export function applyReplicaSetDefaults(replicaSet: KubeObject): void {
  const spec = ensureStruct(replicaSet, 'spec');
  applyTemplateDefaults(spec);
  setAbsent(spec, { replicas: 1 });
}

const isEmptyMap = (value: unknown): boolean => Object.keys(toObject(value)).length === 0;

/** Labels of the template for an object that has none of its own. */
function takeTemplateLabels(object: KubeObject, labels: JsonValue | undefined): void {
  if (!isEmptyMap(labels) && isEmptyMap(object.metadata.labels)) object.metadata.labels = { ...(labels as Record<string, string>) };
}

/** Defaults of replicationcontrollers, whose selector and labels come from the template. */
export function applyReplicationControllerDefaults(controller: KubeObject): void {
  const spec = ensureStruct(controller, 'spec');
  setAbsent(spec, { replicas: 1 });
  const template = readPointer(spec, 'template');
  if (template === undefined) return;
  applyTemplateDefaults(spec);
  const labels = readPointer(template, 'metadata')?.['labels'];
  if (isEmptyMap(labels)) return;
  if (isEmptyMap(spec['selector'])) spec['selector'] = { ...toObject(labels) };
  takeTemplateLabels(controller, labels);
}

const unlimitedBackoff = 2 ** 31 - 1;

/** Defaults of jobs. */
export function applyJobDefaults(job: KubeObject): void {
  const spec = ensureStruct(job, 'spec');
  applyTemplateDefaults(spec);
  if (spec['parallelism'] === undefined) setAbsent(spec, { completions: 1 });
  setAbsent(spec, { parallelism: 1, backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : unlimitedBackoff });
  const failurePolicy = readPointer(spec, 'podFailurePolicy');
  setAbsent(spec, {
    completionMode: 'NonIndexed', suspend: false, manualSelector: false,
    podReplacementPolicy: failurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
  });
  for (const rule of readStructs(failurePolicy, 'rules')) {
    for (const pattern of readStructs(rule, 'onPodConditions')) setZero(pattern, { status: 'True' });
  }
  takeTemplateLabels(job, readPointer(readPointer(spec, 'template'), 'metadata')?.['labels']);
}

/** Defaults of cronjobs; those of the job itself apply when it is made. */
export function applyCronJobDefaults(cronJob: KubeObject): void {
  const spec = ensureStruct(cronJob, 'spec');
  setZero(spec, { concurrencyPolicy: 'Allow' });
  setAbsent(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  const template = ensureStruct(ensureStruct(spec, 'jobTemplate'), 'spec');
  applyTemplateDefaults(template);
  for (const rule of readStructs(readPointer(template, 'podFailurePolicy'), 'rules')) {
    for (const pattern of readStructs(rule, 'onPodConditions')) setZero(pattern, { status: 'True' });
  }
}

/** Defaults of podtemplates. */
export function applyPodTemplateDefaults(object: KubeObject): void {
  applyTemplateDefaults(object);
}

const cpuTarget = 80;
const scaleUpRules = {
  stabilizationWindowSeconds: 0, selectPolicy: 'Max',
  policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, { type: 'Percent', value: 100, periodSeconds: 15 }],
};
const scaleDownRules = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

/** Defaults of horizontalpodautoscalers in either version. */
export function applyAutoscalerDefaults(autoscaler: KubeObject, version: string): void {
  const spec = ensureStruct(autoscaler, 'spec');
  setAbsent(spec, { minReplicas: 1 });
  if (version === 'v1') {
    if (!hasAnnotatedMetrics(autoscaler)) setAbsent(spec, { targetCPUUtilizationPercentage: cpuTarget });
    return;
  }
  if (readStructs(spec, 'metrics').length === 0) {
    spec['metrics'] = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpuTarget } } }];
  }
  const behavior: JsonObject | undefined = readPointer(spec, 'behavior');
  if (behavior === undefined) return;
  setAbsent(ensureStruct(behavior, 'scaleUp'), scaleUpRules);
  setAbsent(ensureStruct(behavior, 'scaleDown'), scaleDownRules);
}
