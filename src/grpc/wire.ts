// The protobuf wire format as far as messages of etcd and of key management services need it: varints, bytes, nested messages.
// Revisions and counts are numbers (the contract keeps them below 2^53); ids of leases are bigints, since etcd uses all 63 bits.

const VARINT_TYPE = 0;
const FIXED64_TYPE = 1;
const BYTES_TYPE = 2;
const FIXED32_TYPE = 5;

/** Bytes that are not a protobuf message. */
class WireError extends Error {
  override readonly name = 'WireError';
}

/** Writes one message from front to back; zero values are omitted, as in proto3. `capacity`: how long it will be, if that is known. */
export class MessageWriter {
  #bytes: Buffer;
  #size = 0;

  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  bytes(field: number, value: Uint8Array | string): this {
    if (value.length === 0) return this;
    const length = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
    this.#reserve(20 + length);
    this.#varint(field * 8 + BYTES_TYPE);
    this.#varint(length);
    if (typeof value === 'string') this.#bytes.write(value, this.#size, 'utf8');
    else this.#bytes.set(value, this.#size);
    this.#size += length;
    return this;
  }

  /** A nested message, which is written when it is empty too. Its fields are written in place, its length in front of them once it is known. */
  message(field: number, write: (nested: this) => void): this {
    this.#reserve(20);
    this.#varint(field * 8 + BYTES_TYPE);
    const at = this.#size;
    this.#size += 1;
    write(this);
    const end = this.#size;
    const length = end - at - 1;
    this.#size = at;
    if (length >= 0x80) this.#makeRoom(at + 1, end, length);
    this.#varint(length);
    this.#size += length;
    return this;
  }

  /** A whole number from zero on. */
  number(field: number, value: number): this {
    return value === 0 ? this : this.oneOf(field, value);
  }

  /** The same as a member of a union, where zero says which member it is. */
  oneOf(field: number, value: number): this {
    this.#reserve(20);
    this.#varint(field * 8 + VARINT_TYPE);
    this.#varint(value);
    return this;
  }

  /** An int64 in all its bits. */
  long(field: number, value: bigint): this {
    if (value === 0n) return this;
    this.#reserve(20);
    this.#varint(field * 8 + VARINT_TYPE);
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#size++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#size++] = Number(rest);
    return this;
  }

  /** Eight bytes; zero is written too, since times are. */
  fixed64(field: number, value: bigint): this {
    this.#reserve(20);
    this.#varint(field * 8 + FIXED64_TYPE);
    this.#size = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#size);
    return this;
  }

  /** Four bytes. */
  fixed32(field: number, value: number): this {
    if (value === 0) return this;
    this.#reserve(20);
    this.#varint(field * 8 + FIXED32_TYPE);
    this.#size = this.#bytes.writeUInt32LE(value, this.#size);
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  /** The written bytes; the writer must not be used again. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#bytes[this.#size++] = (rest % 0x80) | 0x80;
    this.#bytes[this.#size++] = rest;
  }

  /** Moves bytes[from, to) away from a length that takes more than one byte. */
  #makeRoom(from: number, to: number, length: number): void {
    let more = 0;
    for (let rest = length; rest >= 0x80; rest = Math.floor(rest / 0x80)) more += 1;
    if (to + more > this.#bytes.length) this.#grow(to + more, to);
    this.#bytes.copyWithin(from + more, from, to);
  }

  #reserve(count: number): void {
    if (this.#size + count <= this.#bytes.length) return;
    this.#grow(this.#size + count, this.#size);
  }

  #grow(needed: number, used: number): void {
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, needed));
    grown.set(this.#bytes.subarray(0, used));
    this.#bytes = grown;
  }
}

/** Reads one message: `next` moves to a field and returns its number (0 at the end); then exactly one of the value methods, or `skip`. */
export class MessageReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #type = 0;

  constructor(bytes: Buffer, from = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.number();
    this.#type = tag % 8;
    return Math.floor(tag / 8);
  }

  /** A varint as a number; those beyond 2^53 (negative ones, ids) lose precision and must be read with `long`. */
  number(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.#byte();
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else high += part * 2 ** (shift - 28);
      if (byte < 0x80) return low + high * 0x1000_0000;
    }
    throw new WireError('a number has too many bytes');
  }

  /** A varint in all its bits, as a signed 64-bit integer. */
  long(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new WireError('a number has too many bytes');
  }

  /** A copy of the bytes, so that a value does not keep the whole message in memory. */
  bytes(): Uint8Array {
    const [from, to] = this.#span();
    const copy = Buffer.allocUnsafeSlow(to - from);
    this.#bytes.copy(copy, 0, from, to);
    return copy;
  }

  text(): string {
    const [from, to] = this.#span();
    return this.#bytes.toString('utf8', from, to);
  }

  /** A reader of the nested message. */
  nested(): MessageReader {
    const [from, to] = this.#span();
    return new MessageReader(this.#bytes, from, to);
  }

  skip(): void {
    if (this.#type === VARINT_TYPE) while (this.#byte() >= 0x80);
    else if (this.#type === BYTES_TYPE) this.#span();
    else if (this.#type === FIXED64_TYPE) this.#advance(8);
    else if (this.#type === FIXED32_TYPE) this.#advance(4);
    else throw new WireError(`a field has the type ${this.#type}`);
  }

  #span(): readonly [number, number] {
    if (this.#type !== BYTES_TYPE) throw new WireError(`bytes are expected where a field has the type ${this.#type}`);
    const length = this.number();
    const from = this.#at;
    this.#advance(length);
    return [from, this.#at];
  }

  #advance(count: number): void {
    if (count > this.#end - this.#at) throw new WireError('the message ends too early');
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new WireError('the message ends too early');
    return this.#bytes[this.#at++] as number;
  }
}
