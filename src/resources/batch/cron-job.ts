// batch/v1 CronJob.
import { type FieldError, type KubeObject, invalidTyped, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn, textColumn, textIfSet, wideColumn } from '../common/columns/columns.ts';
import { formatAge } from '../common/columns/duration.ts';
import { formatSelector } from '../common/columns/selector.ts';
import { containerColumns } from '../common/columns/workloads.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, checkOneOf, isEmptyText, isGiven, isWrong, specOf } from '../common/validation/check.ts';
import { readPath, toList, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { warnOfTemplate } from '../core/pods/template.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkJobSpec, warnOfJob } from './job-spec.ts';
import { findScheduleProblem, isTimeZone } from './schedule.ts';

function formatSuspend(object: KubeObject): string {
  const suspend = readPath(object, 'spec', 'suspend');
  return suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False';
}

/** Columns of cronjobs. */
const cronJobColumns: readonly Column[] = [
  nameColumn,
  textColumn('Schedule', 'spec', 'schedule'),
  column('Timezone', (object) => textIfSet(readPath(object, 'spec', 'timeZone'), '<none>')),
  column('Suspend', formatSuspend, 'boolean'),
  column('Active', (object) => toList(readPath(object, 'status', 'active')).length, 'integer'),
  column('Last Schedule', (object, nowMs) => {
    const last = readPath(object, 'status', 'lastScheduleTime');
    return last === undefined ? '<none>' : formatAge(last, nowMs);
  }),
  ageColumn,
  ...containerColumns('spec', 'jobTemplate', 'spec', 'template', 'spec'),
  wideColumn('Selector', (object) => formatSelector(readPath(object, 'spec', 'jobTemplate', 'spec', 'selector'))),
];

/** Defaults of cronjobs; those of the job apply when it is created. */
function applyCronJobDefaults(cronJob: KubeObject): void {
  const spec = ensureStruct(cronJob, 'spec');
  setZero(spec, { concurrencyPolicy: 'Allow' });
  setAbsent(spec, { suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 });
  const template = ensureStruct(ensureStruct(spec, 'jobTemplate'), 'spec');
  applyTemplateDefaults(template);
  for (const rule of readStructs(readPointer(template, 'podFailurePolicy'), 'rules')) {
    for (const pattern of readStructs(rule, 'onPodConditions')) setZero(pattern, { status: 'True' });
  }
}

/** Members that a job template may not have, because the server generates them for each job. */
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
  const isLocal = zone.toLowerCase() === 'local';
  return [
    ...(isLocal ? [invalidTyped(path, zone, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')] : []),
    ...(zone === 'Local' || isTimeZone(zone) ? [] : [invalidTyped(path, zone, `unknown time zone ${zone}`)]),
  ];
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
function validateCronJob(cronJob: KubeObject): Errors {
  const name = cronJob.metadata.name ?? '';
  const isLong = name.length > 52;
  return [...checkCronJobSpec(cronJob), ...(isLong ? [invalidValue('metadata.name', name, 'must be no more than 52 characters')] : [])];
}

/** Validates updates of cronjobs. */
function validateCronJobUpdate(cronJob: KubeObject, old: KubeObject): Errors {
  return checkCronJobSpec(cronJob, old);
}

/** Warns of schedules that contain a time zone. */
function warnOfSchedule(root: Field): readonly string[] {
  if (!toText(readPath(root.value, 'spec', 'schedule')).includes('TZ')) return [];
  return ['cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see '
    + 'https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'];
}

/** The spec of CronJob. */
export const cronJobKind: KindSpec = {
  kind: 'CronJob', plural: 'cronjobs', shortNames: ['cj'], categories: ['all'],
  formerVersions: sameAs('batch/v1beta1'),
  tracksGeneration: true,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  statusMetadataChecks: [],
  columns: cronJobColumns,
  ...gatePodSpec('spec.jobTemplate.spec.template.spec'),
  applyDefaults: applyCronJobDefaults,
  validation: { object: validateCronJob, update: validateCronJobUpdate },
  warnings: warnOfTemplate({
    path: ['spec', 'jobTemplate', 'spec', 'template'], names: true, also: (root) => warnOfJob(at(root, 'spec', 'jobTemplate', 'spec')),
    always: (root, old) => (old === undefined ? [] : warnOfSchedule(root)),
  }),
};
