// Requests that are expensive by their size are handled in a worker, with the same code; endpoints decides which they are.
import type { Clock } from '../../base/index.ts';
import type { LargeRequestHandler, MemberBounds } from '../../endpoints/index.ts';
import { tooManyRequests } from '../../apimachinery/index.ts';
import type { OwnedRegistry } from '../../registry/index.ts';
import type { MetricRegistry } from '../metrics/metric.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Definitions of programs in use have up to 25,000 members, and start no worker. Those of 40,000 fields have 120,000. */
const definitionBounds: MemberBounds = { here: 30_000, most: 200_000 };

/** Heavy bodies that the server handles at once, in bytes: a few large Secrets start no worker. */
const MOST_HERE_BYTES = 4 * 2 ** 20;
/** How long all heavy bodies go to workers after there were more: the workers are there, and such bodies rarely come once. */
const BUSY_MS = 10_000;

/** The places of heavy bodies. */
class Places {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #hereBytes = 0;
  #busyUntilMs = -Infinity;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  enter(bytes: number): { readonly isHere: boolean; leave(): void } {
    const nowMs = this.#clock.monotonicMs();
    const isHere = nowMs >= this.#busyUntilMs && (this.#hereBytes === 0 || this.#hereBytes + bytes <= MOST_HERE_BYTES);
    if (!isHere) {
      this.#busyUntilMs = nowMs + BUSY_MS;
      return { isHere, leave() {} };
    }
    this.#hereBytes += bytes;
    return { isHere, leave: () => void (this.#hereBytes -= bytes) };
  }
}

interface LargeRequestParts {
  readonly workers: WorkerPool;
  readonly registry: () => Pick<OwnedRegistry, 'catchUp'>;
  readonly metrics: Pick<MetricRegistry, 'applyTallies'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Handles requests in a pool; what workers count is counted here. Definitions take effect in the server before they are answered. */
export function handleInWorkers({ workers, registry, metrics, clock }: LargeRequestParts): LargeRequestHandler {
  const places = new Places(clock);
  return {
    placeOf: (bytes) => places.enter(bytes),
    boundsOf: ({ answersFromCache }) => (answersFromCache === true ? definitionBounds : undefined),
    async handle(exchange, { body, resource }) {
      const { fingerprint } = resource;
      const { method, path, headers, remoteAddress, info, user, auditId, warnings, signal } = exchange;
      const search = String(exchange.query);
      const request = { method, path, search, headers: { ...headers }, body, remoteAddress, info, user, auditId, warnings, fingerprint };
      const handled = await workers.run('handle', request, { user: user.name, signal });
      // The definition has just come to be: the worker did not have it in time.
      if (handled === 'late') throw tooManyRequests('the resource is not served everywhere yet, please try again later', 1);
      metrics.applyTallies(handled.tallies);
      if (resource.answersFromCache === true) await registry().catchUp(resource);
      return handled.response;
    },
    makeReadable: ({ user, signal }, json, form) => workers.run('makeReadable', { json, form }, { user: user.name, signal }),
  };
}
