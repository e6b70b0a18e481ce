// The frames of SPDY/3.1 (draft 3.1, sections 2.2 and 2.6), as far as a client needs them that opens streams and reads what comes back on them.
// Headers that come in are never read, so nothing is inflated; those that go out are stored blocks of the zlib stream that the protocol asks for.

/** Flag of the last frame of a direction of a stream. */
export const FIN = 1;

/** Types of control frames. */
export const frameTypes = { synStream: 1, synReply: 2, rstStream: 3, ping: 6 } as const;

const VERSION = 3;
const HEAD_BYTES = 8;
const MAX_DATA_BYTES = 0xff_ff_ff;
/** Longer control frames end the connection: headers of streams are a few hundred bytes. */
const MAX_CONTROL_BYTES = 64 * 1024;
/** The head of the zlib stream of headers: deflate, a preset dictionary, and the checksum of SPDY/3's. */
const zlibHead = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
/** An empty stored block: the reader gets all that came before it. */
const zlibFlush = Buffer.from([0, 0, 0, 0xff, 0xff]);

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Headers as a part of the zlib stream of a connection, which begins with the first. */
function encodeHeaders(headers: readonly (readonly [name: string, value: string])[], isFirst: boolean): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(headers.length);
  const block = Buffer.concat([count, ...headers.flatMap(([name, value]) => [encodeText(name), encodeText(value)])]);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(block.length, 1);
  stored.writeUInt16LE(~block.length & 0xffff, 3);
  return Buffer.concat([...(isFirst ? [zlibHead] : []), stored, block, zlibFlush]);
}

/** A control frame. */
export function encodeControl(type: number, flags: number, body: Uint8Array): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + body.length);
  frame.writeUInt16BE(0x80_00 | VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUInt32BE(body.length, 4);
  frame[4] = flags;
  frame.set(body, HEAD_BYTES);
  return frame;
}

/** Opens a stream; `isFirst` for the first of a connection. Names of headers are lower-case; together they are shorter than 64 KiB. */
export function encodeSynStream(stream: number, headers: readonly (readonly [name: string, value: string])[], isFirst: boolean): Buffer {
  const body = Buffer.alloc(10);
  body.writeUInt32BE(stream, 0);
  return encodeControl(frameTypes.synStream, 0, Buffer.concat([body, encodeHeaders(headers, isFirst)]));
}

/** A control frame of numbers: RST_STREAM, PING. */
export function encodeNumbers(type: number, ...numbers: readonly number[]): Buffer {
  const body = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) body.writeUInt32BE(number, 4 * index);
  return encodeControl(type, 0, body);
}

/** The head of a data frame; its content follows. */
export function encodeDataHead(stream: number, length: number, isLast: boolean): Buffer {
  if (length > MAX_DATA_BYTES) throw new RangeError('a data frame holds 16 MiB at most');
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(stream, 0);
  head.writeUInt32BE(length, 4);
  if (isLast) head[4] = FIN;
  return head;
}

/** What a reader finds. */
interface FrameEvents {
  /** A piece of a data frame; `isLast`: the other side writes no more on the stream. */
  data(stream: number, piece: Buffer, isLast: boolean): void;
  /** A whole control frame; `stream` is its first number. */
  control(type: number, flags: number, stream: number, body: Buffer): void;
}

/** A data frame whose end has not come yet. */
interface UnreadData {
  readonly stream: number;
  left: number;
  readonly isLast: boolean;
}

/** Reads frames from bytes in pieces of any size. Content of data frames is passed on as it comes; nothing more than a control frame is held. */
export class FrameReader {
  readonly #events: FrameEvents;
  #held: Buffer = Buffer.alloc(0);
  /** The rest of the data frame that is read. */
  #rest: UnreadData | undefined;

  constructor(events: FrameEvents) {
    this.#events = events;
  }

  /** Throws for what is no SPDY/3.1. */
  push(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    for (;;) {
      const next = this.#rest === undefined ? this.#readFrame(bytes, at) : this.#readData(this.#rest, bytes, at);
      if (next === at) break;
      at = next;
    }
    this.#held = bytes.subarray(at);
  }

  /** Like the other, returns where the next frame begins. */
  #readData(rest: UnreadData, bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + rest.left);
    if (end === at) return at;
    rest.left -= end - at;
    if (rest.left === 0) this.#rest = undefined;
    this.#events.data(rest.stream, bytes.subarray(at, end), rest.isLast && rest.left === 0);
    return end;
  }

  #readFrame(bytes: Buffer, at: number): number {
    const begin = at + HEAD_BYTES;
    if (bytes.length < begin) return at;
    const first = bytes.readUInt32BE(at);
    const flags = bytes.readUInt8(at + 4);
    const length = bytes.readUIntBE(at + 5, 3);
    if (first < 0x80_00_00_00) {
      const isLast = (flags & FIN) !== 0;
      if (length > 0) this.#rest = { stream: first, left: length, isLast };
      else this.#events.data(first, bytes.subarray(0, 0), isLast);
      return begin;
    }
    if (((first >>> 16) & 0x7f_ff) !== VERSION) throw new Error('a frame of another version of SPDY');
    if (length > MAX_CONTROL_BYTES) throw new Error('a control frame is too long');
    if (bytes.length < begin + length) return at;
    const body = bytes.subarray(begin, begin + length);
    this.#events.control(first & 0xff_ff, flags, length >= 4 ? body.readUInt32BE(0) & 0x7f_ff_ff_ff : 0, body);
    return begin + length;
  }
}
