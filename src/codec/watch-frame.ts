// Frames of a watch stream, made from the bytes of objects that are encoded once for all watchers.
// JSON: one line per event. Protobuf: four bytes of length, big-endian, then WatchEvent { type = 1, object = 2 { raw = 1 } }, where raw is
// the whole envelope of the object; frames themselves have no magic bytes. CBOR: a sequence of maps of type and object (RFC 8742), each with the mark.
import { BoundedCache } from '../base/index.ts';
import { encodeWatchEventHead } from './protobuf/envelope.ts';
import { encodeCbor, encodeCborHead, encodeCborItem } from './cbor/encode.ts';
import { encodeUtf8 } from './utf8.ts';

/** Event types are few. */
const jsonHeads = new BoundedCache<string, Uint8Array>({ limit: 16 });
const cborHeads = new BoundedCache<string, Uint8Array>({ limit: 16 });
const nothing = new Uint8Array(0);
const cborObjectFirst = concat(encodeCbor({}).slice(0, -1), encodeCborHead('map', 2), encodeCborItem('object'));
const jsonTail = encodeUtf8('}\n');

/** `{"type":…,"object":…}` and a newline. `object` is JSON without a newline at its end. */
export function frameJson(type: string, object: Uint8Array): Uint8Array {
  return concat(jsonHead(type), object, jsonTail);
}

function jsonHead(type: string): Uint8Array {
  return jsonHeads.peek(type) ?? jsonHeads.set(type, encodeUtf8(`{"type":${JSON.stringify(type)},"object":`));
}

/** The length-delimited protobuf frame of an event; `object` is an envelope as `encodeEnvelope` makes it. */
export function frameProtobuf(type: string, object: Uint8Array): Uint8Array {
  const head = encodeWatchEventHead(type, object.length);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, head.length + object.length);
  return concat(length, head, object);
}

/** The frame of an event in a CBOR sequence; `object` is a document as `encodeCbor` makes it. The object may come first, see `turnCbor`. */
export function frameCbor(type: string, object: Uint8Array, isTurned = false): Uint8Array {
  if (isTurned) return concat(cborObjectFirst, object, encodeCborEntry('type', type));
  return concat(cborHeads.peek(type) ?? cborHeads.set(type, encodeCbor({ type, object: null }).slice(0, -1)), object, nothing);
}

const encodeCborEntry = (key: string, value: string): Uint8Array => concat(encodeCborItem(key), encodeCborItem(value), nothing);

function concat(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length + c.length);
  out.set(a, 0);
  out.set(b, a.length);
  out.set(c, a.length + b.length);
  return out;
}
