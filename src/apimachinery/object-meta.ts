// Validation of metadata: what upstream's ValidateObjectMeta and ValidateObjectMetaUpdate refuse, in their order and words.
import { forbiddenField, invalidValue, required, tooLong } from './field-error.ts';
import { type NameRule, byteLength, checkDnsLabel, checkLabelValue, checkQualifiedName, validateName } from './names.ts';
import { type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, parseGroupVersion } from './object.ts';
import type { FieldError } from './status.ts';

/** Most bytes that the annotations of an object may have together. */
export const TOTAL_ANNOTATION_BYTES = 256 * 1024;
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion', 'customresourcecleanup.apiextensions.k8s.io']);
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

/** What the rules for metadata depend on. */
interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly nameRule: NameRule;
  /** Custom resources may carry unqualified finalizers (with a warning); built-ins may not. */
  readonly custom?: boolean;
  /** What else is wrong with name and generateName. */
  readonly named?: readonly FieldError[];
  /** Where metadata is; `metadata` when left out. */
  readonly path?: string;
}

/** Most maps come in order. */
function sortedKeys(map: Record<string, unknown>): string[] {
  const keys = Object.keys(map);
  return keys.every((key, i) => i === 0 || (keys[i - 1] as string) < key) ? keys : keys.sort();
}

/** Problems of a label map. */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of sortedKeys(labels ?? {})) {
    for (const problem of checkQualifiedName(key)) errors.push(invalidValue(path, key, problem));
    const value = (labels as Record<string, string>)[key] as string;
    for (const problem of checkLabelValue(value)) errors.push(invalidValue(path, value, problem));
  }
  return errors;
}

/** Problems of annotations: keys, and the size of them all. */
export function validateAnnotations(annotations: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let total = 0;
  for (const key of sortedKeys(annotations ?? {})) {
    for (const problem of checkQualifiedName(key.toLowerCase())) errors.push(invalidValue(path, key, problem));
    total += byteLength(key) + byteLength((annotations as Record<string, string>)[key] as string);
  }
  if (total > TOTAL_ANNOTATION_BYTES) errors.push(tooLong(path, TOTAL_ANNOTATION_BYTES));
  return errors;
}

function validateOwnerReference(owner: OwnerReference, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { group, version } = parseGroupVersion(owner.apiVersion ?? '') ?? { group: '', version: '' };
  if (version === '') errors.push(invalidValue(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'));
  if (!owner.kind) errors.push(invalidValue(`${path}.kind`, owner.kind, 'must not be empty'));
  if (!owner.name) errors.push(invalidValue(`${path}.name`, owner.name, 'must not be empty'));
  if (!owner.uid) errors.push(invalidValue(`${path}.uid`, owner.uid, 'must not be empty'));
  if (group === '' && version === 'v1' && owner.kind === 'Event') {
    errors.push(invalidValue(path, owner, `${group}/${version}, Kind=${owner.kind} is disallowed from being an owner`));
  }
  return errors;
}

/** Problems of owner references; at most one may be the controller. */
function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners ?? []) {
    errors.push(...validateOwnerReference(owner, path));
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      errors.push(invalidValue(path, owners, `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`));
    }
    controller ??= name;
  }
  return errors;
}

/** Problems of finalizers: qualified names, and not both ways of treating dependents. */
function validateFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers ?? []) {
    for (const problem of checkQualifiedName(finalizer)) errors.push(invalidValue(path, finalizer, problem));
  }
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function validateStandardFinalizers(finalizers: readonly string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  finalizers?.forEach((finalizer, i) => {
    if (!finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      errors.push(invalidValue(`${path}[${i}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
    }
  });
  return errors;
}

/** Problems of managedFields entries: their type, and the length of what clients choose. */
function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  entries?.forEach((entry, i) => {
    const at = `${path}[${i}]`;
    const { operation = '', fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') errors.push(invalidValue(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalidValue(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    errors.push(...validateFieldManager(entry.manager ?? '', `${at}.manager`));
    if (byteLength(entry.subresource ?? '') > MAX_SUBRESOURCE_BYTES) errors.push(tooLong(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
  });
  return errors;
}

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

/** Problems of `fieldManager` of a request: at most 128 bytes, printable. */
export function validateFieldManager(manager: string, path: string): FieldError[] {
  if (byteLength(manager) > MAX_MANAGER_BYTES) return [tooLong(path, MAX_MANAGER_BYTES)];
  if (!unprintable.test(manager)) return [];
  const errors: FieldError[] = [];
  let at = 0;
  for (const char of manager) {
    const code = (char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
    if (unprintable.test(char)) errors.push(invalidValue(path, manager, `invalid character U+${code} (at position ${at})`));
    at += byteLength(char);
  }
  return errors;
}

function validateNames(meta: ObjectMeta, rules: ObjectMetaRules, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName) {
    for (const problem of validateName(rules.nameRule, meta.generateName, true)) errors.push(invalidValue(`${path}.generateName`, meta.generateName, problem));
  }
  const namedAs = (name: string): FieldError[] => (rules.named ?? []).filter(({ field }) => field === `${path}.${name}`);
  errors.push(...namedAs('generateName'));
  if (!meta.name) errors.push(required(`${path}.name`, 'name or generateName is required'));
  else for (const problem of validateName(rules.nameRule, meta.name)) errors.push(invalidValue(`${path}.name`, meta.name, problem));
  errors.push(...namedAs('name'));
  if (!rules.namespaced) {
    if (meta.namespace) errors.push(forbiddenField(`${path}.namespace`, 'not allowed on this type'));
  } else if (!meta.namespace) errors.push(required(`${path}.namespace`));
  else for (const problem of checkDnsLabel(meta.namespace)) errors.push(invalidValue(`${path}.namespace`, meta.namespace, problem));
  return errors;
}

/** Problems of the metadata of a new object, in the reference's order. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const path = rules.path ?? 'metadata';
  const errors = validateNames(meta, rules, path);
  if ((meta.generation ?? 0) < 0) errors.push(invalidValue(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'));
  errors.push(...validateLabels(meta.labels, `${path}.labels`));
  errors.push(...validateAnnotations(meta.annotations, `${path}.annotations`));
  errors.push(...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`));
  errors.push(...validateFinalizers(meta.finalizers, `${path}.finalizers`));
  errors.push(...validateManagedFields(meta.managedFields, `${path}.managedFields`));
  if (rules.custom !== true) errors.push(...validateStandardFinalizers(meta.finalizers, `${path}.finalizers`));
  return errors;
}

function validateNoNewFinalizers(meta: ObjectMeta, old: ObjectMeta, path: string): FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const known = new Set(old.finalizers);
  const added = [...new Set(meta.finalizers ?? [])].filter((f) => !known.has(f)).sort();
  if (added.length === 0) return [];
  const list = added.map((f) => JSON.stringify(f)).join(', ');
  return [forbiddenField(path, `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`)];
}

const immutable = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

/** Problems of the metadata of an update of `old`, in the reference's order; `standard`: with those of names of finalizers that built-ins cannot have. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, standard = false): FieldError[] {
  const errors = validateNoNewFinalizers(meta, old, 'metadata.finalizers');
  if (!meta.resourceVersion) errors.push(invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'));
  if ((meta.generation ?? 0) < (old.generation ?? 0)) errors.push(invalidValue('metadata.generation', meta.generation ?? 0, 'must not be decremented'));
  for (const field of immutable) {
    const isSame = (meta[field] ?? '') === (old[field] ?? '') && !(field === 'deletionTimestamp' && meta[field] === '');
    if (!isSame) errors.push(invalidValue(`metadata.${field}`, field === 'deletionTimestamp' ? meta[field] || null : meta[field], 'field is immutable'));
  }
  errors.push(...validateLabels(meta.labels, 'metadata.labels'));
  errors.push(...validateAnnotations(meta.annotations, 'metadata.annotations'));
  errors.push(...validateOwnerReferences(meta.ownerReferences, 'metadata.ownerReferences'));
  errors.push(...validateManagedFields(meta.managedFields, 'metadata.managedFields'));
  if (standard) errors.push(...validateStandardFinalizers(meta.finalizers, 'metadata.finalizers'));
  return errors;
}
