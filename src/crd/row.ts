// A CustomResourceDefinition as data, and the row that it becomes: the same record that built-in kinds have. Everything that a request
// needs is compiled when a request first needs it; a row never holds the definition, which is read again instead (schemas.ts).
import type { KubeObject, Schema } from '../apimachinery/index.ts';
import type { Clock, Random, Steps } from '../base/index.ts';
import { type FieldReader, type Resource, type ResourceVersionRow, type ScaleFields, type Subresource, compareVersions } from '../registry/index.ts';
import { createColumns } from './columns.ts';
import { createConverter } from './conversion/converter.ts';
import { findAll, parsePath } from './json-path.ts';
import { SchemaCache, type SchemaShare, type VersionSchemas, createSchemas, sourceOf } from './schemas.ts';
import { type CheckRules, type StrategyParts, createStrategy } from './strategy.ts';
import { type DefinitionSpec, type DefinitionVersion, type ScalePaths, specOf, statusOf } from './types.ts';
import { type SendConversion, createRemoteConverter } from './conversion/webhook-converter.ts';

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
  readonly clock: Clock;
  /** Validates writes that take long in another thread; without it all writes are validated in this one. */
  readonly validateInWorker?: StrategyParts['validateInWorker'];
  /** The row's part of the cache that all rows share; a cache of its own unless given. */
  readonly schemaCache?: SchemaShare;
  /** Stands for the definition: see Resource.fingerprint. */
  readonly fingerprint?: string;
  /** The schemas take long to compile: it is done in steps, before a request. */
  readonly isLarge?: boolean;
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const;
const subresourceVerbs = ['get', 'patch', 'update'] as const;

/** The row of an established definition, which may lack its schemas; `reload` answers all of it again when a schema is wanted. */
export function createRow(definition: KubeObject, reload: () => KubeObject, dependencies: RowDependencies): Resource {
  const spec = specOf(definition);
  const names = statusOf(definition).acceptedNames ?? spec.names;
  const { group } = spec;
  const { objectMeta, formatAge, checkRules, clock, validateInWorker, schemaCache: cache = new SchemaCache() } = dependencies;
  const schemas = createSchemas(spec.versions.map(({ name }) => name), { reload, objectMeta, cache });
  const versions = [...spec.versions].sort((a, b) => compareVersions(a.name, b.name));
  const storageVersion = (spec.versions.find(({ storage }) => storage === true) ?? spec.versions[0] as DefinitionVersion).name;
  const { convert, readStored } = createConverter({ group, storageVersion, schemas });
  return {
    group, kind: names.kind, listKind: names.listKind ?? `${names.kind}List`, plural: names.plural, singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [], categories: names.categories ?? [], namespaced: spec.scope === 'Namespaced',
    versions: versions.map((version) => createVersionRow(spec, version, { schemas, reload, formatAge })),
    storageVersion, verbs: allVerbs, subresources: listSubresources(spec.versions), nameRule: 'dns-subdomain',
    selectableFields: listSelectableFields(spec.versions),
    createOnUpdate: false, unconditionalUpdate: false, returnsDeleted: false, defaultPropagation: 'Background', tracksGeneration: true, custom: true,
    definedBy: `apiextensions.k8s.io/customresourcedefinitions/${names.plural}.${group}`,
    storagePrefix: `${group}/${names.plural}`, convert, readStored, strategy: createStrategy({
      schemas, scaleIn: (version) => findScale(spec.versions, version), checkRules, clock, validateInWorker }),
    ...(dependencies.isLarge === true && { prepare: prepareSchemas(schemas, storageVersion) }),
    ...(dependencies.fingerprint !== undefined && { fingerprint: dependencies.fingerprint }), ...remoteConversion(spec, schemas, dependencies),
  };
}

/** A request needs the schema of its version and that of the stored objects. */
const prepareSchemas = (schemas: VersionSchemas, storageVersion: string): NonNullable<Resource['prepare']> => (version) => {
  const wanted = [...new Set([version, storageVersion])].flatMap((name) => schemas.prepare(name) ?? []);
  return wanted.length === 0 ? undefined : doAll(wanted);
};

function* doAll(all: readonly Steps<void>[]): Steps<void> {
  for (const steps of all) yield* steps;
}

const unreachable: SendConversion = () => Promise.reject(new Error('webhooks cannot be called from here'));

function remoteConversion(
  { group, names, conversion }: DefinitionSpec, schemas: VersionSchemas, { sendConversion = unreachable, random }: RowDependencies,
): Pick<Resource, 'convertRemotely'> {
  if (conversion?.strategy !== 'Webhook' || schemas.size < 2) return {};
  return { convertRemotely: createRemoteConverter({ group, schemas, webhook: conversion.webhook ?? {}, send: sendConversion,
    definition: `${names.plural}.${group}`, random }) };
}

interface VersionParts {
  readonly schemas: VersionSchemas;
  readonly reload: () => KubeObject;
  readonly formatAge: RowDependencies['formatAge'];
}

function createVersionRow(spec: DefinitionSpec, version: DefinitionVersion, { schemas, reload, formatAge }: VersionParts): ResourceVersionRow {
  const warning = deprecationWarning(spec, version);
  const { name, subresources } = version;
  return {
    name, served: version.served === true, published: () => sourceOf(reload(), name),
    get schema() { return schemas.get(name) as Schema; },
    columns: createColumns(version.additionalPrinterColumns, formatAge), selectableFields: namesOfFields(version),
    subresources: listSubresources([version]).map((subresource) => subresource.name),
    get defaultsStatus() { return (schemas.get(name)?.fields?.get('status')?.schema.default ?? undefined) !== undefined; },
    ...(warning !== undefined && { deprecationWarning: warning }), ...(subresources?.scale && { scale: scaleFields(subresources.scale) }),
  };
}

const scaleFields = ({ specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths): ScaleFields =>
  ({ specReplicas: specReplicasPath, statusReplicas: statusReplicasPath, ...(labelSelectorPath && { selector: labelSelectorPath }) });

function deprecationWarning({ group, names, versions }: DefinitionSpec, version: DefinitionVersion): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const current = versions.filter(({ served, deprecated }) => served === true && deprecated !== true).map(({ name }) => name).sort(compareVersions)[0];
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return current !== undefined && compareVersions(current, version.name) < 0 ? `${text}; use ${group}/${current} ${names.kind}` : text;
}

/** What the scale path of a version reads and writes, where there is one. */
export const findScale = (versions: readonly DefinitionVersion[], version: string): ScalePaths | undefined =>
  versions.find(({ name }) => name === version)?.subresources?.scale;

function listSubresources(versions: readonly DefinitionVersion[]): Subresource[] {
  const found: Subresource[] = [];
  if (versions.some(({ subresources }) => subresources?.status !== undefined)) found.push({ name: 'status', verbs: subresourceVerbs });
  if (versions.some(({ subresources }) => subresources?.scale !== undefined)) found.push({ name: 'scale', verbs: subresourceVerbs, kind: scaleKind });
  return found;
}

const namesOfFields = ({ selectableFields }: DefinitionVersion): string[] => selectableFields?.map(({ jsonPath }) => jsonPath.replace(/^\./, '')) ?? [];

/** The fields of all versions; each version has some of them. */
function listSelectableFields(versions: readonly DefinitionVersion[]): Record<string, FieldReader> {
  const names = new Set(versions.flatMap(namesOfFields));
  return Object.fromEntries([...names].map((name) => [name, createScalarReader(name)]));
}

function createScalarReader(name: string): FieldReader {
  const steps = parsePath(`.${name}`);
  const read = (object: KubeObject): string => (steps === undefined ? '' : formatScalar(findAll(steps, object)[0]));
  const path = name.split('.');
  return path.every(isPlainName) ? Object.assign(read, { paths: [path] }) : read;
}

/** Whether a name stands for itself in a JSON path and in JSON. */
const isPlainName = (name: string): boolean => /^[a-zA-Z0-9][\w-]*$/.test(name);

const formatScalar = (value: unknown): string => (value === undefined || value === null || typeof value === 'object' ? '' : String(value));
