// Validation of the status of a job. The reference looks at what changed only, so that a status that was wrong before can still be written.
import { type FieldError, type KubeObject, duplicate, equalJson, invalidUnshown, invalidValue, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkNotNegative, each, isGiven, isWrong } from '../common/validation/check.ts';
import { readPath, toList, toNumber, toObjects, toText } from '../common/values.ts';
import { findIndexProblem, findOverlap } from './job-indexes.ts';

const CONDITIONS_PATH = 'status.conditions';

/** A problem of the conditions; the reference omits the value. */
const refuse = (text: string): FieldError => invalidUnshown(CONDITIONS_PATH, text);

/** The job and the stored job, as the checks of its status use them. */
interface Change {
  readonly job: KubeObject;
  readonly status: Field;
  readonly before: Field;
  readonly is: (type: string) => boolean;
  readonly was: (type: string) => boolean;
  readonly isFinished: boolean;
  readonly finishes: boolean;
  /** Whether any of these members changed. */
  readonly changes: (...names: readonly string[]) => boolean;
  /** Whether any of these conditions was added or removed. */
  readonly turns: (...types: readonly string[]) => boolean;
}

function hasCondition(status: Field, type: string, wanted = 'True'): boolean {
  return toObjects(at(status, 'conditions').value).some((condition) => condition['type'] === type && condition['status'] === wanted);
}

function compareJobs(job: KubeObject, old: KubeObject): Change {
  const [status, before] = [job, old].map((one) => ({ path: 'status', value: one['status'] })) as [Field, Field];
  const [is, was] = [status, before].map((one) => (type: string) => hasCondition(one, type)) as [Change['is'], Change['was']];
  const isFinished = is('Complete') || is('Failed');
  return {
    job, status, before, is, was, isFinished, finishes: isFinished !== (was('Complete') || was('Failed')),
    changes: (...names) => names.some((name) => !equalJson(at(status, name).value ?? null, at(before, name).value ?? null)
      || (name.endsWith('Time') && isSet(at(status, name)) !== isSet(at(before, name)))),
    turns: (...types) => types.some((type) => is(type) !== was(type)),
  };
}

/** Whether a time is set; one of Go's zero value is, and reads as null. */
const isSet = ({ value }: Field): boolean => value !== undefined;
const ZERO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');
const msOf = ({ value }: Field): number => (value === null ? ZERO_TIME_MS : Date.parse(toText(value)));

const numberAt = (status: Field, name: string): number => toNumber(at(status, name).value ?? 0);
const readSpec = ({ job }: Change, name: string): unknown => readPath(job, 'spec', name);

function checkUncounted({ status }: Change): Errors {
  const seen = new Set<unknown>();
  return ['succeeded', 'failed'].flatMap((list) => each(at(status, 'uncountedTerminatedPods', list))).flatMap((pod): Errors => {
    if (toText(pod.value) === '') return [invalidValue(pod.path, '', 'must not be empty')];
    if (seen.has(pod.value)) return [duplicate(pod.path, pod.value)];
    seen.add(pod.value);
    return [];
  });
}

function checkTimes({ job, status, is, changes, turns, isFinished, finishes }: Change): FieldError[] {
  const [start, end] = [at(status, 'startTime'), at(status, 'completionTime')];
  const errors: FieldError[] = [];
  if (turns('Complete') || changes('completionTime')) {
    if (isSet(end) && !is('Complete')) errors.push(isWrong(end, 'cannot set completionTime when there is no Complete=True condition'));
    if (!isSet(end) && is('Complete')) errors.push(required(end.path, 'completionTime is required for Complete jobs'));
  }
  const isEarly = isSet(start) && isSet(end) && msOf(end) < msOf(start);
  if (isEarly && changes('startTime', 'completionTime')) errors.push(isWrong(end, 'must be equal to or after `startTime`'));
  if (turns('Failed') || changes('failedIndexes')) {
    if (is('Failed') && !is('FailureTarget')) errors.push(refuse('cannot set Failed=True condition without the FailureTarget=true condition'));
  }
  if (turns('Complete', 'SuccessCriteriaMet') && is('Complete') && !is('SuccessCriteriaMet')) {
    errors.push(refuse('cannot set Complete=True condition without the SuccessCriteriaMet=true condition'));
  }
  const active = numberAt(status, 'active');
  if ((finishes || changes('active')) && isFinished && active > 0) errors.push(invalidValue('status.active', active, 'active>0 is invalid for finished job'));
  const neverRan = readPath(job, 'spec', 'suspend') === true && readPath(job, 'spec', 'completions') === 0;
  if ((finishes || changes('startTime')) && !neverRan && isFinished && !isSet(start)) {
    errors.push(required(start.path, 'startTime is required for finished job'));
  }
  return errors;
}

function checkLeftPods({ status, changes, isFinished, finishes }: Change): Errors {
  const pods = at(status, 'uncountedTerminatedPods');
  const [succeeded, failed] = [at(pods, 'succeeded'), at(pods, 'failed')];
  const isLeft = toList(succeeded.value).length + toList(failed.value).length > 0;
  if (!isFinished || !isLeft || !(finishes || changes('uncountedTerminatedPods'))) return [];
  return [invalidValue(pods.path, { Succeeded: succeeded.value ?? null, Failed: failed.value ?? null }, 'must be empty for finished job')];
}

function checkIndexes(change: Change): FieldError[] {
  const { status, changes } = change;
  const [completed, failed] = [at(status, 'completedIndexes'), at(status, 'failedIndexes')];
  const completions = readSpec(change, 'completions');
  const [done, lost] = [toText(completed.value), toText(failed.value)];
  const hasCount = completions !== undefined && completions !== null;
  const perIndex = readSpec(change, 'backoffLimitPerIndex');
  const errors: FieldError[] = [];
  const check = (place: Field): void => {
    const problem = hasCount ? findIndexProblem(toText(place.value), toNumber(completions)) : undefined;
    if (problem !== undefined) errors.push(isWrong(place, `error parsing ${place === completed ? 'completed' : 'failed'}Indexes: ${problem}`));
  };
  if (changes('completedIndexes')) check(completed);
  if (changes('failedIndexes') && perIndex !== undefined && isGiven(failed)) check(failed);
  if (changes('completedIndexes') && done !== '' && readSpec(change, 'completionMode') !== 'Indexed') {
    errors.push(isWrong(completed, 'cannot set non-empty completedIndexes when non-indexed completion mode'));
  }
  if (changes('failedIndexes') && perIndex === undefined && isGiven(failed)) {
    errors.push(isWrong(failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'));
  }
  const overlap = hasCount && changes('completedIndexes', 'failedIndexes') ? findOverlap(done, lost, toNumber(completions)) : undefined;
  if (overlap !== undefined) errors.push(isWrong(failed, `failedIndexes and completedIndexes overlap at index: ${overlap}`));
  return errors;
}

function checkEnds(change: Change): FieldError[] {
  const { status, is, changes, isFinished, finishes } = change;
  const [ending, ready] = [at(status, 'terminating'), at(status, 'ready')];
  const errors: FieldError[] = [];
  if ((finishes || changes('terminating')) && isFinished && numberAt(status, 'terminating') > 0) {
    errors.push(isWrong(ending, 'terminating>0 is invalid for finished job'));
  }
  if (changes('ready', 'active') && isGiven(ready) && toNumber(ready.value) > numberAt(status, 'active')) {
    errors.push(isWrong(ready, 'cannot set more ready pods than active'));
  }
  if (is('SuccessCriteriaMet')) {
    for (const type of ['Failed', 'FailureTarget']) if (is(type)) errors.push(refuse(`cannot set SuccessCriteriaMet=True and ${type}=true conditions`));
  } else if (is('Complete') && readSpec(change, 'successPolicy') !== undefined) {
    errors.push(refuse('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  }
  return errors;
}

/** Rules of values that only grow: terminal conditions, counts, times. */
function checkProgress(change: Change): FieldError[] {
  const { status, before, is, was } = change;
  const errors = ['Failed', 'Complete', 'FailureTarget'].filter((type) => was(type) && !is(type))
    .map((type) => refuse(`cannot disable the terminal ${type}=True condition`));
  const scales = readSpec(change, 'completionMode') === 'Indexed' && readSpec(change, 'completions') === readSpec(change, 'parallelism');
  for (const name of scales ? ['failed'] : ['failed', 'succeeded']) {
    const count = numberAt(status, name);
    if (count < numberAt(before, name)) errors.push(invalidValue(`status.${name}`, count, `cannot decrease the ${name} counter`));
  }
  const [start, end] = [at(status, 'startTime'), at(status, 'completionTime')];
  const [started, ended] = [at(before, 'startTime'), at(before, 'completionTime')];
  if (isSet(end) && isSet(ended) && end.value !== ended.value) errors.push(isWrong(end, 'field is immutable'));
  const resumes = hasCondition(before, 'Suspended') && hasCondition(status, 'Suspended', 'False');
  if (isSet(started) && start.value !== started.value && !resumes && readSpec(change, 'suspend') !== true) {
    errors.push(invalidValue(start.path, start.value ?? null, 'field is immutable for unsuspended job once set'));
  }
  if (was('SuccessCriteriaMet') && !is('SuccessCriteriaMet')) errors.push(refuse('cannot disable the SuccessCriteriaMet=True condition'));
  if (was('Complete') && !was('SuccessCriteriaMet') && is('SuccessCriteriaMet')) {
    errors.push(refuse('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  }
  return errors;
}

/** Status of a Job. */
export function validateJobStatus(job: KubeObject, old: KubeObject): Errors {
  const change = compareJobs(job, old);
  const { status, is, turns } = change;
  const both = ['Failed', 'FailureTarget'].filter((type) => turns('Complete', type) && is('Complete') && is(type));
  return [
    ...checkNotNegative(...['active', 'succeeded', 'failed', 'ready', 'terminating'].map((name) => at(status, name))), ...checkUncounted(change),
    ...both.map((type) => refuse(`cannot set Complete=True and ${type}=true conditions`)), ...checkTimes(change), ...checkLeftPods(change),
    ...checkIndexes(change), ...checkEnds(change), ...checkProgress(change),
  ];
}
