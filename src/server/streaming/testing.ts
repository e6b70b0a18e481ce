// The side of a kubelet in SPDY/3.1, for tests: it accepts streams, keeps what is written to them by their type, and writes what the test says.
import type { Duplex } from 'node:stream';
import { constants, inflateSync } from 'node:zlib';
import { spdyDictionary } from './spdy-dictionary.data.ts';
import { FrameReader, encodeControl, encodeDataHead, encodeSynStream, frameTypes } from './spdy-frames.ts';

const HEAD_BYTES = 8;
const SYN_STREAM_BYTES = 10;

/** The headers of a block of names and values. */
function readHeaders(block: Buffer): ReadonlyMap<string, string> {
  let at = 4;
  const read = (): string => {
    const length = block.readUInt32BE(at);
    at += 4 + length;
    return block.toString('utf8', at - length, at);
  };
  return new Map(Array.from({ length: block.readUInt32BE(0) }, () => [read(), read()] as const));
}

/** One session of a client. */
export class SpdyKubelet {
  readonly socket: Duplex;
  /** The texts of the streams. */
  readonly written = new Map<string, string>();
  /** Types of the streams that the client has opened, in order. */
  readonly types: string[] = [];
  /** Types of the streams that the client has ended. */
  readonly ended: string[] = [];
  /** Control frames that are no SYN_STREAM, by type. */
  readonly controls: number[] = [];
  readonly #ids = new Map<number, string>();
  /** The compressed headers of all streams, which are one zlib stream, and how many bytes of it have been read as text. */
  #compressed = Buffer.alloc(0);
  #readBytes = 0;

  /** Answers the request for an upgrade. */
  constructor(socket: Duplex, protocol: string) {
    this.socket = socket;
    const reader = new FrameReader({
      data: (id, piece, isLast) => {
        const type = this.#ids.get(id) ?? '';
        this.written.set(type, `${this.written.get(type) ?? ''}${piece.toString()}`);
        if (isLast) this.ended.push(type);
      },
      control: (type, _flags, id, body) => {
        if (type !== frameTypes.synStream) return void this.controls.push(type);
        this.#accept(id, body);
      },
    });
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`);
  }

  /** Writes to a stream, and ends it. */
  write(type: string, text: string | Buffer, isLast = false): boolean {
    const id = [...this.#ids].find(([, name]) => name === type)?.[0] ?? 0;
    const bytes = Buffer.from(text);
    return this.socket.write(Buffer.concat([encodeDataHead(id, bytes.length, isLast), bytes]));
  }

  #accept(id: number, body: Buffer): void {
    const isFirst = this.#ids.size === 0;
    const type = readHeaders(this.#inflate(body.subarray(SYN_STREAM_BYTES))).get('streamtype') ?? '';
    this.#ids.set(id, type);
    this.types.push(type);
    const noHeaders = encodeSynStream(id, [], isFirst).subarray(HEAD_BYTES + SYN_STREAM_BYTES);
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    this.socket.write(encodeControl(frameTypes.synReply, 0, Buffer.concat([reply, noHeaders])));
  }

  /** The next part of the headers. */
  #inflate(part: Buffer): Buffer {
    this.#compressed = Buffer.concat([this.#compressed, part]);
    const all = inflateSync(this.#compressed, { dictionary: spdyDictionary, finishFlush: constants.Z_SYNC_FLUSH });
    const next = all.subarray(this.#readBytes);
    this.#readBytes = all.length;
    return next;
  }
}
