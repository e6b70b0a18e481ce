// Frames of a watch stream, made from the bytes of objects that are encoded once for all watchers.
// JSON: one line per event. Protobuf: four bytes of length, big-endian, then WatchEvent { type = 1, object = 2 { raw = 1 } }, where raw is
// the whole envelope of the object; frames themselves have no magic bytes.
import { encodeUtf8 } from './utf8.ts';

const jsonHeads = new Map<string, Uint8Array>();
const jsonTail = encodeUtf8('}\n');

/** `{"type":…,"object":…}` and a newline. `object` is JSON without a newline at its end. */
export function frameJson(type: string, object: Uint8Array): Uint8Array {
  return concat(jsonHead(type), object, jsonTail);
}

/** Event types are few; their heads are kept. */
function jsonHead(type: string): Uint8Array {
  let head = jsonHeads.get(type);
  if (head === undefined) {
    head = encodeUtf8(`{"type":${JSON.stringify(type)},"object":`);
    if (jsonHeads.size < 16) jsonHeads.set(type, head);
  }
  return head;
}

/** The length-delimited protobuf frame of an event; `object` is an envelope as `encodeEnvelope` makes it. */
export function frameProtobuf(type: string, object: Uint8Array): Uint8Array {
  const name = encodeUtf8(type);
  const inner = 1 + lengthOf(object.length) + object.length;
  const size = 1 + lengthOf(name.length) + name.length + 1 + lengthOf(inner) + inner;
  const frame = new Uint8Array(4 + size);
  new DataView(frame.buffer).setUint32(0, size);
  let at = writeHead(frame, 4, 0x0a, name.length);
  frame.set(name, at);
  at = writeHead(frame, at + name.length, 0x12, inner);
  at = writeHead(frame, at, 0x0a, object.length);
  frame.set(object, at);
  return frame;
}

function lengthOf(n: number): number {
  return n < 2 ** 7 ? 1 : n < 2 ** 14 ? 2 : n < 2 ** 21 ? 3 : n < 2 ** 28 ? 4 : 5;
}

function writeHead(out: Uint8Array, from: number, tag: number, length: number): number {
  let at = from;
  out[at++] = tag;
  let rest = length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out[at++] = (rest & 0x7f) | 0x80;
  out[at++] = rest;
  return at;
}

function concat(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array {
  const out = new Uint8Array(a.length + b.length + c.length);
  out.set(a, 0);
  out.set(b, a.length);
  out.set(c, a.length + b.length);
  return out;
}
