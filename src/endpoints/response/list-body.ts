// The body of a list: a head, pieces of items that are made while they are written, a tail. Small bodies are written whole; large ones are
// streamed with back-pressure, with their length when all pieces are at hand soon.
import { type Clock, createTimeSlice } from '../../base/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { byteLength, joinBytes } from './encoding.ts';
import type { Response, Sink } from '../exchange.ts';
import { acceptsGzip, gzipHeaders, headersFor, respondBytes } from './respond.ts';

/** A list that is about to be written. */
export interface ListBody {
  readonly contentType: string;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Bytes that the first piece must go without: its separator. */
  readonly separatorBytes: number;
  /** Items, in pieces of any size; undefined where a piece is still being made and others may have a turn. */
  readonly pieces: Pieces;
}

type Pieces = Iterable<Uint8Array | undefined>;

/** Bodies up to this length are handed over whole. */
const WHOLE_BYTES = 512 * 1024;
/** Pieces below the first size are put together until they reach the second. */
const SMALL_BYTES = 16 * 1024;
const GATHER_BYTES = 128 * 1024;
/** How long pieces are looked for before the first byte goes out. */
const COLLECT_MS = 8;
/** How long pieces are made and written before others get their turn. */
export const SLICE_MS = 5;
/** Whoever waited for so long for the receiver has let others have a turn. */
const TURN_MS = 0.5;

/** Puts small pieces together. */
function* gather(pieces: Pieces): Generator<Uint8Array | undefined> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    if (piece === undefined) {
      yield;
      continue;
    }
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

function* allPieces({ head, tail, separatorBytes, pieces }: ListBody): Generator<Uint8Array | undefined> {
  yield head;
  let first = true;
  for (const piece of pieces) {
    yield first ? piece?.subarray(separatorBytes) : piece;
    first &&= piece === undefined;
  }
  yield tail;
}

function* chain<T>(ready: Iterable<T>, rest: Iterable<T>): Generator<T> {
  yield* ready;
  yield* rest;
}

async function writePieces(sink: Sink, clock: Clock, pieces: Pieces): Promise<void> {
  let pace = createTimeSlice(clock, SLICE_MS);
  for (const piece of pieces) {
    if (sink.signal.aborted) return;
    if (piece !== undefined && !sink.write(piece)) {
      const fullMs = clock.monotonicMs();
      await sink.drained();
      if (clock.monotonicMs() - fullMs > TURN_MS) pace = createTimeSlice(clock, SLICE_MS);
    }
    const turn = pace();
    if (turn !== undefined) await turn;
  }
}

async function* pacePieces(sink: Sink, clock: Clock, pieces: Pieces): AsyncGenerator<Uint8Array> {
  const pace = createTimeSlice(clock, SLICE_MS);
  for (const piece of pieces) {
    if (piece !== undefined) yield piece;
    const turn = pace();
    if (turn !== undefined) await turn;
    if (sink.signal.aborted) return;
  }
}

async function writeAll(sink: Sink, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (sink.signal.aborted) return;
    if (!sink.write(piece)) await sink.drained();
  }
}

/** All bytes of a list. */
export function joinBody(body: ListBody): Uint8Array {
  return joinBytes([...allPieces(body)].filter((piece) => piece !== undefined));
}

/** Answers with a list. */
export async function respondListBody({ exchange, dependencies }: ResourceRequest, body: ListBody): Promise<Response> {
  const pieces = gather(allPieces(body));
  const pace = createTimeSlice(exchange.clock, COLLECT_MS);
  const ready: Uint8Array[] = [];
  let size = 0;
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) {
    if (next.value !== undefined) ready.push(next.value);
    size += next.value?.length ?? 0;
    const turn = pace();
    if (turn === undefined) continue;
    await turn;
    if (exchange.aborted || size > WHOLE_BYTES) break;
  }
  const done = next.done === true;
  if (done && size <= WHOLE_BYTES) {
    return respondBytes(exchange, dependencies, { status: 200, contentType: body.contentType, body: [joinBytes(ready)] });
  }
  const headers = headersFor(exchange, body.contentType);
  if (acceptsGzip(exchange)) {
    const zip = (sink: Sink): AsyncIterable<Uint8Array> => dependencies.gzipPieces(pacePieces(sink, exchange.clock, chain(ready, pieces)));
    return { status: 200, headers: { ...headers, ...gzipHeaders }, body: (sink) => writeAll(sink, zip(sink)) };
  }
  return {
    status: 200,
    headers: done ? { ...headers, 'content-length': String(byteLength(ready)) } : headers,
    body: (sink) => writePieces(sink, exchange.clock, chain(ready, pieces)),
  };
}
