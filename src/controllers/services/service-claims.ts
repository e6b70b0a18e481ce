// Keeps what is claimed for Services and what Services hold the same: claims that a crash left out are made, claims that no Service uses in
// two looks are given back. A Service that changes is looked at by itself. Mirrors the repair loops of the reference.
import { type Claims, type Owner, canonicalIp, heldAddresses, heldNodePorts, serviceSpecOf } from '../../admission/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import { type StoredObject, WorkQueue, createSystemClient, startReflector } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

/** Where claims are, and the ranges that Services have addresses of. */
export interface ServiceClaims {
  readonly addresses: Claims;
  readonly ports: Claims;
  readonly ranges: readonly string[];
}

const EVERY_MS = 180_000;
/** How long a look at all Services holds the event loop at a time. */
const SLICE_MS = 5;

interface Ledger {
  readonly claims: Claims;
  readonly heldBy: (service: KubeObject) => readonly string[];
  /** Claims without a use at the last look, with their owner. */
  suspects: ReadonlySet<string>;
}

const suspicion = (key: string, { namespace, name }: Owner): string => `${key} ${namespace}/${name}`;

async function balance(ledger: Ledger, listServices: () => AsyncIterable<StoredObject>): Promise<void> {
  // Claims first: a claim that is listed and not yet in a Service is in one by the next look.
  const taken = await ledger.claims.taken();
  const wanted = new Map<string, Owner>();
  for await (const service of listServices()) {
    const { namespace, name } = service;
    for (const key of ledger.heldBy(service.object('v1'))) wanted.set(key, { namespace, name });
  }
  for (const [key, owner] of wanted) if (!taken.has(key)) await ledger.claims.claim(key, owner);
  const suspects = new Set<string>();
  for (const [key, owner] of taken) {
    if (owner.name === '' || wanted.has(key)) continue;
    if (ledger.suspects.has(suspicion(key, owner))) await ledger.claims.release(key, owner);
    else suspects.add(suspicion(key, owner));
  }
  ledger.suspects = suspects;
}

/** Makes the claims of one Service that are not there, such as those of a Service that another program has put into the store. */
async function claimMissing({ claims, heldBy }: Ledger, service: KubeObject): Promise<void> {
  const { namespace = '', name = '' } = service.metadata;
  for (const key of heldBy(service)) if (!await claims.isTaken(key)) await claims.claim(key, { namespace, name });
}

/** Starts at once and looks at everything again every three minutes. */
export function createServiceClaims(context: ControllerContext, { addresses, ports }: Pick<ServiceClaims, 'addresses' | 'ports'>): Controller {
  const services = createSystemClient(context, ['', 'v1', 'services'], 'kube-apiserver');
  const ledgers: readonly Ledger[] = [
    { claims: addresses, heldBy: (service) => heldAddresses(serviceSpecOf(service)).map(canonicalIp), suspects: new Set() },
    { claims: ports, heldBy: (service) => heldNodePorts(serviceSpecOf(service)).map(String), suspects: new Set() },
  ];
  const everyService = 'services';
  const { ready, mark } = createReadiness([everyService]);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('service_claims'),
    clock: context.clock,
    concurrency: 1,
    onError: (key, error) => context.report('service-claims', key, error),
    async work(key) {
      const [namespace = '', name] = key.split('/');
      if (name !== undefined) {
        const service = await services.get({ namespace, name });
        for (const ledger of ledgers) if (service !== undefined) await claimMissing(ledger, service);
        return undefined;
      }
      for (const ledger of ledgers) await balance(ledger, () => services.each('', createTimeSlice(context.clock, SLICE_MS)));
      mark(everyService);
      return EVERY_MS;
    },
  });
  queue.add(everyService);
  const reflector = startReflector({
    registry: context.registry, clock: context.clock, target: services.target(''), delivery: 'on-demand',
    onChange: (type, object) => void (type === 'present' && queue.add(`${object.namespace}/${object.name}`)),
    onError: (error) => context.report('service-claims', everyService, error),
  });
  return {
    ready,
    stop() {
      reflector.stop();
      return queue.stop();
    },
  };
}
