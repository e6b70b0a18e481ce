// Values to bytes in the three forms. Objects of the store know their own bytes; this is for everything else: Status, discovery,
// tables, metadata. JSON ends with a newline unless it is indented, as upstream's serializer does it.
import { type JsonValue, type Schema } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeJson, encodeMessage, parseJson, stringifyJson, stringifyYaml } from '../../codec/index.ts';
import type { Form } from '../request/media.ts';

const utf8 = new TextEncoder();

/** A value with what its protobuf form needs. */
export interface Encodable {
  /** Carries kind and apiVersion. */
  readonly value: unknown;
  /** Needed for protobuf only. */
  readonly schema?: Schema | undefined;
}

/** UTF-8 of a text. */
export function encodeText(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Indented JSON without a newline at its end. */
export function encodePretty(value: unknown): Uint8Array {
  return utf8.encode(stringifyJson(value, 2));
}

/** JSON on one line, with its newline. */
function encodeLine(value: unknown): Uint8Array {
  return utf8.encode(`${stringifyJson(value)}\n`);
}

/** The bytes of a whole body. */
export function encodeBody({ value, schema }: Encodable, form: Form, pretty: boolean): Uint8Array {
  if (form === 'yaml') return utf8.encode(stringifyYaml(toJson(value)));
  if (form === 'protobuf' && schema) {
    const { apiVersion = '', kind = '' } = value as { apiVersion?: string; kind?: string };
    return encodeEnvelope({ apiVersion, kind }, encodeMessage(schema, toJson(value)));
  }
  return pretty ? encodePretty(value) : encodeLine(value);
}

/** A value without undefined members, as its JSON would read back. */
export function toJson(value: unknown): JsonValue {
  return parseJson(encodeJson(value)).value;
}

/** Joins pieces into one array of bytes. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const length = byteLength(pieces);
  // Large arrays need not be zeroed first; small ones must not keep a slab of Node's pool alive.
  const out = length < 4096 ? new Uint8Array(length) : Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

/** Length of all pieces together. */
export function byteLength(pieces: readonly Uint8Array[]): number {
  let sum = 0;
  for (const piece of pieces) sum += piece.length;
  return sum;
}
