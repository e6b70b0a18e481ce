// How long a request stayed in the layers of the server; slow requests carry it in their audit event, as in the reference.
import { type Clock, formatDurationNanos } from '../../base/index.ts';

/** Layers that are measured, by the last part of their annotations. */
export type Layer = 'authentication' | 'impersonation' | 'apf-queue-wait' | 'authorization';

const SLOW_MS = 500;
const PREFIX = 'apiserver.latency.k8s.io/';

/** The times of one request. */
export class LatencyMarks {
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #layers = new Map<Layer, number>();
  #markMs: number;

  constructor(clock: Clock, startedMs: number) {
    this.#clock = clock;
    this.#startedMs = startedMs;
    this.#markMs = startedMs;
  }

  /** The time since the last mark belongs to a layer. */
  mark(layer: Layer): void {
    const nowMs = this.#clock.monotonicMs();
    this.#layers.set(layer, nowMs - this.#markMs);
    this.#markMs = nowMs;
  }

  /** Annotations of a request that took long; none for others. */
  describe(): [string, string][] {
    const totalMs = this.#clock.monotonicMs() - this.#startedMs;
    if (totalMs <= SLOW_MS) return [];
    return [...this.#layers, ['total', totalMs] as const].filter(([, ms]) => ms > 0).map(([layer, ms]) => [PREFIX + layer, formatMs(ms)]);
  }
}

/** As Go prints it, in microseconds at the finest. */
const formatMs = (ms: number): string => formatDurationNanos(Math.round(ms * 1000) * 1000);
