// The side of a kubelet in SPDY/3.1, for tests: it accepts streams, keeps what is written to them by their type, and writes what the test says.
import type { Duplex } from 'node:stream';
import { FrameReader, encodeControl, encodeDataHead, frameTypes } from './spdy-frames.ts';

const SYN_STREAM_BYTES = 10;
const ZLIB_HEAD_BYTES = 6;
const STORED_HEAD_BYTES = 5;

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
    const block = body.subarray(SYN_STREAM_BYTES + (this.#ids.size === 0 ? ZLIB_HEAD_BYTES : 0) + STORED_HEAD_BYTES);
    const nameBytes = block.readUInt32BE(4);
    const valueBytes = block.readUInt32BE(8 + nameBytes);
    const type = block.toString('utf8', 12 + nameBytes, 12 + nameBytes + valueBytes);
    this.#ids.set(id, type);
    this.types.push(type);
    const reply = Buffer.alloc(4);
    reply.writeUInt32BE(id);
    this.socket.write(encodeControl(frameTypes.synReply, 0, reply));
  }
}
