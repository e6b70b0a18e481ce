// The OpenAPI v2 document: all group versions in one, in the shape of Swagger 2.0.
import { type SchemaSet, toOpenAPIv2 } from '../../apimachinery/index.ts';
import type { Steps } from '../../base/index.ts';
import type { Catalog } from '../../registry/index.ts';
import { unservedGroupVersions } from '../request/decode-errors.ts';
import { JSON_TYPE, plainMedia, YAML_TYPE } from '../request/media.ts';
import { type Operation, plainOperations, operationsOf, rootOperation } from './openapi-operations.ts';
import { type Parameter, pathParameters, queryParameters } from './openapi-parameters.ts';
import { customDefinitionsV2 } from './openapi-custom-v2.ts';
import {
  collectDefinitions, definitionName, referencesOf, withSharedKinds, type DefinitionSource, type DocumentSource,
  groupByPath, kubernetesInfo,
} from './openapi-v3.ts';

type Json = Record<string, unknown>;

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const PREFIX = '#/definitions/';
const reasons: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized' };

function parameterJson({ name, in: place, type }: Parameter): Json {
  return { uniqueItems: true, type, name, in: place, ...(place === 'path' && { required: true }) };
}

function bodyParameter({ body, method }: Operation, source: DefinitionSource): Json[] {
  const name = body && definitionName(source, body);
  if (!name) return [];
  return [{ name: 'body', in: 'body', ...(method !== 'delete' && { required: true }), schema: { $ref: `${PREFIX}${name}` } }];
}

function responses(operation: Operation, source: DefinitionSource): Json {
  const name = operation.answer === 'text' ? undefined : definitionName(source, operation.answer);
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

function operationJson(operation: Operation, source: DefinitionSource): Json {
  const { tag, id, action, kind, produces } = operation;
  const parameters = [...bodyParameter(operation, source), ...queryParameters(operation).map(parameterJson)];
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

/** Names of all definitions that paths refer to. */
function namesIn(paths: Json): Set<string> {
  const names = new Set<string>();
  referencesOf(paths, PREFIX, names);
  return names;
}

function writeDefinition(schemas: SchemaSet, name: string): Json | undefined {
  const schema = schemas.definition(name);
  return schema && toOpenAPIv2(schema);
}

/** All built-in group versions, also those that are not served any more, in sorted order. */
function listGroupVersions(catalog: Catalog): GroupVersion[] {
  const builtin = catalog.resources().filter(({ custom }) => !custom);
  const served = builtin.flatMap(({ group, versions }) => versions.map(({ name }) => ({ group, version: name })));
  const byKey = new Map([...served, ...unservedGroupVersions].map((each) => [`${each.group}/${each.version}`, each]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Builds the whole document. */
export function* openApiV2Document(source: DocumentSource): Steps<Json> {
  const paths = yield* groupByPath(allOperations(source), (operation) => operationJson(operation, source), (path) => {
    const parameters = pathParameters(path);
    return parameters.length > 0 ? { parameters: parameters.map(parameterJson) } : {};
  });
  yield;
  const groupVersions = listGroupVersions(source.catalog);
  const custom = yield* customDefinitionsV2(source.catalog);
  const definitions = yield* collectDefinitions(namesIn(paths), (name) =>
    custom[name] ?? withSharedKinds(name, writeDefinition(source.schemas, name), groupVersions), PREFIX);
  return {
    swagger: '2.0', info: kubernetesInfo(source.gitVersion), paths, definitions,
    securityDefinitions: { BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' } },
    security: [{ BearerToken: [] }],
  };
}
