// What surrounds messages: the envelope `k8s\0` + runtime.Unknown of every protobuf body and stored value, and the head of a watch event.
import { BoundedCache } from '../../base/index.ts';
import { encodeUtf8 } from '../utf8.ts';
import { ProtobufError, Reader, Writer } from './wire.ts';

/** What a message is of. */
interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** An envelope, opened. */
interface Envelope extends TypeMeta {
  /** The message; a view of the bytes that were decoded. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
/** contentEncoding and contentType, which are always there and empty. */
const tail = Uint8Array.of(0x1a, 0, 0x22, 0);

/** An envelope around a message. */
export function encodeEnvelope(type: TypeMeta, raw: Uint8Array): Uint8Array {
  const head = headOf(type);
  const length = varintOf(raw.length);
  const out = new Uint8Array(head.length + length.length + raw.length + tail.length);
  out.set(head);
  out.set(length, head.length);
  out.set(raw, head.length + length.length);
  out.set(tail, out.length - tail.length);
  return out;
}

/** Kinds are few. */
const heads = new BoundedCache<string, Uint8Array>({ limit: 512 });

/** Everything before the length of the message. */
function headOf(type: TypeMeta): Uint8Array {
  const key = `${type.apiVersion}\0${type.kind}`;
  return heads.peek(key) ?? heads.set(key, encodeHead(type));
}

/** The magic and the TypeMeta, up to the tag of the message; a Writer writes from the end to the beginning. */
function encodeHead({ apiVersion, kind }: TypeMeta): Uint8Array {
  const writer = new Writer();
  writer.varint(0x12);
  const used = writer.size;
  writer.text(kind);
  writer.varint(0x12);
  writer.text(apiVersion);
  writer.varint(0x0a);
  writer.varint(writer.size - used);
  writer.varint(0x0a);
  writer.raw(magic);
  return writer.finish();
}

function varintOf(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
  return out;
}

/** Whether bytes begin as an envelope does: a protobuf body, or a value that is stored as protobuf. */
export function isProtobuf(bytes: Uint8Array): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

/** Opens an envelope; throws ProtobufError with the reference's text. Absent texts are empty. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (!isProtobuf(bytes)) throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  if (bytes.length === magic.length) throw new ProtobufError('empty body');
  const reader = new Reader(bytes, magic.length);
  const found = { apiVersion: '', kind: '', raw: bytes.subarray(0, 0), contentEncoding: '', contentType: '' };
  while (reader.next()) {
    if (reader.tag === 0x0a) readType(reader, found);
    else if (reader.tag === 0x12) found.raw = reader.delimited();
    else if (reader.tag === 0x1a) found.contentEncoding = reader.text();
    else if (reader.tag === 0x22) found.contentType = reader.text();
    else reader.skip();
  }
  return found;
}

function readType(reader: Reader, into: { apiVersion: string; kind: string }): void {
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.tag === 0x0a) into.apiVersion = reader.text();
    else if (reader.tag === 0x12) into.kind = reader.text();
    else reader.skip();
  }
  reader.leave(outer);
}

/** What stands before the object's envelope, of `length` bytes, in the message of metav1.WatchEvent. */
export function encodeWatchEventHead(type: string, length: number): Uint8Array {
  const name = encodeUtf8(type);
  const raw = [0x0a, ...varintOf(length)];
  return Uint8Array.from([0x0a, ...varintOf(name.length), ...name, 0x12, ...varintOf(raw.length + length), ...raw]);
}
