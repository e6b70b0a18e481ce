// Validation of jobs and of the schedules that make them.
import { type FieldError, type KubeObject, checkDnsLabel, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { readPath, toNumber, toObject, toText } from '../columns/common.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkNotNegative, checkOneOf, checkSelector, isEmptyText, isGiven, isSame, isSelectable,
  isWrong, selects, sortMembers,
} from './check.ts';
import { findScheduleProblem, isTimeZone } from './cron.ts';
import { checkFailurePolicy, checkManager, checkReplacement, checkSuccessPolicy } from './job-policies.ts';
import { showPodPart, showPodSpec } from './pod-parts.ts';
import { validatePodTemplateSpec } from './pods.ts';
import { checkTemplateLabels } from './workloads.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });
const maxIndexed = 100_000;
const maxBeyond = 10_000;
const prefixed = 'batch.kubernetes.io/';

/** Unless it is set by hand, the selector of a job is exactly the one that the server made, and its template has the labels for it. */
function checkGeneratedSelector(job: KubeObject): Errors {
  const selector = at(specOf(job), 'selector');
  if (readPath(job, 'spec', 'manualSelector') === true || !isGiven(selector)) return [];
  const [uid, name] = [job.metadata.uid ?? '', job.metadata.name ?? ''];
  const labels = { 'controller-uid': uid, 'job-name': name, [`${prefixed}controller-uid`]: uid, [`${prefixed}job-name`]: name };
  const present = toObject(readPath(job, 'spec', 'template', 'metadata', 'labels'));
  const missing = Object.entries(labels).flatMap(([key, value]): Errors => {
    if (!Object.hasOwn(present, key)) return [required(`spec.template.metadata.labels[${key}]`, `must be '${value}'`)];
    return present[key] === value ? [] : [invalidValue(`spec.template.metadata.labels[${key}]`, present, `must be '${value}'`)];
  });
  if (!isSelectable(selector.value) || selects(selector.value, labels)) return missing;
  return [...missing, invalidValue(selector.path, sortMembers(selector.value), '`selector` not auto-generated')];
}

/** What indexed jobs may have, and others may not. */
function checkIndexes(spec: Field): Errors {
  const [completions, parallelism] = [at(spec, 'completions'), at(spec, 'parallelism')];
  const [limit, failed] = [at(spec, 'backoffLimitPerIndex'), at(spec, 'maxFailedIndexes')];
  const mode = toText(readPath(spec.value, 'completionMode') ?? 'NonIndexed');
  if (mode === 'NonIndexed') return [limit, failed].filter(isGiven).map((place) => isWrong(place, 'requires indexed completion mode'));
  if (mode !== 'Indexed') return [];
  const exceeds = (place: Field, most: number): boolean => isGiven(place) && toNumber(place.value) > most;
  const total = isGiven(completions) ? toNumber(completions.value) : undefined;
  const errors: FieldError[] = total === undefined ? [required(completions.path, 'when completion mode is Indexed')] : [];
  if (exceeds(parallelism, maxIndexed)) errors.push(isWrong(parallelism, `must be less than or equal to ${maxIndexed} when completion mode is Indexed`));
  if (total !== undefined && exceeds(failed, total)) errors.push(isWrong(failed, 'must be less than or equal to completions'));
  if (exceeds(failed, maxIndexed)) errors.push(isWrong(failed, `must be less than or equal to ${maxIndexed}`));
  if (total === undefined || total <= maxIndexed || !isGiven(limit)) return errors;
  if (!isGiven(failed)) errors.push(required(failed.path, `must be specified when completions is above ${maxIndexed}`));
  const text = `must be less than or equal to ${maxBeyond} when completions are above ${maxIndexed} and used with backoff limit per index`;
  return [...errors, ...[parallelism, failed].filter((place) => exceeds(place, maxBeyond)).map((place) => isWrong(place, text))];
}

function checkRestart(spec: Field): Errors {
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const text = toText(policy.value);
  if (text === 'Always' || text === '') return [required(policy.path, 'valid values: "OnFailure", "Never"')];
  if (text !== 'OnFailure' && text !== 'Never') return [notSupported(policy.path, text, ['OnFailure', 'Never'], true)];
  if (!isGiven(at(spec, 'podFailurePolicy')) || text === 'Never') return [];
  return [isWrong(policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

const counts = [
  'parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished', 'backoffLimitPerIndex', 'maxFailedIndexes',
];

function checkJobSpec(spec: Field): Errors {
  const [mode, limit] = [at(spec, 'completionMode'), at(spec, 'backoffLimitPerIndex')];
  const lacksLimit = isGiven(at(spec, 'maxFailedIndexes')) && !isGiven(limit);
  return [
    ...checkNotNegative(...counts.map((name) => at(spec, name))), ...(lacksLimit ? [required(limit.path, 'when maxFailedIndexes is specified')] : []),
    ...checkManager(at(spec, 'managedBy')), ...checkGivenOneOf(mode, ['NonIndexed', 'Indexed'], true), ...checkIndexes(spec),
    ...checkFailurePolicy(spec), ...checkSuccessPolicy(spec), ...checkReplacement(spec), ...validatePodTemplateSpec(at(spec, 'template')),
    ...checkRestart(spec),
  ];
}

function checkSelectingSpec(spec: Field): Errors {
  const selector = at(spec, 'selector');
  return [
    ...checkJobSpec(spec), ...(isGiven(selector) ? checkSelector(selector) : [required(selector.path)]),
    ...(isSelectable(selector.value) ? checkTemplateLabels(spec, selector.value) : []),
  ];
}

/** Validates jobs. */
export function validateJob(job: KubeObject): Errors {
  const [completions, name] = [readPath(job, 'spec', 'completions'), job.metadata.name ?? ''];
  const isIndexed = readPath(job, 'spec', 'completionMode') === 'Indexed' && toNumber(completions) > 0;
  const last = `${name}-${toNumber(completions) - 1}`;
  const isNameless = isIndexed && checkDnsLabel(last).length > 0;
  return [
    ...checkGeneratedSelector(job), ...checkSelectingSpec(specOf(job)),
    ...(isNameless ? [invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`)] : []),
  ];
}

/** What a schedule may not say, since every job gets its own. */
function checkJobTemplate(spec: Field): Errors {
  const [selector, manual] = [at(spec, 'selector'), at(spec, 'manualSelector')];
  return [
    ...checkJobSpec(spec), ...(isGiven(selector) ? [isWrong(selector, '`selector` will be auto-generated')] : []),
    ...(manual.value === true ? [notSupported(manual.path, true, ['nil', 'false'], true)] : []),
  ];
}

function checkSchedule(spec: Field, allowsZone: boolean): Errors {
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

function checkTimeZone({ path, value }: Field): Errors {
  if (value === undefined || value === null) return [];
  const zone = toText(value);
  if (zone === '') return [invalidValue(path, zone, 'timeZone must be nil or non-empty string')];
  if (zone.toLowerCase() === 'local') {
    return [invalidValue(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')];
  }
  return isTimeZone(zone) ? [] : [invalidValue(path, zone, `unknown time zone ${zone}`)];
}

function checkCronJobSpec(cronJob: KubeObject, old?: KubeObject): Errors {
  const spec = specOf(cronJob);
  const concurrency = at(spec, 'concurrencyPolicy');
  const allowsZone = toText(readPath(old, 'spec', 'schedule')).includes('TZ');
  const sameZone = old !== undefined && readPath(old, 'spec', 'timeZone') === readPath(cronJob, 'spec', 'timeZone');
  return [
    ...checkSchedule(spec, allowsZone), ...checkNotNegative(at(spec, 'startingDeadlineSeconds')),
    ...(sameZone ? [] : checkTimeZone(at(spec, 'timeZone'))),
    ...(isEmptyText(concurrency) ? [required(concurrency.path)] : checkOneOf(concurrency, ['Allow', 'Forbid', 'Replace'])),
    ...checkJobTemplate(at(spec, 'jobTemplate', 'spec')), ...checkNotNegative(at(spec, 'successfulJobsHistoryLimit'), at(spec, 'failedJobsHistoryLimit')),
  ];
}

/** Validates cronjobs. */
export function validateCronJob(cronJob: KubeObject): Errors {
  const name = cronJob.metadata.name ?? '';
  const isLong = name.length > 52;
  return [...checkCronJobSpec(cronJob), ...(isLong ? [invalidValue('metadata.name', name, 'must be no more than 52 characters')] : [])];
}

/** Validates updates of cronjobs. */
export function validateCronJobUpdate(cronJob: KubeObject, old: KubeObject): Errors {
  return checkCronJobSpec(cronJob, old);
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

/** The number of completions of an indexed job follows its parallelism; that of others stays. */
function checkCompletions(spec: Field, old: Field): Errors {
  const [completions, before] = [at(spec, 'completions'), at(old, 'completions')];
  if (readPath(spec.value, 'completionMode') !== 'Indexed') return checkImmutable(completions, before);
  if (completions.value === before.value || !isGiven(completions) || completions.value === readPath(spec.value, 'parallelism')) return [];
  return [isWrong(completions, 'can only be modified in tandem with spec.parallelism')];
}

/** A template as the reference keeps it in memory: metadata as the API has it, the spec as a struct. */
function showTemplate(job: KubeObject): unknown {
  const template = toObject(readPath(job, 'spec', 'template'));
  return { ...toObject(template['metadata']), Spec: showPodSpec(toObject(template['spec'])) };
}

/** Members that cannot change, with the structs that they print as. */
const sealed: readonly (readonly [string, string?])[] = [
  ['completionMode'], ['podFailurePolicy', 'PodFailurePolicy'], ['backoffLimitPerIndex'], ['managedBy'], ['successPolicy', 'SuccessPolicy'],
];

function checkSealed(place: Field, old: Field, struct: string | undefined): Errors {
  if (isSame(place.value ?? null, old.value ?? null)) return [];
  const shown = struct === undefined || !isGiven(place) ? place.value ?? null : showPodPart(struct, place.value);
  return [invalidValue(place.path, shown, 'field is immutable')];
}

/** Validates updates of jobs. */
export function validateJobUpdate(job: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(job), specOf(old)];
  const isSealed = isSame(maskTemplate(job, old), maskTemplate(old, old));
  return [
    // The reference looks at the whole job and again at its spec, and clients see the causes of both.
    ...validateJob(job), ...checkSelectingSpec(spec), ...checkCompletions(spec, before), ...checkImmutable(at(spec, 'selector'), at(before, 'selector')),
    ...(isSealed ? [] : [invalidValue('spec.template', showTemplate(job), 'field is immutable')]),
    ...sealed.flatMap(([name, struct]) => checkSealed(at(spec, name), at(before, name), struct)),
  ];
}
