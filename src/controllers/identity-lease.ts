// The Lease by which a server shows that it is there, where several share a store, and the removal of Leases that servers have left behind. Mirrors
// the reference's identity leases: an hour long, renewed every ten seconds, kept when a server stops.
import { type KubeObject, parseIpAddress } from '../apimachinery/index.ts';
import { type Timer, formatMicroseconds } from '../base/index.ts';
import { createSystemClient } from '../registry/index.ts';
import type { Controller, ControllerContext } from './context.ts';

/** The server that a Lease stands for. */
export interface ServerIdentity {
  /** Name of the Lease: that of the machine. */
  readonly name: string;
  /** Name of the Lease where another server of the machine has that one. */
  readonly nameBesideAnother: string;
  /** Differs from start to start. */
  readonly start: string;
  readonly hostname: string;
  readonly port: number;
  /** host:port that other servers reach this one at; '' where none can. */
  readonly address: string;
}

/** Where the servers of a store are to be seen. */
export interface EndpointKeeper {
  /** The address of this server. */
  readonly address: string;
  /** Has exactly these addresses lead to the servers. */
  keep(addresses: readonly string[]): Promise<void>;
}

const NAMESPACE = 'kube-system';
const ENDPOINT = 'pintle.dev/endpoint';
/** By its port a server knows its Lease from one of another server of its machine. */
const PORT = 'pintle.dev/port';
/** A server that has missed two renewals is gone. */
const LIVE_MS = 30_000;
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

/** Whether a server renews this Lease. */
const isRenewed = (lease: KubeObject, nowMs: number): boolean => Date.parse((lease['spec'] as Spec | undefined)?.renewTime ?? '') + LIVE_MS > nowMs;

/** A Lease as it was seen, and since when. */
interface Sighting {
  readonly renewTime: string;
  readonly sinceMs: number;
}

/**
 * Finds the addresses of servers that renew their Leases. The clocks of machines differ: a Lease counts from the moment at which it was seen to change,
 * and at first sight if it seems fresh.
 */
class LiveServers {
  readonly #clock: ControllerContext['clock'];
  #seen: ReadonlyMap<string, Sighting> = new Map();

  constructor(clock: ControllerContext['clock']) {
    this.#clock = clock;
  }

  findAddresses(leases: readonly KubeObject[]): string[] {
    const nowMs = this.#clock.monotonicMs();
    const seen = new Map<string, Sighting>();
    const found = leases.flatMap(({ metadata: { name = '', labels, annotations }, ...rest }) => {
      const { renewTime = '' } = (rest['spec'] ?? {}) as Spec;
      const address = annotations?.[ENDPOINT];
      if (labels?.[LABEL] !== IDENTITY || address === undefined || parseIpAddress(address) === undefined) return [];
      const known = this.#seen.get(name);
      const isFresh = known !== undefined || Date.parse(renewTime) + LIVE_MS > this.#clock.now();
      const sighting = known?.renewTime === renewTime ? known : { renewTime, sinceMs: isFresh ? nowMs : -Infinity };
      seen.set(name, sighting);
      return nowMs - sighting.sinceMs < LIVE_MS ? [address] : [];
    });
    // Leases that are gone are forgotten.
    this.#seen = seen;
    return found;
  }
}

type Leases = ReturnType<typeof createSystemClient>;

/** The Lease of one server. */
class OwnLease {
  readonly #leases: Leases;
  readonly #clock: ControllerContext['clock'];
  readonly #identity: ServerIdentity;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #annotations: Readonly<Record<string, string>>;
  #name: string;

  constructor({ clock }: ControllerContext, leases: Leases, { identity, endpoint }: { readonly identity: ServerIdentity; readonly endpoint: string }) {
    const { name, hostname, port, address } = identity;
    this.#leases = leases;
    this.#clock = clock;
    this.#identity = identity;
    this.#name = name;
    this.#labels = { [LABEL]: IDENTITY, 'kubernetes.io/hostname': hostname };
    this.#annotations = {
      [PORT]: String(port),
      ...(address !== '' && { 'kubernetes.io/peer-advertise-address': address }), ...(endpoint !== '' && { [ENDPOINT]: endpoint }),
    };
  }

  get name(): string {
    return this.#name;
  }

  /** Renews it, or makes it: under the name of the machine, unless another server of the machine renews that one. */
  async renew(): Promise<void> {
    const { name: shared, nameBesideAnother, port } = this.#identity;
    let isTaken = false;
    const found = await this.#leases.update({ namespace: NAMESPACE, name: this.#name }, '', (current) => {
      isTaken = this.#name === shared && current.metadata.annotations?.[PORT] !== String(port) && isRenewed(current, this.#clock.now());
      return isTaken ? current : this.#write(current);
    });
    if (isTaken) this.#name = nameBesideAnother;
    else if (found !== undefined) return;
    const made = await this.#leases.createIfAbsent(NAMESPACE, this.#write({
      apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: this.#name },
    }));
    // Made by this server before, or a moment ago by another one of this machine.
    if (!made) await this.renew();
  }

  #write(current: KubeObject): KubeObject {
    const { metadata } = current;
    const renewTime = formatMicroseconds(this.#clock.now());
    return {
      ...current, spec: {
        ...current['spec'] as object, holderIdentity: `${this.#name}_${this.#identity.start}`, leaseDurationSeconds: DURATION_SECONDS, renewTime,
      },
      metadata: { ...metadata, labels: { ...metadata.labels, ...this.#labels }, annotations: { ...metadata.annotations, ...this.#annotations } },
    };
  }
}

/**
 * Starts at once: the namespace of Leases is there. `ready` resolves after the first attempt. With a keeper the Lease says where its server is, and the
 * keeper gets the addresses of the servers that renew their Leases; a server that stops takes its address with it.
 */
export function createIdentityLease(context: ControllerContext, identity: ServerIdentity, keeper?: EndpointKeeper): Controller {
  const { clock } = context;
  const leases = createSystemClient(context, ['coordination.k8s.io', 'v1', 'leases'], 'kube-apiserver');
  const own = new OwnLease(context, leases, { identity, endpoint: keeper?.address ?? '' });
  const clear = async (): Promise<void> => {
    for (const lease of await leases.list(NAMESPACE)) {
      if (lease.metadata.name !== own.name && isExpired(lease, clock.now())) await leases.delete({ namespace: NAMESPACE, name: lease.metadata.name ?? '' });
    }
  };
  const servers = new LiveServers(clock);
  const keepEndpoints = async (): Promise<void> => {
    if (keeper === undefined) return;
    const others = (await leases.list(NAMESPACE)).filter(({ metadata }) => metadata.name !== own.name);
    await keeper.keep([...servers.findAddresses(others), ...(stopped ? [] : [keeper.address])]);
  };
  const leave = async (): Promise<void> => {
    await leases.update({ namespace: NAMESPACE, name: own.name }, '', (current) => {
      const { [ENDPOINT]: _gone, ...kept } = current.metadata.annotations ?? {};
      return { ...current, metadata: { ...current.metadata, annotations: kept } };
    });
    await keepEndpoints();
  };
  let [stopped, rounds] = [false, 0];
  let timer: Timer | undefined;
  const run = async (): Promise<void> => {
    try {
      await own.renew();
      await keepEndpoints();
      if (rounds % ROUNDS_BETWEEN_CLEARINGS === 0) await clear();
      rounds += 1;
    } catch (error) {
      if (!stopped) context.report(REPORTER, own.name, error);
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
      if (keeper !== undefined) await leave().catch((error: unknown) => context.report(REPORTER, own.name, error));
    },
  };
}
