// CBOR (RFC 8949) to JSON values, as upstream's serializer reads it: strings are byte strings or text strings, byte strings in the tags 21 to 23
// become base64url, base64 or hexadecimal text, times become RFC 3339 text, other tags are dropped. Bytes that are not well formed are refused at
// once; what is well formed and still not acceptable (equal keys, invalid UTF-8, integers beyond int64) is reported beside the value.
import type { JsonObject, JsonValue } from '../../apimachinery/index.ts';
import { MAX_JSON_DEPTH, type OddNumber } from '../json/json.ts';
import { decodeUtf8, isUtf8 } from '../utf8.ts';
import { formatEpoch, formatTime } from './time.ts';

/** Bytes that are not well-formed CBOR; the message is that of upstream's library. */
export class CborError extends Error {
  override readonly name = 'CborError';
}

/** A CBOR data item as a JSON value. */
interface ParsedCbor {
  readonly value: JsonValue;
  /** What makes the item unacceptable although it is well formed: the first such thing in the order of the bytes. */
  readonly problem?: string | undefined;
  /** The key of the outermost map whose value has the problem. */
  readonly problemField?: string | undefined;
  /** The problem that the keys of the outermost map have. */
  readonly outerProblem?: string | undefined;
  /** Floats with integral values, which typed integers refuse. */
  readonly oddNumbers?: readonly OddNumber[];
}

/** The names of the eight major types in messages. */
const typeNames = ['positive integer', 'negative integer', 'byte string', 'UTF-8 text string', 'array', 'map', 'tag', 'primitives'] as const;

const [NEGATIVE, BYTES, TEXT, ARRAY, MAP, TAG, PRIMITIVE] = [1, 2, 3, 4, 5, 6, 7];
const BREAK = 0xff;
const INDEFINITE = 31;
const MAX_ODD_NUMBERS = 100;
const MAX_INT64 = 2n ** 63n - 1n;
const SHORT_TEXT = 12;
const INVALID_TEXT = 'cbor: invalid UTF-8 string';

/** Buffer's method of fixed encoding, which is much faster than toString; absent from its types. */
interface FastBuffer extends Buffer {
  utf8Slice(from: number, to: number): string;
}

/** The mark that upstream's serializer puts in front of every document (the tag of self-described CBOR). */
export const cborMark = Uint8Array.of(0xd9, 0xd9, 0xf7);

/** Whether bytes begin with the mark of self-described CBOR: a value that is stored as CBOR. */
export function isCbor(bytes: Uint8Array): boolean {
  return bytes[0] === 0xd9 && bytes[1] === 0xd9 && bytes[2] === 0xf7;
}

/** Parses one data item, which has to be all there is; throws CborError for bytes that are not well formed. Integers beyond 2^53 become bigint. */
export function parseCbor(bytes: Uint8Array): ParsedCbor {
  const reader = new Reader(bytes, false);
  const value = reader.readAll();
  const { problem, problemField, outerProblem } = reader;
  if (!reader.hasOddNumbers) return { value, problem, problemField, outerProblem };
  const second = new Reader(bytes, true);
  second.readAll();
  return { value, problem, problemField, outerProblem, oddNumbers: second.oddNumbers };
}

/** Sets an own property whatever its name: assigning `__proto__` would change the prototype. */
function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

class Reader {
  problem: string | undefined;
  problemField: string | undefined;
  outerProblem: string | undefined;
  hasOddNumbers = false;
  readonly oddNumbers: OddNumber[] = [];
  readonly #bytes: FastBuffer;
  readonly #view: DataView;
  readonly #path: (string | number)[] | undefined;
  #at = 0;
  #depth = 0;
  /** The argument of the head read last; a bigint beyond 2^53. */
  #argument: number | bigint = 0;
  /** The low five bits of its first byte. */
  #info = 0;
  #outerKey: string | undefined;
  /** The text encoding that byte strings are expected to have later: tag 21, 22, 23, or 0. */
  #encoding = 0;

  constructor(bytes: Uint8Array, tracksPaths: boolean) {
    this.#bytes = (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as FastBuffer;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#path = tracksPaths ? [] : undefined;
  }

  readAll(): JsonValue {
    if (this.#bytes.length === 0) throw new CborError('EOF');
    const value = this.#readValue();
    const rest = this.#bytes.length - this.#at;
    if (rest > 0) throw new CborError(`cbor: ${rest} bytes of extraneous data starting at index ${this.#at}`);
    return value;
  }

  #report(problem: string): null {
    if (this.problem === undefined) this.problemField = this.#outerKey;
    this.problem ??= problem;
    return null;
  }

  /** Reads the first byte of a data item and its argument; returns the major type. */
  #readHead(): number {
    const first = this.#next();
    const type = first >> 5;
    const info = this.#info = first & 31;
    if (info < 24) this.#argument = info;
    else if (info === 24) this.#argument = this.#next();
    else if (info < 28) this.#readLongArgument(1 << (info - 24));
    else if (info < INDEFINITE || type < BYTES || type === TAG) throw new CborError(`cbor: invalid additional information ${info} for type ${typeNames[type]}`);
    else if (type === PRIMITIVE) throw new CborError('cbor: unexpected "break" code');
    if (type === PRIMITIVE && info === 24 && (this.#argument as number) < 32) {
      throw new CborError(`cbor: invalid simple value ${this.#argument} for type primitives`);
    }
    return type;
  }

  #readLongArgument(size: number): void {
    if (this.#bytes.length - this.#at < size) throw new CborError('unexpected EOF');
    if (size === 2) this.#argument = this.#view.getUint16(this.#at);
    else if (size === 4) this.#argument = this.#view.getUint32(this.#at);
    else {
      const exact = this.#view.getBigUint64(this.#at);
      this.#argument = exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact;
    }
    this.#at += size;
  }

  #next(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new CborError('unexpected EOF');
    this.#at++;
    return byte;
  }

  #isAtBreak(): boolean {
    const isBreak = this.#bytes[this.#at] === BREAK;
    if (isBreak) this.#at++;
    return isBreak;
  }

  #readValue(): JsonValue {
    const type = this.#readHead();
    switch (type) {
      case BYTES:
        return this.#encoding === 0 ? this.#readText(type) : this.#readEncoded();
      case TEXT:
        return this.#readText(type);
      case MAP:
        return this.#readMap();
      case ARRAY:
        return this.#readArray();
      case PRIMITIVE:
        return this.#readPrimitive();
      case TAG:
        return this.#readTagged();
      default:
        return this.#readInteger(type === NEGATIVE);
    }
  }

  #readInteger(isNegative: boolean): JsonValue {
    const argument = this.#argument;
    if (typeof argument === 'number' && !isNegative) return argument;
    const exact = isNegative ? -1n - BigInt(argument) : BigInt(argument);
    if (BigInt(argument) > MAX_INT64) {
      const type = typeNames[isNegative ? 1 : 0];
      return this.#report(`cbor: cannot unmarshal ${type} into Go value of type int64 (${exact} overflows Go's int64)`);
    }
    const near = Number(exact);
    return Number.isSafeInteger(near) ? near : exact;
  }

  /** The end of the string of definite length whose head was just read, where reading continues. */
  #skipString(): number {
    const length = this.#argument as number;
    if (length > this.#bytes.length - this.#at) throw new CborError('unexpected EOF');
    this.#at += length;
    return this.#at;
  }

  /** The bytes of the string whose head was just read. */
  #readBytes(type: number): Uint8Array {
    if (this.#info === INDEFINITE) return this.#readChunks(type);
    const from = this.#at;
    return this.#bytes.subarray(from, this.#skipString());
  }

  /** Passes over the next chunk of a string of indefinite length; returns where it begins, -1 at the break. */
  #skipChunk(type: number): number {
    if (this.#isAtBreak()) return -1;
    const first = this.#bytes[this.#at];
    if (first === undefined) throw new CborError('unexpected EOF');
    if (first >> 5 !== type) throw new CborError(`cbor: wrong element type ${typeNames[first >> 5]} for indefinite-length ${typeNames[type]}`);
    if ((first & 31) === INDEFINITE) throw new CborError(`cbor: indefinite-length ${typeNames[type]} chunk is not definite-length`);
    this.#readHead();
    const from = this.#at;
    this.#skipString();
    return from;
  }

  /** Passes over the chunks twice: their lengths come first. */
  #readChunks(type: number): Uint8Array {
    const start = this.#at;
    let length = 0;
    for (let from = this.#skipChunk(type); from !== -1; from = this.#skipChunk(type)) length += this.#at - from;
    const joined = new Uint8Array(length);
    let at = 0;
    this.#at = start;
    for (let from = this.#skipChunk(type); from !== -1; from = this.#skipChunk(type)) {
      if (this.#at === from) continue;
      const chunk = this.#bytes.subarray(from, this.#at);
      if (type === TEXT) this.#checkText(from, this.#at);
      joined.set(chunk, at);
      at += chunk.length;
    }
    return joined;
  }

  #readText(type: number): string {
    if (this.#info === INDEFINITE) return decodeUtf8(this.#readChunks(type));
    const from = this.#at;
    const to = this.#skipString();
    const text = this.#decodeShort(from, to) ?? this.#bytes.utf8Slice(from, to);
    if (!text.includes('\uFFFD')) return text;
    // The replacement character stands for itself where its own three bytes are there.
    if (type === TEXT) this.#checkText(from, to);
    return decodeUtf8(this.#bytes, from, to);
  }

  #checkText(from: number, to: number): void {
    if (this.problem === undefined && !isUtf8(this.#bytes, from, to)) this.#report(INVALID_TEXT);
  }

  /** Native calls cost more than a loop over a short text; undefined where it is long or has characters beyond ASCII. */
  #decodeShort(from: number, to: number): string | undefined {
    if (to - from > SHORT_TEXT) return undefined;
    let text = '';
    for (let i = from; i < to; i++) {
      const code = this.#bytes[i] as number;
      if (code > 0x7f) return undefined;
      text += String.fromCharCode(code);
    }
    return text;
  }

  #readEncoded(): string {
    const bytes = Buffer.from(this.#readBytes(BYTES));
    if (this.#encoding === 22) return bytes.toString('base64');
    return bytes.toString(this.#encoding === 21 ? 'base64url' : 'hex');
  }

  #enter(): void {
    if (++this.#depth > MAX_JSON_DEPTH) throw new CborError(`cbor: exceeded max nested level ${MAX_JSON_DEPTH}`);
  }

  #readArray(): JsonValue[] {
    this.#enter();
    const count = this.#info === INDEFINITE ? Infinity : Number(this.#argument);
    const array: JsonValue[] = [];
    const path = this.#path;
    path?.push(0);
    for (let i = 0; i < count; i++) {
      if (count === Infinity && this.#isAtBreak()) break;
      if (path !== undefined) path[path.length - 1] = i;
      array.push(this.#readValue());
    }
    path?.pop();
    this.#depth--;
    return array;
  }

  #readMap(): JsonObject {
    this.#enter();
    const isOuter = this.#depth === 1;
    const count = this.#info === INDEFINITE ? Infinity : Number(this.#argument);
    const object: JsonObject = {};
    this.#path?.push('');
    for (let i = 0; i < count; i++) {
      if (count === Infinity && this.#isAtBreak()) break;
      if (isOuter) this.#outerKey = undefined;
      const before = this.problem;
      const key = this.#readKey();
      if (key !== undefined && Object.hasOwn(object, key)) this.#report(`cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${i}`);
      if (isOuter && this.problem !== before) this.outerProblem ??= this.problem;
      if (isOuter) this.#outerKey = key;
      if (this.#path !== undefined) this.#path[this.#path.length - 1] = key ?? '';
      if (this.#bytes[this.#at] === BREAK) throw new CborError('cbor: unexpected "break" code');
      const value = this.#readValue();
      if (key !== undefined) setOwn(object, key, value);
    }
    this.#path?.pop();
    this.#depth--;
    return object;
  }

  /** The key of a map; undefined for one that is no string. */
  #readKey(): string | undefined {
    const type = (this.#bytes[this.#at] ?? 0) >> 5;
    const key = this.#readValue();
    if (typeof key === 'string') return key;
    this.#report(`cbor: cannot unmarshal ${typeNames[type]} into Go value of type string`);
    return undefined;
  }

  #readPrimitive(): JsonValue {
    const info = this.#info;
    if (info === 20 || info === 21) return info === 21;
    if (info === 22) return null;
    if (info < 25) return this.#report(`cbor: data item of cbor type primitives is not accepted by protocol: simple value ${this.#argument} is not recognized`);
    const value = info === 25 ? readFloat16(this.#argument as number) : this.#readFloat(info);
    if (!Number.isFinite(value)) {
      const kind = Number.isNaN(value) ? 'NaN' : 'infinity';
      throw new CborError(`cbor: data item of cbor type primitives is not accepted by protocol: floating-point ${kind}`);
    }
    if (Number.isInteger(value)) this.#noteOdd(value);
    return value;
  }

  /** The float whose bytes were read as an argument. */
  #readFloat(info: number): number {
    return info === 26 ? this.#view.getFloat32(this.#at - 4) : this.#view.getFloat64(this.#at - 8);
  }

  #noteOdd(value: number): void {
    this.hasOddNumbers = true;
    if (this.#path === undefined || this.oddNumbers.length >= MAX_ODD_NUMBERS) return;
    let path = '';
    for (const part of this.#path) path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`;
    this.oddNumbers.push({ path, literal: `${value}.0` });
  }

  #readTagged(): JsonValue {
    const tag = this.#argument;
    const first = this.#bytes[this.#at];
    if (first === undefined) throw new CborError('unexpected EOF');
    if (tag === 2 || tag === 3) throw new CborError('cbor: data item of cbor type tag is not accepted by protocol: bignum');
    // As upstream, a tag is a level where it stands in another one.
    const isNested = first >> 5 === TAG;
    if (isNested) this.#enter();
    const outer = this.#encoding;
    if (tag === 21 || tag === 22 || tag === 23) this.#encoding = tag;
    const value = tag === 0 || tag === 1 ? this.#readTime(tag, first) : this.#readValue();
    this.#encoding = outer;
    if (isNested) this.#depth--;
    return value;
  }

  #readTime(tag: 0 | 1, first: number): JsonValue {
    const type = first >> 5;
    const isFloat = first >= 0xf9 && first <= 0xfb;
    const value = this.#readValue();
    if (tag === 0 && type !== TEXT) return this.#report(`cbor: tag number 0 must be followed by text string, got ${typeNames[type]}`);
    if (tag === 1 && type > NEGATIVE && !isFloat) {
      return this.#report(`cbor: tag number 1 must be followed by integer or floating-point number, got ${typeNames[type]}`);
    }
    if (value === null) return null;
    const text = tag === 0 ? formatTime(value as string) : formatEpoch(Number(value));
    return text ?? this.#report(`cbor: cannot set ${String(value)} for time.Time`);
  }
}

function readFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
