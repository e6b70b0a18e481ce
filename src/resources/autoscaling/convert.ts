// HorizontalPodAutoscaler between v2 (stored) and v1. Fields that v1 does not have are kept in annotations under autoscaling.alpha.kubernetes.io:
// metrics and current-metrics in v1's own shape, conditions, and behavior with the field names of the Go type.
import { type JsonObject, type JsonValue, type KubeObject, equalJson } from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toObjects } from '../common/values.ts';
import { metricSpecFromV1, metricSpecToV1, metricStatusFromV1, metricStatusToV1 } from './metrics.ts';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const METRICS_KEY = `${PREFIX}metrics`;
const STATUSES_KEY = `${PREFIX}current-metrics`;
const CONDITIONS_KEY = `${PREFIX}conditions`;
const BEHAVIOR_KEY = `${PREFIX}behavior`;

const specKeys: readonly string[] = [METRICS_KEY, BEHAVIOR_KEY];
const statusKeys: readonly string[] = [STATUSES_KEY, CONDITIONS_KEY];

/** Every annotation that stands for a field. */
export const fieldKeys: readonly string[] = [...specKeys, ...statusKeys];

/** Gives the annotations that stand for a status, or for a spec, the values that they have in `old`; without it they go. */
export function keepAnnotations({ metadata }: KubeObject, old: KubeObject | undefined, part: 'spec' | 'status'): void {
  const keys = part === 'spec' ? specKeys : statusKeys;
  const before = old?.metadata.annotations ?? {};
  if (metadata.annotations === undefined && !keys.some((key) => Object.hasOwn(before, key))) return;
  const others = Object.entries(metadata.annotations ?? {}).filter(([key]) => !keys.includes(key));
  const kept = [...others, ...keys.filter((key) => Object.hasOwn(before, key)).map((key) => [key, before[key]!] as const)];
  if (kept.length === 0) delete metadata.annotations;
  else metadata.annotations = Object.fromEntries(kept);
}

/** The given members, so that absent ones stay absent. */
function pick(from: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}

/** CPU utilization is the one metric that v1 has a field for. */
function isCpuUtilization(metric: JsonObject, ...path: readonly string[]): boolean {
  return metric['type'] === 'Resource' && readPath(metric, 'resource', 'name') === 'cpu' && readPath(metric, 'resource', ...path) !== undefined;
}

const ruleNames = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance'];
const policyNames = ['Type', 'Value', 'PeriodSeconds'];
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

function behaviorToGo(behavior: JsonObject): JsonObject {
  const rules = (name: string): JsonObject | null => {
    const given = behavior[name];
    if (given === undefined || given === null) return null;
    const go = Object.fromEntries(ruleNames.map((field) => [field, toObject(given)[lowerFirst(field)] ?? null])) as JsonObject;
    if (Array.isArray(go['Policies'])) {
      go['Policies'] = toObjects(go['Policies']).map((policy) =>
        Object.fromEntries(policyNames.map((field) => [field, policy[lowerFirst(field)] ?? null])) as JsonObject);
    }
    return go;
  };
  return { ScaleUp: rules('scaleUp'), ScaleDown: rules('scaleDown') };
}

function behaviorFromGo(go: JsonObject): JsonObject {
  const behavior: JsonObject = {};
  for (const name of ['ScaleUp', 'ScaleDown']) {
    const rules = go[name];
    if (rules === undefined || rules === null) continue;
    const present = ruleNames.filter((field) => (toObject(rules)[field] ?? null) !== null);
    behavior[lowerFirst(name)] = Object.fromEntries(present.map((field) => {
      const value = toObject(rules)[field];
      if (field !== 'Policies') return [lowerFirst(field), value];
      const policies = toObjects(value).map((policy) => Object.fromEntries(policyNames.map((part) => [lowerFirst(part), policy[part]])));
      return [lowerFirst(field), policies];
    })) as JsonObject;
  }
  return behavior;
}

/** The JSON of an annotation; undefined when it is absent or malformed, which the reference ignores. */
function readAnnotation(object: KubeObject, key: string): unknown {
  const text = object.metadata?.annotations?.[key];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The annotations with the round-trip ones replaced; undefined when none remain. */
function withAnnotations(object: KubeObject, added: Readonly<Record<string, unknown>>): KubeObject['metadata'] {
  const kept = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) => ![METRICS_KEY, STATUSES_KEY, CONDITIONS_KEY, BEHAVIOR_KEY].includes(key));
  for (const [key, value] of Object.entries(added)) if (value !== undefined) kept.push([key, JSON.stringify(value)]);
  const { annotations: _, ...rest } = object.metadata ?? {};
  return kept.length === 0 ? rest : { ...rest, annotations: Object.fromEntries(kept) };
}

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

function specToV1(spec: JsonObject): JsonObject {
  const cpu = toObjects(spec['metrics']).find((metric) => isCpuUtilization(metric, 'target', 'averageUtilization'));
  const utilization = readPath(cpu, 'resource', 'target', 'averageUtilization');
  return {
    ...pick(spec, 'scaleTargetRef', 'minReplicas'),
    maxReplicas: toNumber(spec['maxReplicas']),
    ...(utilization !== undefined && { targetCPUUtilizationPercentage: utilization }),
  };
}

function statusToV1(status: JsonObject): JsonObject {
  const cpu = toObjects(status['currentMetrics']).find((metric) => isCpuUtilization(metric, 'current', 'averageUtilization'));
  const utilization = readPath(cpu, 'resource', 'current', 'averageUtilization');
  return {
    ...pick(status, 'observedGeneration', 'lastScaleTime'),
    currentReplicas: toNumber(status['currentReplicas']),
    desiredReplicas: toNumber(status['desiredReplicas']),
    ...(utilization !== undefined && { currentCPUUtilizationPercentage: utilization }),
  };
}

function toV1(object: KubeObject): KubeObject {
  const spec = toObject(object['spec']);
  const status = toObject(object['status']);
  const others = toObjects(spec['metrics']).filter((metric) => !isCpuUtilization(metric, 'target', 'averageUtilization'));
  const behavior = spec['behavior'];
  const metadata = withAnnotations(object, {
    [BEHAVIOR_KEY]: behavior === undefined || behavior === null ? undefined : behaviorToGo(toObject(behavior)),
    [CONDITIONS_KEY]: unlessEmpty(toObjects(status['conditions'])),
    [STATUSES_KEY]: unlessEmpty(toObjects(status['currentMetrics']).map(metricStatusToV1)),
    [METRICS_KEY]: unlessEmpty(others.map(metricSpecToV1)),
  });
  return { ...object, apiVersion: 'autoscaling/v1', metadata, spec: specToV1(spec), status: statusToV1(status) };
}

/** The utilization that autoscalers aim at which state no metric; the conversion from v1 states it, as that of the reference does. */
export const CPU_TARGET = 80;

/** The metric that v1 has a field for. */
export const cpuMetric = (averageUtilization: JsonValue): JsonObject =>
  ({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } });

function specFromV1(object: KubeObject): JsonObject {
  const spec = toObject(object['spec']);
  const utilization = spec['targetCPUUtilizationPercentage'];
  const annotated = readAnnotation(object, METRICS_KEY);
  const metrics = toObjects(annotated).map(metricSpecFromV1);
  if (utilization !== undefined && utilization !== null) {
    metrics.push(cpuMetric(utilization));
  }
  const behavior = behaviorFromGo(toObject(readAnnotation(object, BEHAVIOR_KEY)));
  return {
    ...pick(spec, 'scaleTargetRef', 'minReplicas'),
    maxReplicas: toNumber(spec['maxReplicas']),
    metrics: metrics.length > 0 ? metrics : [cpuMetric(CPU_TARGET)],
    ...(behavior !== undefined && Object.keys(behavior).length > 0 && { behavior }),
  };
}

function statusFromV1(object: KubeObject): JsonObject {
  const status = toObject(object['status']);
  const utilization = status['currentCPUUtilizationPercentage'];
  const annotated = readAnnotation(object, STATUSES_KEY);
  const conditions = readAnnotation(object, CONDITIONS_KEY);
  const use: JsonObject[] | null = utilization === undefined ? null
    : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: utilization } } }];
  // Shown as v1, the use of CPU alone has an annotation as well, with a zero for the value that it lacks.
  const isSaidTwice = use !== null && equalJson(annotated, use.map(metricStatusToV1));
  const metrics = annotated === undefined || isSaidTwice ? use : toObjects(annotated).map(metricStatusFromV1);
  const replicas = toNumber(status['currentReplicas']);
  return {
    ...pick(status, 'observedGeneration', 'lastScaleTime'),
    ...(replicas !== 0 && { currentReplicas: replicas }),
    desiredReplicas: toNumber(status['desiredReplicas']),
    currentMetrics: metrics,
    ...(toList(conditions).length > 0 && { conditions: toObjects(conditions) as JsonObject[] }),
  };
}

function fromV1(object: KubeObject): KubeObject {
  return { ...object, apiVersion: 'autoscaling/v2', metadata: withAnnotations(object, {}), spec: specFromV1(object), status: statusFromV1(object) };
}

/** The autoscaler in the other version; the object given is left as it is. */
export function convertAutoscaler(object: KubeObject, from: string, to: string): KubeObject {
  if (from === to) return object;
  return to === 'v1' ? toV1(object) : fromV1(object);
}

/** True when a v1 object brings metrics in its annotation. */
export function hasAnnotatedMetrics(object: KubeObject): boolean {
  return toList(readAnnotation(object, METRICS_KEY)).length > 0;
}

/** Takes the annotations that stand for fields away: the stored version has the fields. */
export function dropFieldAnnotations(object: KubeObject): void {
  const annotations = object.metadata.annotations;
  if (annotations !== undefined && fieldKeys.some((key) => Object.hasOwn(annotations, key))) object.metadata = withAnnotations(object, {});
}
