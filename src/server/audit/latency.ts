// How long a request stayed in the layers of the server; slow requests carry it in their audit event, as in the reference.
import { formatDurationNanos } from '../../base/index.ts';

/** Layers that are measured, by the last part of their annotations. */
export type Layer = 'authentication' | 'impersonation' | 'apf-queue-wait' | 'authorization';

const order: readonly Layer[] = ['authentication', 'impersonation', 'apf-queue-wait', 'authorization'];
const SLOW_MS = 500;
const PREFIX = 'apiserver.latency.k8s.io/';

/** When a request left a layer, in monotonic milliseconds. */
export type LatencyMark = readonly [layer: Layer, atMs: number];

/** Whether a request took so long that its event says where. */
export const isLongLatency = (totalMs: number): boolean => totalMs > SLOW_MS;

/** Annotations of a request that took long: the time before each mark belongs to its layer. `marks` are in the order of time. */
export function describeLatency(startedMs: number, marks: readonly LatencyMark[], nowMs: number): (readonly [key: string, value: string])[] {
  const layers = new Map<Layer, number>();
  let lastMs = startedMs;
  for (const [layer, atMs] of marks) {
    layers.set(layer, atMs - lastMs);
    lastMs = atMs;
  }
  const shown: (readonly [Layer | 'total', number])[] = order.map((layer) => [layer, layers.get(layer) ?? 0]);
  return [...shown, ['total', nowMs - startedMs] as const].filter(([, ms]) => ms > 0).map(([layer, ms]) => [PREFIX + layer, formatMs(ms)]);
}

/** As Go prints it, in microseconds at the finest. */
const formatMs = (ms: number): string => formatDurationNanos(Math.round(ms * 1000) * 1000);
