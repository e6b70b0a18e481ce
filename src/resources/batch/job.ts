// batch/v1 Job: the server generates its selector and the labels of its template.
import { type JsonObject, type KubeObject, checkDnsLabel, equalJson, invalidValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn } from '../common/columns/columns.ts';
import { formatHumanDuration } from '../common/columns/duration.ts';
import { selectorColumn, templateContainers } from '../common/columns/workloads.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from '../common/defaults.ts';
import { countAt } from '../common/selectable-fields.ts';
import { prepareWithStatus } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkImmutable, isGiven, isWrong, sortMembers, specOf } from '../common/validation/check.ts';
import { checkSelector, isSelectable, selects } from '../common/validation/selectors.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { checkTemplateLabels, warnOfTemplate } from '../core/pods/template.ts';
import { showPodPart, showPodSpec } from '../core/pods/validation/parts.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkJobSpec, warnOfJob } from './job-spec.ts';
import { validateJobStatus } from './job-status.ts';

function formatJobStatus(object: KubeObject): string {
  const conditions = toObjects(readPath(object, 'status', 'conditions'));
  const has = (type: string): boolean => conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (object.metadata?.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(has) ?? 'Running';
}

function formatCompletions(object: KubeObject): string {
  const succeeded = toNumber(readPath(object, 'status', 'succeeded'));
  const completions = readPath(object, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${toNumber(completions)}`;
  const parallelism = toNumber(readPath(object, 'spec', 'parallelism'));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function formatJobDuration(object: KubeObject, nowMs: number): string {
  const start = toText(readPath(object, 'status', 'startTime'));
  if (start === '') return '';
  const end = toText(readPath(object, 'status', 'completionTime'));
  return formatHumanDuration((end === '' ? nowMs : Date.parse(end)) - Date.parse(start));
}

/** Columns of jobs. */
const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', formatJobStatus),
  column('Completions', formatCompletions),
  column('Duration', formatJobDuration),
  ageColumn,
  ...templateContainers,
  selectorColumn,
];
const jobFields = { 'status.successful': countAt('status.succeeded') };
const UNLIMITED_BACKOFF = 2 ** 31 - 1;

/** Defaults of jobs. */
function applyJobDefaults(job: KubeObject, _version?: string, before?: KubeObject): void {
  const spec = ensureStruct(job, 'spec');
  applyTemplateDefaults(spec, before?.['spec']);
  if (spec['parallelism'] === undefined) setAbsent(spec, { completions: 1 });
  setAbsent(spec, { parallelism: 1, backoffLimit: spec['backoffLimitPerIndex'] === undefined ? 6 : UNLIMITED_BACKOFF });
  const failurePolicy = readPointer(spec, 'podFailurePolicy');
  setAbsent(spec, {
    completionMode: 'NonIndexed', suspend: false, manualSelector: false,
    podReplacementPolicy: failurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
  });
  for (const rule of readStructs(failurePolicy, 'rules')) {
    for (const pattern of readStructs(rule, 'onPodConditions')) setZero(pattern, { status: 'True' });
  }
  takeLabels(job);
}

/** A job without labels has those of its template: the same map, as in the reference, so that what is added to the one is in both. */
function takeLabels(job: KubeObject): void {
  const labels = readPath(job, 'spec', 'template', 'metadata', 'labels') as Record<string, string> | undefined;
  const isFull = labels !== undefined && Object.keys(labels).length > 0;
  if (isFull && Object.keys(job.metadata.labels ?? {}).length === 0) job.metadata.labels = labels;
}

/** Labels by which a job finds its pods: the new and the old name of each. */
function makeJobLabels(job: KubeObject): Record<string, string> {
  const uid = job.metadata.uid ?? '';
  const name = job.metadata.name ?? '';
  return { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name };
}

/** Generates the selector and the template's labels where they are missing, and copies the labels to a job that has none. */
function generateSelector(job: KubeObject): void {
  const spec = ensureStruct(job, 'spec');
  if (spec['manualSelector'] === true) return;
  const labels = makeJobLabels(job);
  const metadata = ensureStruct(ensureStruct(spec, 'template'), 'metadata');
  const given = toObject(metadata['labels']);
  const takesLabels = Object.keys(given).length > 0 && job.metadata.labels === metadata['labels'];
  const merged: JsonObject = { ...labels, ...given };
  metadata['labels'] = merged;
  if (takesLabels) job.metadata.labels = { ...(merged as Record<string, string>) };
  const selector = readPointer(spec, 'selector') ?? {};
  const selected = toObject(selector['matchLabels']);
  if (toText(selected['batch.kubernetes.io/controller-uid']) === '') {
    selector['matchLabels'] = { ...selected, 'batch.kubernetes.io/controller-uid': labels['batch.kubernetes.io/controller-uid'] };
  }
  spec['selector'] = selector;
}

/** Whether the labels of a job are those of a template that came without any: a creation stores none. */
function hasTemplateLabels(job: KubeObject): boolean {
  const labels = makeJobLabels(job);
  return equalJson(job.metadata.labels, labels) && equalJson(readPath(job, 'spec', 'template', 'metadata', 'labels'), labels);
}

const PREFIXED = 'batch.kubernetes.io/';

/** A selector as Go writes it: its members in the order of their declaration, labels in order. */
function showSelector(selector: unknown): unknown {
  const [labels, expressions] = ['matchLabels', 'matchExpressions'].map((name) => readPath(selector, name));
  return { ...(labels !== undefined && { matchLabels: sortMembers(labels) }), ...(expressions !== undefined && { matchExpressions: expressions }) };
}

/** Unless manualSelector is set, the selector of a job is exactly the generated one, and its template has the labels for it. */
function checkGeneratedSelector(job: KubeObject): Errors {
  const selector = at(specOf(job), 'selector');
  if (readPath(job, 'spec', 'manualSelector') === true || !isGiven(selector)) return [];
  const [uid, name] = [job.metadata.uid ?? '', job.metadata.name ?? ''];
  const labels = { 'controller-uid': uid, 'job-name': name, [`${PREFIXED}controller-uid`]: uid, [`${PREFIXED}job-name`]: name };
  const present = toObject(readPath(job, 'spec', 'template', 'metadata', 'labels'));
  const missing = Object.entries(labels).flatMap(([key, value]): Errors => {
    if (!Object.hasOwn(present, key)) return [required(`spec.template.metadata.labels[${key}]`, `must be '${value}'`)];
    return present[key] === value ? [] : [invalidValue(`spec.template.metadata.labels[${key}]`, sortMembers(present), `must be '${value}'`)];
  });
  if (!isSelectable(selector.value) || selects(selector.value, labels)) return missing;
  return [...missing, invalidValue(selector.path, showSelector(selector.value), '`selector` not auto-generated')];
}

function checkSelectingSpec(spec: Field): Errors {
  const selector = at(spec, 'selector');
  return [
    ...checkJobSpec(spec), ...(isGiven(selector) ? checkSelector(selector) : [required(selector.path)]),
    ...(isSelectable(selector.value) ? checkTemplateLabels(spec, selector.value) : []),
  ];
}

/** Validates jobs. */
function validateJob(job: KubeObject): Errors {
  const [completions, name] = [readPath(job, 'spec', 'completions'), job.metadata.name ?? ''];
  const isIndexed = readPath(job, 'spec', 'completionMode') === 'Indexed' && toNumber(completions) > 0;
  const last = `${name}-${toNumber(completions) - 1}`;
  const isNameless = isIndexed && checkDnsLabel(last).length > 0;
  return [
    ...checkGeneratedSelector(job), ...checkSelectingSpec(specOf(job)),
    ...(isNameless ? [invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${last}`)] : []),
  ];
}

const schedulingMembers = ['nodeSelector', 'tolerations', 'affinity', 'schedulingGates'];

/** Suspended, without active pods, and never started or said to be suspended by its controller. */
function isWaiting(job: KubeObject): boolean {
  const isStopped = toObjects(readPath(job, 'status', 'conditions')).some(({ type, status }) => type === 'Suspended' && status === 'True');
  return readPath(job, 'spec', 'suspend') === true && (readPath(job, 'status', 'startTime') === undefined || isStopped)
    && toNumber(readPath(job, 'status', 'active')) === 0;
}

/** The pod spec of a template without the members that a waiting job may change: scheduling, resources of containers. */
function maskPodSpec(job: KubeObject): unknown {
  const spec = toObject(readPath(job, 'spec', 'template', 'spec'));
  const rest = Object.fromEntries(Object.entries(spec).filter(([name]) => !schedulingMembers.includes(name)));
  const bare = (list: string): unknown => toObjects(spec[list]).map(({ resources: _resources, ...container }) => container);
  return { ...rest, containers: bare('containers'), initContainers: bare('initContainers') };
}

/** The template of a job that has started is immutable; one that waits may change how its pods are scheduled, labelled and provided for. */
function checkTemplate(job: KubeObject, old: KubeObject): Errors {
  const immutable = 'field is immutable';
  if (!isWaiting(old)) {
    const isSame = equalJson(readPath(job, 'spec', 'template'), readPath(old, 'spec', 'template'));
    return isSame ? [] : [invalidValue('spec.template', showTemplate(job), immutable)];
  }
  if (equalJson(maskPodSpec(job), maskPodSpec(old))) return [];
  return [invalidValue('spec.template.spec', showPodSpec(toObject(readPath(job, 'spec', 'template', 'spec'))), immutable)];
}

/** The number of completions of an indexed job follows its parallelism; that of others stays. */
function checkCompletions(spec: Field, old: Field): Errors {
  const [completions, before] = [at(spec, 'completions'), at(old, 'completions')];
  if (readPath(spec.value, 'completionMode') !== 'Indexed') return checkImmutable(completions, before);
  if (completions.value === before.value || !isGiven(completions) || completions.value === readPath(spec.value, 'parallelism')) return [];
  return [isWrong(completions, 'can only be modified in tandem with spec.parallelism')];
}

/** A template as messages print it: metadata by its API names, the spec as a struct. */
function showTemplate(job: KubeObject): unknown {
  const template = toObject(readPath(job, 'spec', 'template'));
  return { ...toObject(template['metadata']), Spec: showPodSpec(toObject(template['spec'])) };
}

/** Members that cannot change, with the structs that they print as. */
const sealed: readonly (readonly [string, string?])[] = [
  ['completionMode'], ['podFailurePolicy', 'PodFailurePolicy'], ['backoffLimitPerIndex'], ['managedBy'], ['successPolicy', 'SuccessPolicy'],
];

function checkSealed(place: Field, old: Field, struct: string | undefined): Errors {
  if (equalJson(place.value ?? null, old.value ?? null)) return [];
  const shown = struct === undefined || !isGiven(place) ? place.value ?? null : showPodPart(struct, place.value);
  return [invalidValue(place.path, shown, 'field is immutable')];
}

/** Validates updates of jobs. */
function validateJobUpdate(job: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(job), specOf(old)];
  return [
    // The reference validates the spec of a job that was validated as a new one again, and clients see the causes of both.
    ...checkSelectingSpec(spec), ...checkCompletions(spec, before), ...checkImmutable(at(spec, 'selector'), at(before, 'selector')),
    ...checkTemplate(job, old),
    ...sealed.flatMap(([name, struct]) => checkSealed(at(spec, name), at(before, name), struct)),
  ];
}

/** The spec of Job. */
export const jobKind: KindSpec = {
  kind: 'Job', plural: 'jobs', categories: ['all'],
  defaultPropagation: 'Orphan', tracksGeneration: true,
  isStoredInPart: hasTemplateLabels,
  subresources: [status],
  metadataChecks: ['object', 'new', 'update', 'kind'],
  selectableFields: jobFields,
  unknownField: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  columns: jobColumns,
  ...gatePodSpec('spec.template.spec'),
  applyDefaults: applyJobDefaults,
  strategy: {
    deletionWarning: 'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set '
      + 'propagationPolicy=Orphan to suppress this warning',
    ...prepareWithStatus({ prepareForCreate: generateSelector }),
    completeStored: takeLabels,
  },
  validation: { object: validateJob, update: validateJobUpdate, status: validateJobStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], names: true, also: (root) => warnOfJob(at(root, 'spec')) }),
};
