// Answers with one object: as it is, as a table, as metadata. Plain JSON and protobuf are the bytes that the object keeps.
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import { failure, type KubeObject, type Schema } from '../../apimachinery/index.ts';
import { parseJson } from '../../codec/index.ts';
import type { StoredObject } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { type Encodable, encodeBody } from './encoding.ts';
import type { Response } from '../exchange.ts';
import { hasManyMembers } from '../request/large-requests.ts';
import { FORM_TYPES } from '../request/media.ts';
import { type Representation, wantsPretty } from '../request/negotiate.ts';
import { partialObject, partialSchemas } from './partial.ts';
import { respondBytes, respondValue } from './respond.ts';
import { tableOfScale } from './scale-table.ts';
import { parseIncludeObject, type TableContext, tableOfObject } from './table.ts';

/** The name of a kind in messages about shapes. */
export function internalName(call: Pick<ResourceRequest, 'resource'>, list: boolean): string {
  const { group, kind, listKind, custom } = call.resource;
  if (custom) return list ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  return `*${group === '' ? 'core' : (group.split('.')[0] as string)}.${list ? listKind : kind}`;
}

/** What tables of the call are made with. */
export function tableContext(call: ResourceRequest, tableVersion: string): TableContext {
  return {
    resource: call.resource, served: call.target.version, tableVersion, include: parseIncludeObject(call.exchange.query), nowMs: call.dependencies.clock.now(),
  };
}

/** The converted value of an object. */
function convert(call: ResourceRequest, object: StoredObject, { conversion }: Representation): Encodable {
  if (conversion?.kind === 'Table') return { value: tableOfObject(object, tableContext(call, conversion.version)) };
  if (conversion?.kind === 'PartialObjectMetadataList') {
    if (call.resource.custom) throw failure(500, '', 'content is not a list');
    throw failure(406, 'NotAcceptable', `you requested PartialObjectMetadataList, but the requested object is not a list (${internalName(call, false)})`);
  }
  const { metadata } = object.object(call.target.version);
  return { value: partialObject(metadata, conversion?.version ?? 'v1'), schema: partialSchemas(call.dependencies.schemas)?.object };
}

/** The JSON of an object for people. */
function makeReadable({ exchange, dependencies: { elsewhere } }: ResourceRequest, json: Uint8Array, form: 'json' | 'yaml'): MaybePromise<Uint8Array> {
  if (elsewhere !== undefined && hasManyMembers(json)) return elsewhere.makeReadable(exchange, json, form);
  return encodeBody({ value: parseJson(json).value }, form, true);
}

/** Answers with an object of the store. */
export function respondObject(call: ResourceRequest, answer: { status: number; object: StoredObject; representation: Representation }): MaybePromise<Response> {
  const { exchange, dependencies, target } = call;
  const { status, object, representation } = answer;
  const { form } = representation;
  if (representation.conversion) return respondValue(exchange, dependencies, { status, form, value: convert(call, object, representation) });
  if (form === 'protobuf') {
    return respondBytes(exchange, dependencies, { status, contentType: FORM_TYPES.protobuf, body: [object.bytes(target.version, 'protobuf-single')] });
  }
  const respond = (body: Uint8Array): MaybePromise<Response> => respondBytes(exchange, dependencies, { status, contentType: FORM_TYPES[form], body: [body] });
  if (form === 'json' && !wantsPretty(exchange)) return respond(object.bytes(target.version, 'json-line'));
  return mapMaybe(makeReadable(call, object.bytes(target.version, 'json-single'), form), respond);
}

/** Answers with an object that is not of the store: a Scale, a review. */
export function respondKubeObject(
  call: ResourceRequest, answer: { status: number; object: KubeObject; schema: Schema; representation: Representation },
): MaybePromise<Response> {
  const { status, object, schema, representation: { form, conversion } } = answer;
  if (conversion?.kind === 'PartialObjectMetadata') {
    const value = { value: partialObject(object.metadata, conversion.version), schema: partialSchemas(call.dependencies.schemas)?.object };
    return respondValue(call.exchange, call.dependencies, { status, form, value });
  }
  if (conversion?.kind === 'Table' && object.kind === 'Scale') {
    const value = { value: tableOfScale(object, tableContext(call, conversion.version), call.dependencies.catalog) };
    return respondValue(call.exchange, call.dependencies, { status, form, value });
  }
  return respondValue(call.exchange, call.dependencies, { status, form, value: { value: object, schema } });
}
