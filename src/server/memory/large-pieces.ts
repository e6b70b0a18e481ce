// Memory for bytes that pass: bodies of requests. Node reads what comes in into buffers of 16 KB, which the C library takes from its heap; kept until a
// body is whole, those of some dozens of bodies spread over all of it, and what else lives there keeps the heap from being given back. The library would
// map a buffer of megabytes by itself, but not once it has freed one of that size. 100 bodies of 3 MB at once left 93 to 173 MB so, after a minute,
// and leave 27 to 71.
import { Pieces } from '../../base/index.ts';

/** The C library maps what is larger than 32 MB however much it has freed before. Pages that are not touched take no memory. */
const PIECE_BYTES = 33 * 2 ** 20;

/** Buffers that lie in pieces of memory of their own, one behind the other. */
export class LargePieces {
  readonly #pieces = new Pieces({ pieceBytes: PIECE_BYTES, allocate: (length) => Buffer.allocUnsafeSlow(length) });

  /** A buffer whose content is not set. It is a part of a larger one: what copies whole buffers copies the part first. */
  take(length: number): Uint8Array {
    const { memory, start } = this.#pieces.take(length);
    return memory.subarray(start, start + length);
  }
}
