// GET of a collection. JSON and protobuf lists are put together from the bytes of their items; nothing is parsed on the way.
import { failure, type JsonValue } from '../apimachinery/index.ts';
import { encodeEnvelope, encodeMessage, parseJson } from '../codec/index.ts';
import type { ListOptions, ListResult, ListRun } from '../registry/index.ts';
import { apiVersionOf, negotiateCall } from './call.ts';
import type { Call } from './dependencies.ts';
import { byteLength, type Encodable, encodeBody, encodeText, joinBytes } from './encoding.ts';
import type { Response, Sink } from './exchange.ts';
import { type CollectionOptions, readCollectionOptions } from './list-options.ts';
import { FORM_TYPES } from './media.ts';
import { type Representation, wantsPretty } from './negotiate.ts';
import { listMetadata, partialList, partialSchemas } from './partial.ts';
import { respondBytes, respondValue } from './respond.ts';
import { internalName, tableContext } from './respond-object.ts';
import { tableOfList } from './table.ts';
import { handleWatch } from './watch.ts';

/** Bodies longer than this are streamed in batches instead of being handed over whole. */
const BATCH_BYTES = 512 * 1024;
const COMMA = encodeText(',');
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
export async function handleList(call: Call): Promise<Response> {
  const representation = negotiateCall(call, true);
  const options = readCollectionOptions(call);
  if (options.watch) return handleWatch(call, options);
  if (representation.conversion?.kind === 'Table') tableContext(call, representation.conversion.version);
  const list = await call.dependencies.registry.list(call.target, listOptions(options));
  return respondList(call, list, representation);
}

/** Beginning and end of a JSON list around its items. Lists of custom resources have sorted keys and always a `continue`. */
function jsonFrame(call: Call, list: ListResult): { head: string; tail: string } {
  const kind = JSON.stringify(call.resource.listKind);
  const apiVersion = JSON.stringify(apiVersionOf(call));
  const metadata = listMetadata(list);
  if (!call.resource.custom) return { head: `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${JSON.stringify(metadata)},"items":[`, tail: ']}\n' };
  const { resourceVersion, remainingItemCount } = metadata;
  const sorted = JSON.stringify({ continue: list.continue ?? '', ...(remainingItemCount !== undefined && { remainingItemCount }), resourceVersion });
  return { head: `{"apiVersion":${apiVersion},"items":[`, tail: `],"kind":${kind},"metadata":${sorted}}\n` };
}

function jsonPieces(call: Call, list: ListResult): Uint8Array[] {
  const { head, tail } = jsonFrame(call, list);
  const pieces = [encodeText(head)];
  const push = (bytes: Uint8Array): void => void (pieces.length > 1 ? pieces.push(COMMA, bytes) : pieces.push(bytes));
  if (list.runs) for (const run of list.runs) push(runBytes(call, run));
  else for (const item of list.items) push(item.bytes(call.target.version, 'json-item'));
  pieces.push(encodeText(tail));
  return pieces;
}

/** Items of whole chunks, joined, by chunk and by group version. Snapshots share chunks, so most of a big list is here the second time. */
const chunkBytes = new WeakMap<ListRun['chunk'], Map<string, Uint8Array>>();

function runBytes(call: Call, { chunk, from, to }: ListRun): Uint8Array {
  const encode = (): Uint8Array => {
    const pieces: Uint8Array[] = [];
    for (let i = from; i < to; i++) {
      if (i > from) pieces.push(COMMA);
      pieces.push((chunk[i] as ListRun['chunk'][number]).value.bytes(call.target.version, 'json-item'));
    }
    return joinBytes(pieces);
  };
  if (from !== 0 || to !== chunk.length) return encode();
  let kept = chunkBytes.get(chunk);
  if (!kept) chunkBytes.set(chunk, (kept = new Map<string, Uint8Array>()));
  const key = apiVersionOf(call);
  let bytes = kept.get(key);
  if (!bytes) kept.set(key, (bytes = encode()));
  return bytes;
}

/** Tag and length of a length-delimited protobuf field. */
function fieldHead(number: number, length: number): Uint8Array {
  const out = [(number << 3) | 2];
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
  return Uint8Array.from(out);
}

function protobufBody(call: Call, list: ListResult): Uint8Array {
  const schema = call.dependencies.schemas.definition(LIST_META);
  const metadata = schema ? encodeMessage(schema, listMetadata(list) as unknown as JsonValue) : new Uint8Array(0);
  const pieces = [fieldHead(1, metadata.length), metadata];
  for (const item of list.items) {
    const bytes = item.bytes(call.target.version, 'protobuf-item');
    pieces.push(fieldHead(2, bytes.length), bytes);
  }
  return encodeEnvelope({ apiVersion: apiVersionOf(call), kind: call.resource.listKind }, joinBytes(pieces));
}

function convert(call: Call, list: ListResult, { conversion }: Representation): Encodable {
  if (conversion?.kind === 'Table') return { value: tableOfList(list, tableContext(call, conversion.version)) };
  if (conversion?.kind === 'PartialObjectMetadata') {
    throw failure(406, 'NotAcceptable', `you requested PartialObjectMetadata, but the requested object is a list (${internalName(call, true)})`);
  }
  return { value: partialList(list, call.target.version, conversion?.version ?? 'v1'), schema: partialSchemas(call.dependencies.schemas)?.list };
}

/** Writes pieces in batches, waiting for the receiver between them. */
async function writeBatches(pieces: readonly Uint8Array[], sink: Sink): Promise<void> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    batch.push(piece);
    size += piece.length;
    if (size < BATCH_BYTES) continue;
    if (!sink.write(joinBytes(batch))) await sink.drained();
    if (sink.signal.aborted) return;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) sink.write(joinBytes(batch));
}

/** Answers with a list. */
export async function respondList(call: Call, list: ListResult, representation: Representation): Promise<Response> {
  const { exchange, dependencies } = call;
  const { form } = representation;
  if (representation.conversion) return respondValue(exchange, dependencies, { status: 200, form, value: convert(call, list, representation) });
  if (form === 'protobuf') return respondBytes(exchange, dependencies, { status: 200, contentType: FORM_TYPES.protobuf, body: [protobufBody(call, list)] });
  const pieces = jsonPieces(call, list);
  if (form === 'yaml' || wantsPretty(exchange)) {
    const body = encodeBody({ value: parseJson(joinBytes(pieces)).value }, form, true);
    return respondBytes(exchange, dependencies, { status: 200, contentType: FORM_TYPES[form], body: [body] });
  }
  const response = await respondBytes(exchange, dependencies, { status: 200, contentType: FORM_TYPES.json, body: pieces });
  const length = byteLength(pieces);
  if (length <= BATCH_BYTES) return response.headers['content-encoding'] ? response : { ...response, body: joinBytes(pieces) };
  if (response.headers['content-encoding']) return response;
  return { ...response, headers: { ...response.headers, 'content-length': String(length) }, body: (sink) => writeBatches(pieces, sink) };
}
