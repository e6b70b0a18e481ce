// Watch events to bytes: an object, its metadata or a table, framed as JSON lines or as length-delimited protobuf. Events of objects and
// metadata are the same for all streams of a resource, those of tables depend on the stream (only its first has column definitions).
import type { KubeObject, Schema, Status } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeJson, encodeMessage, frameJson, frameProtobuf } from '../../codec/index.ts';
import type { RegistryEvent } from '../../registry/index.ts';
import { bookmarkObject } from './bookmark.ts';
import { schemaOf } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { toJson } from '../response/encoding.ts';
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

function encodeValue(value: unknown, schema: Schema | undefined): Uint8Array {
  const { apiVersion = '', kind = '' } = value as { apiVersion?: string; kind?: string };
  return encodeEnvelope({ apiVersion, kind }, encodeMessage(schema ?? { type: 'object' }, toJson(value)));
}

/** An event with any value as its object. */
function encodeEvent(type: string, value: unknown, protobuf: { on: boolean; schema: Schema | undefined }): Uint8Array {
  return protobuf.on ? frameProtobuf(type, encodeValue(value, protobuf.schema)) : frameJson(type, encodeJson(value));
}

function encodeObjects(request: ResourceRequest, protobuf: boolean): WatchEventEncoder['encode'] {
  const { version } = request.target;
  const { group } = request.resource;
  const { encodedEvents } = request.dependencies;
  const keys = { ADDED: '', MODIFIED: '', DELETED: '' };
  for (const type of Object.keys(keys) as ChangeType[]) keys[type] = `${type} ${group} ${version} ${protobuf}`;
  return (event) => {
    if (event.type === 'BOOKMARK') return encodeEvent('BOOKMARK', bookmarkObject(request, event), { on: protobuf, schema: schemaOf(request) });
    const { type, object } = event;
    return encodedEvents.getOrEncode(object, keys[type], () => (protobuf
      ? frameProtobuf(type, object.bytes(version, 'protobuf-single')) : frameJson(type, object.bytes(version, 'json-single'))));
  };
}

function encodePartials(request: ResourceRequest, protobuf: boolean, metaVersion: string): WatchEventEncoder['encode'] {
  const schema = protobuf ? partialSchema(request.dependencies.schemas) : undefined;
  const { version } = request.target;
  return (event) => {
    if (event.type === 'BOOKMARK') {
      return encodeEvent('BOOKMARK', partialObject(bookmarkObject(request, event).metadata, metaVersion), { on: protobuf, schema });
    }
    const { type, object } = event;
    const key = `${type} partial ${metaVersion} ${version} ${protobuf}`;
    return request.dependencies.encodedEvents.getOrEncode(object, key, () =>
      encodeEvent(type, partialObject(object.object(version).metadata, metaVersion), { on: protobuf, schema }));
  };
}

function encodeTables(request: ResourceRequest, tableVersion: string): WatchEventEncoder['encode'] {
  let first = true;
  const fixed = tableContext(request, tableVersion);
  return (event) => {
    const context = { ...fixed, nowMs: request.dependencies.clock.now() };
    const bookmark = event.type === 'BOOKMARK';
    const object: KubeObject = bookmark ? bookmarkObject(request, event) : event.object.object(request.target.version);
    // The row of the bookmark that ends the initial events has its annotation even when rows carry no objects.
    const rowContext = bookmark && event.initialEventsEnd && context.include === 'None' ? { ...context, include: 'Metadata' as const } : context;
    const table = tableOfEvent([tableRow(object, rowContext)], context, { resourceVersion: object.metadata.resourceVersion ?? '', first });
    first = false;
    return frameJson(event.type, encodeJson(table));
  };
}

/** The encoder for a watch in this representation. Throws the 400 of a bad includeObject. */
export function createWatchEventEncoder(request: ResourceRequest, { form, conversion }: Representation): WatchEventEncoder {
  const protobuf = form === 'protobuf';
  const encode = conversion === undefined
    ? encodeObjects(request, protobuf)
    : conversion.kind === 'Table' ? encodeTables(request, conversion.version) : encodePartials(request, protobuf, conversion.version);
  const shareKey = conversion?.kind === 'Table' ? undefined : JSON.stringify([request.target.version, protobuf, conversion?.version]);
  return { encode, shareKey, encodeError: (status) => encodeEvent('ERROR', status, { on: protobuf, schema: statusSchema(request.dependencies.schemas) }) };
}
