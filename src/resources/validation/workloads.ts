// Validation of the kinds that make pods, as far as it is common: selectors that match their template, counts, strategies, immutable fields.
import { type FieldError, type KubeObject, forbiddenField, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { readPath, toNumber, toObject, toText } from '../columns/common.ts';
import {
  type Errors, type Place, at, checkImmutable, checkNotNegative, checkOneOf, checkRequired, checkSelector, isEmptySelector, isSame, selects, sortMembers,
} from './check.ts';
import { findScheduleProblem, isTimeZone } from './cron.ts';
import { validatePodSpec } from './pods.ts';

const specOf = (object: KubeObject): Place => ({ path: 'spec', value: object['spec'] });

/** A selector that must be there and must not be empty. */
function checkWorkloadSelector(spec: Place, kind: string): Errors {
  const selector = at(spec, 'selector');
  if (selector.value === undefined || selector.value === null) return [required(selector.path)];
  if (isEmptySelector(selector.value)) return [invalidValue(selector.path, {}, `empty selector is invalid for ${kind}`)];
  return checkSelector(selector);
}

/** The template must carry the labels that the selector asks for. */
function checkTemplateLabels(spec: Place, selector: unknown): Errors {
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (selects(selector, toObject(labels.value))) return [];
  return [invalidValue(labels.path, sortMembers(labels.value), '`selector` does not match template `labels`')];
}

/** A template of pods that run until they are deleted. */
function checkTemplate(spec: Place): Errors {
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const deadline = at(spec, 'template', 'spec', 'activeDeadlineSeconds');
  const errors: FieldError[] = [...validatePodSpec(at(spec, 'template', 'spec'))];
  const unknown = errors.some(({ field }) => field === policy.path);
  if (!unknown && policy.value !== 'Always') errors.push(notSupported(policy.path, policy.value, ['Always']));
  if (deadline.value !== undefined) errors.push(forbiddenField(deadline.path, 'activeDeadlineSeconds in ReplicaSet is not Supported'));
  return errors;
}

const percentText = "a valid percent string must be a numeric string followed by an ending '%' "
  + "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count or a percentage; percentages beyond a hundred make no sense where they mean a share. */
function checkCountOrPercent({ path, value }: Place, limitsPercent: boolean): Errors {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string') return checkNotNegative({ path, value });
  if (!/^[0-9]+%$/.test(value)) {
    return [invalidValue(path, value, percentText)];
  }
  return limitsPercent && Number.parseInt(value, 10) > 100 ? [invalidValue(path, value, 'must not be greater than 100%')] : [];
}

const isZero = (value: unknown): boolean => value === 0 || /^0+%$/.test(toText(value));

function checkDeploymentStrategy(strategy: Place): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  if (type === 'Recreate') {
    return rolling.value === undefined ? [] : [forbiddenField(rolling.path, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, { Type: type, RollingUpdate: null }, ['Recreate', 'RollingUpdate'])];
  const unavailable = at(rolling, 'maxUnavailable');
  const surge = at(rolling, 'maxSurge');
  const errors: FieldError[] = [...checkCountOrPercent(unavailable, false), ...checkCountOrPercent(surge, false)];
  if (isZero(unavailable.value) && isZero(surge.value)) errors.push(invalidValue(unavailable.path, unavailable.value, 'may not be 0 when `maxSurge` is 0'));
  return errors.length > 0 ? errors : checkCountOrPercent(unavailable, true);
}

function checkDeploymentSpec(spec: Place): Errors {
  const selector = at(spec, 'selector');
  const errors: FieldError[] = [...checkNotNegative(at(spec, 'replicas')), ...checkWorkloadSelector(spec, 'deployment')];
  errors.push(...checkTemplateLabels(spec, selector.value), ...checkTemplate(spec), ...checkDeploymentStrategy(at(spec, 'strategy')));
  errors.push(...checkNotNegative(at(spec, 'minReadySeconds'), at(spec, 'revisionHistoryLimit')));
  const deadline = at(spec, 'progressDeadlineSeconds');
  if (deadline.value === undefined) return errors;
  errors.push(...checkNotNegative(deadline));
  if (toNumber(deadline.value) <= toNumber(readPath(spec.value, 'minReadySeconds'))) {
    errors.push(invalidValue(deadline.path, deadline.value, 'must be greater than minReadySeconds'));
  }
  return errors;
}

/** Validates deployments. */
export function validateDeployment(deployment: KubeObject): Errors {
  return checkDeploymentSpec(specOf(deployment));
}

function checkReplicaSetSpec(spec: Place): Errors {
  const selector = at(spec, 'selector');
  const counts = checkNotNegative(at(spec, 'replicas'), at(spec, 'minReadySeconds'));
  return [...counts, ...checkWorkloadSelector(spec, 'deployment'), ...checkTemplateLabels(spec, selector.value), ...checkTemplate(spec)];
}

/** Validates replicasets. */
export function validateReplicaSet(replicaSet: KubeObject): Errors {
  return checkReplicaSetSpec(specOf(replicaSet));
}

/** Validates daemonsets. */
export function validateDaemonSet(daemonSet: KubeObject): Errors {
  const spec = specOf(daemonSet);
  const selector = at(spec, 'selector');
  const errors: FieldError[] = [...checkSelector(selector), ...checkTemplateLabels(spec, selector.value)];
  if (selector.value !== undefined && isEmptySelector(selector.value)) errors.push(invalidValue(selector.path, {}, 'empty selector is invalid for daemonset'));
  errors.push(...checkTemplate(spec), ...checkNotNegative(at(spec, 'minReadySeconds')), ...checkDaemonStrategy(at(spec, 'updateStrategy')));
  return [...errors, ...checkNotNegative(at(spec, 'revisionHistoryLimit'))];
}

function checkDaemonStrategy(strategy: Place): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, { Type: type, RollingUpdate: null }, ['RollingUpdate', 'OnDelete'], true)];
  const unavailable = at(strategy, 'rollingUpdate', 'maxUnavailable');
  const surge = at(strategy, 'rollingUpdate', 'maxSurge');
  const [hasUnavailable, hasSurge] = [!isZero(unavailable.value ?? 0), !isZero(surge.value ?? 0)];
  if (hasUnavailable && hasSurge) return [invalidValue(surge.path, surge.value, 'may not be set when maxUnavailable is non-zero')];
  return hasUnavailable || hasSurge ? [] : [required(unavailable.path, 'cannot be 0 when maxSurge is 0')];
}

function checkStatefulStrategy(strategy: Place): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  const partition = readPath(rolling.value, 'partition');
  if (type === 'RollingUpdate') return checkNotNegative(at(rolling, 'partition'));
  if (type !== 'OnDelete') return [invalidValue(strategy.path, { Type: type, RollingUpdate: null }, "must be 'RollingUpdate' or 'OnDelete'")];
  if (rolling.value === undefined) return [];
  return [invalidValue(rolling.path, { Partition: partition ?? null, MaxUnavailable: null }, "only allowed for updateStrategy 'RollingUpdate'")];
}

/** Validates statefulsets. */
export function validateStatefulSet(statefulSet: KubeObject): Errors {
  const spec = specOf(statefulSet);
  const management = at(spec, 'podManagementPolicy');
  const known = management.value === 'OrderedReady' || management.value === 'Parallel';
  return [
    ...(known ? [] : [invalidValue(management.path, management.value, "must be 'OrderedReady' or 'Parallel'")]),
    ...checkStatefulStrategy(at(spec, 'updateStrategy')), ...checkNotNegative(at(spec, 'replicas'), at(spec, 'minReadySeconds')),
    ...checkWorkloadSelector(spec, 'statefulset'), ...checkTemplateLabels(spec, readPath(spec.value, 'selector')), ...checkTemplate(spec),
  ];
}

/** Validates replicationcontrollers. */
export function validateReplicationController(controller: KubeObject): Errors {
  const spec = specOf(controller);
  const selector = toObject(readPath(spec.value, 'selector'));
  const errors: FieldError[] = [...checkNotNegative(at(spec, 'minReadySeconds'))];
  if (Object.keys(selector).length === 0) errors.push(required('spec.selector'));
  errors.push(...checkNotNegative(at(spec, 'replicas')));
  if (readPath(spec.value, 'template') === undefined) return [...errors, required('spec.template')];
  if (Object.keys(selector).length > 0) errors.push(...checkTemplateLabels(spec, { matchLabels: selector }));
  return [...errors, ...checkTemplate(spec)];
}

/** Validates podtemplates. */
export function validatePodTemplate(template: KubeObject): Errors {
  return validatePodSpec({ path: 'template.spec', value: readPath(template, 'template', 'spec') });
}

function withImmutableSelector(validate: (object: KubeObject) => Errors): (object: KubeObject, old: KubeObject) => Errors {
  return (object, old) => [...validate(object), ...checkImmutable(at(specOf(object), 'selector'), at(specOf(old), 'selector'))];
}

/** Validates updates of deployments. */
export const validateDeploymentUpdate = withImmutableSelector(validateDeployment);
/** Validates updates of replicasets. */
export const validateReplicaSetUpdate = withImmutableSelector(validateReplicaSet);
/** Validates updates of daemonsets. */
export const validateDaemonSetUpdate = withImmutableSelector(validateDaemonSet);

const mutableStatefulFields = [
  'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds',
];
const forbiddenStatefulText = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
  + "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** Validates updates of statefulsets. */
export function validateStatefulSetUpdate(statefulSet: KubeObject, old: KubeObject): Errors {
  const isFixed = ([name]: readonly [string, unknown]): boolean => !mutableStatefulFields.includes(name);
  const fixed = (object: KubeObject): unknown => Object.fromEntries(Object.entries(toObject(object['spec'])).filter(isFixed));
  return isSame(fixed(statefulSet), fixed(old)) ? validateStatefulSet(statefulSet) : [forbiddenField('spec', forbiddenStatefulText)];
}

/** Unless it is set by hand, the selector of a job is exactly the one that the server made. */
function checkGeneratedSelector(job: KubeObject): Errors {
  const selector = at(specOf(job), 'selector');
  if (readPath(job, 'spec', 'manualSelector') === true || selector.value === undefined) return [];
  const made = { matchLabels: { 'batch.kubernetes.io/controller-uid': job.metadata.uid ?? '' } };
  const old = { matchLabels: { 'controller-uid': job.metadata.uid ?? '' } };
  if (isSame(selector.value, made) || isSame(selector.value, old)) return [];
  return [invalidValue(selector.path, sortMembers(selector.value), '`selector` not auto-generated')];
}

/** Validates jobs. */
export function validateJob(job: KubeObject): Errors {
  const spec = specOf(job);
  const selector = at(spec, 'selector');
  const counts = ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'];
  const errors: FieldError[] = selector.value === undefined ? [required(selector.path)] : [];
  errors.push(...checkJobSpec(spec, counts));
  return [...errors, ...checkGeneratedSelector(job), ...checkTemplateLabels(spec, selector.value)];
}

function checkJobSpec(spec: Place, counts: readonly string[]): Errors {
  const mode = at(spec, 'completionMode');
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const errors: FieldError[] = [...checkNotNegative(...counts.map((name) => at(spec, name)))];
  if (mode.value !== undefined) errors.push(...checkOneOf(mode, ['NonIndexed', 'Indexed'], true));
  if (mode.value === 'Indexed') errors.push(...checkRequired(at(spec, 'completions'), 'when completion mode is Indexed'));
  errors.push(...validatePodSpec(at(spec, 'template', 'spec')));
  if (policy.value === 'Always' || policy.value === undefined) errors.push(required(policy.path, 'valid values: "OnFailure", "Never"'));
  return errors;
}

function checkSchedule(spec: Place, allowsZone: boolean): Errors {
  const place = at(spec, 'schedule');
  const schedule = toText(place.value);
  if (schedule === '') return [required(place.path)];
  const problem = findScheduleProblem(schedule);
  const errors: FieldError[] = problem === undefined ? [] : [invalidValue(place.path, schedule, problem)];
  if (!schedule.includes('TZ')) return errors;
  if (!allowsZone) return [...errors, invalidValue(place.path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  if (at(spec, 'timeZone').value === undefined) return errors;
  return [...errors, invalidValue(place.path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')];
}

function checkTimeZone({ path, value }: Place): Errors {
  if (value === undefined || value === null) return [];
  const zone = toText(value);
  if (zone === '') return [invalidValue(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local') {
    return [invalidValue(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')];
  }
  return isTimeZone(zone) ? [] : [invalidValue(path, zone, `unknown time zone ${zone}`)];
}

/** Validates cronjobs, except the schedule itself. */
export function validateCronJob(cronJob: KubeObject, old?: KubeObject): Errors {
  const spec = specOf(cronJob);
  const allowsZone = toText(readPath(old, 'spec', 'schedule')).includes('TZ');
  const sameZone = old !== undefined && readPath(old, 'spec', 'timeZone') === readPath(cronJob, 'spec', 'timeZone');
  const errors: FieldError[] = [...checkSchedule(spec, allowsZone), ...checkNotNegative(at(spec, 'startingDeadlineSeconds'))];
  if (!sameZone) errors.push(...checkTimeZone(at(spec, 'timeZone')));
  errors.push(...checkOneOf(at(spec, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace']));
  errors.push(...checkJobSpec(at(spec, 'jobTemplate', 'spec'), ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit']));
  errors.push(...checkNotNegative(at(spec, 'successfulJobsHistoryLimit'), at(spec, 'failedJobsHistoryLimit')));
  const name = cronJob.metadata.name ?? '';
  if (name.length > 52) errors.push(invalidValue('metadata.name', name, 'must be no more than 52 characters'));
  return errors;
}

/** Validates updates of cronjobs. */
export function validateCronJobUpdate(cronJob: KubeObject, old: KubeObject): Errors {
  return validateCronJob(cronJob, old);
}

const schedulingMembers = ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates'];

/** The template of a job without what a suspended job may still change: where its pods run and what they are called. */
function maskTemplate(job: KubeObject, old: KubeObject): unknown {
  const template = toObject(readPath(job, 'spec', 'template'));
  const isWaiting = readPath(old, 'spec', 'suspend') === true && readPath(old, 'status', 'startTime') === undefined;
  if (!isWaiting) return template;
  const spec = Object.fromEntries(Object.entries(toObject(template['spec'])).filter(([name]) => !schedulingMembers.includes(name)));
  const { labels: _labels, annotations: _annotations, ...metadata } = toObject(template['metadata']);
  return { ...template, metadata, spec };
}

/** Validates updates of jobs. */
export function validateJobUpdate(job: KubeObject, old: KubeObject): Errors {
  const immutable = ['completions', 'selector', 'completionMode'].filter((name) => {
    return name !== 'completions' || readPath(old, 'spec', 'completionMode') !== 'Indexed';
  });
  const errors: FieldError[] = [...validateJob(job), ...immutable.flatMap((name) => checkImmutable(at(specOf(job), name), at(specOf(old), name)))];
  if (isSame(maskTemplate(job, old), maskTemplate(old, old))) return errors;
  return [...errors, invalidValue('spec.template', readPath(job, 'spec', 'template'), 'field is immutable')];
}

/** Validates poddisruptionbudgets. */
export function validateDisruptionBudget(budget: KubeObject): Errors {
  const spec = specOf(budget);
  const [least, most] = [at(spec, 'minAvailable'), at(spec, 'maxUnavailable')];
  if (least.value !== undefined && most.value !== undefined) {
    const policy = readPath(spec.value, 'unhealthyPodEvictionPolicy') ?? null;
    const selector = readPath(spec.value, 'selector') ?? null;
    const shown = { MinAvailable: least.value, Selector: selector, MaxUnavailable: most.value, UnhealthyPodEvictionPolicy: policy };
    return [invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set')];
  }
  const policy = at(spec, 'unhealthyPodEvictionPolicy');
  return [
    ...checkCountOrPercent(least, true), ...checkCountOrPercent(most, true), ...checkSelector(at(spec, 'selector')),
    ...(policy.value === undefined ? [] : checkOneOf(policy, ['AlwaysAllow', 'IfHealthyBudget'])),
  ];
}

/** Validates controllerrevisions. */
export function validateControllerRevision(revision: KubeObject): Errors {
  const data: FieldError[] = revision['data'] === undefined ? [required('data', 'data is mandatory')] : [];
  return [...data, ...checkNotNegative({ path: 'revision', value: revision['revision'] })];
}

/** Validates updates of controllerrevisions. */
export function validateControllerRevisionUpdate(revision: KubeObject, old: KubeObject): Errors {
  return [...validateControllerRevision(revision), ...checkImmutable({ path: 'data', value: revision['data'] }, { path: 'data', value: old['data'] })];
}

