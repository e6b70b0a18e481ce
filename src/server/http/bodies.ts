// Bodies of requests, read as a whole. Hundreds of connections may each bring megabytes at once, and nothing says that they will ever bring the rest:
// bytes are read in turns as requests are, what follows a body that was waited for has its turn too, and large bodies share a bounded memory.
import type { Readable } from 'node:stream';
import { badRequest, requestEntityTooLarge } from '../../apimachinery/index.ts';
import { LargePieces } from '../memory/large-pieces.ts';
import type { HttpExchange } from './exchange.ts';
import type { Callers, PausableReads, RequestIntake, RequestTurns } from './turns.ts';

/** A body over the limit is read on and thrown away this far, so that the client gets to see its 413. */
const DISCARD_LIMIT_BYTES = 16 * 2 ** 20;
/** Bodies of this size are read without asking for memory: a connection takes as much. */
const SMALL_BYTES = 16 * 1024;
/** Bodies of this size are put together in pieces of memory of their own. */
const LARGE_BYTES = 2 ** 16;
/** What large bodies take at most, unless more callers than fit bring one each. */
const MEMORY_BYTES = 64 * 2 ** 20;
/** Decrypting so many bytes takes about as long as a request before it begins. */
const BYTES_LIKE_A_REQUEST = 16 * 1024;
/** What follows a body, by its size: an object of a megabyte takes 4 to 13 ms, a small one as long as a request that has begun. */
const turnMs = { each: 0.03, megabyte: 1 };

/** The memory that one caller's bodies take or wait for. */
interface Share {
  held: number;
  /** In the order in which they came. */
  readonly waiting: Set<BodyClaim>;
}

/** The memory of one body. */
interface BodyClaim {
  readonly bytes: number;
  isHeld: boolean;
  /** Called when the memory is there. */
  readonly grant: () => void;
}

/** Memory for bodies, which callers share: one that takes all of it does not keep the others from theirs. */
export class BodyMemory {
  readonly #limitBytes: number;
  readonly #shares = new Map<unknown, Share>();
  #held = 0;
  #waiting = 0;

  constructor(limitBytes = MEMORY_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Calls `grant` once `bytes` may be read, perhaps at once; what it returns gives them back, or the wait for them up. */
  claim(caller: unknown, bytes: number, grant: () => void): () => void {
    let share = this.#shares.get(caller);
    if (share === undefined) this.#shares.set(caller, (share = { held: 0, waiting: new Set() }));
    const claim: BodyClaim = { bytes, isHeld: false, grant };
    share.waiting.add(claim);
    this.#waiting += 1;
    this.#grant(share);
    return () => this.#release(caller, share, claim);
  }

  #release(caller: unknown, share: Share, claim: BodyClaim): void {
    if (claim.isHeld) {
      claim.isHeld = false;
      this.#held -= claim.bytes;
      share.held -= claim.bytes;
    } else if (share.waiting.delete(claim)) {
      this.#waiting -= 1;
    }
    if (share.held === 0 && share.waiting.size === 0 && this.#shares.get(caller) === share) this.#shares.delete(caller);
    if (this.#waiting > 0) for (const each of this.#shares.values()) this.#grant(each);
  }

  /** Grants the claims of a caller as far as they fit, in their order. */
  #grant(share: Share): void {
    for (const claim of share.waiting) {
      if (!this.#fits(share, claim.bytes)) return;
      share.waiting.delete(claim);
      this.#waiting -= 1;
      claim.isHeld = true;
      this.#held += claim.bytes;
      share.held += claim.bytes;
      claim.grant();
    }
  }

  #fits(share: Share, bytes: number): boolean {
    return share.held === 0 || this.#held + bytes <= this.#limitBytes || share.held + bytes <= this.#limitBytes / this.#shares.size;
  }
}

/** A body that is to be read. */
export interface BodySource {
  readonly input: Readable;
  readonly exchange: Pick<HttpExchange, 'headers' | 'connection' | 'user' | 'onClosed'>;
  /** It is there as a whole. */
  readonly isWhole: boolean;
  /** The connection that it comes by. */
  readonly reads: PausableReads;
}

/** What the bodies of a listener share with its requests. */
interface BodyParts {
  readonly turns: Pick<RequestTurns, 'resume'>;
  readonly intake: Pick<RequestIntake, 'count'>;
  readonly callers: Pick<Callers, 'note' | 'of'>;
}

/** Reads the bodies of one listener. */
export class BodyReader {
  readonly #parts: BodyParts;
  readonly #memory: BodyMemory;
  readonly #pieces: Pick<LargePieces, 'take'>;
  /** Bytes of large bodies that were announced and did not come, less those that have come since. */
  #missingBytes = 0;

  constructor(parts: BodyParts, memory = new BodyMemory(), pieces: Pick<LargePieces, 'take'> = new LargePieces()) {
    this.#parts = parts;
    this.#memory = memory;
    this.#pieces = pieces;
  }

  /** The body, at most `limitBytes`; rejects with a 413 for more, and with a 400 where the client leaves before its end. */
  async read(source: BodySource, limitBytes: number): Promise<Uint8Array> {
    const { input, exchange, isWhole } = source;
    const announced = exchange.headers['content-length'];
    const bytes = Number(announced ?? 0);
    if (isWhole && bytes <= SMALL_BYTES) return readWhole(input, limitBytes);
    if (bytes > SMALL_BYTES) await this.#waitForMemory(exchange, Math.min(bytes, limitBytes));
    let isClaimed = announced !== undefined;
    let [size, counted] = [0, 0];
    const isLarge = bytes >= LARGE_BYTES && bytes <= limitBytes;
    const body = await readWhole(input, limitBytes, { place: isLarge ? this.#takePlace(bytes) : undefined, count: (more) => {
      size += more;
      const requests = Math.floor(size / BYTES_LIKE_A_REQUEST) - counted;
      if (requests > 0) this.#parts.intake.count(source.reads, requests);
      counted += requests;
      if (isClaimed || size <= SMALL_BYTES) return;
      isClaimed = true;
      input.pause();
      void this.#waitForMemory(exchange, limitBytes).then(() => input.resume());
    } }).finally(() => isLarge && this.#noteMissing(bytes, size));
    await new Promise<void>((resolve) => {
      this.#parts.turns.resume(exchange.connection, turnMs.each + (turnMs.megabyte * body.length) / 2 ** 20, resolve);
    });
    return body;
  }

  /** V8 collects for memory that is asked for, of which bodies that do not come could ask for any amount by their headers alone. */
  #takePlace(bytes: number): Uint8Array | undefined {
    return this.#missingBytes < MEMORY_BYTES ? this.#pieces.take(bytes) : undefined;
  }

  #noteMissing(bytes: number, size: number): void {
    if (size < bytes) this.#missingBytes = Math.min(2 * MEMORY_BYTES, this.#missingBytes + bytes - size);
    else this.#missingBytes = Math.max(0, this.#missingBytes - size);
  }

  /** The memory is given back when the request is over. */
  #waitForMemory(exchange: BodySource['exchange'], bytes: number): Promise<void> {
    const { callers } = this.#parts;
    callers.note(exchange.connection, exchange.user.name);
    return new Promise((resolve) => {
      exchange.onClosed(this.#memory.claim(callers.of(exchange.connection), bytes, resolve));
      // Nothing waits for a request that is over.
      exchange.onClosed(resolve);
    });
  }
}

interface WholeOptions {
  /** Called with the number of bytes as they come. */
  readonly count?: (bytes: number) => void;
  /** Where the body is put together, when its length is known. */
  readonly place?: Uint8Array | undefined;
}

/** Reads a body to its end; rejects as `BodyReader.read` does. */
export function readWhole(input: Readable, limitBytes: number, { count, place }: WholeOptions = {}): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [size, placed] = [0, 0];
    let complete = false;
    input.on('data', (chunk: Buffer) => {
      size += chunk.length;
      count?.(chunk.length);
      if (place !== undefined && size <= place.length) {
        place.set(chunk, placed);
        placed = size;
      } else if (size <= limitBytes) chunks.push(chunk);
      else if (size > limitBytes + DISCARD_LIMIT_BYTES) input.destroy();
      else {
        chunks.length = 0;
        reject(requestEntityTooLarge(`limit is ${limitBytes}`));
      }
    });
    input.on('end', () => {
      complete = true;
      const parts = place === undefined || placed === 0 ? chunks : [place.subarray(0, placed), ...chunks];
      resolve(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
    });
    // Every request closes in the end; an error without a reader still costs its stack.
    const fail = (): void => {
      if (!complete) reject(badRequest('unexpected EOF'));
    };
    input.on('aborted', fail);
    input.on('error', fail);
    input.on('close', fail);
    if (input.destroyed) fail();
  });
}
