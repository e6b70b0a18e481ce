// Validation of the statuses that controllers write: counts, addresses and ends that cannot be.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, forbiddenField, invalidValue, parseIpAddress, required,
} from '../../apimachinery/index.ts';
import { readPath, toNumber, toObjects, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkIp, checkNotNegative, checkOneOf, checkText, each, isEmptyText, isGiven, isWrong } from './check.ts';
import { checkConditions } from './conditions.ts';

const statusOf = (object: KubeObject): Field => ({ path: 'status', value: object['status'] });

/** Counts of which none can exceed another; absent ones are zero. */
function checkAtMost(status: Field, names: readonly string[], { limit, shown }: { readonly limit: string; readonly shown: string }): FieldError[] {
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

/** Status of a StatefulSet. */
export function validateStatefulSetStatus(object: KubeObject, old: KubeObject): Errors {
  const status = statusOf(object);
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
  const collisions = at(status, 'collisionCount');
  const isLess = toNumber(collisions.value ?? 0) < toNumber(at(statusOf(old), 'collisionCount').value ?? 0);
  return [
    ...checkNotNegative(...['replicas', ...parts, 'observedGeneration', 'collisionCount'].map((name) => at(status, name))),
    ...checkAtMost(status, parts, { limit: 'replicas', shown: 'status.replicas' }),
    ...checkAtMost(status, ['availableReplicas'], { limit: 'readyReplicas', shown: 'status.readyReplicas' }),
    ...(isLess ? [invalidValue(collisions.path, collisions.value ?? 0, 'cannot be decremented')] : []),
  ];
}

/** Where a load balancer is reached; addresses that were there before may stay. */
export function checkIngressPoints(balancer: Field, old: unknown): Errors {
  const known = toObjects(readPath(old, 'ingress')).map(({ ip }) => ip);
  return each(at(balancer, 'ingress')).flatMap((point) => {
    const [ip, name] = [at(point, 'ip'), at(point, 'hostname')];
    const isAddress = parseIpAddress(toText(name.value)) !== undefined;
    return [
      ...(isEmptyText(ip) || known.includes(ip.value as string) ? [] : checkIp(ip)), ...(isEmptyText(name) ? [] : checkText(name, checkDnsSubdomain)),
      ...(isAddress ? [isWrong(name, 'must be a DNS name, not an IP address')] : []),
    ];
  });
}

/** Status of an Ingress. */
export function validateIngressStatus(object: KubeObject, old: KubeObject): Errors {
  return checkIngressPoints(at(statusOf(object), 'loadBalancer'), readPath(old, 'status', 'loadBalancer'));
}

function checkMode(point: Field): Errors {
  const [ip, mode] = [at(point, 'ip'), at(point, 'ipMode')];
  if (!isGiven(mode)) return isEmptyText(ip) ? [] : [required(mode.path, 'must be specified when `ip` is set')];
  return isEmptyText(ip) ? [forbiddenField(mode.path, 'may not be specified when `ip` is not set')] : checkOneOf(mode, ['Proxy', 'VIP']);
}

/** Status of a Service. */
export function validateServiceStatus(object: KubeObject, old: KubeObject): Errors {
  const balancer = at(statusOf(object), 'loadBalancer');
  const points = at(balancer, 'ingress');
  if (each(points).length === 0) return [];
  if (readPath(object, 'spec', 'type') !== 'LoadBalancer') return [forbiddenField(points.path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return [...checkIngressPoints(balancer, readPath(old, 'status', 'loadBalancer')), ...each(points).flatMap(checkMode)];
}

/** Status of a Namespace: it ends when it is deleted and not before. */
export function validateNamespaceStatus(object: KubeObject): Errors {
  const phase = toText(readPath(object, 'status', 'phase')) || 'Active';
  const isEnding = object.metadata.deletionTimestamp !== undefined;
  if (phase === (isEnding ? 'Terminating' : 'Active')) return [];
  const text = isEnding ? "may only be 'Terminating' if `deletionTimestamp` is not empty" : "may only be 'Active' if `deletionTimestamp` is empty";
  return [invalidValue('status.Phase', phase, text)];
}

/** Status of a DaemonSet. */
export function validateDaemonSetStatus(object: KubeObject): Errors {
  const counts = [
    'currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration', 'updatedNumberScheduled',
    'numberAvailable', 'numberUnavailable', 'collisionCount',
  ];
  return checkNotNegative(...counts.map((name) => at(statusOf(object), name)));
}

/** Status of a PodDisruptionBudget. */
export function validateDisruptionBudgetStatus(object: KubeObject): Errors {
  const status = statusOf(object);
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];
  return [...checkConditions(at(status, 'conditions')), ...checkNotNegative(...counts.map((name) => at(status, name)))];
}
