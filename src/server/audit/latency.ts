// How long a request stayed in the layers of the server; slow requests carry it in their audit event, as in the reference.
import { formatDurationNanos } from '../../base/index.ts';

/** Layers that are measured, by the last part of their annotations. */
export type Layer = 'authentication' | 'impersonation' | 'apf-queue-wait' | 'authorization';

const SLOW_MS = 500;
const PREFIX = 'apiserver.latency.k8s.io/';

/** The times of one request. */
export class LatencyMarks {
  readonly #startedMs: number;
  #markMs: number;
  // A map of its own for every request would take longer than most requests stay in a layer.
  #authenticationMs = 0;
  #impersonationMs = 0;
  #queueMs = 0;
  #authorizationMs = 0;

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
    this.#markMs = startedMs;
  }

  /** The time since the last mark belongs to a layer. */
  mark(layer: Layer, nowMs: number): void {
    const tookMs = nowMs - this.#markMs;
    this.#markMs = nowMs;
    if (layer === 'authentication') this.#authenticationMs = tookMs;
    else if (layer === 'authorization') this.#authorizationMs = tookMs;
    else if (layer === 'impersonation') this.#impersonationMs = tookMs;
    else this.#queueMs = tookMs;
  }

  /** Whether the request took so long that its event says where. */
  isLong(nowMs: number): boolean {
    return nowMs - this.#startedMs > SLOW_MS;
  }

  /** Annotations of a request that took long. */
  describe(nowMs: number): readonly (readonly [key: string, value: string])[] {
    const totalMs = nowMs - this.#startedMs;
    const layers: readonly (readonly [layer: Layer | 'total', ms: number])[] = [
      ['authentication', this.#authenticationMs], ['impersonation', this.#impersonationMs], ['apf-queue-wait', this.#queueMs],
      ['authorization', this.#authorizationMs], ['total', totalMs],
    ];
    return layers.filter(([, ms]) => ms > 0).map(([layer, ms]) => [PREFIX + layer, formatMs(ms)]);
  }
}

/** As Go prints it, in microseconds at the finest. */
const formatMs = (ms: number): string => formatDurationNanos(Math.round(ms * 1000) * 1000);
