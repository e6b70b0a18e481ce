// Validation of the kinds that make pods, as far as it is common: selectors that match their template, counts, strategies, immutable fields.
import { type FieldError, type KubeObject, checkDnsLabel, forbiddenField, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../columns/common.ts';
import {
  type Errors, type Field, at, checkImmutable, checkNotNegative, checkOneOf, checkSelector, checkText, each, isEmptySelector, isEmptyText,
  isGiven, isSame, isSelectable, selects, sortMembers,
} from './check.ts';
import { validatePodTemplateSpec, validateTemplateMetadata } from './pods.ts';
import { validateClaimSpec } from './claims.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });

/** A selector that must be there and must not be empty. */
function checkWorkloadSelector(spec: Field, kind: string): Errors {
  const selector = at(spec, 'selector');
  if (!isGiven(selector)) return [required(selector.path)];
  if (isEmptySelector(selector.value)) return [invalidValue(selector.path, {}, `empty selector is invalid for ${kind}`)];
  return checkSelector(selector);
}

/** The template must carry the labels that the selector asks for. */
export function checkTemplateLabels(spec: Field, selector: unknown): Errors {
  const labels = at(spec, 'template', 'metadata', 'labels');
  if (selects(selector, toObject(labels.value))) return [];
  return [invalidValue(labels.path, sortMembers(labels.value), '`selector` does not match template `labels`')];
}

/** A template of pods that run until they are deleted. */
function checkTemplate(spec: Field, kind: string): Errors {
  const policy = at(spec, 'template', 'spec', 'restartPolicy');
  const deadline = at(spec, 'template', 'spec', 'activeDeadlineSeconds');
  return [
    ...validatePodTemplateSpec(at(spec, 'template')), ...(policy.value === 'Always' ? [] : [notSupported(policy.path, toText(policy.value), ['Always'])]),
    ...(isGiven(deadline) ? [forbiddenField(deadline.path, `activeDeadlineSeconds in ${kind} is not Supported`)] : []),
  ];
}

/** The selector of a deployment or replica set with the template that it belongs to: one that cannot be read leaves the template unseen. */
function checkSelectedTemplate(spec: Field): Errors {
  const selector = at(spec, 'selector');
  const errors = checkWorkloadSelector(spec, 'deployment');
  if (!isSelectable(selector.value)) return [...errors, invalidValue(selector.path, selector.value, 'invalid label selector')];
  const isOpen = !isGiven(selector) || isEmptySelector(selector.value);
  return [...errors, ...(isOpen && isGiven(selector) ? [] : checkTemplateLabels(spec, selector.value)), ...checkTemplate(spec, 'ReplicaSet')];
}

const percentText = "a valid percent string must be a numeric string followed by an ending '%' "
  + "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count or a percentage; percentages beyond a hundred make no sense where they mean a share. */
function checkCountOrPercent({ path, value }: Field, limitsPercent: boolean): Errors {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string') return checkNotNegative({ path, value });
  if (!/^[0-9]+%$/.test(value)) {
    return [invalidValue(path, value, percentText)];
  }
  return limitsPercent ? checkShare({ path, value }) : [];
}

/** A percentage, where it is one, is a share of the whole. */
function checkShare({ path, value }: Field): Errors {
  const isMore = typeof value === 'string' && /^[0-9]+%$/.test(value) && Number.parseInt(value, 10) > 100;
  return isMore ? [invalidValue(path, value, 'must not be greater than 100%')] : [];
}

/** Texts that are no percentage count as nothing. */
const isZero = (value: unknown): boolean => value === 0 || (typeof value === 'string' && !/^0*[1-9][0-9]*%$/.test(value));

/** A strategy as the reference keeps it in memory. */
function showStrategy(strategy: Field): unknown {
  const rolling = readPath(strategy.value, 'rollingUpdate');
  const shown = { MaxUnavailable: readPath(rolling, 'maxUnavailable') ?? null, MaxSurge: readPath(rolling, 'maxSurge') ?? null };
  return { Type: toText(readPath(strategy.value, 'type')), RollingUpdate: rolling === undefined ? null : shown };
}

function checkDeploymentStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  if (type === 'Recreate') {
    return rolling.value === undefined ? [] : [forbiddenField(rolling.path, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, showStrategy(strategy), ['Recreate', 'RollingUpdate'])];
  const unavailable = at(rolling, 'maxUnavailable');
  const surge = at(rolling, 'maxSurge');
  const errors: FieldError[] = [...checkCountOrPercent(unavailable, false), ...checkCountOrPercent(surge, false)];
  if (isZero(unavailable.value) && isZero(surge.value)) errors.push(invalidValue(unavailable.path, unavailable.value, 'may not be 0 when `maxSurge` is 0'));
  return [...errors, ...checkShare(unavailable)];
}

function checkDeploymentSpec(spec: Field): Errors {
  const errors: FieldError[] = [
    ...checkNotNegative(at(spec, 'replicas')), ...checkSelectedTemplate(spec), ...checkDeploymentStrategy(at(spec, 'strategy')),
  ];
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

function checkReplicaSetSpec(spec: Field): Errors {
  return [...checkNotNegative(at(spec, 'replicas'), at(spec, 'minReadySeconds')), ...checkSelectedTemplate(spec)];
}

/** Validates replicasets. */
export function validateReplicaSet(replicaSet: KubeObject): Errors {
  return checkReplicaSetSpec(specOf(replicaSet));
}

/** Validates daemonsets. */
export function validateDaemonSet(daemonSet: KubeObject): Errors {
  const spec = specOf(daemonSet);
  const selector = at(spec, 'selector');
  const labels = isSelectable(selector.value) ? checkTemplateLabels(spec, selector.value) : [];
  const errors: FieldError[] = [...checkSelector(selector), ...labels];
  if (isGiven(selector) && isEmptySelector(selector.value)) errors.push(invalidValue(selector.path, {}, 'empty selector is invalid for daemonset'));
  errors.push(...checkTemplate(spec, 'DaemonSet'), ...checkNotNegative(at(spec, 'minReadySeconds')), ...checkDaemonStrategy(at(spec, 'updateStrategy')));
  return [...errors, ...checkNotNegative(at(spec, 'revisionHistoryLimit'))];
}

function checkDaemonStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(strategy.path, showStrategy(strategy), ['RollingUpdate', 'OnDelete'], true)];
  const unavailable = at(strategy, 'rollingUpdate', 'maxUnavailable');
  const surge = at(strategy, 'rollingUpdate', 'maxSurge');
  const errors = [
    ...checkCountOrPercent(unavailable, false), ...checkCountOrPercent(surge, false), ...checkShare(unavailable), ...checkShare(surge),
  ];
  const [hasUnavailable, hasSurge] = [!isZero(unavailable.value ?? 0), !isZero(surge.value ?? 0)];
  if (hasUnavailable && hasSurge) return [...errors, invalidValue(surge.path, surge.value, 'may not be set when maxUnavailable is non-zero')];
  return hasUnavailable || hasSurge ? errors : [...errors, required(unavailable.path, 'cannot be 0 when maxSurge is 0')];
}

function checkStatefulStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  const [partition, unavailable] = [at(rolling, 'partition'), at(rolling, 'maxUnavailable')];
  const shown = isGiven(rolling) ? { Partition: partition.value ?? 0, MaxUnavailable: unavailable.value ?? null } : null;
  if (type === '') return [required(strategy.path)];
  if (type === 'RollingUpdate') return checkNotNegative(partition);
  if (type !== 'OnDelete') return [invalidValue(strategy.path, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'")];
  return isGiven(rolling) ? [invalidValue(rolling.path, shown, "only allowed for updateStrategy 'RollingUpdate'")] : [];
}

function checkRetention(policy: Field): Errors {
  if (!isGiven(policy)) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((name) => checkOneOf(at(policy, name), ['Retain', 'Delete'], true));
}

/** The template as its pods will be: with the volumes of the claims, and names that the controller gives. */
function withClaims(spec: Field): Field {
  const template = toObject(readPath(spec.value, 'template'));
  const { hostname: _hostname, subdomain: _subdomain, ...pod } = toObject(template['spec']);
  const names = [...new Set(toObjects(readPath(spec.value, 'volumeClaimTemplates')).map((claim) => toText(readPath(claim, 'metadata', 'name'))))];
  const own = toObjects(pod['volumes']).filter(({ name }) => !names.includes(toText(name)));
  const made = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = made.length > 0 ? { volumes: [...made, ...own] } : {};
  return { path: spec.path, value: { ...toObject(spec.value), template: { ...template, spec: { ...pod, ...volumes } } } };
}

function checkStatefulSpec(spec: Field, isNew: boolean): Errors {
  const [management, selector, service] = [at(spec, 'podManagementPolicy'), at(spec, 'selector'), at(spec, 'serviceName')];
  const known = management.value === 'OrderedReady' || management.value === 'Parallel';
  const wrong = isEmptyText(management) ? [required(management.path)]
    : [invalidValue(management.path, management.value, "must be 'OrderedReady' or 'Parallel'")];
  const isOpen = isGiven(selector) && isEmptySelector(selector.value);
  const template = isSelectable(selector.value)
    ? [...(isOpen ? [] : checkTemplateLabels(spec, selector.value)), ...checkStatefulTemplate(spec)]
    : [invalidValue(selector.path, selector.value), ...checkEnd(spec)];
  return [
    ...(known ? [] : wrong), ...checkStatefulStrategy(at(spec, 'updateStrategy')), ...checkRetention(at(spec, 'persistentVolumeClaimRetentionPolicy')),
    ...(isNew ? each(at(spec, 'volumeClaimTemplates')).flatMap((claim) => validateClaimSpec(at(claim, 'spec'))) : []),
    ...checkNotNegative(at(spec, 'replicas'), at(spec, 'minReadySeconds'), at(spec, 'ordinals', 'start')),
    ...(isNew && !isEmptyText(service) ? checkText(service, checkDnsLabel) : []), ...checkWorkloadSelector(spec, 'statefulset'), ...template,
  ];
}

function checkEnd(spec: Field): Errors {
  const [policy, deadline] = [at(spec, 'template', 'spec', 'restartPolicy'), at(spec, 'template', 'spec', 'activeDeadlineSeconds')];
  return [
    ...(policy.value === 'Always' ? [] : [notSupported(policy.path, toText(policy.value), ['Always'])]),
    ...(isGiven(deadline) ? [forbiddenField(deadline.path, 'activeDeadlineSeconds in StatefulSet is not Supported')] : []),
  ];
}

/** The reference looks at labels and annotations of this template twice. */
function checkStatefulTemplate(spec: Field): Errors {
  const template = at(withClaims(spec), 'template');
  return [...validatePodTemplateSpec(template), ...validateTemplateMetadata(template), ...checkEnd(spec)];
}

/** Validates statefulsets. */
export function validateStatefulSet(statefulSet: KubeObject): Errors {
  return checkStatefulSpec(specOf(statefulSet), true);
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
  return [...errors, ...checkTemplate(spec, 'ReplicationController')];
}

/** Validates podtemplates. */
export function validatePodTemplate(template: KubeObject): Errors {
  return validatePodTemplateSpec({ path: 'template', value: template['template'] });
}

function withImmutableSelector(validate: (object: KubeObject) => Errors): (object: KubeObject, old: KubeObject) => Errors {
  return (object, old) => [...validate(object), ...checkImmutable(at(specOf(object), 'selector'), at(specOf(old), 'selector'))];
}

/** Validates updates of deployments. */
export const validateDeploymentUpdate = withImmutableSelector(validateDeployment);
/** Validates updates of replicasets. */
export const validateReplicaSetUpdate = withImmutableSelector(validateReplicaSet);
/** Validates updates of daemonsets. */
export function validateDaemonSetUpdate(daemonSet: KubeObject, old: KubeObject): Errors {
  return [...checkImmutable(at(specOf(daemonSet), 'selector'), at(specOf(old), 'selector')), ...validateDaemonSet(daemonSet)];
}

const mutableStatefulFields = [
  'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds',
];
const forbiddenStatefulText = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
  + "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** Validates updates of statefulsets. */
export function validateStatefulSetUpdate(statefulSet: KubeObject, old: KubeObject): Errors {
  const isFixed = ([name]: readonly [string, unknown]): boolean => !mutableStatefulFields.includes(name);
  const fixed = (object: KubeObject): unknown => Object.fromEntries(Object.entries(toObject(object['spec'])).filter(isFixed));
  const errors = checkStatefulSpec(specOf(statefulSet), false);
  return isSame(fixed(statefulSet), fixed(old)) ? errors : [...errors, forbiddenField('spec', forbiddenStatefulText)];
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

