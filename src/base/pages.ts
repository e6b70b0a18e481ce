// Memory for long-lived data. It comes from the C library's heap as any other does when it is small; there, long-lived pieces among short-lived
// buffers leave room that cannot be given back. A resizable buffer has pages of its own, which the system gets back once the buffer is collected.

/** Below this the part of a page that is left over weighs more than what the pages are taken for. */
const PAGED_BYTES = 2 ** 14;

/**
 * Memory whose content is not set yet, on pages of its own when it is large. It is for copying as a whole: V8 reads it byte by byte several
 * times slower, as it does any memory in a function that has once met such, so code that reads single bytes reads a copy.
 */
export function allocateLasting(length: number): Uint8Array<ArrayBuffer> {
  if (typeof Buffer === 'undefined') return new Uint8Array(length);
  if (length < PAGED_BYTES) return Buffer.allocUnsafeSlow(length);
  try {
    return Buffer.from(new ArrayBuffer(length, { maxByteLength: length }), 0, length);
  } catch {
    // A process may have so many mappings and no more.
    return Buffer.allocUnsafeSlow(length);
  }
}

/** Where bytes lie in a piece of memory. */
interface Place {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly start: number;
}

interface PiecesOptions {
  readonly pieceBytes: number;
  /** Makes a piece, whose content is not set. */
  readonly allocate: (length: number) => Uint8Array<ArrayBuffer>;
}

/**
 * Places one behind the other in pieces of memory, for what is given up in about the order in which it came. A piece is given back once V8 has found that
 * none of its places is in use.
 */
export class Pieces {
  readonly #options: PiecesOptions;
  /** Held weakly: places keep it, and it takes more of them until a collection finds it without any. */
  #piece: WeakRef<Uint8Array<ArrayBuffer>> | undefined;
  #used = 0;

  constructor(options: PiecesOptions) {
    this.#options = options;
  }

  /** A place whose content is not set. */
  take(length: number): Place {
    const piece = this.#piece?.deref();
    const room = piece === undefined ? 0 : piece.length - this.#used;
    if (piece === undefined || length > room) return this.#begin(length, room);
    const start = this.#used;
    this.#used += length;
    return { memory: piece, start };
  }

  /** A place in a new piece; the next ones are in it unless the one before has more room. */
  #begin(length: number, room: number): Place {
    const { pieceBytes, allocate } = this.#options;
    const memory = allocate(Math.max(pieceBytes, length));
    if (memory.length - length >= room) {
      this.#piece = new WeakRef(memory);
      this.#used = length;
    }
    return { memory, start: 0 };
  }
}

/** `bytes` from `start` to `end`: itself where that is all of it. A view into a resizable buffer takes 0.6 µs, and a list has hundreds of chunks. */
export function partOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return start <= 0 && end >= bytes.length ? bytes : bytes.subarray(start, end);
}
