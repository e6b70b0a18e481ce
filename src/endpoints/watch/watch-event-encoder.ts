// Events to bytes. Frames of whole objects are made once per object version, event type and form, however many watchers there are;
// frames of tables depend on the watcher and are made for each.
import type { KubeObject, Schema, Status } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeJson, encodeMessage, frameJson, frameProtobuf } from '../../codec/index.ts';
import type { StoredObject, RegistryEvent } from '../../registry/index.ts';
import { bookmarkObject } from './bookmark.ts';
import { schemaOf } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { toJson } from '../response/encoding.ts';
import type { Representation } from '../request/negotiate.ts';
import { partialObject, partialSchemas } from '../response/partial.ts';
import { statusSchema } from '../response/respond.ts';
import { tableContext } from '../response/respond-object.ts';
import { tableOfEvent, tableRow } from '../response/table.ts';

/** Makes the frames of one watch. */
export interface WatchEventEncoder {
  encode(event: RegistryEvent): Uint8Array;
  /** Encoders of one resource with the same value here make the same frames; absent where frames depend on the watch. */
  readonly shared: string | undefined;
  encodeError(status: Status): Uint8Array;
}

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Frames by object version, then by what they were made for. */
const sharedFrames = new WeakMap<StoredObject, Map<string, Uint8Array>>();

function shareFrame(object: StoredObject, key: string, make: () => Uint8Array): Uint8Array {
  let frames = sharedFrames.get(object);
  if (!frames) sharedFrames.set(object, (frames = new Map<string, Uint8Array>()));
  let frame = frames.get(key);
  if (!frame) frames.set(key, (frame = make()));
  return frame;
}

function encodeValue(value: unknown, schema: Schema | undefined): Uint8Array {
  const { apiVersion = '', kind = '' } = value as { apiVersion?: string; kind?: string };
  return encodeEnvelope({ apiVersion, kind }, encodeMessage(schema ?? { type: 'object' }, toJson(value)));
}

/** The frame of any value. */
function frameValue(type: string, value: unknown, protobuf: { on: boolean; schema: Schema | undefined }): Uint8Array {
  return protobuf.on ? frameProtobuf(type, encodeValue(value, protobuf.schema)) : frameJson(type, encodeJson(value));
}

function objectFrames(call: ResourceRequest, protobuf: boolean): WatchEventEncoder['encode'] {
  const { version } = call.target;
  const { group } = call.resource;
  const keys = { ADDED: '', MODIFIED: '', DELETED: '' };
  for (const type of Object.keys(keys) as ChangeType[]) keys[type] = `${type} ${group} ${version} ${protobuf}`;
  return (event) => {
    if (event.type === 'BOOKMARK') return frameValue('BOOKMARK', bookmarkObject(call, event), { on: protobuf, schema: schemaOf(call) });
    const { type, object } = event;
    return shareFrame(object, keys[type], () => (protobuf
      ? frameProtobuf(type, object.bytes(version, 'protobuf-single')) : frameJson(type, object.bytes(version, 'json-single'))));
  };
}

function partialFrames(call: ResourceRequest, protobuf: boolean, metaVersion: string): WatchEventEncoder['encode'] {
  const schema = protobuf ? partialSchemas(call.dependencies.schemas)?.object : undefined;
  const { version } = call.target;
  return (event) => {
    if (event.type === 'BOOKMARK') {
      return frameValue('BOOKMARK', partialObject(bookmarkObject(call, event).metadata, metaVersion), { on: protobuf, schema });
    }
    const { type, object } = event;
    const key = `${type} partial ${metaVersion} ${version} ${protobuf}`;
    return shareFrame(object, key, () => frameValue(type, partialObject(object.object(version).metadata, metaVersion), { on: protobuf, schema }));
  };
}

function tableFrames(call: ResourceRequest, tableVersion: string): WatchEventEncoder['encode'] {
  let first = true;
  const fixed = tableContext(call, tableVersion);
  return (event) => {
    const context = { ...fixed, nowMs: call.dependencies.clock.now() };
    const bookmark = event.type === 'BOOKMARK';
    const object: KubeObject = bookmark ? bookmarkObject(call, event) : event.object.object(call.target.version);
    // The end of the initial events is told whatever rows shall carry.
    const rowContext = bookmark && event.initialEventsEnd && context.include === 'None' ? { ...context, include: 'Metadata' as const } : context;
    const table = tableOfEvent([tableRow(object, rowContext)], context, { resourceVersion: object.metadata.resourceVersion ?? '', first });
    first = false;
    return frameJson(event.type, encodeJson(table));
  };
}

/** The encoder for a watch in this representation. Throws the 400 of a bad includeObject. */
export function createWatchEventEncoder(call: ResourceRequest, { form, conversion }: Representation): WatchEventEncoder {
  const protobuf = form === 'protobuf';
  const encode = conversion === undefined
    ? objectFrames(call, protobuf)
    : conversion.kind === 'Table' ? tableFrames(call, conversion.version) : partialFrames(call, protobuf, conversion.version);
  const shared = conversion?.kind === 'Table' ? undefined : JSON.stringify([call.target.version, protobuf, conversion?.version]);
  return { encode, shared, encodeError: (status) => frameValue('ERROR', status, { on: protobuf, schema: statusSchema(call.dependencies.schemas) }) };
}
