// How gRPC puts messages on a stream: a byte for whether they are compressed (never, here), their length in four bytes, the message.
import { GrpcError, statusCode } from './grpc-error.ts';

const HEAD_BYTES = 5;

/** A message as it is sent on a stream. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD_BYTES);
  return framed;
}

/** Cuts the bytes of a stream into messages. */
export class FrameReader {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  /** Bytes that the next message needs at least. */
  #needed = HEAD_BYTES;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The messages that are complete with `chunk`; throws GrpcError for one that is compressed or larger than the limit. */
  take(chunk: Buffer): Buffer[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    const messages: Buffer[] = [];
    while (this.#size >= this.#needed) {
      const all = this.#parts.length === 1 ? this.#parts[0] as Buffer : Buffer.concat(this.#parts, this.#size);
      const end = HEAD_BYTES + this.#readLength(all);
      const isComplete = all.length >= end;
      if (isComplete) messages.push(all.subarray(HEAD_BYTES, end));
      const rest = isComplete ? all.subarray(end) : all;
      this.#needed = isComplete ? HEAD_BYTES : end;
      this.#parts = rest.length === 0 ? [] : [rest];
      this.#size = rest.length;
    }
    return messages;
  }

  #readLength(all: Buffer): number {
    if (all[0] !== 0) throw new GrpcError({ code: statusCode.internal, details: 'the answer is compressed' });
    const length = all.readUInt32BE(1);
    if (length <= this.#limitBytes) return length;
    throw new GrpcError({ code: statusCode.resourceExhausted, details: `an answer of ${length} bytes is larger than max (${this.#limitBytes})` });
  }
}
