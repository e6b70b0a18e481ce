// OpenAPI v3 documents, one for each group version: paths from the operations, components from the schemas that the paths reach.
import { type GroupVersionKind, type Schema, type SchemaSet, toOpenAPIv3 } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { Catalog } from '../../registry/index.ts';
import { unservedGroupVersions } from '../request/decode-errors.ts';
import { type Parameter, placeParameters } from './openapi-parameters.ts';
import { type BodyKind, type Operation, type OperationSource, operationsOf, rootOperation } from './openapi-operations.ts';
import { customDefinitions, customName } from './openapi-custom.ts';

type Json = Record<string, unknown>;

const META_PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const REFERENCE_PREFIX = '#/components/schemas/';
const security = { BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' } };

type GroupVersion = Pick<GroupVersionKind, 'group' | 'version'>;

/** The source of definitions. */
export interface DefinitionSource extends OperationSource {
  readonly schemas: SchemaSet;
}

/** The name of the definition of a kind; undefined when there is none. */
export function definitionName({ schemas, catalog }: DefinitionSource, body: BodyKind): string | undefined {
  if ('definition' in body) return body.definition;
  if ('meta' in body) return `${META_PREFIX}${body.meta}`;
  const resource = catalog.findKind(body.group, body.kind.replace(/List$/, '')) ?? catalog.findKind(body.group, body.kind);
  if (resource?.custom) return customName(body);
  return schemas.forKind(body)?.name;
}

function parameterJson({ name, in: place, type }: Parameter): Json {
  return { name, in: place, ...(place === 'path' && { required: true }), schema: { type, uniqueItems: true } };
}

function content(types: readonly string[], schema: Json): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}

const reasons: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

function responsesJson(operation: Operation, source: DefinitionSource): Json {
  const name = operation.answer === 'text' ? undefined : definitionName(source, operation.answer);
  const schema = name ? { $ref: `${REFERENCE_PREFIX}${name}` } : { type: 'string' };
  return Object.fromEntries(operation.statuses.map((status) => [
    status, { description: reasons[status], ...(status !== '401' && { content: content(operation.produces, schema) }) },
  ]));
}

function requestBody({ body, consumes, method, kind }: Operation, source: DefinitionSource): Json | undefined {
  const name = body && definitionName(source, body);
  if (!body || !name || consumes === undefined) return undefined;
  const custom = kind ? source.catalog.findKind(kind.group, kind.kind)?.custom : false;
  const types = custom && consumes.includes('*/*') ? ['application/json', 'application/yaml'] : consumes;
  return { content: content(types, { $ref: `${REFERENCE_PREFIX}${name}` }), ...(method !== 'delete' && { required: true }) };
}

function operationJson(operation: Operation, own: readonly Parameter[], source: DefinitionSource): Json {
  const { tag, id, action, kind } = operation;
  const parameters = own.map(parameterJson);
  const body = requestBody(operation, source);
  return {
    tags: [tag], operationId: id, ...(parameters.length > 0 && { parameters }), ...(body && { requestBody: body }), responses: responsesJson(operation, source),
    ...(action && { 'x-kubernetes-action': action }), ...(kind && { 'x-kubernetes-group-version-kind': kind }),
  };
}

/** How a dialect writes the parts of a path. */
export interface PathWriter {
  readonly operation: (operation: Operation, own: readonly Parameter[]) => Json;
  readonly parameter: (parameter: Parameter) => Json;
}

/** Operations grouped by path, paths sorted; a step for each path. */
export function* groupByPath(operations: readonly Operation[], write: PathWriter): Steps<Json> {
  const paths = new Map<string, Operation[]>();
  for (const operation of operations) {
    const known = paths.get(operation.path);
    if (known === undefined) paths.set(operation.path, [operation]);
    else known.push(operation);
  }
  const out: Json = {};
  for (const [path, ofPath] of [...paths].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { shared, own } = placeParameters(path, ofPath);
    const item = Object.fromEntries(ofPath.map((operation) => [operation.method, write.operation(operation, own.get(operation) ?? [])]));
    out[path] = { ...item, ...(shared.length > 0 && { parameters: shared.map(write.parameter) }) };
    yield;
  }
  return out;
}

function pathsJson(operations: readonly Operation[], source: DefinitionSource): Steps<Json> {
  return groupByPath(operations, { operation: (operation, own) => operationJson(operation, own, source), parameter: parameterJson });
}

/** Names that a written schema refers to. */
export function referencesOf(value: unknown, prefix: string, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) referencesOf(item, prefix, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') {
        if (inner.startsWith(prefix)) found.add(inner.slice(prefix.length));
      } else referencesOf(inner, prefix, found);
    }
  }
}

/** All definitions that `roots` reach, sorted by name; a step for each. */
export function* collectDefinitions(
  roots: Iterable<string>, write: (name: string) => Json | undefined, prefix: string,
): Steps<Json> {
  const done = new Map<string, Json>();
  const queue = [...roots];
  while (queue.length > 0) {
    const name = queue.pop() as string;
    if (done.has(name)) continue;
    const definition = write(name);
    if (!definition) continue;
    done.set(name, definition);
    const found = new Set<string>();
    referencesOf(definition, prefix, found);
    queue.push(...found);
    yield;
  }
  return Object.fromEntries([...done].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes definitions by name and keeps them, since group versions share most of them: all 47 documents take 172 ms instead of 203 ms. */
export class DefinitionWriter {
  readonly #schemas: SchemaSet;
  readonly #hasEnums: boolean;
  readonly #written = new WeakMap<Schema, Json>();

  constructor(schemas: SchemaSet, hasEnums: boolean) {
    this.#schemas = schemas;
    this.#hasEnums = hasEnums;
  }

  write(name: string): Json | undefined {
    const schema = this.#schemas.definition(name);
    if (!schema) return undefined;
    let written = this.#written.get(schema);
    if (!written) this.#written.set(schema, (written = toOpenAPIv3(schema, { hasEnums: this.#hasEnums, description: this.#schemas.describe(name) })));
    return written;
  }
}

/** Definitions that every group version has: each document lists the group versions that it describes. */
const sharedKinds: ReadonlySet<string> = new Set([`${META_PREFIX}DeleteOptions`, `${META_PREFIX}WatchEvent`]);

/** All built-in group versions, also those that are not served any more, in sorted order. */
export function listGroupVersions(catalog: Catalog): GroupVersion[] {
  const builtin = catalog.resources().filter(({ custom }) => !custom);
  const served = builtin.flatMap(({ group, versions }) => versions.map(({ name }) => ({ group, version: name })));
  const byKey = new Map([...served, ...unservedGroupVersions].map((each) => [`${each.group}/${each.version}`, each]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Groups that the scheme of client-go, which documents of custom kinds are made with, does not have. */
const serverGroups: ReadonlySet<string> = new Set(['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io']);

/** The group versions that the document of a group version lists as sharing kinds; none for the documents of the roots. */
function sharingIn({ catalog }: DocumentSource, groupVersion: GroupVersion | undefined, isCustom: boolean): GroupVersion[] {
  if (isCustom) return listGroupVersions(catalog).filter(({ group }) => !serverGroups.has(group));
  return groupVersion === undefined ? [] : [groupVersion];
}

/** A definition with the group versions that share its kind, the core group first. */
export function withSharedKinds(name: string, definition: Json | undefined, groupVersions: readonly GroupVersion[]): Json | undefined {
  if (definition === undefined || !sharedKinds.has(name)) return definition;
  const kind = name.slice(META_PREFIX.length);
  const others = groupVersions.filter(({ group }) => group !== '');
  const kinds = [{ group: '', version: 'v1' }, ...others].map(({ group, version }) => ({ group, kind, version }));
  return { ...definition, 'x-kubernetes-group-version-kind': kinds };
}

/** Everything that a document is made from. */
export interface DocumentSource extends DefinitionSource {
  readonly writer: DefinitionWriter;
  /** Whether definitions list the values that fields may have. */
  readonly hasEnums: boolean;
  /** The release that documents name, as `/version` does. */
  readonly gitVersion: string;
}

function* makeDocument(
  source: DocumentSource, operations: readonly Operation[],
  { custom, info, groupVersion }: { custom: Record<string, Json>; info: Json; groupVersion?: GroupVersion },
): Steps<Json> {
  yield;
  const paths = yield* pathsJson(operations, source);
  const roots = new Set<string>(Object.keys(custom));
  referencesOf(paths, REFERENCE_PREFIX, roots);
  const isCustom = Object.keys(custom).length > 0;
  const sharing = sharingIn(source, groupVersion, isCustom);
  const write = (name: string): Json | undefined => custom[name] ?? withSharedKinds(name, source.writer.write(name), sharing);
  const schemas = yield* collectDefinitions(roots, write, REFERENCE_PREFIX);
  const components = { ...(Object.keys(schemas).length > 0 && { schemas }), ...(!isCustom && { securitySchemes: security }) };
  return { openapi: '3.0.0', info, paths, components };
}

export const kubernetesInfo = (gitVersion: string): Json => ({ title: 'Kubernetes', version: gitVersion });

/** The document of a group version. */
export function* groupVersionDocument(source: DocumentSource, groupVersion: GroupVersion): Steps<Json> {
  const custom = yield* customDefinitions(source.catalog, groupVersion);
  const isCustom = Object.keys(custom).length > 0;
  const info = isCustom ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' } : kubernetesInfo(source.gitVersion);
  return yield* makeDocument(source, operationsOf(source, groupVersion), { custom, info, groupVersion });
}

/** The document of `/api/`, `/apis/` or `/apis/{group}/`. */
export function rootDocument(source: DocumentSource, path: string): Steps<Json> {
  return makeDocument(source, [rootOperation(path)], { custom: {}, info: kubernetesInfo(source.gitVersion) });
}

/** A document outside of the API groups: the version, and the keys of service account tokens. */
export function plainDocument(source: DocumentSource, operation: Operation): Steps<Json> {
  return makeDocument(source, [operation], { custom: {}, info: kubernetesInfo(source.gitVersion) });
}
