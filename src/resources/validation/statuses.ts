// Validation of the statuses that controllers of replicas write: counts that cannot be.
import { type FieldError, type KubeObject, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toNumber, toObjects } from '../columns/common.ts';
import { type Errors, type Place, at, checkNotNegative } from './check.ts';

const statusOf = (object: KubeObject): Place => ({ path: 'status', value: object['status'] });

/** Counts of which none can exceed another; absent ones are zero. */
function checkAtMost(status: Place, names: readonly string[], { limit, shown }: { readonly limit: string; readonly shown: string }): FieldError[] {
  const most = toNumber(at(status, limit).value ?? 0);
  return names.map((name) => at(status, name)).filter(({ value }) => toNumber(value ?? 0) > most)
    .map(({ path, value }) => invalidValue(path, value ?? 0, `cannot be greater than ${shown}`));
}

function checkCounts(object: KubeObject, { counts, parts }: { readonly counts: readonly string[]; readonly parts: readonly string[] }): Errors {
  const status = statusOf(object);
  return [
    ...checkNotNegative(...counts.map((name) => at(status, name))),
    ...checkAtMost(status, parts, { limit: 'replicas', shown: 'status.replicas' }),
    ...checkAtMost(status, ['availableReplicas'], { limit: 'readyReplicas', shown: 'readyReplicas' }),
  ];
}

/** Status of a Deployment. */
export function validateDeploymentStatus(object: KubeObject): Errors {
  return checkCounts(object, {
    counts: [
      'observedGeneration', 'replicas', 'updatedReplicas', 'terminatingReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas',
      'collisionCount',
    ],
    parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  });
}

/** Status of a ReplicaSet. */
export function validateReplicaSetStatus(object: KubeObject): Errors {
  return checkCounts(object, {
    counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'],
    parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  });
}

/** Status of a DaemonSet. */
export function validateDaemonSetStatus(object: KubeObject): Errors {
  const counts = [
    'currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration', 'updatedNumberScheduled',
    'numberAvailable', 'numberUnavailable', 'collisionCount',
  ];
  return checkNotNegative(...counts.map((name) => at(statusOf(object), name)));
}

function isTrue(job: KubeObject, type: string): boolean {
  return toObjects(readPath(job, 'status', 'conditions')).some((condition) => condition['type'] === type && condition['status'] === 'True');
}

/** What a job that is over must say. The reference leaves the value out where it speaks of conditions. */
function checkFinished(job: KubeObject): FieldError[] {
  const status = statusOf(job);
  const complete = isTrue(job, 'Complete');
  if (!complete && !isTrue(job, 'Failed')) return [];
  const errors: FieldError[] = [];
  const active = at(status, 'active');
  if (complete && at(status, 'completionTime').value === undefined) {
    errors.push(required('status.completionTime', 'completionTime is required for Complete jobs'));
  }
  const [type, before] = complete ? ['Complete', 'SuccessCriteriaMet'] : ['Failed', 'FailureTarget'];
  if (!isTrue(job, before)) {
    errors.push({
      reason: 'FieldValueInvalid', field: 'status.conditions', message: `Invalid value: cannot set ${type}=True condition without the ${before}=true condition`,
    });
  }
  if (toNumber(active.value ?? 0) > 0) errors.push(invalidValue(active.path, active.value, 'active>0 is invalid for finished job'));
  return errors;
}

/** Status of a Job. */
export function validateJobStatus(job: KubeObject): Errors {
  const status = statusOf(job);
  const [active, ready] = [at(status, 'active'), at(status, 'ready')];
  const isMore = toNumber(ready.value ?? 0) > toNumber(active.value ?? 0);
  return [
    ...checkNotNegative(...['active', 'succeeded', 'failed', 'ready', 'terminating'].map((name) => at(status, name))),
    ...(isMore ? [invalidValue(ready.path, ready.value, 'cannot set more ready pods than active')] : []), ...checkFinished(job),
  ];
}
