// core/v1 PersistentVolumeClaim: the spec cannot change once it is bound, but for a larger request and the attributes class.
import {
  type FieldError, type JsonObject, type KubeObject, checkQualifiedName, equalJson, forbiddenField, invalidValue, notSupported,
} from '../../../apimachinery/index.ts';
import { ensureStruct } from '../../common/defaults.ts';
import { prepareWithStatus } from '../../common/status.ts';
import { status } from '../../common/subresources.ts';
import { type Errors, type Field, at, checkImmutable, checkText, specOf } from '../../common/validation/check.ts';
import { checkAmount, compareAt, entriesOf } from '../../common/validation/quantities.ts';
import { diffStructs } from '../../common/validation/struct-diff.ts';
import { readPath, toObject, toText } from '../../common/values.ts';
import { annotation, warnWith } from '../../common/warnings/warnings.ts';
import type { KindSpec } from '../../kind-spec.ts';
import { showPodPart } from '../pods/validation/parts.ts';
import { validateClaimSpec } from './claim-spec.ts';
import { claimColumns } from './columns.ts';
import { applyClaimDefaults } from './defaults.ts';
import { OLD_CLASS, OLD_CLASS_WARNING, warnOfClaimSpec } from './warnings.ts';

/** Whether dataSource may name this object; the server drops any other source, as releases before dataSourceRef did. */
function isKnownSource(source: unknown): boolean {
  const [group, kind] = [toText(readPath(source, 'apiGroup')), toText(readPath(source, 'kind'))];
  return group === '' ? kind === 'PersistentVolumeClaim' : group === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot';
}

/** The gate of claims with sources in other namespaces. */
const CROSS_GATE = 'CrossNamespaceVolumeDataSource';

/** Drops sources in other namespaces where these are off, and keeps dataSource and dataSourceRef equal. */
function mirrorDataSource(claim: KubeObject, { old, takesOthers }: { readonly old?: KubeObject; readonly takesOthers: boolean }): void {
  const spec = ensureStruct(claim, 'spec');
  const isUsed = (name: string): boolean => readPath(old, 'spec', name) !== undefined;
  if (!takesOthers && toText(readPath(spec['dataSourceRef'], 'namespace')) !== '' && !isUsed('dataSourceRef')) delete spec['dataSourceRef'];
  const isForgotten = !isUsed('dataSource') && !isUsed('dataSourceRef') && spec['dataSourceRef'] === undefined && !isKnownSource(spec['dataSource']);
  if (isForgotten) delete spec['dataSource'];
  completeSources(claim);
}

/** Each of dataSource and dataSourceRef from the other, as releases before dataSourceRef stored claims. */
function completeSources(claim: KubeObject): void {
  const spec = ensureStruct(claim, 'spec');
  const { dataSource, dataSourceRef } = spec as { dataSource?: JsonObject; dataSourceRef?: JsonObject };
  if (dataSource && !dataSourceRef) spec['dataSourceRef'] = { ...dataSource };
  const { namespace = '', ...source } = dataSourceRef ?? {};
  if (!dataSource && dataSourceRef && toText(namespace) === '') spec['dataSource'] = source;
}

/** Validates persistentvolumeclaims. */
function validateClaim(claim: KubeObject): Errors {
  return validateClaimSpec(specOf(claim));
}

const resizeStatuses = [
  'ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending',
];

/** The name of a resource that a resize may have: storage, or one with a domain. */
function checkGrowing(path: string, name: string): Errors {
  const problems = checkText({ path, value: name }, checkQualifiedName);
  const isOwn = name.includes('/') && !name.includes('kubernetes.io/');
  return problems.length > 0 || isOwn || name === 'storage' ? problems : [notSupported(path, name, ['storage'])];
}

/** Validates what the status path of persistentvolumeclaims writes. */
function validateClaimStatus(claim: KubeObject): Errors {
  const status: Field = { path: 'status', value: claim['status'] };
  const [statuses, allocated] = [at(status, 'allocatedResourceStatuses'), at(status, 'allocatedResources')];
  return [
    ...entriesOf(at(status, 'capacity')).flatMap(checkAmount),
    ...entriesOf(statuses).flatMap(({ name, value }) => [
      ...checkGrowing(statuses.path, name), ...(resizeStatuses.includes(toText(value)) ? [] : [notSupported(statuses.path, name, resizeStatuses)]),
    ]),
    ...entriesOf(allocated).flatMap((entry) => {
      const problems = checkGrowing(allocated.path, entry.name);
      return problems.length > 0 ? problems : checkAmount(entry);
    }),
  ];
}

const CLAIM_STRUCT = 'PersistentVolumeClaimSpec';
const SEALED_CLAIM = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

const classIn = (claim: KubeObject): string | undefined => claim.metadata.annotations?.[OLD_CLASS];

/** Whether a class moves from the annotation that once named it to the spec. */
function movesClass(claim: KubeObject, old: KubeObject): boolean {
  const [named, now] = [classIn(old), classIn(claim)];
  const [before, after] = [readPath(old, 'spec', 'storageClassName'), readPath(claim, 'spec', 'storageClassName')];
  return named !== undefined && before === undefined && after === named && (now === undefined || now === named);
}

/** Whether a claim without a class gets one. */
function gainsClass(claim: KubeObject, old: KubeObject): boolean {
  const [named, after] = [classIn(old), readPath(claim, 'spec', 'storageClassName')];
  return after !== undefined && readPath(old, 'spec', 'storageClassName') === undefined && (named === undefined || named === after);
}

/** The specs as they are compared: a volume is named once, a class given once; the request and the attributes of a bound claim may change. */
function maskSpecs(claim: KubeObject, old: KubeObject): readonly [before: Record<string, unknown>, after: Record<string, unknown>] {
  const before: Record<string, unknown> = { ...toObject(old['spec']) };
  const after: Record<string, unknown> = { ...toObject(claim['spec']) };
  if (toText(before['volumeName']) === '') before['volumeName'] = after['volumeName'];
  if (movesClass(claim, old) || gainsClass(claim, old)) after['storageClassName'] = undefined;
  if (isBound(claim)) {
    after['volumeAttributesClassName'] = before['volumeAttributesClassName'];
    const resources = toObject(after['resources']);
    const storage = readPath(before, 'resources', 'requests', 'storage') ?? '0';
    if (resources['requests'] !== undefined) after['resources'] = { ...resources, requests: { ...toObject(resources['requests']), storage } };
  }
  return [before, after];
}

/** Attributes that a volume has got are not taken away. */
function checkAttributesClass(claim: KubeObject, old: KubeObject): Errors {
  const name = at(specOf(claim), 'volumeAttributesClassName');
  if (equalJson(name.value, readPath(old, 'spec', 'volumeAttributesClassName'))) return [];
  if (readPath(old, 'status', 'currentVolumeAttributesClassName') === undefined) return [];
  const to = name.value === undefined ? 'nil' : name.value === '' ? 'empty string' : undefined;
  return to === undefined ? [] : [forbiddenField(name.path, `update to ${to} is forbidden when status.currentVolumeAttributesClassName is not nil`)];
}

const isBound = (claim: KubeObject): boolean => readPath(claim, 'status', 'phase') === 'Bound';

/** Validates updates of persistentvolumeclaims: only a bound claim can change its storage request or attributes class. */
function validateClaimUpdate(claim: KubeObject, old: KubeObject): Errors {
  const [before, after] = maskSpecs(claim, old).map((spec) => showPodPart(CLAIM_STRUCT, spec));
  const errors: FieldError[] = [...validateClaim(claim)];
  if (!movesClass(claim, old) && (classIn(claim) ?? '') !== (classIn(old) ?? '')) {
    errors.push(invalidValue(`metadata.annotations.${OLD_CLASS}`, classIn(claim) ?? '', 'field is immutable'));
  }
  if (!equalJson(before, after)) errors.push(forbiddenField('spec', `${SEALED_CLAIM}\n${diffStructs(before, after)}`));
  const size = (object: KubeObject): Field => at(specOf(object), 'resources', 'requests', 'storage');
  const capacity: Field = { path: '', value: readPath(old, 'status', 'capacity', 'storage') };
  if (compareAt(size(claim), size(old)) < 0 && compareAt(size(claim), capacity) <= 0) {
    errors.push(forbiddenField(size(claim).path, 'field can not be less than status.capacity'));
  }
  return [
    ...errors, ...checkImmutable({ ...at(specOf(claim), 'volumeMode'), path: 'volumeMode' }, at(specOf(old), 'volumeMode')),
    ...checkAttributesClass(claim, old),
  ];
}

/** Warns of claims that name their class in an annotation. */
function warnOfClaimClass(root: Field): readonly string[] {
  return annotation(root, OLD_CLASS) === undefined ? [] : [OLD_CLASS_WARNING];
}

/** The spec of PersistentVolumeClaim. */
export const persistentVolumeClaimKind: KindSpec = {
  kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', shortNames: ['pvc'],
  returnsDeleted: true,
  completeForeign: completeSources,
  // A creation stores no phase.
  isStoredInPart: () => true,
  subresources: [status],
  metadataChecks: ['update', 'object', 'kind'],
  columns: claimColumns,
  applyDefaults: applyClaimDefaults,
  ruleGates: [CROSS_GATE],
  strategy: (isGateOn) => prepareWithStatus({
    prepareForCreate(claim) {
      claim['status'] = { phase: 'Pending' };
      mirrorDataSource(claim, { takesOthers: isGateOn(CROSS_GATE) });
    },
    prepareForUpdate: (claim, old) => mirrorDataSource(claim, { old, takesOthers: isGateOn(CROSS_GATE) }),
  }),
  validation: { object: validateClaim, update: validateClaimUpdate, status: validateClaimStatus },
  warnings: warnWith((root) => [...warnOfClaimClass(root), ...warnOfClaimSpec(at(root, 'spec'))]),
};
