// Messages of the store between two processes, over one pipe: all that a turn of the event loop sends leaves in one piece, which V8 serializes at once.
// With it a create of a Pod through two processes costs 0.32 ms of CPU more than through one; over the channel of child processes, which writes each
// message by itself, it is 0.55 ms (bench/workers.ts, 32 clients).
import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';

const HEAD_BYTES = 4;
/** More than any turn sends: a length beyond it is no frame. */
const MOST_FRAME_BYTES = 2 ** 31;

/** One end of the pipe. */
export class Channel<Sent, Received> {
  readonly #stream: Duplex;
  readonly #receive: (message: Received) => void;
  #queue: Sent[] = [];
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Duplex, receive: (message: Received) => void) {
    this.#stream = stream;
    this.#receive = receive;
    stream.on('data', (part: Buffer) => this.#read(part));
    // The end of the other process is known by itself.
    stream.on('error', () => stream.destroy());
  }

  post(message: Sent): void {
    if (this.#queue.push(message) === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (this.#queue.length === 0) return;
    const body = serialize(this.#queue);
    this.#queue = [];
    if (!this.#stream.writable) return;
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32BE(body.length);
    this.#stream.cork();
    this.#stream.write(head);
    this.#stream.write(body);
    this.#stream.uncork();
  }

  #read(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    for (let frame = this.#takeFrame(); frame !== undefined; frame = this.#takeFrame()) {
      for (const message of deserialize(frame) as Received[]) this.#receive(message);
    }
  }

  /** The body of the next frame, once all of it is here. */
  #takeFrame(): Buffer | undefined {
    if (this.#bytes < HEAD_BYTES) return undefined;
    if ((this.#parts[0] as Buffer).length < HEAD_BYTES) this.#join();
    const length = (this.#parts[0] as Buffer).readUInt32BE(0);
    if (length > MOST_FRAME_BYTES) throw new RangeError('the other process sends something else than frames');
    if (this.#bytes < HEAD_BYTES + length) return undefined;
    this.#join();
    const all = this.#parts[0] as Buffer;
    this.#parts = all.length > HEAD_BYTES + length ? [all.subarray(HEAD_BYTES + length)] : [];
    this.#bytes -= HEAD_BYTES + length;
    return all.subarray(HEAD_BYTES, HEAD_BYTES + length);
  }

  #join(): void {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts, this.#bytes)];
  }
}
