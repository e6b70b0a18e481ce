// Watch events to bytes: an object, its metadata or a table, framed as JSON lines, as length-delimited protobuf or as a CBOR sequence. Events of objects and
// metadata are the same for all streams of a resource, those of tables depend on the stream (only its first has column definitions).
import type { KubeObject, Schema, Status } from '../../apimachinery/index.ts';
import { encodeCbor, encodeEnvelope, encodeJson, encodeMessage, frameCbor, frameJson, frameProtobuf, turnCbor } from '../../codec/index.ts';
import type { RegistryEvent, StoredObject } from '../../registry/index.ts';
import { bookmarkObject } from './bookmark.ts';
import { schemaOf } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { toJson } from '../response/encoding.ts';
import type { Form } from '../request/media.ts';
import type { Representation } from '../request/negotiate.ts';
import { partialObject, partialSchema } from '../response/partial.ts';
import { statusSchema } from '../response/respond.ts';
import { tableContext } from '../response/respond-object.ts';
import { tableOfEvent, tableRow } from '../response/table.ts';

/** Encodes the events of one stream. */
export interface WatchEventEncoder {
  encode(event: RegistryEvent): Uint8Array;
  /** Encoders of one resource with equal keys produce the same bytes; undefined where the bytes depend on the stream. */
  readonly shareKey: string | undefined;
  encodeError(status: Status): Uint8Array;
}

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The encoding of a stream. */
interface Encoding {
  readonly form: Form;
  /** Which of two orders the entries of events and objects in CBOR have, see `turnCbor`. */
  readonly isTurned: boolean;
}

function encodeMessageOf(value: unknown, schema: Schema | undefined): Uint8Array {
  const { apiVersion = '', kind = '' } = value as { apiVersion?: string; kind?: string };
  return encodeEnvelope({ apiVersion, kind }, encodeMessage(schema ?? { type: 'object' }, toJson(value)));
}

/** An event with any value as its object. */
function encodeEvent(type: string, value: unknown, { form, isTurned, schema }: Encoding & { readonly schema?: Schema | undefined }): Uint8Array {
  if (form === 'cbor') return frameCbor(type, encodeCbor(value, { schema }), isTurned);
  return form === 'protobuf' ? frameProtobuf(type, encodeMessageOf(value, schema)) : frameJson(type, encodeJson(value));
}

function frameStored(type: string, object: StoredObject, { form, isTurned, version }: Encoding & { readonly version: string }): Uint8Array {
  if (form === 'cbor') {
    const document = object.bytes(version, 'cbor-single');
    return frameCbor(type, isTurned ? turnCbor(document) : document, isTurned);
  }
  return form === 'protobuf' ? frameProtobuf(type, object.bytes(version, 'protobuf-single')) : frameJson(type, object.bytes(version, 'json-single'));
}

function encodeObjects(request: ResourceRequest, encoding: Encoding): WatchEventEncoder['encode'] {
  const { version } = request.target;
  const { resource: { custom, group } } = request;
  const { encodedEvents } = request.dependencies;
  const keys = { ADDED: '', MODIFIED: '', DELETED: '' };
  for (const type of Object.keys(keys) as ChangeType[]) keys[type] = `${type} ${group} ${version} ${encoding.form} ${encoding.isTurned}`;
  const schema = custom ? undefined : schemaOf(request);
  return (event) => {
    if (event.type === 'BOOKMARK') return encodeEvent('BOOKMARK', bookmarkObject(request, event), { ...encoding, schema });
    const { type, object } = event;
    return encodedEvents.getOrEncode(object, keys[type], () => frameStored(type, object, { ...encoding, version }));
  };
}

function encodePartials(request: ResourceRequest, encoding: Encoding, metaVersion: string): WatchEventEncoder['encode'] {
  const schema = encoding.form === 'protobuf' ? partialSchema(request.dependencies.schemas) : undefined;
  const { version } = request.target;
  return (event) => {
    if (event.type === 'BOOKMARK') {
      return encodeEvent('BOOKMARK', partialObject(bookmarkObject(request, event).metadata, metaVersion, request.resource), { ...encoding, schema });
    }
    const { type, object } = event;
    const key = `${type} partial ${metaVersion} ${version} ${encoding.form} ${encoding.isTurned}`;
    return request.dependencies.encodedEvents.getOrEncode(object, key, () =>
      encodeEvent(type, partialObject(object.shared(version).metadata, metaVersion, request.resource), { ...encoding, schema }));
  };
}

function encodeTables(request: ResourceRequest, tableVersion: string): WatchEventEncoder['encode'] {
  let first = true;
  const fixed = tableContext(request, tableVersion);
  return (event) => {
    const context = { ...fixed, nowMs: request.dependencies.clock.now() };
    const bookmark = event.type === 'BOOKMARK';
    const object: KubeObject = bookmark ? bookmarkObject(request, event) : event.object.shared(request.target.version);
    const table = tableOfEvent([tableRow(object, context)], context, { resourceVersion: object.metadata.resourceVersion ?? '', first });
    first = false;
    return frameJson(event.type, encodeJson(table));
  };
}

/** The encoder for a watch in this representation. Throws the 400 of a bad includeObject. */
export function createWatchEventEncoder(request: ResourceRequest, { form, conversion }: Representation): WatchEventEncoder {
  const encoding = { form, isTurned: form === 'cbor' && request.dependencies.random.below(2) === 1 };
  const encode = conversion === undefined
    ? encodeObjects(request, encoding)
    : conversion.kind === 'Table' ? encodeTables(request, conversion.version) : encodePartials(request, encoding, conversion.version);
  const shareKey = conversion?.kind === 'Table' ? undefined : JSON.stringify([request.target.version, encoding, conversion?.version]);
  return { encode, shareKey, encodeError: (status) => encodeEvent('ERROR', status, { ...encoding, schema: statusSchema(request.dependencies.schemas) }) };
}
