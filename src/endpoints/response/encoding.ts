// Values to bytes in JSON, YAML and protobuf. Stored objects have bytes of their own; this file encodes everything else: Status, discovery,
// tables, metadata. JSON ends with a newline unless it is indented, as upstream's serializer writes it.
import { type JsonValue, type Schema } from '../../apimachinery/index.ts';
import { encodeCbor, encodeEnvelope, encodeJson, encodeMessage, parseJson, stringifyJson, stringifyYaml } from '../../codec/index.ts';
import type { Form } from '../request/media.ts';

const utf8 = new TextEncoder();

/** A value, and the schema that its protobuf encoding needs. */
export interface Encodable {
  /** Has kind and apiVersion. */
  readonly value: unknown;
  /** Only protobuf and CBOR need it. */
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
  if (form === 'cbor') return encodeCbor(value, { schema });
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

/** Joins chunks into one array of bytes. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const length = byteLength(chunks);
  // Large arrays are not zeroed first; small ones must not keep a slab of Node's buffer pool alive.
  const out = length < 4096 ? new Uint8Array(length) : Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

/** Length of all chunks together. */
export function byteLength(chunks: readonly Uint8Array[]): number {
  let sum = 0;
  for (const chunk of chunks) sum += chunk.length;
  return sum;
}
