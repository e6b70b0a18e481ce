// JSON values to CBOR as upstream's serializer writes it: strings and keys as byte strings, bytes (base64 in JSON) as byte strings in tag 22, numbers
// in their shortest form. Keys are sorted by their encoded bytes where the same value has to give the same bytes.
import type { Schema } from '../../apimachinery/index.ts';
import { compareKeys } from '../../base/index.ts';
import { cborMark } from './decode.ts';

interface EncodeOptions {
  /** Names the members that are bytes or floats; without it every string is text and every integral number an integer. */
  readonly schema?: Schema | undefined;
  /** Sorts the keys of maps (RFC 8949, 4.2.1). */
  readonly sortsKeys?: boolean;
}

/** A data item without the mark. Undefined members are left out. */
export function encodeCborItem(value: unknown, { schema, sortsKeys = false }: EncodeOptions = {}): Uint8Array {
  writer.start(sortsKeys);
  writer.write(value, schema);
  return writer.finish();
}

/** A whole document: the mark of self-described CBOR, and the data item. */
export function encodeCbor(value: unknown, { schema, sortsKeys = false }: EncodeOptions = {}): Uint8Array {
  writer.start(sortsKeys);
  writer.raw(cborMark);
  writer.write(value, schema);
  return writer.finish();
}

/** The head of an array or a map of `count` entries. */
export function encodeCborHead(type: 'array' | 'map', count: number): Uint8Array {
  writer.start(false);
  writer.head(type === 'array' ? ARRAY : MAP, count);
  return writer.finish();
}

/**
 * The same document with the first entry of its map at the end, for documents whose first key and value are short texts (kind, apiVersion).
 * Upstream orders the entries of its answers by chance, lest clients depend on an order that nothing promises.
 */
export function turnCbor(document: Uint8Array): Uint8Array {
  const start = cborMark.length + (((document[cborMark.length] as number) & 31) < 24 ? 1 : 2);
  const key = start + 1 + ((document[start] as number) & 31);
  const long = ((document[key] as number) & 31) === 24;
  const end = key + (long ? 2 + (document[key + 1] as number) : 1 + ((document[key] as number) & 31));
  const turned = new Uint8Array(document.length);
  turned.set(document.subarray(0, start));
  turned.set(document.subarray(end), start);
  turned.set(document.subarray(start, end), document.length - (end - start));
  return turned;
}

const [BYTES, ARRAY, MAP, TAG] = [0x40, 0x80, 0xa0, 0xc0];
const BASE64_TAG = 22;
const FIRST_BYTES = 1 << 14;
/** A larger buffer is not kept for the next value. */
const KEPT_BYTES = 1 << 20;
const SHORT_TEXT = 40;

/** The schema of a member of an object or map. */
function memberSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema === undefined || schema.type === 'any') return undefined;
  return schema.type === 'object' ? schema.fields?.get(key)?.schema : schema.items;
}

class Writer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #at = 0;
  #sortsKeys = false;

  start(sortsKeys: boolean): void {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#at = 0;
    this.#sortsKeys = sortsKeys;
  }

  /** A copy of what was written since `start`. */
  finish(): Uint8Array {
    const out = new Uint8Array(this.#at);
    out.set(this.#bytes.subarray(0, this.#at));
    return out;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #reserve(size: number): void {
    if (this.#bytes.length - this.#at >= size) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + size));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }

  /** The first byte of a data item, and its argument. */
  head(type: number, argument: number): void {
    this.#reserve(9);
    if (argument < 24) this.#bytes[this.#at++] = type | argument;
    else if (argument < 0x100) {
      this.#bytes[this.#at++] = type | 24;
      this.#bytes[this.#at++] = argument;
    } else if (argument < 0x10000) this.#at = this.#bytes.writeUInt16BE(argument, this.#mark(type | 25));
    else if (argument < 0x1_0000_0000) this.#at = this.#bytes.writeUInt32BE(argument, this.#mark(type | 26));
    else this.#at = this.#bytes.writeBigUInt64BE(BigInt(argument), this.#mark(type | 27));
  }

  #mark(first: number): number {
    this.#bytes[this.#at] = first;
    return this.#at + 1;
  }

  write(value: unknown, schema: Schema | undefined): void {
    if (typeof value === 'string') {
      if (schema?.format === 'byte') this.#writeBytes(value);
      else this.#writeText(value);
    } else if (typeof value === 'number') this.#writeNumber(value, schema?.type === 'number');
    else if (typeof value === 'bigint') this.#writeInteger(value);
    else if (typeof value !== 'object' || value === null) this.#writeSimple(value === true ? 0xf5 : value === false ? 0xf4 : 0xf6);
    else if (Array.isArray(value)) this.#writeArray(value, schema?.type === 'array' ? schema.items : undefined);
    else this.#writeMap(value as Readonly<Record<string, unknown>>, schema);
  }

  #writeSimple(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#at++] = byte;
  }

  #writeArray(array: readonly unknown[], items: Schema | undefined): void {
    this.head(ARRAY, array.length);
    for (const item of array) this.write(item, items);
  }

  #writeMap(object: Readonly<Record<string, unknown>>, schema: Schema | undefined): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined);
    if (this.#sortsKeys) keys.sort(compareEncoded);
    this.head(MAP, keys.length);
    for (const key of keys) {
      this.#writeText(key);
      this.write(object[key], memberSchema(schema, key));
    }
  }

  /** Native calls cost more than a loop over a short text. */
  #writeText(text: string): void {
    const { length } = text;
    if (length <= SHORT_TEXT && this.#writeAscii(text)) return;
    const size = Buffer.byteLength(text);
    this.head(BYTES, size);
    this.#reserve(size);
    this.#at += this.#bytes.write(text, this.#at, 'utf8');
  }

  /** Writes a short text; writes nothing and returns false where it has characters beyond ASCII. */
  #writeAscii(text: string): boolean {
    const { length } = text;
    const start = this.#at;
    this.head(BYTES, length);
    this.#reserve(length);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.#at = start;
        return false;
      }
      this.#bytes[this.#at++] = code;
    }
    return true;
  }

  #writeBytes(base64: string): void {
    const bytes = Buffer.from(base64, 'base64');
    this.head(TAG, BASE64_TAG);
    this.head(BYTES, bytes.length);
    this.raw(bytes);
  }

  #writeNumber(value: number, isFloat: boolean): void {
    if (isFloat || !Number.isSafeInteger(value)) return this.#writeFloat(value);
    if (value >= 0) this.head(0, value);
    else this.head(0x20, -1 - value);
  }

  #writeInteger(value: bigint): void {
    const argument = value < 0n ? -1n - value : value;
    const type = value < 0n ? 0x20 : 0;
    if (argument <= BigInt(Number.MAX_SAFE_INTEGER)) return this.head(type, Number(argument));
    this.#reserve(9);
    this.#at = this.#bytes.writeBigUInt64BE(argument, this.#mark(type | 27));
  }

  #writeFloat(value: number): void {
    this.#reserve(9);
    const half = toFloat16(value);
    if (half !== undefined) this.#at = this.#bytes.writeUInt16BE(half, this.#mark(0xf9));
    else if (Math.fround(value) === value) this.#at = this.#bytes.writeFloatBE(value, this.#mark(0xfa));
    else this.#at = this.#bytes.writeDoubleBE(value, this.#mark(0xfb));
  }
}

/** The order of byte strings once they are encoded: shorter ones first. */
function compareEncoded(a: string, b: string): number {
  return (Buffer.byteLength(a) - Buffer.byteLength(b)) || compareKeys(a, b);
}

/** The 16 bits of a number that a half-precision float holds exactly; undefined of another one. */
function toFloat16(value: number): number | undefined {
  const size = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (size > 65_504) return undefined;
  if (size < 2 ** -14) {
    const fraction = size * 2 ** 24;
    return Number.isInteger(fraction) ? sign | fraction : undefined;
  }
  const exponent = Math.floor(Math.log2(size));
  const fraction = (size / 2 ** exponent - 1) * 1024;
  return Number.isInteger(fraction) && fraction >= 0 && fraction < 1024 ? sign | ((exponent + 15) << 10) | fraction : undefined;
}

/** Encoding never calls back, so one buffer serves all values. */
const writer = new Writer();
