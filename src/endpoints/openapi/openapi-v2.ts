// The OpenAPI v2 document: all group versions in one, in the shape of Swagger 2.0.
import { toOpenAPIv2 } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import { JSON_TYPE, plainMedia, YAML_TYPE } from '../request/media.ts';
import { type BodyKind, type Operation, plainOperations, operationsOf, rootOperation } from './openapi-operations.ts';
import type { Parameter } from './openapi-parameters.ts';
import { customDefinitionsV2 } from './openapi-custom-v2.ts';
import {
  collectDefinitions, definitionName, referencesOf, withSharedKinds, type DefinitionSource, type DocumentSource,
  groupByPath, kubernetesInfo, listGroupVersions,
} from './openapi-v3.ts';

type Json = Record<string, unknown>;

const PREFIX = '#/definitions/';
const reasons: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

/** Parameters that operations share, by name. */
type SharedParameters = Map<string, Json>;

/** A reference to the parameter, which is kept among the shared ones. */
function share(name: string, parameter: Json, shared: SharedParameters): Json {
  shared.set(name, parameter);
  return { $ref: `#/parameters/${name}` };
}

function parameterJson({ name, in: place, type, mark }: Parameter, shared: SharedParameters): Json {
  const parameter = { uniqueItems: true, type, name, in: place, ...(place === 'path' && { required: true }) };
  return mark === undefined ? parameter : share(`${name}-${mark}`, parameter, shared);
}

/** The name of a custom kind where a built-in type has it: another, as in the reference. */
const renameCustom = ({ schemas }: DefinitionSource) => (name: string): string => (schemas.definition(name) === undefined ? name : `${name}_v2`);

/** The name of a definition, in a document that has those of all groups. */
function nameOf(source: DefinitionSource, body: BodyKind): string | undefined {
  const name = definitionName(source, body);
  const isCustom = name !== undefined && 'group' in body && source.schemas.forKind(body)?.name !== name;
  return isCustom ? renameCustom(source)(name) : name;
}

/** Bodies that many operations have; the others name their kind. */
const bodyMarks: Readonly<Record<string, string>> = { DeleteOptions: '2Y1dVQaQ', Patch: '78PwaGsr' };

function bodyParameter({ body, method }: Operation, source: DefinitionSource, shared: SharedParameters): Json | undefined {
  const name = body && nameOf(source, body);
  if (!name) return undefined;
  const parameter = { name: 'body', in: 'body', ...(method !== 'delete' && { required: true }), schema: { $ref: `${PREFIX}${name}` } };
  const mark = 'meta' in body ? bodyMarks[body.meta] : undefined;
  return mark === undefined ? parameter : share(`body-${mark}`, parameter, shared);
}

/** The parameters of an operation in order of their names. */
function parametersOf(operation: Operation, own: readonly Parameter[], source: DefinitionSource, shared: SharedParameters): Json[] {
  const body = bodyParameter(operation, source, shared);
  const write = (parameter: Parameter): Json => parameterJson(parameter, shared);
  const [before, after] = [own.filter(({ name }) => name < 'body'), own.filter(({ name }) => name >= 'body')];
  return [...before.map(write), ...(body === undefined ? [] : [body]), ...after.map(write)];
}

function responses(operation: Operation, source: DefinitionSource): Json {
  const name = operation.answer === 'text' ? undefined : nameOf(source, operation.answer);
  const schema = name ? { $ref: `${PREFIX}${name}` } : { type: 'string' };
  return Object.fromEntries(operation.statuses.map((status) => [status, { description: reasons[status], ...(status !== '401' && { schema }) }]));
}

/** Media types of request bodies; v2 lists them even for operations without one. */
function consumesOf({ action, kind, consumes }: Operation, { catalog }: DefinitionSource): readonly string[] | undefined {
  if (consumes === undefined || (action === undefined && consumes.length > 0)) return consumes;
  if (action === undefined) return plainMedia.objectTypes;
  if (consumes.length > 0 && !consumes.includes('*/*')) return consumes;
  return kind !== undefined && catalog.findKind(kind.group, kind.kind)?.custom === true ? [JSON_TYPE, YAML_TYPE] : ['*/*'];
}

function operationJson(operation: Operation, parameters: readonly Json[], source: DefinitionSource): Json {
  const { tag, id, action, kind, produces } = operation;
  const consumes = consumesOf(operation, source);
  return {
    ...(consumes && { consumes }), produces, schemes: ['https'], tags: [tag], operationId: id, ...(parameters.length > 0 && { parameters }),
    responses: responses(operation, source), ...(action && { 'x-kubernetes-action': action }), ...(kind && { 'x-kubernetes-group-version-kind': kind }),
  };
}

function allOperations(source: DefinitionSource): Operation[] {
  const { catalog } = source;
  const out = [rootOperation('api'), rootOperation('apis'), ...Object.values(plainOperations)];
  for (const { name, versions } of catalog.groups()) {
    const isCustom = catalog.resources().every(({ group, custom }) => group !== name || custom);
    if (name !== '' && !isCustom) out.push(rootOperation(`apis/${name}`));
    for (const version of versions) out.push(...operationsOf(source, { group: name, version }));
  }
  return out;
}

/** Names of all definitions that a part of the document refers to. */
function namesIn(part: unknown): Set<string> {
  const names = new Set<string>();
  referencesOf(part, PREFIX, names);
  return names;
}

function writeDefinition({ schemas, hasEnums }: DocumentSource, name: string): Json | undefined {
  const schema = schemas.definition(name);
  return schema && toOpenAPIv2(schema, { hasEnums, description: schemas.describe(name) });
}

/** Builds the whole document. */
export function* openApiV2Document(source: DocumentSource): Steps<Json> {
  const shared: SharedParameters = new Map();
  const paths = yield* groupByPath(allOperations(source), {
    operation: (operation, own) => operationJson(operation, parametersOf(operation, own, source, shared), source),
    parameter: (parameter) => parameterJson(parameter, shared),
  });
  const parameters = Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1)));
  yield;
  const groupVersions = listGroupVersions(source.catalog);
  const custom = yield* customDefinitionsV2(source.catalog, renameCustom(source));
  const definitions = yield* collectDefinitions(namesIn([paths, parameters]), (name) =>
    custom[name] ?? withSharedKinds(name, writeDefinition(source, name), groupVersions), PREFIX);
  return {
    swagger: '2.0', info: kubernetesInfo(source.gitVersion), paths, definitions, parameters,
    securityDefinitions: { BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  };
}
