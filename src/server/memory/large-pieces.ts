// Memory for bytes that pass: bodies of requests. Node reads what comes in into buffers of 16 KB, which the C library takes from its heap; kept until a
// body is whole, those of some dozens of bodies spread over all of it, and what else lives there keeps the heap from being given back. The library would
// map a buffer of megabytes by itself, but not once it has freed one of that size. 100 bodies of 3 MB at once left 93 to 173 MB so, after a minute,
// and leave 27 to 71.

/** The C library maps what is larger than 32 MB however much it has freed before. Pages that are not touched take no memory. */
const PIECE_BYTES = 33 * 2 ** 20;

/** Buffers that lie in pieces of memory of their own, one behind the other. A piece is given back once V8 has collected all of its buffers. */
export class LargePieces {
  /** Held weakly: buffers keep it, and it takes more of them until a collection finds it without any. */
  #piece: WeakRef<Uint8Array> | undefined;
  #used = 0;

  /** A buffer whose content is not set. It is a part of a larger one: what copies whole buffers copies the part first. */
  take(length: number): Uint8Array {
    let piece = this.#piece?.deref();
    if (piece === undefined || this.#used + length > piece.length) {
      piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, length));
      this.#piece = new WeakRef(piece);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    return piece.subarray(start, this.#used);
  }
}
