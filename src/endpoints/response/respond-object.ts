// Responses with one object: the object, a table, or metadata. Plain JSON and protobuf are the bytes that the stored object keeps.
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import { failure, type KubeObject, type Schema, type StatusError } from '../../apimachinery/index.ts';
import { parseJson, turnCbor } from '../../codec/index.ts';
import type { StoredObject } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { type Encodable, encodeBody } from './encoding.ts';
import type { Response } from '../exchange.ts';
import { hasManyMembers } from '../request/large-requests.ts';
import { formTypes } from '../request/media.ts';
import { type Representation, wantsPretty } from '../request/negotiate.ts';
import { partialObject, partialSchema } from './partial.ts';
import { respondBytes, respondValue } from './respond.ts';
import { tableOfScale } from './scale-table.ts';
import { parseIncludeObject, type TableContext, tableOfObject } from './table.ts';

/** The Go type of a kind, as messages about conversions print it. */
export function internalName(request: Pick<ResourceRequest, 'resource'>, list: boolean): string {
  const { group, kind, listKind, custom } = request.resource;
  if (custom) return list ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  return `*${group === '' ? 'core' : (group.split('.')[0] as string)}.${list ? listKind : kind}`;
}

/** The context of the request's tables; throws the 400 of a wrong includeObject. */
export function tableContext(request: ResourceRequest, tableVersion: string): TableContext {
  return {
    resource: request.resource, served: request.target.version, tableVersion, include: parseIncludeObject(request.exchange.query),
    nowMs: request.dependencies.clock.now(),
  };
}

function notAList({ resource }: ResourceRequest, name: string): StatusError {
  if (resource.custom) return failure(500, '', 'content is not a list');
  return failure(406, 'NotAcceptable', `you requested PartialObjectMetadataList, but the requested object is not a list (${name})`);
}

/** The converted value of an object. */
function convert(request: ResourceRequest, object: StoredObject, { conversion }: Representation): Encodable {
  if (conversion?.kind === 'Table') return { value: tableOfObject(object, tableContext(request, conversion.version)) };
  if (conversion?.kind === 'PartialObjectMetadataList') throw notAList(request, internalName(request, false));
  const { metadata } = object.object(request.target.version);
  return { value: partialObject(metadata, conversion?.version ?? 'v1', request.resource), schema: partialSchema(request.dependencies.schemas) };
}

/** JSON of an object as indented JSON or YAML; in a worker when the object is large. */
function makeReadable({ exchange, dependencies: { largeRequests } }: ResourceRequest, json: Uint8Array, form: 'json' | 'yaml'): MaybePromise<Uint8Array> {
  if (largeRequests !== undefined && hasManyMembers(json)) return largeRequests.makeReadable(exchange, json, form);
  return encodeBody({ value: parseJson(json).value }, form, true);
}

/** Answers with a stored object. */
export function respondObject(
  request: ResourceRequest, answer: { status: number; object: StoredObject; representation: Representation },
): MaybePromise<Response> {
  const { exchange, dependencies, target } = request;
  const { status, object, representation } = answer;
  const { form } = representation;
  if (representation.conversion) return respondValue(exchange, dependencies, { status, form, value: convert(request, object, representation) });
  if (exchange.audit?.wantsResponse) exchange.audit.recordResponseJson(object.bytes(target.version, 'json-single'));
  if (form === 'protobuf') {
    return respondBytes(exchange, dependencies, { status, contentType: formTypes.protobuf, body: [object.bytes(target.version, 'protobuf-single')] });
  }
  if (form === 'cbor') {
    const document = object.bytes(target.version, 'cbor-single');
    const body = [dependencies.random.below(2) === 0 ? document : turnCbor(document)];
    return respondBytes(exchange, dependencies, { status, contentType: formTypes.cbor, body });
  }
  const respond = (body: Uint8Array): MaybePromise<Response> => respondBytes(exchange, dependencies, { status, contentType: formTypes[form], body: [body] });
  if (form === 'json' && !wantsPretty(exchange)) return respond(object.bytes(target.version, 'json-line'));
  return mapMaybe(makeReadable(request, object.bytes(target.version, 'json-single'), form), respond);
}

/** Answers with an object that is not stored: a Scale, a review. */
export function respondKubeObject(
  request: ResourceRequest, answer: { status: number; object: KubeObject; schema: Schema; representation: Representation },
): MaybePromise<Response> {
  const { status, object, schema, representation: { form, conversion } } = answer;
  // A Status is shown as it is.
  const isStatus = object.kind === 'Status';
  if (conversion?.kind === 'PartialObjectMetadataList' && !isStatus) {
    throw notAList(request, `*${String(object.apiVersion).split(/[./]/, 1)[0]}.${object.kind}`);
  }
  if (conversion?.kind === 'PartialObjectMetadata' && !isStatus) {
    const value = { value: partialObject(object.metadata, conversion.version, request.resource), schema: partialSchema(request.dependencies.schemas) };
    return respondValue(request.exchange, request.dependencies, { status, form, value });
  }
  if (conversion?.kind === 'Table' && object.kind === 'Scale') {
    const value = { value: tableOfScale(object, tableContext(request, conversion.version), request.dependencies.catalog) };
    return respondValue(request.exchange, request.dependencies, { status, form, value });
  }
  return respondValue(request.exchange, request.dependencies, { status, form, value: { value: object, schema } });
}
