// GET of a collection. JSON and protobuf lists are put together from the bytes of their items; nothing is parsed on the way.
import { failure, type JsonValue, type Schema } from '../../apimachinery/index.ts';
import { type Steps, createTimeSlice } from '../../base/index.ts';
import { encodeEnvelope, encodeMessage, parseJson, stringifyJson } from '../../codec/index.ts';
import type { ListOptions, ListResult, ListRun, StoredObject } from '../../registry/index.ts';
import { apiVersionOf, negotiateCall } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { byteLength, encodeBody, encodeText, joinBytes } from '../response/encoding.ts';
import type { Response } from '../exchange.ts';
import { makeReadable } from '../response/readable-list.ts';
import { type ListBody, SLICE_MS, joinBody, respondListBody } from '../response/list-body.ts';
import { type CollectionOptions, readCollectionOptions } from '../request/list-options.ts';
import { FORM_TYPES } from '../request/media.ts';
import { type Conversion, type Representation, wantsPretty } from '../request/negotiate.ts';
import { listMetadata, partialObject, partialSchemas } from '../response/partial.ts';
import { respondBytes } from '../response/respond.ts';
import { internalName, tableContext } from '../response/respond-object.ts';
import { encodeRun } from '../response/encoded-chunk-cache.ts';
import { columnDefinitions } from '../response/table.ts';
import { createRowEncoder } from '../response/table-chunks.ts';
import { handleWatch } from './watch.ts';

const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

/** What the registry needs of the options. */
export function listOptions(options: CollectionOptions): ListOptions {
  return {
    predicate: options.predicate, ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
    ...(options.resourceVersionMatch && { resourceVersionMatch: options.resourceVersionMatch }),
    ...(options.limit > 0 && { limit: options.limit }), ...(options.continue && { continue: options.continue }),
  };
}

/** Lists a collection, or watches it when the query says so. */
export async function handleList(call: ResourceRequest): Promise<Response> {
  const representation = negotiateCall(call, true);
  const options = readCollectionOptions(call);
  if (options.watch) return handleWatch(call, options);
  if (representation.conversion?.kind === 'Table') tableContext(call, representation.conversion.version);
  const list = await call.dependencies.registry.list(call.target, listOptions(options));
  return respondList(call, list, representation);
}

/** Beginning and end of a JSON list around its items. Lists of custom resources have sorted keys and always a `continue`. */
function jsonFrame(call: ResourceRequest, list: ListResult): { head: string; tail: string } {
  const kind = JSON.stringify(call.resource.listKind);
  const apiVersion = JSON.stringify(apiVersionOf(call));
  const metadata = listMetadata(list);
  if (!call.resource.custom) return { head: `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${JSON.stringify(metadata)},"items":[`, tail: ']}\n' };
  const { resourceVersion, remainingItemCount } = metadata;
  const sorted = JSON.stringify({ continue: list.continue ?? '', ...(remainingItemCount !== undefined && { remainingItemCount }), resourceVersion });
  return { head: `{"apiVersion":${apiVersion},"items":[`, tail: `],"kind":${kind},"metadata":${sorted}}\n` };
}

const COMMA = encodeText(',');

/** How the items of a list become bytes: runs of neighbours at once where there are any. Both put the separator in front. */
interface ItemEncoder {
  run(run: ListRun): Steps<Uint8Array>;
  item(item: StoredObject): Uint8Array;
}

function* encodeItems(list: ListResult, { run, item }: ItemEncoder): ListBody['pieces'] {
  if (list.runs) for (const each of list.runs) yield yield* run(each);
  else for (const each of list.items) yield item(each);
}

function* joinStored(run: ListRun): Steps<Uint8Array> {
  return run.joined();
}

function jsonItems(call: ResourceRequest): ItemEncoder {
  const { resource, target: { version } } = call;
  const parts = (each: StoredObject): readonly Uint8Array[] => [COMMA, each.bytes(version, 'json-item')];
  const item = (each: StoredObject): Uint8Array => joinBytes(parts(each));
  // Items of built-in kinds say nothing of their version.
  const stored = version === resource.storageVersion || (!resource.custom && resource.convert === undefined);
  const under = { key: `json ${apiVersionOf(call)}`, forms: call.dependencies.encodedChunks };
  return { item, run: stored ? joinStored : (run) => encodeRun(run, under, parts) };
}

function jsonBody(call: ResourceRequest, list: ListResult): ListBody {
  const { head, tail } = jsonFrame(call, list);
  return { contentType: FORM_TYPES.json, head: encodeText(head), tail: encodeText(tail), separatorBytes: 1, pieces: encodeItems(list, jsonItems(call)) };
}

/** Tag and length of a length-delimited protobuf field. */
function fieldHead(number: number, length: number): Uint8Array {
  const out = [(number << 3) | 2];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
  return Uint8Array.from(out);
}

/** No byte of an envelope's other fields: it marks where the message goes. */
const RAW_MARK = 0xff;

/** Makes all pieces, a slice at a time. */
async function collect({ exchange }: ResourceRequest, pieces: ListBody['pieces']): Promise<Uint8Array[]> {
  const made: Uint8Array[] = [];
  const pace = createTimeSlice(exchange.clock, SLICE_MS);
  for (const piece of pieces) {
    if (piece !== undefined) made.push(piece);
    const turn = pace();
    if (turn !== undefined) await turn;
    if (exchange.aborted) break;
  }
  return made;
}

/** A protobuf list: all lengths are written before what they count, so the pieces are made first. */
async function protobufBody(
  call: ResourceRequest, list: ListResult, { type, encoder }: { type: { apiVersion: string; kind: string }; encoder: ItemEncoder },
): Promise<ListBody> {
  const schema = call.dependencies.schemas.definition(LIST_META);
  const metadata = schema ? encodeMessage(schema, listMetadata(list) as unknown as JsonValue) : new Uint8Array(0);
  const pieces = [fieldHead(1, metadata.length), metadata, ...(await collect(call, encodeItems(list, encoder)))];
  const envelope = encodeEnvelope(type, Uint8Array.of(RAW_MARK));
  const mark = envelope.lastIndexOf(RAW_MARK);
  const head = joinBytes([envelope.subarray(0, mark - 2), fieldHead(2, byteLength(pieces))]);
  return { contentType: FORM_TYPES.protobuf, head, tail: envelope.subarray(mark + 1), separatorBytes: 0, pieces };
}

function protobufItems({ dependencies: { encodedChunks: forms }, target: { version }, resource }: ResourceRequest): ItemEncoder {
  const parts = (each: StoredObject): readonly Uint8Array[] => {
    const bytes = each.bytes(version, 'protobuf-item');
    return [fieldHead(2, bytes.length), bytes];
  };
  const under = { key: `protobuf ${resource.group}/${version}`, forms };
  return { item: (each) => joinBytes(parts(each)), run: (run) => encodeRun(run, under, parts) };
}

function tableBody(call: ResourceRequest, list: ListResult, version: string): ListBody {
  const context = tableContext(call, version);
  const start = { kind: 'Table', apiVersion: `meta.k8s.io/${version}`, metadata: listMetadata(list), columnDefinitions: columnDefinitions(context) };
  const head = encodeText(`${stringifyJson(start).slice(0, -1)},"rows":[`);
  const encoder = createRowEncoder(context, call.dependencies.encodedChunks);
  const pieces = call.resource.tableOrder === undefined ? encodeItems(list, encoder) : encodeInOrder(call, list, encoder);
  return { contentType: FORM_TYPES.json, head, tail: encodeText(']}\n'), separatorBytes: 1, pieces };
}

function encodeInOrder({ resource, target: { version } }: ResourceRequest, list: ListResult, { item }: ItemEncoder): Iterable<Uint8Array> {
  const sorted = Array.from(list.items).sort((a, b) => resource.tableOrder?.(a.object(version), b.object(version)) ?? 0);
  return sorted.map((each) => item(each));
}

function partialItems(call: ResourceRequest, metaVersion: string, protobuf: { on: boolean; schema: Schema | undefined }): ItemEncoder {
  const { version } = call.target;
  const parts = (each: StoredObject): readonly Uint8Array[] => {
    const partial = partialObject(each.object(version).metadata, metaVersion);
    if (!protobuf.on) return [encodeText(`,${stringifyJson(partial)}`)];
    const bytes = encodeMessage(protobuf.schema ?? { type: 'object' }, { metadata: partial.metadata } as unknown as JsonValue);
    return [fieldHead(2, bytes.length), bytes];
  };
  const under = { key: `partial ${call.resource.group}/${version} ${metaVersion} ${protobuf.on}`, forms: call.dependencies.encodedChunks };
  return { item: (each) => joinBytes(parts(each)), run: (run) => encodeRun(run, under, parts) };
}

function partialBody(call: ResourceRequest, list: ListResult, { form, conversion }: Representation): ListBody | Promise<ListBody> {
  const metaVersion = conversion?.version ?? 'v1';
  const type = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${metaVersion}` };
  const encoder = partialItems(call, metaVersion, { on: form === 'protobuf', schema: partialSchemas(call.dependencies.schemas)?.object });
  if (form === 'protobuf') return protobufBody(call, list, { type, encoder });
  const start = `${JSON.stringify({ ...type, metadata: listMetadata(list) }).slice(0, -1)},"items":`;
  // The items of an empty list are null, as the reference writes it.
  const empty = list.count === 0;
  return {
    contentType: FORM_TYPES.json, head: encodeText(empty ? `${start}null` : `${start}[`), tail: encodeText(empty ? '}\n' : ']}\n'), separatorBytes: 1,
    pieces: encodeItems(list, encoder),
  };
}

function convertedBody(call: ResourceRequest, list: ListResult, representation: Representation & { readonly conversion: Conversion },
): ListBody | Promise<ListBody> {
  const { kind, version } = representation.conversion;
  if (kind === 'Table') return tableBody(call, list, version);
  if (kind === 'PartialObjectMetadataList') return partialBody(call, list, representation);
  throw failure(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${internalName(call, true)})`);
}

function listBody(call: ResourceRequest, list: ListResult, representation: Representation): ListBody | Promise<ListBody> {
  const { form, conversion } = representation;
  if (conversion !== undefined) return convertedBody(call, list, { ...representation, conversion });
  if (form !== 'protobuf') return jsonBody(call, list);
  return protobufBody(call, list, { type: { apiVersion: apiVersionOf(call), kind: call.resource.listKind }, encoder: protobufItems(call) });
}

/** Answers with a list. */
export async function respondList(call: ResourceRequest, list: ListResult, representation: Representation): Promise<Response> {
  const { exchange, dependencies } = call;
  const { form } = representation;
  const body = await listBody(call, list, representation);
  if (form === 'protobuf' || (form === 'json' && !wantsPretty(exchange))) return respondListBody(call, body);
  if (list.count > 0) return respondListBody(call, makeReadable(body, form));
  const bytes = encodeBody({ value: parseJson(joinBody(body)).value }, form, true);
  return respondBytes(exchange, dependencies, { status: 200, contentType: FORM_TYPES[form], body: [bytes] });
}
