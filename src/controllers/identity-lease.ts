// The Lease by which a server shows that it is there, where several share a store, and the removal of Leases that servers have left behind. Mirrors
// the reference's identity leases: an hour long, renewed every ten seconds, kept when a server stops.
import type { KubeObject } from '../apimachinery/index.ts';
import type { Timer } from '../base/index.ts';
import { createSystemClient } from '../registry/index.ts';
import type { Controller, ControllerContext } from './context.ts';

/** The server that a Lease stands for. */
export interface ServerIdentity {
  /** Name of the Lease. */
  readonly name: string;
  /** The name with something that differs from start to start. */
  readonly holder: string;
  readonly hostname: string;
  /** host:port that other servers reach this one at; '' where none can. */
  readonly address: string;
}

const NAMESPACE = 'kube-system';
const LABEL = 'apiserver.kubernetes.io/identity';
const IDENTITY = 'kube-apiserver';
const RENEW_MS = 10_000;
const DURATION_SECONDS = 3600;
/** Leases of others are looked at once an hour. */
const ROUNDS_BETWEEN_CLEARINGS = 360;
const REPORTER = 'apiserver-identity';

interface Spec {
  readonly renewTime?: string;
  readonly leaseDurationSeconds?: number;
}

function isExpired({ metadata, ...rest }: KubeObject, nowMs: number): boolean {
  if (metadata.labels?.[LABEL] !== IDENTITY) return false;
  const { renewTime, leaseDurationSeconds = 0 } = (rest['spec'] ?? {}) as Spec;
  return renewTime === undefined || Date.parse(renewTime) + leaseDurationSeconds * 1000 < nowMs;
}

/** Starts at once: the namespace of Leases is there. `ready` resolves after the first attempt. */
export function createIdentityLease(context: ControllerContext, identity: ServerIdentity): Controller {
  const { clock } = context;
  const leases = createSystemClient(context, ['coordination.k8s.io', 'v1', 'leases'], 'kube-apiserver');
  const { name, holder, hostname, address } = identity;
  const describe = () => ({
    labels: { [LABEL]: IDENTITY, 'kubernetes.io/hostname': hostname },
    ...(address !== '' && { annotations: { 'kubernetes.io/peer-advertise-address': address } }),
  });
  const renewed = () => ({
    holderIdentity: holder, leaseDurationSeconds: DURATION_SECONDS, renewTime: `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`,
  });
  const renew = async (): Promise<void> => {
    const found = await leases.update({ namespace: NAMESPACE, name }, '', (current) => ({
      ...current, spec: { ...current['spec'] as object, ...renewed() },
      metadata: {
        ...current.metadata, labels: { ...current.metadata.labels, ...describe().labels },
        ...(address !== '' && { annotations: { ...current.metadata.annotations, ...describe().annotations } }),
      },
    }));
    if (found !== undefined) return;
    await leases.createIfAbsent(NAMESPACE, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, ...describe() }, spec: renewed() });
  };
  const clear = async (): Promise<void> => {
    for (const lease of await leases.list(NAMESPACE)) {
      if (lease.metadata.name !== name && isExpired(lease, clock.now())) await leases.delete({ namespace: NAMESPACE, name: lease.metadata.name ?? '' });
    }
  };
  let [stopped, rounds] = [false, 0];
  let timer: Timer | undefined;
  const run = async (): Promise<void> => {
    try {
      await renew();
      if (rounds % ROUNDS_BETWEEN_CLEARINGS === 0) await clear();
      rounds += 1;
    } catch (error) {
      if (!stopped) context.report(REPORTER, name, error);
    }
    if (!stopped) timer = clock.after(RENEW_MS, () => void (running = run()));
  };
  let running: Promise<void> = run();
  const first = running;
  return {
    ready: () => first,
    async stop() {
      stopped = true;
      timer?.cancel();
      await running;
    },
  };
}
