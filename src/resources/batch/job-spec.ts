// The spec of a job, in Jobs and in the templates of CronJobs.
import { type FieldError, notSupported, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkNotNegative, isGiven, isWrong } from '../common/validation/check.ts';
import { readPath, toNumber, toText } from '../common/values.ts';
import { validatePodTemplateSpec } from '../core/pods/validation/pod-spec.ts';
import { checkFailurePolicy, checkManager, checkReplacement, checkSuccessPolicy } from './job-policies.ts';

const MAX_INDEXED = 100_000;
const MAX_BEYOND = 10_000;

/** Members that only indexed jobs may have, and their bounds. */
function checkIndexes(spec: Field): Errors {
  const [completions, parallelism] = [at(spec, 'completions'), at(spec, 'parallelism')];
  const [limit, failed] = [at(spec, 'backoffLimitPerIndex'), at(spec, 'maxFailedIndexes')];
  const mode = toText(readPath(spec.value, 'completionMode') ?? 'NonIndexed');
  if (mode === 'NonIndexed') return [limit, failed].filter(isGiven).map((place) => isWrong(place, 'requires indexed completion mode'));
  if (mode !== 'Indexed') return [];
  const exceeds = (place: Field, most: number): boolean => isGiven(place) && toNumber(place.value) > most;
  const total = isGiven(completions) ? toNumber(completions.value) : undefined;
  const errors: FieldError[] = total === undefined ? [required(completions.path, 'when completion mode is Indexed')] : [];
  if (exceeds(parallelism, MAX_INDEXED)) errors.push(isWrong(parallelism, `must be less than or equal to ${MAX_INDEXED} when completion mode is Indexed`));
  if (total !== undefined && exceeds(failed, total)) errors.push(isWrong(failed, 'must be less than or equal to completions'));
  if (exceeds(failed, MAX_INDEXED)) errors.push(isWrong(failed, `must be less than or equal to ${MAX_INDEXED}`));
  if (total === undefined || total <= MAX_INDEXED || !isGiven(limit)) return errors;
  if (!isGiven(failed)) errors.push(required(failed.path, `must be specified when completions is above ${MAX_INDEXED}`));
  const text = `must be less than or equal to ${MAX_BEYOND} when completions are above ${MAX_INDEXED} and used with backoff limit per index`;
  return [...errors, ...[parallelism, failed].filter((place) => exceeds(place, MAX_BEYOND)).map((place) => isWrong(place, text))];
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

/** Validates the spec of a job, without its selector. */
export function checkJobSpec(spec: Field): Errors {
  const [mode, limit] = [at(spec, 'completionMode'), at(spec, 'backoffLimitPerIndex')];
  const lacksLimit = isGiven(at(spec, 'maxFailedIndexes')) && !isGiven(limit);
  return [
    ...checkNotNegative(...counts.map((name) => at(spec, name))), ...(lacksLimit ? [required(limit.path, 'when maxFailedIndexes is specified')] : []),
    ...checkManager(at(spec, 'managedBy')), ...checkGivenOneOf(mode, ['NonIndexed', 'Indexed'], true), ...checkIndexes(spec),
    ...checkFailurePolicy(spec), ...checkSuccessPolicy(spec), ...checkReplacement(spec), ...validatePodTemplateSpec(at(spec, 'template')),
    ...checkRestart(spec),
  ];
}

/** Warns of indexed jobs that are too large to track. */
export function warnOfJob(spec: Field): readonly string[] {
  const read = (name: string): number => toNumber(at(spec, name).value);
  if (at(spec, 'completionMode').value !== 'Indexed' || read('completions') <= 100_000 || read('parallelism') <= 10_000) return [];
  return [`${spec.path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, `
    + 'Kubernetes might not be able to track completedIndexes when a big number of indexes fail'];
}
