// GET of a collection. Lists in JSON and protobuf are joined from the stored bytes of their items, without parsing them.
import { failure, type JsonValue, type Schema } from '../../apimachinery/index.ts';
import { type Steps, createTimeSlice } from '../../base/index.ts';
import { encodeCborItem, encodeEnvelope, encodeMessage, parseJson, stringifyJson } from '../../codec/index.ts';
import { type ListOptions, type ListResult, type ListRun, type StoredObject, versionIn } from '../../registry/index.ts';
import { apiVersionOf, negotiateRequest } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { cborList } from '../response/cbor-list.ts';
import { byteLength, encodeBody, encodeText, joinBytes } from '../response/encoding.ts';
import type { Response } from '../exchange.ts';
import { makeReadable } from '../response/readable-list.ts';
import { type ListBody, SLICE_MS, joinBody, respondListBody } from '../response/list-body.ts';
import { type CollectionOptions, readCollectionOptions } from '../request/list-options.ts';
import { type Form, formTypes } from '../request/media.ts';
import { type Conversion, type Representation, wantsPretty } from '../request/negotiate.ts';
import { listMetadata, partialObject, partialSchema } from '../response/partial.ts';
import { respondBytes } from '../response/respond.ts';
import { internalName, tableContext } from '../response/respond-object.ts';
import { encodeOne, encodeRun } from '../response/encoded-chunk-cache.ts';
import { columnDefinitions } from '../response/table.ts';
import { createRowEncoder } from '../response/table-chunks.ts';
import { handleWatch } from './watch.ts';

const LIST_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta';

/** The options as the registry takes them. */
export function listOptions(options: CollectionOptions): ListOptions {
  return {
    predicate: options.predicate, ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
    ...(options.resourceVersionMatch && { resourceVersionMatch: options.resourceVersionMatch }),
    ...(options.limit > 0 && { limit: options.limit }), ...(options.continue && { continue: options.continue }),
  };
}

/** Lists a collection, or watches it when the query says so. */
export async function handleList(request: ResourceRequest): Promise<Response> {
  const representation = negotiateRequest(request, true);
  const options = await readCollectionOptions(request);
  if (options.watch) return handleWatch(request, options, representation);
  const list = await request.dependencies.registry.list(request.target, listOptions(options));
  return respondList(request, list, representation);
}

/** The metadata of a list. Upstream sorts the keys of lists of custom resources, and always writes their `continue`. */
function metadataOf({ resource }: ResourceRequest, list: ListResult): Record<string, unknown> {
  const metadata = listMetadata(list);
  if (!resource.custom) return { ...metadata, ...(list.shard !== undefined && { shardInfo: { selector: list.shard } }) };
  const { resourceVersion, remainingItemCount } = metadata;
  return { continue: list.continue ?? '', ...(remainingItemCount !== undefined && { remainingItemCount }), resourceVersion };
}

/** The bytes before and after the items of a JSON list. */
function jsonHeadAndTail(request: ResourceRequest, list: ListResult): { head: string; tail: string } {
  const kind = JSON.stringify(request.resource.listKind);
  const apiVersion = JSON.stringify(apiVersionOf(request));
  const metadata = JSON.stringify(metadataOf(request, list));
  if (!request.resource.custom) return { head: `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${metadata},"items":[`, tail: ']}\n' };
  return { head: `{"apiVersion":${apiVersion},"items":[`, tail: `],"kind":${kind},"metadata":${metadata}}\n` };
}

const comma = encodeText(',');

/** Encodes the items of a list: runs of neighbouring objects at once where the list has them. Both put the separator in front of each item. */
interface ItemEncoder {
  run(run: ListRun): Steps<Uint8Array>;
  item(item: StoredObject): Uint8Array;
}

function* encodeItems(list: ListResult, { run, item }: ItemEncoder): ListBody['chunks'] {
  if (list.runs) for (const each of list.runs) yield yield* run(each);
  else for (const each of list.items) yield yield* encodeOne(each, item);
}

const joinStored = (run: ListRun): Steps<Uint8Array> => run.joined();

function jsonItems(request: ResourceRequest): ItemEncoder {
  const { resource, target: { version } } = request;
  const parts = (each: StoredObject): readonly Uint8Array[] => [comma, each.bytes(version, 'json-item')];
  const item = (each: StoredObject): Uint8Array => joinBytes(parts(each));
  // Items of built-in kinds do not contain their apiVersion, so their stored bytes serve every API version.
  const areStored = version === resource.storageVersion || (!resource.custom && resource.convert === undefined);
  const slot = { key: `json ${apiVersionOf(request)}`, cache: request.dependencies.encodedChunks };
  return { item, run: areStored ? joinStored : (run) => encodeRun(run, slot, parts) };
}

function jsonBody(request: ResourceRequest, list: ListResult): ListBody {
  const { head, tail } = jsonHeadAndTail(request, list);
  return { contentType: formTypes.json, head: encodeText(head), tail: encodeText(tail), separatorBytes: 1, chunks: encodeItems(list, jsonItems(request)) };
}

/** Tag and length of a length-delimited protobuf field. */
function fieldHead(number: number, length: number): Uint8Array {
  const out = [(number << 3) | 2];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
  return Uint8Array.from(out);
}

/** A byte that no other field of an envelope contains: it marks the place of the message. */
const RAW_MARK = 0xff;

/** Encodes all chunks, with turns for other requests; stops at the first that exceeds `maxBytes`. */
async function collect({ exchange }: ResourceRequest, chunks: ListBody['chunks'], maxBytes = Infinity): Promise<Uint8Array[]> {
  const made: Uint8Array[] = [];
  let size = 0;
  const pace = createTimeSlice(exchange.clock, SLICE_MS);
  for (const chunk of chunks) {
    if (chunk !== undefined) made.push(chunk);
    size += chunk?.length ?? 0;
    if (size > maxBytes) break;
    const turn = pace();
    if (turn !== undefined) await turn;
    if (exchange.aborted) break;
  }
  return made;
}

/** A protobuf list. Its length comes first, so all chunks are encoded before the first byte is sent. */
async function protobufBody(
  request: ResourceRequest, list: ListResult,
  { type, encoder, metadata: members }: { type: { apiVersion: string; kind: string }; encoder: ItemEncoder; metadata: Record<string, unknown> },
): Promise<ListBody> {
  const schema = request.dependencies.schemas.definition(LIST_META);
  const metadata = schema ? encodeMessage(schema, members as JsonValue) : new Uint8Array(0);
  const chunks = [fieldHead(1, metadata.length), metadata, ...(await collect(request, encodeItems(list, encoder)))];
  const envelope = encodeEnvelope(type, Uint8Array.of(RAW_MARK));
  const mark = envelope.lastIndexOf(RAW_MARK);
  const head = joinBytes([envelope.subarray(0, mark - 2), fieldHead(2, byteLength(chunks))]);
  return { contentType: formTypes.protobuf, head, tail: envelope.subarray(mark + 1), separatorBytes: 0, chunks };
}

function protobufItems({ dependencies: { encodedChunks: cache }, target: { version }, resource }: ResourceRequest): ItemEncoder {
  const parts = (each: StoredObject): readonly Uint8Array[] => {
    const bytes = each.bytes(version, 'protobuf-item');
    return [fieldHead(2, bytes.length), bytes];
  };
  const slot = { key: `protobuf ${resource.group}/${version}`, cache };
  return { item: (each) => joinBytes(parts(each)), run: (run) => encodeRun(run, slot, parts) };
}

function cborBody(request: ResourceRequest, list: ListResult): ListBody {
  const { resource, target: { version }, dependencies: { encodedChunks: cache } } = request;
  const slot = { key: `cbor ${resource.group}/${version}`, cache };
  const item = (each: StoredObject): Uint8Array => each.bytes(version, 'cbor-item');
  const start = { kind: resource.listKind, apiVersion: apiVersionOf(request), metadata: metadataOf(request, list) };
  const chunks = encodeItems(list, { item, run: (run) => encodeRun(run, slot, (each) => [item(each)]) });
  return cborList(start, list.count, chunks);
}

function tableBody(request: ResourceRequest, list: ListResult, tableVersion: string): ListBody {
  const context = tableContext(request, tableVersion);
  const start = { kind: 'Table', apiVersion: `meta.k8s.io/${tableVersion}`, metadata: listMetadata(list), columnDefinitions: columnDefinitions(context) };
  // Upstream's printers make a list, its converter for kinds without columns of their own makes none.
  const isNull = list.count === 0 && versionIn(request.resource, request.target.version)?.hasDefaultColumns === true;
  const head = encodeText(`${stringifyJson(start).slice(0, -1)},"rows":${isNull ? 'null' : '['}`);
  const encoder = createRowEncoder(context, request.dependencies.encodedChunks);
  const chunks = request.resource.tableOrder === undefined ? encodeItems(list, encoder) : encodeInOrder(request, list, encoder);
  return { contentType: formTypes.json, head, tail: encodeText(isNull ? '}\n' : ']}\n'), separatorBytes: 1, chunks };
}

function encodeInOrder({ resource, target: { version } }: ResourceRequest, list: ListResult, { item }: ItemEncoder): Iterable<Uint8Array> {
  const sorted = Array.from(list.items).sort((a, b) => resource.tableOrder?.(a.object(version), b.object(version)) ?? 0);
  return sorted.map((each) => item(each));
}

function partialItems(request: ResourceRequest, metaVersion: string, form: Form): ItemEncoder {
  const { version } = request.target;
  const schema: Schema = partialSchema(request.dependencies.schemas) ?? { type: 'object' };
  const parts = (each: StoredObject): readonly Uint8Array[] => {
    const partial = partialObject(each.object(version).metadata, metaVersion, request.resource);
    if (form === 'cbor') return [encodeCborItem(partial)];
    if (form !== 'protobuf') return [encodeText(`,${stringifyJson(partial)}`)];
    const bytes = encodeMessage(schema, { metadata: partial.metadata } as unknown as JsonValue);
    return [fieldHead(2, bytes.length), bytes];
  };
  const slot = { key: `partial ${request.resource.group}/${version} ${metaVersion} ${form}`, cache: request.dependencies.encodedChunks };
  return { item: (each) => joinBytes(parts(each)), run: (run) => encodeRun(run, slot, parts) };
}

function partialBody(request: ResourceRequest, list: ListResult, { form, conversion }: Representation): ListBody | Promise<ListBody> {
  const metaVersion = conversion?.version ?? 'v1';
  const type = { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${metaVersion}` };
  const encoder = partialItems(request, metaVersion, form === 'yaml' ? 'json' : form);
  if (form === 'protobuf') return protobufBody(request, list, { type, encoder, metadata: listMetadata(list) });
  // The reference writes the items of an empty list as null.
  const empty = list.count === 0;
  if (form === 'cbor') {
    return cborList({ ...type, metadata: listMetadata(list) }, empty ? null : list.count, encodeItems(list, encoder));
  }
  const start = `${JSON.stringify({ ...type, metadata: listMetadata(list) }).slice(0, -1)},"items":`;
  return {
    contentType: formTypes.json, head: encodeText(empty ? `${start}null` : `${start}[`), tail: encodeText(empty ? '}\n' : ']}\n'), separatorBytes: 1,
    chunks: encodeItems(list, encoder),
  };
}

function convertedBody(request: ResourceRequest, list: ListResult, representation: Representation & { readonly conversion: Conversion },
): ListBody | Promise<ListBody> {
  const { kind, version } = representation.conversion;
  if (kind === 'Table') return tableBody(request, list, version);
  if (kind === 'PartialObjectMetadataList') return partialBody(request, list, representation);
  throw failure(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${internalName(request, true)})`);
}

function listBody(request: ResourceRequest, list: ListResult, representation: Representation): ListBody | Promise<ListBody> {
  const { form, conversion } = representation;
  if (conversion !== undefined) return convertedBody(request, list, { ...representation, conversion });
  if (form === 'cbor') return cborBody(request, list);
  if (form !== 'protobuf') return jsonBody(request, list);
  const type = { apiVersion: apiVersionOf(request), kind: request.resource.listKind };
  return protobufBody(request, list, { type, encoder: protobufItems(request), metadata: metadataOf(request, list) });
}

/** Records the list as JSON, whatever the client gets it as; made a slice at a time, and no further than the record takes. */
async function recordList(request: ResourceRequest, list: ListResult, representation: Representation): Promise<void> {
  const { exchange: { audit } } = request;
  if (audit?.wantsResponse !== true) return;
  const { head, tail, separatorBytes, chunks } = await listBody(request, list, { ...representation, form: 'json' });
  const [first, ...rest] = await collect(request, chunks, audit.maxResponseBytes);
  const parts = [head, ...(first === undefined ? [] : [first.subarray(separatorBytes)]), ...rest, tail];
  if (byteLength(parts) > audit.maxResponseBytes) audit.leaveOutResponse();
  else audit.recordResponseJson(joinBytes(parts));
}

/** Answers with a list. */
export async function respondList(request: ResourceRequest, list: ListResult, representation: Representation): Promise<Response> {
  const { exchange, dependencies } = request;
  const { form } = representation;
  const isReadable = form === 'yaml' || (form === 'json' && wantsPretty(exchange));
  const { runs: _, ...singly } = list;
  const body = await listBody(request, isReadable ? singly : list, representation);
  await recordList(request, list, representation);
  if (!isReadable) return respondListBody(request, body);
  if (list.count > 0) return respondListBody(request, makeReadable(body, form));
  const bytes = encodeBody({ value: parseJson(joinBody(body)).value }, form, true);
  return respondBytes(exchange, dependencies, { status: 200, contentType: formTypes[form], body: [bytes] });
}
