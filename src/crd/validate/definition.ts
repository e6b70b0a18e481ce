// Validation of CustomResourceDefinitions: the reference's causes, in its order. Names and groups here; versions' parts in validate-version.ts,
// schemas in validate-schema.ts, validate-structural.ts and validate-defaults.ts, conversion in validate-conversion.ts.
import {
  type FieldError, type KubeObject, type OpenAPIV3Schema, checkDns1035Label, checkDnsSubdomain, invalidValue, isKnownFormat, notSupported, required,
} from '../../apimachinery/index.ts';
import { validateBundleUpdate } from './ca-bundle.ts';
import { isTrue } from '../conditions.ts';
import { type DefinitionNames, type DefinitionSpec, specOf, statusOf } from '../types.ts';
import { type InternalForm, toInternalForm } from './internal-form.ts';
import { isProtectedGroup, readApproval } from './approval.ts';
import { validateConversion } from './conversion.ts';
import { printVersions } from './internal-value.ts';
import type { ValidateRules } from './rules.ts';
import { type SchemaLimits, validateSchemaAhead } from './schema.ts';
import { schemaPath, validateParts, validateVersion } from './version.ts';

const emptySpec: DefinitionSpec = { group: '', names: { plural: '', kind: '' }, scope: '', versions: [] };

/** Specs whose versions are an empty list: it is stored as null, and errors print the two differently. */
const emptyVersions = new WeakSet<object>();

/** Remembers, before empty lists are dropped, that a definition has one for its versions. */
export function noteEmptyVersions(definition: KubeObject): void {
  const spec = definition['spec'] as DefinitionSpec | undefined;
  if (Array.isArray(spec?.versions) && spec.versions.length === 0) emptyVersions.add(spec);
}

function specOrEmpty(definition: KubeObject): DefinitionSpec {
  const spec = definition['spec'] as DefinitionSpec | undefined;
  return { ...emptySpec, ...spec, ...(spec !== undefined && emptyVersions.has(spec) && { versions: [] }) };
}

/** Validates the schemas of a definition in turns, for the validation that follows. */
export async function validateSchemasAhead(definition: KubeObject, limits: SchemaLimits, pause: () => Promise<void> | undefined): Promise<void> {
  const spec = specOrEmpty(definition);
  const form = toInternalForm(spec);
  const { shared } = form;
  await pause();
  if (shared.schema !== undefined) {
    await validateSchemaAhead(shared.schema, { at: schemaPath('spec', true), statusEnabled: hasStatus(form), ...limits }, pause);
  }
  const withStatus = versionsWithStatus(spec, form);
  for (const [i, { schema }] of form.own.entries()) {
    if (schema === undefined) continue;
    await validateSchemaAhead(schema, { at: schemaPath(`spec.versions[${i}]`, false), statusEnabled: withStatus[i] === true, ...limits }, pause);
  }
}

/** Problems of a new definition, besides those of its metadata that all kinds share. */
export function validateDefinition(definition: KubeObject, validateRules?: ValidateRules): FieldError[] {
  const spec = specOrEmpty(definition);
  return [
    ...validateSpec(spec, validateRules),
    ...validateDefinitionStatus(definition), ...validateStoredVersions(definition, spec),
    ...validateApproval(definition, undefined), ...validatePreserve(spec),
  ];
}

/** Problems of a changed definition. */
export function validateDefinitionUpdate(definition: KubeObject, old: KubeObject, validateRules?: ValidateRules): FieldError[] {
  const spec = specOrEmpty(definition);
  const errors = validateSpec(spec, validateRules);
  const before = specOf(old);
  const fixed = (field: string, value: unknown, was: unknown): void => {
    if (value !== was) errors.push(invalidValue(field, value, 'field is immutable'));
  };
  if (isTrue(old, 'Established')) {
    fixed('spec.scope', spec.scope, before.scope);
    fixed('spec.names.kind', spec.names.kind, before.names.kind);
  }
  fixed('spec.group', spec.group, before.group);
  fixed('spec.names.plural', spec.names.plural, before.names.plural);
  return [
    ...errors, ...validateDefinitionStatus(definition), ...validateStoredVersions(definition, spec), ...validateApproval(definition, old),
    ...(before.preserveUnknownFields === true ? [] : validatePreserve(spec)), ...validateBundleUpdate(definition, old),
  ];
}

/** Problems of a definition's status. */
export function validateDefinitionStatus(definition: KubeObject): FieldError[] {
  const { acceptedNames } = statusOf(definition);
  return acceptedNames === undefined ? [] : validateNames(acceptedNames, 'status.acceptedNames');
}

/** Problems of the name of a new definition, which follows from its spec. */
export function validateName(definition: KubeObject): FieldError[] {
  const { metadata } = definition;
  const { names, group } = specOrEmpty(definition);
  const wanted = `${names.plural}.${group}`;
  const fields = (['generateName', 'name'] as const).filter((field) => metadata[field] && metadata[field] !== wanted);
  return fields.map((field) => invalidValue(`metadata.${field}`, metadata[field], 'must be spec.names.plural+"."+spec.group'));
}

function validateSpec(spec: DefinitionSpec, validateRules: ValidateRules | undefined): FieldError[] {
  const form = toInternalForm(spec);
  const parts = validateParts(form.shared, { at: 'spec', shared: true, statusEnabled: hasStatus(form), validateRules });
  return [
    ...validateGroup(spec.group), ...validateScope(spec.scope), ...requireSchemas(form), ...forbidDefaults(spec),
    ...validateVersions(spec, form, validateRules),
    ...requireNames(spec.names), ...validateNames(spec.names, 'spec.names'), ...parts, ...validateStrategy(spec), ...validateConversion(spec.conversion),
  ];
}

function validateStrategy({ conversion, preserveUnknownFields }: DefinitionSpec): FieldError[] {
  const strategy = conversion?.strategy ?? '';
  if (conversion === undefined || strategy === 'None' || preserveUnknownFields !== true) return [];
  return [invalidValue('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true')];
}

const hasStatus = ({ shared, own }: InternalForm): boolean => [shared, ...own].some(({ subresources }) => subresources?.status !== undefined);

/** Whether each version has a status path, of its own or one of all. The reference looks a version up by its name, which an earlier one may have too. */
function versionsWithStatus({ versions }: DefinitionSpec, { shared, own }: InternalForm): boolean[] {
  const byName = new Map<string, boolean>();
  // Null where the body said so.
  return (versions ?? []).map(({ name = '' }, i) => {
    const known = byName.get(name);
    if (known !== undefined) return known;
    const hasOwn = (shared.subresources ?? own[i]?.subresources)?.status !== undefined;
    byName.set(name, hasOwn);
    return hasOwn;
  });
}

function validateGroup(group: string): FieldError[] {
  if (!group) return [required('spec.group')];
  const problems = checkDnsSubdomain(group);
  if (problems.length > 0) return [invalidValue('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string): FieldError[] {
  if (!scope) return [required('spec.scope')];
  return scope === 'Cluster' || scope === 'Namespaced' ? [] : [notSupported('spec.scope', scope, ['Cluster', 'Namespaced'])];
}

function requireSchemas({ shared, own }: InternalForm): FieldError[] {
  if (shared.schema !== undefined) return [];
  return own.flatMap(({ schema }, i) => (schema === undefined ? [required(`spec.versions[${i}].schema.openAPIV3Schema`)] : []));
}

/** Defaults want pruning. */
function forbidDefaults({ preserveUnknownFields, versions }: DefinitionSpec): FieldError[] {
  if (preserveUnknownFields !== true || versions?.some(({ schema }) => hasDefault(schema?.openAPIV3Schema)) !== true) return [];
  return [invalidValue('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')];
}

/** Whether a schema, or one in it, has a default. */
function hasDefault(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  if (Array.isArray(schema)) return schema.some(hasDefault);
  const { default: value, ...rest } = schema as OpenAPIV3Schema;
  if (value !== undefined && value !== null) return true;
  const maps = [rest.properties, rest['patternProperties'], rest['definitions'], rest['dependencies']];
  return [rest.items, rest.additionalProperties, rest['additionalItems'], rest['not'], rest['allOf'], rest['anyOf'], rest['oneOf']].some(hasDefault)
    || maps.some((map) => typeof map === 'object' && map !== null && Object.values(map).some(hasDefault));
}

function validateVersions(spec: DefinitionSpec, form: InternalForm, validateRules: ValidateRules | undefined): FieldError[] {
  const { versions } = spec;
  const list = versions ?? [];
  const withStatus = versionsWithStatus(spec, form);
  const errors = list.flatMap((version, i) => validateVersion(version, form.own[i] ?? {},
    { at: `spec.versions[${i}]`, shared: false, statusEnabled: withStatus[i] === true, validateRules }));
  const shown = versions === undefined ? null : printVersions(list, form.own);
  if (new Set(list.map(({ name }) => name)).size < list.length) errors.push(invalidValue('spec.versions', shown, 'must contain unique version names'));
  if (list.filter(({ storage }) => storage === true).length !== 1) {
    errors.push(invalidValue('spec.versions', list.length === 0 && !Array.isArray(versions) ? null : shown,
      'must have exactly one version marked as storage version'));
  }
  const first = list[0]?.name;
  const problems = first ? checkDns1035Label(first) : [];
  if (problems.length > 0) errors.push(invalidValue('spec.version', first, problems.join(',')));
  return errors;
}

function requireNames(names: DefinitionNames): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const).filter((field) => !names[field]).map((field) => required(`spec.names.${field}`));
}

function validateNames(names: DefinitionNames, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: string, { mixedCase = false, isOptional = true } = {}): void => {
    const problems = value === '' && isOptional ? [] : checkDns1035Label(mixedCase ? value.toLowerCase() : value);
    const prefix = mixedCase ? 'may have mixed case, but should otherwise match: ' : '';
    if (problems.length > 0) errors.push(invalidValue(`${at}.${field}`, value, prefix + problems.join(',')));
  };
  label('plural', names.plural ?? '');
  label('singular', names.singular ?? '');
  label('kind', names.kind ?? '', { mixedCase: true });
  label('listKind', names.listKind ?? '', { mixedCase: true });
  names.shortNames?.forEach((name, i) => label(`shortNames[${i}]`, name, { isOptional: false }));
  if (names.kind && names.kind === names.listKind) errors.push(invalidValue(`${at}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  names.categories?.forEach((name, i) => label(`categories[${i}]`, name, { isOptional: false }));
  return errors;
}

function validateStoredVersions(definition: KubeObject, { versions }: DefinitionSpec): FieldError[] {
  const stored = statusOf(definition).storedVersions ?? [];
  const at = 'status.storedVersions';
  if (stored.length === 0) return [invalidValue(at, null, 'must have at least one stored version')];
  const known = new Set((versions ?? []).map(({ name }) => name));
  const unmatched = new Set(stored);
  // Of versions with one name the first has the stored version.
  const missing = (versions ?? []).filter(({ name, storage }) => !unmatched.delete(name) && storage === true);
  return [...missing.map(({ name }) => invalidValue(at, stored, `must have the storage version ${name}`)), ...stored.flatMap((name, i) => {
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ` +
      `ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return known.has(name) ? [] : [invalidValue(`${at}[${i}]`, name, why)];
  })];
}

function validateApproval(definition: KubeObject, old: KubeObject | undefined): FieldError[] {
  if (!isProtectedGroup(specOrEmpty(definition).group)) return [];
  const approval = readApproval(definition.metadata.annotations);
  if (old !== undefined && readApproval(old.metadata.annotations).type === approval.type) return [];
  const field = 'metadata.annotations[api-approved.kubernetes.io]';
  if (approval.type === 'missing') return [required(field, approval.message)];
  return approval.type === 'invalid' ? [invalidValue(field, definition.metadata.annotations?.['api-approved.kubernetes.io'], approval.message)] : [];
}

function validatePreserve({ preserveUnknownFields }: DefinitionSpec): FieldError[] {
  const why = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return preserveUnknownFields === true ? [invalidValue('spec.preserveUnknownFields', true, why)] : [];
}

/** Warnings about formats that nothing checks, and that the definition did not have before. */
export function listFormatWarnings(definition: KubeObject, old: KubeObject | undefined): string[] {
  const known = new Set(old === undefined ? [] : collectFormats(specOrEmpty(old)));
  const formats = new Set(collectFormats(specOrEmpty(definition)).filter((format) => !known.has(format)));
  return [...formats].sort().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

/** The formats that nothing checks. */
function collectFormats({ versions }: DefinitionSpec): string[] {
  const found: string[] = [];
  const walk = (schema: OpenAPIV3Schema): void => {
    if (schema.format && !isKnownFormat(schema.type, schema.format)) found.push(schema.format);
    for (const child of Object.values(schema.properties ?? {})) walk(child);
    if (schema.items !== undefined && !Array.isArray(schema.items)) walk(schema.items);
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties);
  };
  for (const { schema } of versions ?? []) if (schema?.openAPIV3Schema !== undefined) walk(schema.openAPIV3Schema);
  return found;
}
