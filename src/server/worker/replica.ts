// The API once more, in a worker, over the server's Store: it handles requests that are expensive by their size with the same code as the server.
// To the server it is what another server on the same etcd would be. It keeps no objects of the rows that it writes to: what it changes it reads
// from the Store. Definitions are served as the server's own loop establishes them.
import { delay, invariant, systemClock, systemRandom } from '../../base/index.ts';
import { type Body, type Exchange } from '../../endpoints/index.ts';
import type { Store } from '../../storage/index.ts';
import { composeApi } from '../compose.ts';
import { silentLogger } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import { readEgress } from '../config-files/egress-config.ts';
import { readAuthorizationPlan } from '../webhooks/access-webhook.ts';
import { readAdmissionPlan } from '../webhooks/webhooks.ts';
import { readStorageFormat } from '../encryption/storage-format.ts';
import type { HandledRequest, HandledResponse } from './messages.ts';

/** Handles requests. */
export interface Replica {
  handle(request: HandledRequest, signal: AbortSignal): Promise<HandledResponse>;
}

/** How long a definition that the server knows may take to come here. */
const LATE_MS = 3000;
const LOOK_AGAIN_MS = 10;

/** Composes the API; resolves when it serves what is defined. */
export async function startReplica(data: Partial<ServerOptions>, store: Store): Promise<Replica> {
  const options = { ...data, admission: [], conversions: {}, clock: systemClock, random: systemRandom, logger: silentLogger } as ServerOptions;
  const routed = { ...options, egress: await readEgress(options) };
  const format = await readStorageFormat(options);
  const api = composeApi({
    options: routed, store: format.openStore(store), rolesReady: Promise.resolve(), plan: await readAuthorizationPlan(routed), format,
    admissionPlan: await readAdmissionPlan(options),
    authentication: undefined, serverAddress: () => '', otherPaths: [], replica: true,
  });
  await Promise.all([api.definitions.start(), api.webhooks.start(), api.policies.start()]);
  await api.quotas.start();

  /** Whether the row is here that the server found for a request: definitions come a moment later. */
  const isKnown = ({ info: { group, version, resource }, fingerprint }: HandledRequest): boolean => {
    const row = api.catalog.find(group, version, resource);
    return row !== undefined && row.fingerprint === fingerprint;
  };
  return {
    async handle(request, signal) {
      for (let waitedMs = 0; !isKnown(request); waitedMs += LOOK_AGAIN_MS) {
        if (waitedMs >= LATE_MS) return 'late';
        await delay(systemClock, LOOK_AGAIN_MS);
      }
      const exchange = createExchange(request, signal);
      const response = await api.handler(exchange);
      return { response: { ...response, body: joinBody(response.body) }, tallies: api.admissionMetrics.registry.takeTallies() };
    },
  };
}

/** A write is answered with whole bytes: nothing that streams is handled here. */
function joinBody(body: Body): Uint8Array {
  invariant(typeof body !== 'function', 'a worker answers whole bodies');
  return body instanceof Uint8Array ? body : Buffer.concat(body);
}

function createExchange({ body, search, warnings, ...request }: HandledRequest, signal: AbortSignal): Exchange {
  return {
    ...request, query: new URLSearchParams(search), warnings: [...warnings], clock: systemClock, signal,
    readBody: async () => body,
    get aborted() {
      return signal.aborted;
    },
  };
}
