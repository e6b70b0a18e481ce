// The strict JSON parser behind parseJson, for texts where JSON.parse would lose something or fails: a recursive descent over the bytes,
// bounded in depth. Its error texts are those of Go's encoding/json, character for character.
import { isJsonObject } from '../../base/index.ts';
import { type JsonObject, type JsonValue } from '../../apimachinery/index.ts';
import { decodeUtf8 } from '../utf8.ts';

/** A JSON text that cannot be parsed; the message is Go's. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

/** A value, and the problems that a strict reader has with its text. */
export interface StrictJson {
  value: JsonValue;
  duplicates: string[];
  oddNumbers?: { path: string; literal: string }[];
  respelled?: string[];
}

/** At most so many problems are reported, as in the reference. */
const MAX_PROBLEMS = 100;
const SPACE = 0x20;

const literals = new Map<number, { text: string; value: boolean | null }>([
  [0x74, { text: 'true', value: true }], [0x66, { text: 'false', value: false }], [0x6e, { text: 'null', value: null }],
]);

/** Parses `bytes`; see parseJson for the contract. */
export function parseStrict(bytes: Uint8Array, options: { maxDepth: number; merge: boolean }): StrictJson {
  const parser = new Parser(bytes, options.maxDepth, options.merge);
  const value = parser.parseText();
  const { duplicates, oddNumbers, respelled } = parser;
  return { value, duplicates, ...(oddNumbers.length > 0 && { oddNumbers }), ...(respelled.length > 0 && { respelled }) };
}

/** Sets an own property whatever its name: assigning `__proto__` would change the prototype. */
function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

class Parser {
  readonly duplicates: string[] = [];
  readonly oddNumbers: { path: string; literal: string }[] = [];
  readonly respelled: string[] = [];
  private readonly bytes: Uint8Array;
  private readonly maxDepth: number;
  private readonly merge: boolean;
  private readonly path: (string | number)[] = [];
  private at = 0;
  private depth = 0;

  constructor(bytes: Uint8Array, maxDepth: number, merge: boolean) {
    this.bytes = bytes;
    this.maxDepth = maxDepth;
    this.merge = merge;
  }

  parseText(): JsonValue {
    const value = this.parseValue(undefined);
    if (this.skipSpace() !== -1) throw this.unexpected('after top-level value');
    return value;
  }

  /** `into` is the object that an equal key left behind, to be filled further. */
  private parseValue(into: JsonValue | undefined): JsonValue {
    const c = this.skipSpace();
    if (c === 0x7b) return this.parseObject(into);
    if (c === 0x5b) return this.parseArray();
    if (c === 0x22) return this.parseString();
    if (c === 0x2d || (c >= 0x30 && c <= 0x39)) return this.parseNumber();
    const literal = literals.get(c);
    if (literal === undefined) throw this.unexpected('looking for beginning of value');
    return this.parseLiteral(literal.text, literal.value);
  }

  private parseObject(into: JsonValue | undefined): JsonObject {
    this.enter();
    const object: JsonObject = isJsonObject(into) ? into : {};
    const seen = new Map<string, boolean>();
    if (this.skipSpace() === 0x7d) return this.leave(object);
    for (;;) {
      if (this.skipSpace() !== 0x22) throw this.unexpected('looking for beginning of object key string');
      this.parseMember(object, seen);
      const c = this.skipSpace();
      if (c === 0x7d) return this.leave(object);
      if (c !== 0x2c) throw this.unexpected('after object key:value pair');
      this.at++;
    }
  }

  private parseMember(object: JsonObject, seen: Map<string, boolean>): void {
    const key = this.parseString();
    if (this.skipSpace() !== 0x3a) throw this.unexpected('after object key');
    this.at++;
    this.path.push(key);
    const reported = seen.get(key);
    if (reported === false && this.duplicates.length < MAX_PROBLEMS) this.duplicates.push(this.formatPath());
    seen.set(key, reported !== undefined);
    const before = this.merge && Object.hasOwn(object, key) ? object[key] : undefined;
    const value = this.parseValue(before);
    // The key moves to where it occurs again, since the reference reports the duplicate there.
    if (this.merge && reported !== undefined) delete object[key];
    setOwn(object, key, value);
    this.path.pop();
  }

  private parseArray(): JsonValue[] {
    this.enter();
    const array: JsonValue[] = [];
    if (this.skipSpace() === 0x5d) return this.leave(array);
    for (;;) {
      this.path.push(array.length);
      array.push(this.parseValue(undefined));
      this.path.pop();
      const c = this.skipSpace();
      if (c === 0x5d) return this.leave(array);
      if (c !== 0x2c) throw this.unexpected('after array element');
      this.at++;
    }
  }

  private parseString(): string {
    const from = this.at++;
    let escaped = false;
    for (;;) {
      const c = this.bytes[this.at];
      if (c === 0x22) break;
      if (c === undefined || c < 0x20) throw this.unexpected('in string literal');
      this.at++;
      if (c === 0x5c) {
        escaped = true;
        this.skipEscape();
      }
    }
    this.at++;
    if (!escaped) return decodeUtf8(this.bytes, from + 1, this.at - 1);
    const text = JSON.parse(decodeUtf8(this.bytes, from, this.at)) as string;
    return text.replace(/[\ud800-\udfff]/gu, '\uFFFD');
  }

  private skipEscape(): void {
    const c = this.bytes[this.at];
    if (c === undefined || !'"\\/bfnrtu'.includes(String.fromCharCode(c))) throw this.unexpectedInside('in string escape code');
    this.at++;
    if (c !== 0x75) return;
    for (let i = 0; i < 4; i++, this.at++) {
      if (!isHex(this.bytes[this.at])) throw this.unexpectedInside('in \\u hexadecimal character escape');
    }
  }

  private parseNumber(): number | bigint {
    const from = this.at;
    if (this.bytes[this.at] === 0x2d) this.at++;
    if (this.bytes[this.at] === 0x30) this.at++;
    else this.skipDigits('in numeric literal');
    const integer = this.at;
    if (this.bytes[this.at] === 0x2e) {
      this.at++;
      this.skipDigits('after decimal point in numeric literal');
    }
    if (((this.bytes[this.at] ?? 0) | 0x20) === 0x65) {
      this.at++;
      if (this.bytes[this.at] === 0x2b || this.bytes[this.at] === 0x2d) this.at++;
      this.skipDigits('in exponent of numeric literal');
    }
    return this.readNumber(decodeUtf8(this.bytes, from, this.at), this.at === integer);
  }

  private readNumber(literal: string, isInteger: boolean): number | bigint {
    const value = Number(literal);
    if (isInteger && Number.isSafeInteger(value)) return value;
    if (isInteger && literal.length <= 20) {
      const exact = BigInt(literal);
      if (BigInt.asIntN(64, exact) === exact) return exact;
    }
    if (!Number.isFinite(value)) throw new JsonError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
    if (String(value) !== literal && this.respelled.length < MAX_PROBLEMS) this.respelled.push(this.formatPath());
    if (Number.isInteger(value) && this.oddNumbers.length < MAX_PROBLEMS) this.oddNumbers.push({ path: this.formatPath(), literal });
    return value;
  }

  private skipDigits(where: string): void {
    if (!isDigit(this.bytes[this.at])) throw this.unexpectedInside(where);
    while (isDigit(this.bytes[this.at])) this.at++;
  }

  private parseLiteral(text: string, value: boolean | null): boolean | null {
    for (let i = 0; i < text.length; i++, this.at++) {
      if (this.bytes[this.at] !== text.charCodeAt(i)) throw this.unexpectedInside(`in literal ${text} (expecting '${text[i]}')`);
    }
    return value;
  }

  /** The next byte that is no white space, -1 at the end. */
  private skipSpace(): number {
    for (;; this.at++) {
      const c = this.bytes[this.at];
      if (c === undefined) return -1;
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return c;
    }
  }

  private enter(): void {
    if (++this.depth > this.maxDepth) throw this.unexpected('exceeded max depth');
    this.at++;
  }

  private leave<T>(value: T): T {
    this.depth--;
    this.at++;
    return value;
  }

  private unexpected(where: string): JsonError {
    const c = this.bytes[this.at];
    return new JsonError(c === undefined ? 'unexpected end of JSON input' : `invalid character ${quoteByte(c)} ${where}`);
  }

  /** Within a literal, a number or an escape: Go's scanner sees a space at the end of the text. */
  private unexpectedInside(where: string): JsonError {
    return new JsonError(`invalid character ${quoteByte(this.bytes[this.at] ?? SPACE)} ${where}`);
  }

  private formatPath(): string {
    return this.path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
  }
}

const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 0x30 && c <= 0x39;
const isHex = (c: number | undefined): boolean => isDigit(c) || (c !== undefined && (c | 0x20) >= 0x61 && (c | 0x20) <= 0x66);

const namedEscapes: Record<number, string> = { 7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 11: '\\v', 12: '\\f', 13: '\\r', 39: "\\'", 92: '\\\\' };

/** The byte, taken for a Latin-1 character, in Go's single quotes. */
function quoteByte(c: number): string {
  const named = namedEscapes[c];
  if (named !== undefined) return `'${named}'`;
  if (c < 0x20 || c === 0x7f) return `'\\x${c.toString(16).padStart(2, '0')}'`;
  if ((c >= 0x80 && c <= 0xa0) || c === 0xad) return `'\\u00${c.toString(16)}'`;
  return `'${String.fromCharCode(c)}'`;
}
