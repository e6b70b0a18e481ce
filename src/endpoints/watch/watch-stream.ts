// The stream of one watch request: it takes events in batches and writes each batch at once, without a promise per event.
//
//   catching up, with a watch of its own ──nothing left to send──▶ following a broadcast (broadcast.ts)
//   catching up ──the receiver is behind──▶ waiting until it has read ──▶ catching up
//   following ──an event comes while the receiver is behind──▶ waiting, with a fork of the broadcast's watch
//   any state ──timeout, end of the watch, receiver gone──▶ closed
import { expired, failure, StatusError } from '../../apimachinery/index.ts';
import type { Clock, Random, Timer } from '../../base/index.ts';
import type { RegistryEvent, RegistryWatch } from '../../registry/index.ts';
import { BATCH_EVENTS, type Broadcast, type Broadcasts, type Follower, type Topic } from './broadcast.ts';
import type { Sink, WatchCounts } from '../exchange.ts';
import type { WatchEventEncoder } from './watch-event-encoder.ts';
import type { WriteThrottle } from './write-throttle.ts';
import { cutBatch } from './batch.ts';

const BOOKMARK_EVERY_MS = 60_000;
const BOOKMARK_JITTER = 0.25;
/** The last bookmark is sent this long before the timeout. */
const LAST_BOOKMARK_MS = 2_000;

/** Everything that a stream needs besides its sink. */
interface StreamParts {
  readonly watch: RegistryWatch;
  readonly encoder: WatchEventEncoder;
  readonly clock: Clock;
  readonly random: Random;
  readonly writeThrottle: WriteThrottle;
  readonly broadcasts: Broadcasts;
  /** Undefined where the bytes of events depend on the receiver (tables). */
  readonly topic: Topic | undefined;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
  readonly counts?: WatchCounts | undefined;
}

/** Sends one watch to one sink. */
export class WatchStream implements Follower {
  readonly #parts: StreamParts;
  readonly #sink: Sink;
  readonly #timers = new Set<Timer>();
  readonly #deadlineMs: number;
  /** The watch of this stream alone; undefined while it follows `#broadcast`. */
  #own: RegistryWatch | undefined;
  #broadcast: Broadcast | undefined;
  /** Events that were taken and are not written yet. */
  #pending: readonly RegistryEvent[] = [];
  #behind = false;
  #closed = false;
  #resolve: () => void = () => undefined;

  constructor(parts: StreamParts, sink: Sink) {
    this.#parts = parts;
    this.#sink = sink;
    this.#own = parts.watch;
    this.#deadlineMs = parts.clock.monotonicMs() + parts.timeoutMs;
  }

  /** Resolves when the stream is over. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#sink.signal.aborted) return this.#close();
      this.#sink.signal.addEventListener('abort', this.#close, { once: true });
      this.#after(this.#parts.timeoutMs, () => this.#end());
      if (this.#parts.bookmarks) this.#scheduleBookmarks();
      this.#pump();
      if (this.#parts.bookmarks) this.#sink.offerBookmarks?.(() => this.#writeBookmark());
    });
  }

  deliver(bytes: Uint8Array, events: readonly RegistryEvent[]): void {
    if (!this.#behind) {
      this.#parts.counts?.sent(events.length, bytes.length);
      return this.#write(bytes);
    }
    const broadcast = this.#broadcast as Broadcast;
    this.#own = broadcast.fork();
    this.#pending = events;
    this.#broadcast = undefined;
    broadcast.leave(this);
  }

  finish(end: 'expired' | 'closed', error: StatusError | undefined): void {
    if (end === 'expired') this.fail(error ?? expired('too old resource version'));
    else this.#close();
  }

  /** Sends an ERROR event, which is the last one. */
  fail(error: unknown): void {
    const status = error instanceof StatusError ? error.status : failure(500, 'InternalError', String(error)).status;
    if (!this.#closed) this.#sink.write(this.#parts.encoder.encodeError(status));
    this.#close();
  }

  #after(delayMs: number, callback: () => void): void {
    const timer = this.#parts.clock.after(Math.max(0, delayMs), () => {
      this.#timers.delete(timer);
      if (!this.#closed) callback();
    });
    this.#timers.add(timer);
  }

  /** A bookmark about once a minute, at a random distance so that many streams do not write at once, and one before the timeout. */
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

  /** False while events before it are still to be sent. */
  #writeBookmark(): boolean {
    if (this.#behind || this.#pending.length > 0) return false;
    const revision = (this.#broadcast ?? this.#own)?.revision ?? 0;
    if (revision > 0) this.#write(this.#parts.encoder.encode({ type: 'BOOKMARK', revision, initialEventsEnd: false }));
    return revision > 0;
  }

  readonly #wake = (): void => this.#parts.writeThrottle.run(this.#pump);

  readonly #pump = (): void => {
    try {
      while (this.#own !== undefined && !this.#behind && this.#step(this.#own));
    } catch (error) {
      this.fail(error);
    }
  };

  /** Writes one batch; false when there is nothing to do for now. */
  #step(own: RegistryWatch): boolean {
    const more = own.take(BATCH_EVENTS - this.#pending.length);
    if (more.length > 0) this.#pending = [...this.#pending, ...more];
    if (this.#pending.length > 0) {
      const { bytes, rest } = cutBatch(this.#pending, this.#parts.encoder.encode);
      this.#count(this.#pending.slice(0, this.#pending.length - rest.length), bytes);
      this.#pending = rest;
      this.#write(bytes);
      return true;
    }
    if (own.end !== undefined) this.finish(own.end, own.error);
    else this.#idle(own);
    return false;
  }

  #count(events: readonly RegistryEvent[], bytes: Uint8Array): void {
    const { counts, clock, timeoutMs } = this.#parts;
    if (counts === undefined) return;
    counts.sent(events.length, bytes.length);
    const hasInitial = events.some((event) => event.type === 'BOOKMARK' && event.initialEventsEnd);
    if (hasInitial) counts.initialSent(clock.monotonicMs() - this.#deadlineMs + timeoutMs);
  }

  /** Follows the broadcast of the topic, or waits for the next event of its own watch. */
  #idle(own: RegistryWatch): void {
    const { broadcasts, topic } = this.#parts;
    this.#broadcast = topic && broadcasts.join(this, own, topic);
    if (this.#broadcast === undefined) own.onReadable(this.#wake);
    else this.#own = undefined;
  }

  #write(bytes: Uint8Array): void {
    if (this.#sink.write(bytes)) return;
    this.#behind = true;
    this.#sink.drained().then(this.#catchUp, this.#close);
  }

  readonly #catchUp = (): void => {
    this.#behind = false;
    this.#pump();
  };

  /** Events that wait for the write throttle are still sent. */
  #end(): void {
    this.#broadcast?.flush();
    this.#pump();
    this.#close();
  }

  readonly #close = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#broadcast?.leave(this);
    this.#own?.close();
    this.#own = undefined;
    this.#resolve();
  };
}
