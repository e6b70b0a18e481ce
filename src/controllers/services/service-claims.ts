// Keeps what is claimed for Services and what Services hold the same: claims that a crash left out are made, claims that no Service uses in
// two looks are given back. Also makes the ServiceCIDR `kubernetes` that names the cluster's ranges. Mirrors the repair loops of the reference.
import { type Claims, type Owner, canonicalIp, heldAddresses, heldNodePorts, serviceSpecOf } from '../../admission/index.ts';
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { WorkQueue, createSystemClient, formatTime } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

/** Where claims are, and the ranges of the cluster. */
export interface ServiceClaims {
  readonly addresses: Claims;
  readonly ports: Claims;
  readonly ranges: readonly string[];
}

const EVERY_MS = 180_000;

interface Ledger {
  readonly claims: Claims;
  readonly heldBy: (service: KubeObject) => readonly string[];
  /** Claims without a use at the last look, with their owner. */
  suspects: ReadonlySet<string>;
}

/** The default ServiceCIDR is ready as soon as it names the ranges that are served; a verdict of another controller stays. */
function stateReady(serviceCidr: KubeObject, ranges: readonly string[], nowMs: number): JsonObject | undefined {
  const { cidrs = [] } = (serviceCidr['spec'] ?? {}) as { cidrs?: readonly string[] };
  const { conditions } = (serviceCidr['status'] ?? {}) as { conditions?: readonly JsonObject[] };
  const known = conditions?.find(({ type }) => type === 'Ready');
  const isEvaluated = known !== undefined && known['status'] !== 'Unknown';
  if (isEvaluated || cidrs.length !== ranges.length || cidrs.some((cidr, index) => cidr !== ranges[index])) return undefined;
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: formatTime(nowMs), message: 'Kubernetes default Service CIDR is ready' };
  return { status: { conditions: [ready] } };
}

const suspicion = (key: string, { namespace, name }: Owner): string => `${key} ${namespace}/${name}`;

async function balance(ledger: Ledger, listServices: () => Promise<readonly KubeObject[]>): Promise<void> {
  // Claims first: a claim that is listed and not yet in a Service is in one by the next look.
  const taken = await ledger.claims.taken();
  const wanted = new Map<string, Owner>();
  for (const service of await listServices()) {
    const { namespace = '', name = '' } = service.metadata;
    for (const key of ledger.heldBy(service)) wanted.set(key, { namespace, name });
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

/** Starts at once and looks again every three minutes. */
export function createServiceClaims(context: ControllerContext, { addresses, ports, ranges }: ServiceClaims): Controller {
  const services = createSystemClient(context, ['', 'v1', 'services'], 'kube-apiserver');
  const serviceCidrs = createSystemClient(context, ['networking.k8s.io', 'v1', 'servicecidrs'], 'kube-apiserver');
  const statusClient = createSystemClient(context, ['networking.k8s.io', 'v1', 'servicecidrs'], 'kubernetes-service-cidr-controller');
  const ledgers: readonly Ledger[] = [
    { claims: addresses, heldBy: (service) => heldAddresses(serviceSpecOf(service)).map(canonicalIp), suspects: new Set() },
    { claims: ports, heldBy: (service) => heldNodePorts(serviceSpecOf(service)).map(String), suspects: new Set() },
  ];
  const key = 'services';
  const { ready, mark } = createReadiness([key]);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('service_claims'),
    clock: context.clock,
    concurrency: 1,
    onError: (key, error) => context.report('service-claims', key, error),
    async work() {
      const name = 'kubernetes';
      if (await serviceCidrs.get({ namespace: '', name }) === undefined) {
        await serviceCidrs.createIfAbsent('', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name }, spec: { cidrs: [...ranges] } });
      }
      const nowMs = context.clock.now();
      await statusClient.apply({ namespace: '', name }, { subresource: 'status', nowMs }, (current) => stateReady(current, ranges, nowMs));
      for (const ledger of ledgers) await balance(ledger, () => services.list(''));
      mark(key);
      return EVERY_MS;
    },
  });
  queue.add(key);
  return { ready, stop: () => queue.stop() };
}
