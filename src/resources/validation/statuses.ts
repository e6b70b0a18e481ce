// Validation of the statuses that controllers of replicas write: counts that cannot be.
import { type FieldError, type KubeObject, invalidValue } from '../../apimachinery/index.ts';
import { toNumber } from '../columns/common.ts';
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
