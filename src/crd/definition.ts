// A CustomResourceDefinition as data, and the row that it becomes: the same record that built-in kinds have. Everything that a request
// needs is compiled when a request first needs it, and schemas are read again from the definition rather than kept.
import { type KubeObject, type OpenAPIV3Schema, type Schema, compileStructuralSchema } from '../apimachinery/index.ts';
import type { Random } from '../base/index.ts';
import { type Resource, type ResourceVersionRow, type Subresource, compareVersions } from '../registry/index.ts';
import { type ColumnSpec, createColumns } from './columns.ts';
import { createConverter } from './conversion.ts';
import { readField } from './json-path.ts';
import { type CheckRules, createStrategy } from './strategy.ts';
import { type SendConversion, type WebhookConversion, createRemoteConverter } from './webhook-conversion.ts';

/** spec.names, and status.acceptedNames. */
export interface DefinitionNames {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** An entry of spec.versions. */
export interface DefinitionVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: OpenAPIV3Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths };
  readonly additionalPrinterColumns?: readonly ColumnSpec[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface DefinitionSpec {
  readonly group: string;
  readonly names: DefinitionNames;
  readonly scope: string;
  readonly versions: readonly DefinitionVersion[];
  readonly conversion?: { readonly strategy?: string; readonly webhook?: WebhookConversion };
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface DefinitionStatus {
  readonly conditions?: readonly DefinitionCondition[] | null;
  readonly acceptedNames?: DefinitionNames;
  readonly storedVersions?: readonly string[] | null;
}

/** spec of a definition object. */
export const specOf = (definition: KubeObject): DefinitionSpec => definition['spec'] as DefinitionSpec;
/** status of a definition object. */
export const statusOf = (definition: KubeObject): DefinitionStatus => (definition['status'] ?? {}) as DefinitionStatus;

/** Whether a condition of the definition is True. */
export const isTrue = (definition: KubeObject, type: string): boolean =>
  statusOf(definition).conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** What rows are made with. */
export interface RowDependencies {
  /** Schema of metav1.ObjectMeta. */
  readonly objectMeta: Schema;
  /** Prints the time since a timestamp, as ages are printed. */
  readonly formatAge: (durationMs: number) => string;
  /** Evaluates x-kubernetes-validations; without it they are not checked. */
  readonly checkRules?: CheckRules | undefined;
  /** Reaches conversion webhooks; without it conversions by webhook fail. */
  readonly sendConversion?: SendConversion | undefined;
  readonly random: Pick<Random, 'uuid'>;
  /** Stands for the definition: see Resource.fingerprint. */
  readonly fingerprint?: string;
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
const subresourceVerbs = ['get', 'patch', 'update'] as const;

/** The row of an established definition; `reload` answers the same definition again when a schema is wanted. */
export function createRow(definition: KubeObject, reload: () => KubeObject, dependencies: RowDependencies): Resource {
  const spec = specOf(definition);
  const names = statusOf(definition).acceptedNames ?? spec.names;
  const { group } = spec;
  const schemas = createSchemas(spec.versions.map(({ name }) => name), reload, dependencies.objectMeta);
  const versions = [...spec.versions].sort((a, b) => compareVersions(a.name, b.name));
  const storageVersion = (spec.versions.find(({ storage }) => storage === true) ?? spec.versions[0] as DefinitionVersion).name;
  const scale = findScale(spec.versions);
  const { convert, readStored } = createConverter({ group, storageVersion, schemas });
  return {
    group, kind: names.kind, listKind: names.listKind ?? `${names.kind}List`, plural: names.plural, singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [], categories: names.categories ?? [], namespaced: spec.scope === 'Namespaced',
    versions: versions.map((version) => createVersionRow(spec, version, { schema: schemas.get(version.name) as Schema, formatAge: dependencies.formatAge })),
    storageVersion, verbs: allVerbs, subresources: listSubresources(spec.versions), nameRule: 'dns-subdomain',
      selectableFields: listSelectableFields(spec.versions),
    createOnUpdate: false, unconditionalUpdate: false, returnsDeleted: false, defaultPropagation: 'Background', tracksGeneration: true, custom: true,
    storagePrefix: `${group}/${names.plural}`, convert, readStored, strategy: createStrategy({ schemas, scale, checkRules: dependencies.checkRules }),
    ...(dependencies.fingerprint !== undefined && { fingerprint: dependencies.fingerprint }), ...remoteConversion(spec, schemas, dependencies),
    ...(scale !== undefined && {
      scale: {
        specReplicas: scale.specReplicasPath, statusReplicas: scale.statusReplicasPath, ...(scale.labelSelectorPath && { selector: scale.labelSelectorPath }),
      },
    }),
  };
}

const unreachable: SendConversion = () => Promise.reject(new Error('webhooks cannot be called from here'));

function remoteConversion(
  { group, conversion }: DefinitionSpec, schemas: ReadonlyMap<string, Schema>, { sendConversion = unreachable, random }: RowDependencies,
): Pick<Resource, 'convertRemotely'> {
  if (conversion?.strategy !== 'Webhook' || schemas.size < 2) return {};
  return { convertRemotely: createRemoteConverter({ group, schemas, webhook: conversion.webhook ?? {}, send: sendConversion, random }) };
}

/** A function of its own: closures share what their function captures, and schemas must not keep the definition that a row was made from. */
function createSchemas(names: readonly string[], reload: () => KubeObject, objectMeta: Schema): Map<string, Schema> {
  return new Map(names.map((name) => [name, createLazySchema(() => sourceOf(reload(), name), objectMeta)]));
}

function sourceOf(definition: KubeObject, version: string): OpenAPIV3Schema {
  return specOf(definition).versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema ?? { type: 'object',
    'x-kubernetes-preserve-unknown-fields': true };
}

/** A schema that is compiled on first use. Until then its source is kept only as long as somebody else holds it. */
function createLazySchema(load: () => OpenAPIV3Schema, objectMeta: Schema): Schema {
  let compiled: Schema | undefined;
  let loaded: WeakRef<OpenAPIV3Schema> | undefined;
  const source = (): OpenAPIV3Schema => {
    if (compiled !== undefined) return compiled.source as OpenAPIV3Schema;
    let found = loaded?.deref();
    if (found === undefined) loaded = new WeakRef((found = load()));
    return found;
  };
  const compile = (): Schema => (compiled ??= compileStructuralSchema(source(), { objectMeta }));
  const schema = { type: 'object' };
  const getter = (name: keyof Schema): void => void Object.defineProperty(schema, name, { enumerable: true, get: () => compile()[name] });
  for (const name of ['fields', 'preserveUnknownFields', 'default', 'mapType'] as const) getter(name);
  Object.defineProperty(schema, 'source', { enumerable: true, get: source });
  return schema as Schema;
}

interface VersionParts {
  readonly schema: Schema;
  readonly formatAge: RowDependencies['formatAge'];
}

function createVersionRow(spec: DefinitionSpec, version: DefinitionVersion, { schema, formatAge }: VersionParts): ResourceVersionRow {
  const warning = deprecationWarning(spec, version);
  return {
    name: version.name, served: version.served === true, schema, columns: createColumns(version.additionalPrinterColumns, formatAge),
    ...(warning !== undefined && { deprecationWarning: warning }),
  };
}

function deprecationWarning({ group, names, versions }: DefinitionSpec, version: DefinitionVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const current = versions.filter(({ served, deprecated }) => served === true && deprecated !== true).map(({ name }) => name).sort(compareVersions)[0];
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return current !== undefined && compareVersions(current, version.name) < 0 ? `${text}; use ${group}/${current} ${names.kind}` : text;
}

function findScale(versions: readonly DefinitionVersion[]): ScalePaths | undefined {
  return versions.find(({ subresources }) => subresources?.scale !== undefined)?.subresources?.scale;
}

function listSubresources(versions: readonly DefinitionVersion[]): Subresource[] {
  const found: Subresource[] = [];
  if (versions.some(({ subresources }) => subresources?.status !== undefined)) found.push({ name: 'status', verbs: subresourceVerbs });
  if (findScale(versions) !== undefined) found.push({ name: 'scale', verbs: subresourceVerbs, kind: scaleKind });
  return found;
}

function listSelectableFields(versions: readonly DefinitionVersion[]): Record<string, (object: KubeObject) => string> {
  const paths = new Set(versions.flatMap(({ selectableFields }) => selectableFields?.map(({ jsonPath }) => jsonPath) ?? []));
  return Object.fromEntries([...paths].map((path) => [path.replace(/^\./, ''), (object: KubeObject) => formatScalar(readField(object, path))]));
}

const formatScalar = (value: unknown): string => (value === undefined || value === null || typeof value === 'object' ? '' : String(value));
