// A connection to a kubelet that speaks SPDY/3.1: streams that this side opens. Windows are not kept, as in the reference and the kubelet: the one
// bound is that of the connection, which is paused as a whole while what came on a stream cannot be passed on.
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../../base/index.ts';
import { FIN, FrameReader, encodeDataHead, encodeNumbers, encodeSynStream, frameTypes } from './spdy-frames.ts';

/** What becomes of a stream that is open. */
export interface StreamEvents {
  /** The other side has accepted it: before that nothing may be written. */
  replied(): void;
  data(piece: Buffer): void;
  /** The other side writes no more. */
  ended(): void;
}

/** The end of a stream that is written to. */
export interface SpdyStream {
  write(bytes: Uint8Array): void;
  /** Nothing more is written. */
  end(): void;
}

/** Keeps connections through load balancers; the reference's period. */
const PING_MS = 5_000;
/** One stream does not hold the others up for longer than this takes. */
const MAX_FRAME_BYTES = 32 * 1024;
const REFUSED_STREAM = 3;

/** One connection. */
export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #clock: Clock;
  readonly #streams = new Map<number, StreamEvents>();
  /** What one read has brought on each stream: a command that writes single bytes has each of them in a frame, seven thousand in a read. */
  readonly #pieces = new Map<number, Buffer[]>();
  readonly #onClose: () => void;
  #nextStream = 1;
  #nextPing = 1;
  #timer: Timer | undefined;

  /** `onClose` is called once, when the connection is over; `head` are bytes that have been read of it. */
  constructor(socket: Duplex, { head, clock, onClose }: { readonly head: Buffer; readonly clock: Clock; readonly onClose: () => void }) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onClose = onClose;
    const reader = new FrameReader({
      data: (stream, piece, isLast) => this.#receive(stream, piece, isLast),
      control: (type, flags, stream, body) => this.#control(type, flags, stream, body),
    });
    const read = (chunk: Buffer): void => {
      try {
        reader.push(chunk);
        for (const id of this.#pieces.keys()) this.#deliver(id);
      } catch {
        // Bytes that are no SPDY cannot be answered in it.
        socket.destroy();
      }
    };
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#close());
    socket.on('data', read);
    if (head.length > 0) read(head);
    this.#ping();
  }

  /** Opens a stream. */
  open(headers: readonly (readonly [name: string, value: string])[], events: StreamEvents): SpdyStream {
    const id = this.#nextStream;
    this.#nextStream += 2;
    this.#streams.set(id, events);
    this.#socket.write(encodeSynStream(id, headers, id === 1));
    return {
      write: (bytes) => this.#write(id, bytes),
      end: () => void (this.#socket.destroyed || this.#socket.write(encodeDataHead(id, 0, true))),
    };
  }

  /** Ends the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  #write(id: number, bytes: Uint8Array): void {
    if (this.#socket.destroyed) return;
    for (let start = 0; start < bytes.length; start += MAX_FRAME_BYTES) {
      const piece = bytes.subarray(start, start + MAX_FRAME_BYTES);
      this.#socket.write(encodeDataHead(id, piece.length, false));
      this.#socket.write(piece);
    }
  }

  #receive(id: number, piece: Buffer, isLast: boolean): void {
    if (piece.length > 0 && this.#streams.has(id)) {
      const pieces = this.#pieces.get(id);
      if (pieces === undefined) this.#pieces.set(id, [piece]);
      else pieces.push(piece);
    }
    if (isLast) this.#finish(id);
  }

  #deliver(id: number): void {
    const pieces = this.#pieces.get(id) ?? [];
    this.#pieces.delete(id);
    const [first, ...more] = pieces;
    if (first !== undefined) this.#streams.get(id)?.data(more.length === 0 ? first : Buffer.concat(pieces));
  }

  #finish(id: number): void {
    this.#deliver(id);
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.ended();
  }

  #control(type: number, flags: number, id: number, body: Buffer): void {
    if (type === frameTypes.synReply) {
      this.#streams.get(id)?.replied();
      if ((flags & FIN) !== 0) this.#finish(id);
    } else if (type === frameTypes.rstStream) this.#finish(id);
    else if (type === frameTypes.synStream) this.#answer(encodeNumbers(frameTypes.rstStream, id, REFUSED_STREAM));
    // Odd ones are answers to our own.
    else if (type === frameTypes.ping && id % 2 === 0 && body.length === 4) this.#answer(encodeNumbers(frameTypes.ping, id));
  }

  /** Answers are not kept for a side that reads nothing: it may send what asks for them without end. */
  #answer(frame: Buffer): void {
    if (!this.#socket.destroyed && !this.#socket.writableNeedDrain) this.#socket.write(frame);
  }

  #ping(): void {
    this.#timer = this.#clock.after(PING_MS, () => {
      this.#socket.write(encodeNumbers(frameTypes.ping, this.#nextPing));
      this.#nextPing += 2;
      this.#ping();
    });
  }

  #close(): void {
    this.#timer?.cancel();
    this.#streams.clear();
    this.#onClose();
  }
}
