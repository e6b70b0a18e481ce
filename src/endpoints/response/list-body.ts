// The body of a list: a head, chunks of items that are encoded while they are sent, a tail. Small bodies are sent whole; large ones are
// streamed with back-pressure, with a Content-Length when all chunks were encoded soon enough.
import { type Clock, createTimeSlice, partOf } from '../../base/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { byteLength, joinBytes } from './encoding.ts';
import type { Response, Sink } from '../exchange.ts';
import { acceptsGzip, gzipHeaders, headersFor, respondBytes } from './respond.ts';

/** A list that is about to be sent. */
export interface ListBody {
  readonly contentType: string;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Length of the separator in front of the first item, which is not sent. */
  readonly separatorBytes: number;
  /** Items, in chunks of any size; undefined where other requests may have a turn before the next chunk is ready. */
  readonly chunks: Chunks;
}

type Chunks = Iterable<Uint8Array | undefined>;

/** Bodies up to this length are sent whole. */
const WHOLE_BYTES = 512 * 1024;
/** Chunks below the first size are joined until they reach the second. */
const SMALL_BYTES = 16 * 1024;
const GATHER_BYTES = 128 * 1024;
/** Time for encoding before the first byte is sent. */
const COLLECT_MS = 8;
/** Time for encoding and writing before other requests have their turn. */
export const SLICE_MS = 5;
/** A wait for the receiver that is longer than this was a turn for other requests. */
const TURN_MS = 0.5;

/** Joins small chunks, and divides large ones: what is written at once to a client that does not read is kept in memory, encrypted. */
function* gather(chunks: Chunks): Generator<Uint8Array | undefined> {
  let small: Uint8Array[] = [];
  let size = 0;
  for (const chunk of chunks) {
    if (chunk === undefined) {
      yield;
      continue;
    }
    if (chunk.length < SMALL_BYTES) {
      small.push(chunk);
      size += chunk.length;
      if (size < GATHER_BYTES) continue;
    }
    if (small.length > 0) yield joinBytes(small);
    small = [];
    size = 0;
    for (let start = 0; chunk.length >= SMALL_BYTES && start < chunk.length; start += GATHER_BYTES) yield partOf(chunk, start, start + GATHER_BYTES);
  }
  if (small.length > 0) yield joinBytes(small);
}

function* allChunks({ head, tail, separatorBytes, chunks }: ListBody): Generator<Uint8Array | undefined> {
  yield head;
  let first = true;
  for (const chunk of chunks) {
    yield first ? chunk?.subarray(separatorBytes) : chunk;
    first &&= chunk === undefined;
  }
  yield tail;
}

function* chain<T>(ready: Iterable<T>, rest: Iterable<T>): Generator<T> {
  yield* ready;
  yield* rest;
}

async function writeChunks(sink: Sink, clock: Clock, chunks: Chunks): Promise<void> {
  let pace = createTimeSlice(clock, SLICE_MS);
  for (const chunk of chunks) {
    if (sink.signal.aborted) return;
    if (chunk !== undefined && !sink.write(chunk)) {
      const fullMs = clock.monotonicMs();
      await sink.drained();
      if (clock.monotonicMs() - fullMs > TURN_MS) pace = createTimeSlice(clock, SLICE_MS);
    }
    const turn = pace();
    if (turn !== undefined) await turn;
  }
}

async function* sliceChunks(sink: Sink, clock: Clock, chunks: Chunks): AsyncGenerator<Uint8Array> {
  const pace = createTimeSlice(clock, SLICE_MS);
  for (const chunk of chunks) {
    if (chunk !== undefined) yield chunk;
    const turn = pace();
    if (turn !== undefined) await turn;
    if (sink.signal.aborted) return;
  }
}

async function writeAll(sink: Sink, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (sink.signal.aborted) return;
    if (!sink.write(chunk)) await sink.drained();
  }
}

/** All bytes of a list. */
export function joinBody(body: ListBody): Uint8Array {
  return joinBytes([...allChunks(body)].filter((chunk) => chunk !== undefined));
}

/** Answers with a list. */
export async function respondListBody({ exchange, dependencies }: ResourceRequest, body: ListBody): Promise<Response> {
  const chunks = gather(allChunks(body));
  const pace = createTimeSlice(exchange.clock, COLLECT_MS);
  const ready: Uint8Array[] = [];
  let size = 0;
  let next = chunks.next();
  for (; next.done !== true; next = chunks.next()) {
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
    const zip = (sink: Sink): AsyncIterable<Uint8Array> => dependencies.gzipStream(sliceChunks(sink, exchange.clock, chain(ready, chunks)));
    return { status: 200, headers: { ...headers, ...gzipHeaders }, body: (sink) => writeAll(sink, zip(sink)) };
  }
  return {
    status: 200,
    headers: done ? { ...headers, 'content-length': String(byteLength(ready)) } : headers,
    body: (sink) => writeChunks(sink, exchange.clock, chain(ready, chunks)),
  };
}
