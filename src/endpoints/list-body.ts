// The body of a list: a head, pieces of items that are made while they are written, a tail. Small bodies are written whole; large ones are
// streamed with back-pressure, with their length when all pieces are at hand soon.
import type { Call } from './dependencies.ts';
import { byteLength, joinBytes } from './encoding.ts';
import type { Response, Sink } from './exchange.ts';
import { acceptsGzip, GZIP_MIN_BYTES, headersFor, respondBytes } from './respond.ts';

/** A list that is about to be written. */
export interface ListBody {
  readonly contentType: string;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Bytes that the first piece must go without: its separator. */
  readonly separatorBytes: number;
  /** Items, in pieces of any size. */
  readonly pieces: Iterable<Uint8Array>;
}

/** Bodies up to this length are handed over whole. */
const WHOLE_BYTES = 512 * 1024;
/** Pieces below the first size are put together until they reach the second. */
const SMALL_BYTES = 16 * 1024;
const GATHER_BYTES = 128 * 1024;
/** How long pieces are looked for before the first byte goes out. */
const COLLECT_MS = 8;

/** Puts small pieces together. */
function* gather(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (piece.length < SMALL_BYTES) {
      small.push(piece);
      size += piece.length;
      if (size < GATHER_BYTES) continue;
    }
    if (small.length > 0) yield joinBytes(small);
    small = [];
    size = 0;
    if (piece.length >= SMALL_BYTES) yield piece;
  }
  if (small.length > 0) yield joinBytes(small);
}

function* allPieces({ head, tail, separatorBytes, pieces }: ListBody): Generator<Uint8Array> {
  yield head;
  let first = true;
  for (const piece of pieces) {
    yield first ? piece.subarray(separatorBytes) : piece;
    first = false;
  }
  yield tail;
}

async function writePieces(sink: Sink, ready: readonly Uint8Array[], rest: Iterator<Uint8Array>): Promise<void> {
  const write = async (piece: Uint8Array): Promise<void> => {
    if (!sink.write(piece)) await sink.drained();
  };
  for (const piece of ready) {
    if (sink.signal.aborted) return;
    await write(piece);
  }
  for (let next = rest.next(); next.done !== true && !sink.signal.aborted; next = rest.next()) await write(next.value);
}

/** All bytes of a list. */
export function joinBody(body: ListBody): Uint8Array {
  return joinBytes([...allPieces(body)]);
}

/** Answers with a list. */
export async function respondListBody({ exchange, dependencies }: Call, body: ListBody): Promise<Response> {
  const pieces = gather(allPieces(body));
  const zips = acceptsGzip(exchange);
  const untilMs = exchange.clock.monotonicMs() + COLLECT_MS;
  const ready: Uint8Array[] = [];
  let size = 0;
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) {
    ready.push(next.value);
    size += next.value.length;
    if (size > WHOLE_BYTES && !zips && exchange.clock.monotonicMs() > untilMs) break;
  }
  const done = next.done === true;
  if (done && (size <= WHOLE_BYTES || (zips && size > GZIP_MIN_BYTES))) {
    return respondBytes(exchange, dependencies, { status: 200, contentType: body.contentType, body: [joinBytes(ready)] });
  }
  const headers = headersFor(exchange, body.contentType);
  return {
    status: 200,
    headers: done ? { ...headers, 'content-length': String(byteLength(ready)) } : headers,
    body: (sink) => writePieces(sink, ready, pieces),
  };
}
