// Requests that are expensive by their size are handled in a worker, with the same code; endpoints decides which they are.
import type { LargeRequestHandler, MemberBounds } from '../../endpoints/index.ts';
import { tooManyRequests } from '../../apimachinery/index.ts';
import type { OwnedRegistry } from '../../registry/index.ts';
import type { MetricRegistry } from '../metrics/metric.ts';
import type { WorkerPool } from './worker-pool.ts';

/** Definitions of programs in use have up to 25,000 members, and start no worker. Those of 40,000 fields have 120,000. */
const definitionBounds: MemberBounds = { here: 30_000, most: 200_000 };

/** Handles requests in a pool; what workers count is counted here. Definitions take effect in the server before they are answered. */
export function handleInWorkers(
  workers: WorkerPool, registry: () => Pick<OwnedRegistry, 'noteWritten' | 'catchUp'>, metrics: Pick<MetricRegistry, 'applyTallies'>,
): LargeRequestHandler {
  return {
    boundsOf: ({ answersFromCache }) => (answersFromCache === true ? definitionBounds : undefined),
    async handle(exchange, { body, resource }) {
      const { fingerprint } = resource;
      const { method, path, headers, remoteAddress, info, user, auditId, warnings, signal } = exchange;
      const search = String(exchange.query);
      const request = { method, path, search, headers: { ...headers }, body, remoteAddress, info, user, auditId, warnings, fingerprint };
      const handled = await workers.run('handle', request, {
        user: user.name, signal, noteWrite: (key, value) => registry().noteWritten({ resource, version: info.version }, { key, value }),
      });
      // The definition has just come to be: the worker did not have it in time.
      if (handled === 'late') throw tooManyRequests('the resource is not served everywhere yet, please try again later', 1);
      metrics.applyTallies(handled.tallies);
      if (resource.answersFromCache === true) await registry().catchUp(resource);
      return handled.response;
    },
    // A copy, since the bytes may lie in a large piece that would be copied as a whole.
    makeReadable: ({ user, signal }, json, form) => workers.run('makeReadable', { json: new Uint8Array(json), form }, { user: user.name, signal }),
  };
}
