// `batch`: events wait in a buffer of bounded length and leave in batches, when a batch is full or its first event has waited long enough. A full
// buffer loses events and counts them; requests never wait. Mirrors the buffered plugin of the reference; bytes, and batches in progress, are bounded
// besides.
import { type Clock, type Timer, delay } from '../../base/index.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditBackend } from './backend.ts';
import type { AuditEvent } from './event.ts';

/** The reference's flags of one plugin. */
export interface BatchOptions {
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  /** A batch of several events is no larger. */
  readonly maxBatchBytes: number;
  readonly maxWaitMs: number;
  /** Batches per second and at once; undefined: any number. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
  /** Batches that are sent at the same time. */
  readonly maxSending: number;
  /** From this on events are lost: bytes that wait or are being sent. The reference has no such bound; 10000 bodies of 3 MB would be 30 GB. */
  readonly maxHeldBytes: number;
}

/** Gives a token per batch, at most `burst` at once. */
class Throttle {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #burst: number;
  /** When the bucket was, or will be, empty. */
  #emptyMs: number;

  constructor(clock: Clock, { qps, burst }: { readonly qps: number; readonly burst: number }) {
    this.#clock = clock;
    this.#intervalMs = 1000 / qps;
    this.#burst = burst;
    this.#emptyMs = clock.monotonicMs() - burst * this.#intervalMs;
  }

  /** Takes a token; answers how long it takes to be there. */
  take(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#emptyMs = Math.max(this.#emptyMs, nowMs - this.#burst * this.#intervalMs) + this.#intervalMs;
    return Math.max(0, this.#emptyMs - nowMs);
  }
}

class BufferedBackend implements AuditBackend {
  readonly #backend: AuditBackend;
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #metrics: AuditMetrics;
  readonly #throttle: Throttle | undefined;
  readonly #buffer: AuditEvent[] = [];
  readonly #sending = new Set<Promise<void>>();
  /** What waits in the buffer. */
  #waitingBytes = 0;
  /** The same and the batches in progress. */
  #heldBytes = 0;
  #timer: Timer | undefined;
  /** Sends what has been gathered even if it is no full batch. */
  #isDue = false;
  #isStopping = false;
  #loop: Promise<void> | undefined;

  constructor(backend: AuditBackend, options: BatchOptions, { clock, metrics }: { readonly clock: Clock; readonly metrics: AuditMetrics }) {
    this.#backend = backend;
    this.#options = options;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#throttle = options.throttle && new Throttle(clock, options.throttle);
  }

  process(events: readonly AuditEvent[]): boolean {
    if (this.#isStopping) {
      this.#metrics.recordErrors('buffered', events.length, new Error('audit backend shut down'));
      return true;
    }
    const { bufferSize, maxHeldBytes } = this.#options;
    const room = this.#heldBytes >= maxHeldBytes ? 0 : bufferSize - this.#buffer.length;
    const kept = events.slice(0, Math.max(0, room));
    const bytes = sumBytes(kept);
    this.#waitingBytes += bytes;
    this.#heldBytes += bytes;
    this.#buffer.push(...kept);
    if (kept.length < events.length) this.#metrics.recordErrors('buffered', events.length - kept.length, new Error('audit buffer queue blocked'));
    if (this.#isBatchFull()) this.#send();
    else this.#timer ??= this.#clock.after(this.#options.maxWaitMs, () => this.#expire());
    return true;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#expire();
    this.#backend.hurry?.();
    await this.#loop;
    await Promise.all(this.#sending);
    await this.#backend.stop();
  }

  #expire(): void {
    this.#isDue = true;
    this.#send();
  }

  #send(): void {
    this.#loop ??= this.#sendBatches();
  }

  async #sendBatches(): Promise<void> {
    // Others have their turn first: a batch is never sent by the request that fills it.
    await delay(this.#clock, 0);
    while (this.#isDue ? this.#buffer.length > 0 : this.#isBatchFull()) {
      while (this.#sending.size >= this.#options.maxSending) await Promise.race(this.#sending);
      const waitMs = this.#throttle?.take() ?? 0;
      if (waitMs > 0) await delay(this.#clock, waitMs);
      this.#sendOne(this.#takeBatch());
    }
    this.#isDue = this.#isStopping;
    this.#timer?.cancel();
    this.#timer = this.#buffer.length === 0 ? undefined : this.#clock.after(this.#options.maxWaitMs, () => this.#expire());
    // In the turn of the last look at the buffer: what comes after it starts the next loop.
    this.#loop = undefined;
  }

  #isBatchFull(): boolean {
    const { maxBatchSize, maxBatchBytes } = this.#options;
    return this.#buffer.length >= maxBatchSize || this.#waitingBytes >= maxBatchBytes;
  }

  /** As many events as a batch holds; the first one in any case. */
  #takeBatch(): AuditEvent[] {
    const { maxBatchSize, maxBatchBytes } = this.#options;
    let [count, bytes] = [0, 0];
    for (const event of this.#buffer) {
      if (count === maxBatchSize || (count > 0 && bytes + event.bytes > maxBatchBytes)) break;
      count += 1;
      bytes += event.bytes;
    }
    this.#waitingBytes -= bytes;
    return this.#buffer.splice(0, count);
  }

  #sendOne(batch: readonly AuditEvent[]): void {
    const bytes = sumBytes(batch);
    const sent = this.#backend.process(batch);
    if (!(sent instanceof Promise)) {
      this.#heldBytes -= bytes;
      return;
    }
    const sending = sent.then(() => {
      this.#sending.delete(sending);
      this.#heldBytes -= bytes;
    });
    this.#sending.add(sending);
  }
}

const sumBytes = (events: readonly AuditEvent[]): number => events.reduce((sum, { bytes }) => sum + bytes, 0);

/** Makes the buffer in front of a backend. */
export function bufferEvents(backend: AuditBackend, options: BatchOptions, parts: { readonly clock: Clock; readonly metrics: AuditMetrics }): AuditBackend {
  return new BufferedBackend(backend, options, parts);
}
