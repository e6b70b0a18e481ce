// How long a request stayed in the layers of the server; slow requests carry it in their audit event, as in the reference.
import { formatDurationNanos } from '../../base/index.ts';
import type { WebhookTime } from '../../registry/index.ts';

/** Layers that every request passes, by the last part of their annotations. */
export type Layer = 'authentication' | 'impersonation' | 'apf-queue-wait' | 'authorization';

/** The time that webhooks took: of mutating ones, which are called one after the other, the sum, and of validating ones the longest. */
export interface WebhookTimes {
  readonly 'mutating-webhook': number;
  readonly 'validating-webhook': number;
}

export const noWebhooks: WebhookTimes = { 'mutating-webhook': 0, 'validating-webhook': 0 };

/** The times after another call. */
export const addWebhook = (times: WebhookTimes, { isMutating, tookMs }: WebhookTime): WebhookTimes => (isMutating
  ? { ...times, 'mutating-webhook': times['mutating-webhook'] + tookMs }
  : { ...times, 'validating-webhook': Math.max(times['validating-webhook'], tookMs) });

const order: readonly Layer[] = ['authentication', 'impersonation', 'apf-queue-wait', 'authorization'];
const SLOW_MS = 500;
const PREFIX = 'apiserver.latency.k8s.io/';

/** When a request left a layer, in monotonic milliseconds. */
export type LatencyMark = readonly [layer: Layer, atMs: number];

/** Whether a request took so long that its event says where. */
export const isLongLatency = (totalMs: number): boolean => totalMs > SLOW_MS;

/** When a request began and ended, and what happened meanwhile. */
interface Course {
  readonly startedMs: number;
  /** In the order of time. */
  readonly marks: readonly LatencyMark[];
  readonly webhooks?: WebhookTimes | undefined;
  readonly endedMs: number;
}

/** Annotations of a request that took long: the time before each mark belongs to its layer. */
export function describeLatency({ startedMs, marks, webhooks = noWebhooks, endedMs }: Course): (readonly [key: string, value: string])[] {
  const layers = new Map<Layer, number>();
  let lastMs = startedMs;
  for (const [layer, atMs] of marks) {
    layers.set(layer, atMs - lastMs);
    lastMs = atMs;
  }
  const passed = order.map((layer) => [layer, layers.get(layer) ?? 0] as const);
  const shown: (readonly [string, number])[] = [...passed, ...Object.entries(webhooks), ['total', endedMs - startedMs]];
  return shown.filter(([, ms]) => ms > 0).map(([layer, ms]) => [PREFIX + layer, formatMs(ms)]);
}

/** As Go prints it, in microseconds at the finest. */
const formatMs = (ms: number): string => formatDurationNanos(Math.round(ms * 1000) * 1000);
