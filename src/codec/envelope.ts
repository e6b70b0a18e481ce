// What surrounds messages: the envelope `k8s\0` + runtime.Unknown of every protobuf body and stored value, and the parts of a list, so that a list
// can be put together from messages that are encoded already.
import { encodeUtf8 } from './utf8.ts';
import { ProtobufError, Reader, Writer } from './protobuf-wire.ts';

export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface Envelope extends TypeMeta {
  /** The message; a view of the bytes that were decoded. */
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);
/** contentEncoding and contentType, which are always there and empty. */
const tail = Uint8Array.of(0x1a, 0, 0x22, 0);

/** The bytes behind the message in an envelope. */
export const envelopeTail: Uint8Array = tail;

/** The bytes before a message of `rawLength` bytes: head + message + `envelopeTail` is the envelope. */
export function encodeEnvelopeHead({ apiVersion, kind }: TypeMeta, rawLength: number): Uint8Array {
  const writer = new Writer();
  writer.varint(rawLength);
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

const heads = new Map<string, Uint8Array>();
const maxHeads = 512;

/** Everything before the length of the message; kinds are few, so it is kept. */
function headOf(type: TypeMeta): Uint8Array {
  const key = `${type.apiVersion}\0${type.kind}`;
  const known = heads.get(key);
  if (known !== undefined) return known;
  const head = encodeEnvelopeHead(type, 0).slice(0, -1);
  if (heads.size < maxHeads) heads.set(key, head);
  return head;
}

function varintOf(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest % 0x80) | 0x80);
  out.push(rest);
  return out;
}

/** Do the bytes begin as an envelope does? */
export function isEnvelope(bytes: Uint8Array): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}

/** Opens an envelope; throws ProtobufError with the reference's text. Absent texts are empty. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new ProtobufError('empty data');
  if (!isEnvelope(bytes)) throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
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

/** metav1.ListMeta as lists have it. */
export interface ListHead {
  readonly resourceVersion?: string | undefined;
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

/** The first field of any list's message, its metadata; the items follow, each behind an `encodeItemHead`. */
export function encodeListHead(meta: ListHead): Uint8Array {
  const writer = new Writer();
  if (meta.remainingItemCount !== undefined) {
    writer.int64(meta.remainingItemCount);
    writer.varint(0x20);
  }
  writer.text(meta.continue ?? '');
  writer.varint(0x1a);
  writer.text(meta.resourceVersion ?? '');
  writer.varint(0x12);
  writer.text('');
  writer.varint(0x0a);
  writer.varint(writer.size);
  writer.varint(0x0a);
  return writer.finish();
}

/** Tag and length that stand before an item of `length` bytes in a list's message. */
export function encodeItemHead(length: number): Uint8Array {
  return Uint8Array.from([0x12, ...varintOf(length)]);
}

/** The message of a list, put together in one copy. */
export function encodeList(meta: ListHead, items: readonly Uint8Array[]): Uint8Array {
  const head = encodeListHead(meta);
  const itemHeads = items.map((item) => encodeItemHead(item.length));
  let size = head.length;
  items.forEach((item, i) => (size += item.length + (itemHeads[i] as Uint8Array).length));
  const out = new Uint8Array(size);
  out.set(head);
  let at = head.length;
  items.forEach((item, i) => {
    out.set(itemHeads[i] as Uint8Array, at);
    at += (itemHeads[i] as Uint8Array).length;
    out.set(item, at);
    at += item.length;
  });
  return out;
}

/** What stands before the object's envelope, of `length` bytes, in the message of metav1.WatchEvent. */
export function encodeWatchEventHead(type: string, length: number): Uint8Array {
  const name = encodeUtf8(type);
  const raw = [0x0a, ...varintOf(length)];
  return Uint8Array.from([0x0a, ...varintOf(name.length), ...name, 0x12, ...varintOf(raw.length + length), ...raw]);
}
