// The filter that makes faults happen: around every request of a known user.
import { expired, failure } from '../../apimachinery/index.ts';
import { delay, systemClock } from '../../base/index.ts';
import { frameJson, frameProtobuf } from '../../codec/index.ts';
import type { Response, Sink } from '../../endpoints/index.ts';
import type { ExposedParts, Filter, ServerExchange } from '../../server/index.ts';
import { readPast } from '../record/past.ts';
import { answerFaultRequest, isFaultRequest } from './fault-api.ts';
import type { FaultBook } from './fault-book.ts';
import type { FaultEffect, FaultStatus } from './fault.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest', 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound', 405: 'MethodNotAllowed', 406: 'NotAcceptable', 409: 'Conflict', 410: 'Expired',
  413: 'RequestEntityTooLarge', 415: 'UnsupportedMediaType', 422: 'Invalid', 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** What the filter works with. */
interface FaultFilterParts {
  readonly book: FaultBook;
  /** Requests that no fault befalls. */
  readonly spares: (exchange: ServerExchange) => boolean;
  readonly api: () => ExposedParts['api'];
}

/** Makes the faults of `book` happen. */
export function createFaultFilter(parts: FaultFilterParts): Filter {
  return (exchange, next) => {
    if (isFaultRequest(exchange)) return answerFaultRequest(exchange, parts.book);
    if (parts.spares(exchange)) return next(exchange);
    const effects = parts.book.take({ user: exchange.user.name, info: exchange.info });
    return effects.length === 0 ? next(exchange) : befall(exchange, effects, { next, parts });
  };
}

async function befall(exchange: ServerExchange, effects: readonly FaultEffect[], { next, parts }: {
  readonly next: Parameters<Filter>[1]; readonly parts: FaultFilterParts;
}): Promise<Response> {
  const merged: FaultEffect = Object.assign({}, ...effects);
  const { latencyMs, status, cut, afterCommit, stale, watch } = merged;
  if (latencyMs !== undefined) await delay(systemClock, latencyMs);
  if (afterCommit === true) await next(exchange);
  if (cut === true) return breakOff(exchange);
  if (status !== undefined) return throwStatus(typeof status === 'number' ? { code: status } : status);
  if (typeof stale === 'number') exchange.registry = readPast(parts.api().registry, stale);
  const answer = await next(exchange);
  if (watch === undefined) return answer;
  return disturbWatch(answer, { exchange, effect: merged, error: () => encodeError(exchange, parts.api().respondError) });
}

/** The ERROR event of 410, as the client reads it. */
function encodeError(exchange: ServerExchange, respondError: ExposedParts['api']['respondError']): Uint8Array {
  const { body, headers } = respondError(exchange, expired('too old resource version: a fault of the test'));
  const bytes = body instanceof Uint8Array ? body : Buffer.concat(body as readonly Uint8Array[]);
  return isProtobuf(headers) ? frameProtobuf('ERROR', bytes) : frameJson('ERROR', Buffer.from(Buffer.from(bytes).toString('utf8').trim()));
}

const isProtobuf = (headers: Response['headers']): boolean => String(headers['content-type']).includes('protobuf');

/** No answer comes of it. */
function breakOff(exchange: ServerExchange): Promise<never> {
  exchange.cut('a fault cuts the connection');
  return new Promise(() => {});
}

function throwStatus({ code, reason = reasons[code] ?? 'Unknown', message, retryAfterSeconds }: FaultStatus): never {
  const seconds = retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  throw failure(code, reason, message ?? `a fault of the test answers ${code}`, seconds === undefined ? undefined : { retryAfterSeconds: seconds });
}

type StreamBody = (sink: Sink) => Promise<void>;
type SplitEvents = (chunk: Uint8Array) => Uint8Array[];

interface Disturbance {
  readonly exchange: ServerExchange;
  readonly effect: FaultEffect;
  readonly error: () => Uint8Array;
}

/** The stream of a watch, cut short or silenced after some events. */
function disturbWatch(answer: Response, disturbance: Disturbance): Response {
  const { body, headers } = answer;
  if (typeof body !== 'function') return answer;
  const split = isProtobuf(headers) ? splitFrames : splitLines;
  if (disturbance.effect.watch === 'bookmark') return { ...answer, body: (sink) => runWithBookmark(body, sink, disturbance.effect, split) };
  return { ...answer, body: (sink) => runDisturbed(body, sink, { ...disturbance, split }) };
}

async function runDisturbed(body: StreamBody, sink: Sink, { exchange, effect, error, split }: Disturbance & { readonly split: SplitEvents }): Promise<void> {
  const { watch, afterEvents = 0 } = effect;
  const over = new AbortController();
  const signal = AbortSignal.any([sink.signal, over.signal]);
  let left = afterEvents;
  const strike = (): void => {
    if (watch === 'expire') sink.write(error());
    if (watch === 'cut') exchange.cut('a fault cuts the watch');
    if (watch !== 'stall') over.abort();
  };
  const limited: Sink = {
    signal, drained: () => sink.drained(),
    write(chunk) {
      if (left === 0) return true;
      const events = split(chunk).slice(0, left);
      left -= events.length;
      const isTaken = sink.write(left > 0 ? chunk : Buffer.concat(events));
      if (left === 0) strike();
      return isTaken;
    },
  };
  if (left === 0) strike();
  if (!signal.aborted) await body(limited);
}

/** A stream that gives a bookmark as soon as it has sent the events before it. */
function runWithBookmark(body: StreamBody, sink: Sink, { afterEvents = 0 }: FaultEffect, split: SplitEvents): Promise<void> {
  let left = afterEvents;
  let send: (() => boolean) | undefined;
  const attempt = (): void => {
    if (left <= 0 && send?.() === true) send = undefined;
  };
  return body({
    signal: sink.signal,
    async drained() {
      await sink.drained();
      setImmediate(attempt);
    },
    offerBookmarks(given) {
      send = given;
      attempt();
    },
    write(chunk) {
      left -= split(chunk).length;
      // The stream knows what it has sent once this write is over.
      if (left <= 0 && send !== undefined) queueMicrotask(attempt);
      return sink.write(chunk);
    },
  });
}

/** Events as JSON, one a line. */
function splitLines(chunk: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < chunk.length;) {
    const end = chunk.indexOf(0x0a, start);
    lines.push(chunk.subarray(start, (start = end < 0 ? chunk.length : end + 1)));
  }
  return lines;
}

/** Events as protobuf, each behind its length. */
function splitFrames(chunk: Uint8Array): Uint8Array[] {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  const frames: Uint8Array[] = [];
  for (let start = 0; start + 4 <= chunk.length;) {
    const end = start + 4 + view.getUint32(start);
    frames.push(chunk.subarray(start, end));
    start = end;
  }
  return frames;
}
