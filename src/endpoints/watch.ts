// A watch over HTTP. One stream pulls events in batches and writes what is ready in one piece; there is no promise per event.
//
//   idle ──(readable)──▶ pumping ──(take() is empty)──▶ idle
//     ▲                    │ write() says the receiver is behind
//     └──(drained)──── blocked            any state ──(timeout, end of the watch, receiver gone)──▶ closed
import { expired, failure, methodNotSupported, StatusError } from '../apimachinery/index.ts';
import type { Clock, Random, Timer } from '../base/index.ts';
import type { RegistryEvent, RegistryWatch, WatchOptions } from '../registry/index.ts';
import { offerOf } from './call.ts';
import type { Call } from './dependencies.ts';
import { joinBytes } from './encoding.ts';
import type { Response, Sink } from './exchange.ts';
import { createFrameEncoder, type FrameEncoder } from './frames.ts';
import type { CollectionOptions } from './list-options.ts';
import { negotiateStream, streamType } from './negotiate.ts';
import { Pacing } from './pacing.ts';
import { headersFor } from './respond.ts';

/** Events taken at a time; bounds what one write holds. */
const BATCH_EVENTS = 256;
const BOOKMARK_EVERY_MS = 60_000;
const BOOKMARK_JITTER = 0.25;
/** A last bookmark comes this long before the timeout. */
const LAST_BOOKMARK_MS = 2_000;
const DEFAULT_MIN_TIMEOUT_SECONDS = 1800;

/** What a stream runs on. */
interface StreamParts {
  readonly watch: RegistryWatch;
  readonly encoder: FrameEncoder;
  readonly clock: Clock;
  readonly random: Random;
  readonly pacing: Pacing;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
}

/** What was joined last: streams that were woken together mostly write the same frames. */
let lastJoined: { readonly frames: readonly Uint8Array[]; readonly bytes: Uint8Array } | undefined;

function joinFrames(frames: readonly Uint8Array[]): Uint8Array {
  if (frames.length === 1) return frames[0] as Uint8Array;
  const known = lastJoined;
  if (known?.frames.length === frames.length && frames.every((frame, i) => frame === known.frames[i])) return known.bytes;
  const bytes = joinBytes(frames);
  lastJoined = { frames, bytes };
  return bytes;
}

class WatchStream {
  readonly #parts: StreamParts;
  readonly #sink: Sink;
  readonly #timers = new Set<Timer>();
  #state: 'pumping' | 'idle' | 'blocked' | 'closed' = 'idle';
  #finish: () => void = () => undefined;
  readonly #deadlineMs: number;

  constructor(parts: StreamParts, sink: Sink) {
    this.#parts = parts;
    this.#sink = sink;
    this.#deadlineMs = parts.clock.monotonicMs() + parts.timeoutMs;
  }

  /** Resolves when the stream is over. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#finish = resolve;
      if (this.#sink.signal.aborted) return this.#close();
      this.#sink.signal.addEventListener('abort', () => this.#close(), { once: true });
      this.#after(this.#parts.timeoutMs, () => this.#end());
      if (this.#parts.bookmarks) this.#scheduleBookmarks();
      this.#pump();
    });
  }

  #after(delayMs: number, callback: () => void): void {
    const timer = this.#parts.clock.after(Math.max(0, delayMs), () => {
      this.#timers.delete(timer);
      if (this.#state !== 'closed') callback();
    });
    this.#timers.add(timer);
  }

  /** Bookmarks about once a minute, so that many watches do not write at once, and one before the timeout. */
  #scheduleBookmarks(): void {
    const { clock, random } = this.#parts;
    const left = this.#deadlineMs - clock.monotonicMs();
    const jittered = BOOKMARK_EVERY_MS * (1 - BOOKMARK_JITTER + (2 * BOOKMARK_JITTER * random.below(1000)) / 1000);
    const beforeEnd = left - LAST_BOOKMARK_MS;
    if (beforeEnd <= 0) return;
    this.#after(Math.min(jittered, beforeEnd), () => {
      this.#writeBookmark();
      this.#scheduleBookmarks();
    });
  }

  #writeBookmark(): void {
    const { watch, encoder } = this.#parts;
    if (this.#state !== 'idle' || watch.revision <= 0) return;
    this.#write([encoder.encode({ type: 'BOOKMARK', revision: watch.revision, initialEventsEnd: false })]);
  }

  readonly #wake = (): void => this.#parts.pacing.run(this.#pump);

  readonly #pump = (): void => {
    if (this.#state === 'closed' || this.#state === 'blocked') return;
    this.#state = 'pumping';
    try {
      while (this.#state === 'pumping') this.#step();
    } catch (error) {
      this.#fail(error);
    }
  };

  #step(): void {
    const { watch } = this.#parts;
    const events = watch.take(BATCH_EVENTS);
    if (events.length > 0) {
      this.#write(this.#encodeAll(events));
    } else if (watch.end !== undefined) {
      if (watch.end === 'expired') this.#fail(watch.error ?? expired('too old resource version'));
      else this.#close();
    } else {
      this.#state = 'idle';
      watch.onReadable(this.#wake);
    }
  }

  #encodeAll(events: readonly RegistryEvent[]): Uint8Array[] {
    const { encoder, bookmarks } = this.#parts;
    const frames: Uint8Array[] = [];
    for (const event of events) if (bookmarks || event.type !== 'BOOKMARK') frames.push(encoder.encode(event));
    return frames;
  }

  #write(frames: readonly Uint8Array[]): void {
    if (frames.length === 0 || this.#state === 'closed') return;
    if (this.#sink.write(joinFrames(frames))) return;
    this.#state = 'blocked';
    this.#sink.drained().then(() => this.#unblock(), () => this.#close());
  }

  /** A wake-up that came while the stream was blocked did nothing, so there is always a look after it. */
  #unblock(): void {
    if (this.#state !== 'blocked') return;
    this.#state = 'idle';
    this.#pump();
  }

  /** An error is the last event. */
  #fail(error: unknown): void {
    const status = error instanceof StatusError ? error.status : failure(500, 'InternalError', String(error)).status;
    if (this.#state !== 'closed') this.#sink.write(this.#parts.encoder.encodeError(status));
    this.#close();
  }

  /** What came while the server rested is still sent. */
  #end(): void {
    this.#pump();
    this.#close();
  }

  #close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#parts.watch.close();
    this.#finish();
  }
}

function watchOptions(options: CollectionOptions): WatchOptions {
  return {
    predicate: options.predicate, ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
    ...(options.resourceVersionMatch && { resourceVersionMatch: options.resourceVersionMatch }),
    ...(options.sendInitialEvents !== undefined && { sendInitialEvents: options.sendInitialEvents }),
    allowWatchBookmarks: options.allowWatchBookmarks,
  };
}

/** One for each server. */
const pacings = new WeakMap<Call['dependencies'], Pacing>();

function pacingOf(dependencies: Call['dependencies']): Pacing {
  let pacing = pacings.get(dependencies);
  if (pacing === undefined) pacings.set(dependencies, (pacing = new Pacing(dependencies.clock)));
  return pacing;
}

/** How long a watch lives: what is asked, or a random time so that clients do not all come back at once. */
function timeoutOf({ dependencies: { random, minRequestTimeoutSeconds = DEFAULT_MIN_TIMEOUT_SECONDS } }: Call, { timeoutSeconds }: CollectionOptions): number {
  if (timeoutSeconds !== undefined && timeoutSeconds > 0) return Math.min(timeoutSeconds * 1000, 2 ** 31 - 1);
  return (minRequestTimeoutSeconds + (minRequestTimeoutSeconds * random.below(1_000_000)) / 1_000_000) * 1000;
}

/** Errors that upstream tells inside the stream, since its watch starts before they are known. */
const isStreamError = (error: unknown): error is StatusError => error instanceof StatusError && (error.code === 410 || error.code === 504);

/** Answers a watch as a stream that ends with its timeout. */
export async function handleWatch(call: Call, options: CollectionOptions): Promise<Response> {
  const { exchange, dependencies, resource } = call;
  const { clock, random, registry } = dependencies;
  if (!resource.verbs.includes('watch')) throw methodNotSupported({ group: resource.group, resource: resource.plural }, 'watch');
  const representation = negotiateStream(exchange.headers['accept'], offerOf(resource));
  const encoder = createFrameEncoder(call, representation);
  const headers = headersFor(exchange, streamType(representation.form));
  let watch: RegistryWatch;
  try {
    watch = await registry.watch(call.target, watchOptions(options));
  } catch (error) {
    if (!isStreamError(error)) throw error;
    const frame = encoder.encodeError(error.status);
    return { status: 200, headers, body: async (sink) => void sink.write(frame) };
  }
  const parts: StreamParts = {
    watch, encoder, clock, random, pacing: pacingOf(dependencies), timeoutMs: timeoutOf(call, options), bookmarks: options.allowWatchBookmarks,
  };
  return { status: 200, headers, body: (sink) => new WatchStream(parts, sink).run() };
}
