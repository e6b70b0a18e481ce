// apps/v1 StatefulSet: its claim templates belong to the pod template, and most of the spec cannot change.
import { type KubeObject, checkDnsLabel, equalJson, forbiddenField, invalidTyped, invalidValue, notSupported, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { ageColumn, column, nameColumn } from '../common/columns/columns.ts';
import { formatReady, templateContainers } from '../common/columns/workloads.ts';
import { ensureStruct, readPointer, readStructs, setAbsent, setZero } from '../common/defaults.ts';
import { scale, scalePaths, status } from '../common/subresources.ts';
import {
  type Errors, type Field, at, checkNotNegative, checkOneOf, checkText, each, isEmptyText, isGiven, specOf, statusOf,
} from '../common/validation/check.ts';
import { checkAtMost, checkCountOrPercent, checkShare } from '../common/validation/counts.ts';
import { isEmptySelector, isSelectable } from '../common/validation/selectors.ts';
import { readPath, toNumber, toObject, toObjects, toText } from '../common/values.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { checkTemplateLabels, warnOfTemplate } from '../core/pods/template.ts';
import { validatePodTemplateSpec, validateTemplateMetadata } from '../core/pods/validation/pod-spec.ts';
import { validateClaimSpec } from '../core/volumes/claim-spec.ts';
import { applyClaimDefaults } from '../core/volumes/defaults.ts';
import { warnOfClaimSpec } from '../core/volumes/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerStatefulSets } from './former-versions.ts';
import { blankWorkload, checkWorkloadSelector, isZero } from './workloads.ts';

/** Columns of statefulsets. */
const statefulSetColumns: readonly Column[] = [nameColumn, column('Ready', formatReady), ageColumn, ...templateContainers];

/** Defaults of statefulsets; an explicit RollingUpdate without details stays without. */
function applyStatefulSetDefaults(statefulSet: KubeObject, _version?: string, before?: KubeObject): void {
  const spec = ensureStruct(statefulSet, 'spec');
  applyTemplateDefaults(spec, before?.['spec']);
  setZero(spec, { podManagementPolicy: 'OrderedReady' });
  setAbsent(spec, { replicas: 1, revisionHistoryLimit: 10 });
  const strategy = ensureStruct(spec, 'updateStrategy');
  if (!strategy['type']) {
    strategy['type'] = 'RollingUpdate';
    ensureStruct(strategy, 'rollingUpdate');
  }
  const rolling = readPointer(strategy, 'rollingUpdate');
  if (strategy['type'] === 'RollingUpdate' && rolling !== undefined) setAbsent(rolling, { partition: 0 });
  setZero(ensureStruct(spec, 'persistentVolumeClaimRetentionPolicy'), { whenDeleted: 'Retain', whenScaled: 'Retain' });
  for (const claim of readStructs(spec, 'volumeClaimTemplates')) {
    // Whatever type a claim came with.
    Object.assign(claim, { kind: 'PersistentVolumeClaim', apiVersion: 'v1' });
    applyClaimDefaults(claim);
  }
}

/** The default of a rolling update where more than one pod may be unavailable. */
function applyMaxUnavailable(statefulSet: KubeObject): void {
  const strategy = readPointer(readPointer(statefulSet, 'spec') ?? {}, 'updateStrategy');
  const rolling = strategy?.['type'] === 'RollingUpdate' ? readPointer(strategy, 'rollingUpdate') : undefined;
  if (rolling !== undefined) setAbsent(rolling, { maxUnavailable: 1 });
}

/** Status of a StatefulSet. */
function validateStatefulSetStatus(object: KubeObject, old: KubeObject): Errors {
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

/** How many pods of a rolling update may be unavailable: some, and not more than all. */
function checkUnavailable(unavailable: Field): Errors {
  if (!isGiven(unavailable)) return [];
  const none = isZero(unavailable.value) ? [invalidValue(unavailable.path, unavailable.value, 'cannot be 0')] : [];
  return [...checkCountOrPercent(unavailable, false), ...none, ...checkShare(unavailable)];
}

function checkStatefulStrategy(strategy: Field): Errors {
  const type = toText(readPath(strategy.value, 'type'));
  const rolling = at(strategy, 'rollingUpdate');
  const [partition, unavailable] = [at(rolling, 'partition'), at(rolling, 'maxUnavailable')];
  const shown = isGiven(rolling) ? { Partition: partition.value ?? 0, MaxUnavailable: unavailable.value ?? null } : null;
  if (type === '') return [required(strategy.path)];
  if (type === 'RollingUpdate') return [...checkNotNegative(partition), ...checkUnavailable(unavailable)];
  if (type !== 'OnDelete') return [invalidValue(strategy.path, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'")];
  return isGiven(rolling) ? [invalidValue(rolling.path, shown, "only allowed for updateStrategy 'RollingUpdate'")] : [];
}

function checkRetention(policy: Field): Errors {
  if (!isGiven(policy)) return [];
  return ['whenDeleted', 'whenScaled'].flatMap((name) => checkOneOf(at(policy, name), ['Retain', 'Delete'], true));
}

/** The template as its pods use it: with a volume for each claim template. */
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
    : [invalidTyped(management.path, toText(management.value), "must be 'OrderedReady' or 'Parallel'")];
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

/** The reference validates labels and annotations of this template twice. */
function checkStatefulTemplate(spec: Field): Errors {
  const template = at(withClaims(spec), 'template');
  return [...validatePodTemplateSpec(template), ...validateTemplateMetadata(template), ...checkEnd(spec)];
}

/** Validates statefulsets. */
function validateStatefulSet(statefulSet: KubeObject): Errors {
  return checkStatefulSpec(specOf(statefulSet), true);
}

const mutableStatefulFields = [
  'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds',
];

const FORBIDDEN_STATEFUL_TEXT = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
  + "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** Validates updates of statefulsets. */
function validateStatefulSetUpdate(statefulSet: KubeObject, old: KubeObject): Errors {
  const isFixed = ([name]: readonly [string, unknown]): boolean => !mutableStatefulFields.includes(name);
  const fixed = (object: KubeObject): unknown => Object.fromEntries(Object.entries(toObject(object['spec'])).filter(isFixed));
  const errors = checkStatefulSpec(specOf(statefulSet), false);
  return equalJson(fixed(statefulSet), fixed(old)) ? errors : [...errors, forbiddenField('spec', FORBIDDEN_STATEFUL_TEXT)];
}

function warnOfStatefulSet(root: Field, old?: KubeObject): readonly string[] {
  const claims = each(at(root, 'spec', 'volumeClaimTemplates'));
  const history = at(root, 'spec', 'revisionHistoryLimit');
  return [
    ...claims.flatMap(({ path, value }) => warnOfClaimSpec({ path: old === undefined ? path : `${path}.Spec`, value: readPath(value, 'spec') })),
    ...(toNumber(history.value) < 0 ? [`${history.path}: a negative value retains all historical revisions; a value >= 0 is recommended`] : []),
  ];
}

/** The spec of StatefulSet. */
export const statefulSetKind: KindSpec = {
  kind: 'StatefulSet', plural: 'statefulsets', shortNames: ['sts'], categories: ['all'],
  formerVersions: formerStatefulSets,
  nameRule: 'dns-label',
  tracksGeneration: true, blank: blankWorkload,
  subresources: [scale, status], scale: scalePaths,
  metadataChecks: ['update', 'kind'],
  columns: statefulSetColumns,
  ...gatePodSpec('spec.template.spec', ['MaxUnavailableStatefulSet', 'spec.updateStrategy.rollingUpdate.maxUnavailable']),
  gatedDefaults: { MaxUnavailableStatefulSet: applyMaxUnavailable },
  applyDefaults: applyStatefulSetDefaults,
  validation: { object: validateStatefulSet, update: validateStatefulSetUpdate, status: validateStatefulSetStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], always: warnOfStatefulSet }),
};
