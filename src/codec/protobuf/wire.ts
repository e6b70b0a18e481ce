// The protobuf wire format. The writer fills its buffer from the back, as upstream's generated code does: a message's length is known when
// its head is written, so one pass is enough. The reader trusts no length.

/** Bytes that are no message of the schema; the message is that of upstream's generated code. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** Buffer's methods of fixed encoding, which are much faster than toString and write; absent from its types. */
interface FastBuffer extends Buffer {
  utf8Slice(from: number, to: number): string;
  utf8Write(text: string, at: number, length: number): number;
}

const KEPT_BYTES = 1 << 20;
const SHORT_TEXT = 40;
const MAX_SHORT_READ = 12;

/** Writes backwards; `start` forgets what was written before. */
export class Writer {
  private bytes = Buffer.allocUnsafeSlow(1 << 14) as FastBuffer;
  /** Index of the first byte written so far. */
  at = this.bytes.length;

  /** Number of bytes written so far. */
  get size(): number {
    return this.bytes.length - this.at;
  }

  start(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(1 << 14) as FastBuffer;
    this.at = this.bytes.length;
  }

  /** A copy of what was written since `start`. */
  finish(): Uint8Array {
    const out = Buffer.allocUnsafe(this.bytes.length - this.at);
    this.bytes.copy(out, 0, this.at);
    return out;
  }

  private reserve(size: number): void {
    if (this.at < size) this.grow(size);
  }

  private grow(size: number): void {
    const used = this.bytes.length - this.at;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, used + size)) as FastBuffer;
    grown.set(this.bytes.subarray(this.at), grown.length - used);
    this.at = grown.length - used;
    this.bytes = grown;
  }

  /** The zero of a varint or of a text behind its tag: a byte 0. */
  zero(tag: number): void {
    this.reserve(1);
    this.bytes[--this.at] = 0;
    this.varint(tag);
  }

  /** A non-negative integer below 2^53. */
  varint(value: number): void {
    if (value < 0x80) {
      this.reserve(1);
      this.bytes[--this.at] = value;
      return;
    }
    if (value < 0x4000) {
      this.reserve(2);
      this.bytes[--this.at] = value >>> 7;
      this.bytes[--this.at] = (value & 0x7f) | 0x80;
      return;
    }
    this.longVarint(value);
  }

  private longVarint(value: number): void {
    let size = 2;
    for (let rest = value / 0x4000; rest >= 1; rest /= 0x80) size++;
    this.reserve(size);
    this.at -= size;
    let at = this.at;
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes[at++] = (rest % 0x80) | 0x80;
    this.bytes[at] = rest;
  }

  /** Any int64; negative ones take ten bytes, as int32 does too. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && Number.isSafeInteger(value)) return this.varint(value);
    let rest = BigInt.asUintN(64, BigInt(value));
    const groups: number[] = [];
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    this.raw(groups);
  }

  double(value: number): void {
    this.reserve(8);
    this.at -= 8;
    this.bytes.writeDoubleLE(value, this.at);
  }

  raw(bytes: Uint8Array | readonly number[]): void {
    this.reserve(bytes.length);
    this.at -= bytes.length;
    this.bytes.set(bytes, this.at);
  }

  /** Length and bytes. */
  delimited(bytes: Uint8Array): void {
    this.raw(bytes);
    this.varint(bytes.length);
  }

  /** Length and UTF-8 of a text. */
  text(text: string): void {
    const length = text.length;
    if (length > SHORT_TEXT || !this.ascii(text)) {
      const size = Buffer.byteLength(text);
      this.reserve(size);
      this.at -= size;
      this.bytes.utf8Write(text, this.at, size);
      this.varint(size);
      return;
    }
    this.varint(length);
  }

  /** Native calls cost more than a loop over a short text. */
  private ascii(text: string): boolean {
    const length = text.length;
    this.reserve(length);
    const { bytes } = this;
    const from = this.at - length;
    for (let i = 0; i < length; i++) {
      const c = text.charCodeAt(i);
      if (c > 0x7f) return false;
      bytes[from + i] = c;
    }
    this.at = from;
    return true;
  }
}

/** Deepest nesting of messages that is read; each level takes a few frames of the stack. */
const MAX_DEPTH = 1000;

const unexpectedEnd = (): ProtobufError => new ProtobufError('unexpected EOF');

/** Reads forwards through the message that `end` bounds; entering a nested message narrows the bounds. */
export class Reader {
  readonly bytes: FastBuffer;
  at: number;
  /** Where the message being read ends. */
  end: number;
  /** The tag read last. */
  tag = 0;
  private depth = 0;

  constructor(bytes: Uint8Array, from = 0) {
    this.bytes = (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as FastBuffer;
    this.at = from;
    this.end = bytes.length;
  }

  /** Reads the next tag; false at the end of the message. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    if (tag < 8 || tag >= 2 ** 32) throw new ProtobufError(`proto: illegal tag ${Math.floor(tag / 8) | 0} (wire type ${tag % 8})`);
    this.tag = tag;
    return true;
  }

  /** Enters the nested message whose length comes next; hand what it returns to `leave` when `next` was false. */
  enter(): number {
    const outer = this.end;
    this.end = this.length();
    if (++this.depth > MAX_DEPTH) throw new ProtobufError('proto: exceeded max depth');
    return outer;
  }

  leave(outer: number): void {
    this.depth--;
    this.at = this.end;
    this.end = outer;
  }

  /** A varint as a number; beyond 2^53 only about right, see `int64`. */
  varint(): number {
    const { at, bytes } = this;
    if (at + 1 < this.end) {
      const first = bytes[at] as number;
      if (first < 0x80) {
        this.at = at + 1;
        return first;
      }
      const second = bytes[at + 1] as number;
      if (second < 0x80) {
        this.at = at + 2;
        return (first & 0x7f) | (second << 7);
      }
    }
    return this.longVarint();
  }

  private longVarint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++, scale *= 0x80) {
      if (this.at >= this.end) throw unexpectedEnd();
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('proto: integer overflow');
  }

  int64(): number | bigint {
    const from = this.at;
    const value = this.varint();
    if (value <= Number.MAX_SAFE_INTEGER) return value;
    let exact = 0n;
    for (let i = this.at - 1; i >= from; i--) exact = (exact << 7n) | BigInt((this.bytes[i] as number) & 0x7f);
    exact = BigInt.asIntN(64, exact);
    return exact >= -9007199254740991n && exact <= 9007199254740991n ? Number(exact) : exact;
  }

  /** The low 32 bits of a varint, signed. */
  int32(): number {
    const value = this.int64();
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value));
  }

  double(): number {
    this.skipBytes(8);
    return this.bytes.readDoubleLE(this.at - 8);
  }

  /** Reads a length and returns where its bytes end; they begin at `at`. */
  private length(): number {
    const length = this.varint();
    if (length >= 2 ** 63) throw new ProtobufError('proto: negative length found during unmarshaling');
    if (length > this.end - this.at) throw unexpectedEnd();
    return this.at + length;
  }

  text(): string {
    const to = this.length();
    const from = this.at;
    this.at = to;
    if (to - from > MAX_SHORT_READ) return this.bytes.utf8Slice(from, to);
    return this.shortText(from, to);
  }

  /** Native calls cost more than a loop over a short text. */
  private shortText(from: number, to: number): string {
    const { bytes } = this;
    let text = '';
    for (let i = from; i < to; i++) {
      const c = bytes[i] as number;
      if (c > 0x7f) return bytes.utf8Slice(from, to);
      text += String.fromCharCode(c);
    }
    return text;
  }

  /** A view, not a copy. */
  delimited(): Uint8Array {
    const to = this.length();
    const bytes = this.bytes.subarray(this.at, to);
    this.at = to;
    return bytes;
  }

  /** Passes over the field whose tag was read; over groups, which no encoder writes, with all that is in them. */
  skip(): void {
    let groups = 0;
    do {
      const wire = this.tag & 7;
      if (wire === 0) this.varint();
      else if (wire === 1) this.skipBytes(8);
      else if (wire === 2) this.at = this.length();
      else if (wire === 3) groups++;
      else if (wire === 4) groups--;
      else if (wire === 5) this.skipBytes(4);
      else throw new ProtobufError(`proto: illegal wireType ${wire}`);
      if (groups < 0) throw new ProtobufError('proto: unexpected end of group');
      if (groups > 0 && !this.next()) throw unexpectedEnd();
    } while (groups > 0);
  }

  private skipBytes(size: number): void {
    if (size > this.end - this.at) throw unexpectedEnd();
    this.at += size;
  }
}
