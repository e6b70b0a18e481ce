// How long a request stayed in the layers of the server; slow requests carry it in their audit event, as in the reference.
import type { Clock } from '../../base/index.ts';

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
    return [...this.#layers, ['total', totalMs] as const].filter(([, ms]) => ms > 0).map(([layer, ms]) => [PREFIX + layer, formatDuration(ms)]);
  }
}

/** A duration as Go prints it, in microseconds at the finest. */
export function formatDuration(ms: number): string {
  const micros = Math.round(ms * 1000);
  if (micros < 1000) return `${micros}µs`;
  if (micros < 1_000_000) return `${micros / 1000}ms`;
  const seconds = micros / 1_000_000;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${Math.round((seconds % 60) * 1_000_000) / 1_000_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
