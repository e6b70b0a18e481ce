// The webhook backend: events as an EventList to the service of a kubeconfig, tried up to five times with growing pauses, as the reference does.
import type { Clock, Random } from '../../base/index.ts';
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditBackend } from './backend.ts';
import type { AuditEvent } from './event.ts';

interface WebhookBackendOptions {
  /** Sends a body of JSON; rejects unless the answer is a success. */
  readonly post: (body: string) => Promise<unknown>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'below'>;
  readonly initialBackoffMs: number;
  readonly metrics: AuditMetrics;
}

const ATTEMPTS = 5;
const BACKOFF_FACTOR = 1.5;
/** Pauses are up to this part longer. */
const JITTER = 0.2;
const JITTER_STEPS = 1000;

const EVENT_TYPE = '{"kind":"Event","apiVersion":"audit.k8s.io/v1",';

/** Items of a list do not name their type. */
const encodeList = (events: readonly AuditEvent[]): string =>
  `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.map(({ json }) => `{${json.slice(EVENT_TYPE.length)}`).join(',')}]}`;

/** Makes the backend. Once the server stops, pauses end early and the next failure is the last; the stop waits for all lists that are on their way. */
export function createWebhookBackend({ post, clock, random, initialBackoffMs, metrics }: WebhookBackendOptions): AuditBackend {
  let isStopping = false;
  /** Ends each pause that lasts. */
  const pauses = new Set<() => void>();
  const pause = (ms: number): Promise<void> => new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      pauses.delete(end);
      resolve();
    };
    const timer = clock.after(ms, end);
    pauses.add(end);
  });
  const hurry = (): void => {
    isStopping = true;
    for (const end of pauses) end();
  };
  const send = async (body: string): Promise<void> => {
    let pauseMs = initialBackoffMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return void await post(body);
      } catch (error) {
        if (attempt === ATTEMPTS || isStopping) throw error;
      }
      await pause(pauseMs * (1 + (JITTER * random.below(JITTER_STEPS)) / JITTER_STEPS));
      pauseMs *= BACKOFF_FACTOR;
    }
  };
  const sending = new Set<Promise<boolean>>();
  return {
    process(events) {
      const sent = send(encodeList(events)).then(() => true, (error: unknown) => {
        metrics.recordErrors('webhook', events.length, error);
        return false;
      }).finally(() => sending.delete(sent));
      sending.add(sent);
      return sent;
    },
    hurry,
    async stop() {
      hurry();
      while (sending.size > 0) await Promise.all(sending);
    },
  };
}
