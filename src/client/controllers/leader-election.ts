// One of several programs at a time: the holder of a Lease, as client-go's leader election keeps it.
import { type Clock, delay, systemRandom } from '../../base/index.ts';
import { ApiError, takeBody } from '../api.ts';
import type { Connection } from './connection.ts';

/** The Lease by which programs agree, and how long a holder that is gone keeps it. */
export interface LeaderElection {
  readonly namespace: string;
  readonly name: string;
  /** This program among the others; a new name when absent. */
  readonly identity?: string;
  /** 15 seconds when absent. */
  readonly leaseMs?: number;
}

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

interface Lease {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly spec?: LeaseSpec;
}

const DEFAULT_LEASE_MS = 15_000;
/** Parts of a lease after which it is renewed, and after which a holder that could not renew it gives up. */
const [RENEW_PART, GIVE_UP_PART] = [2 / 15, 10 / 15];

/** Takes part in an election until the signal is aborted. */
export class Candidate {
  readonly #connection: Connection;
  readonly #path: string;
  readonly #election: LeaderElection;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly identity: string;
  /** The last other lease, and when it was first seen: clocks of machines differ. */
  #seen: { readonly text: string; readonly atMs: number } | undefined;

  constructor(connection: Connection, election: LeaderElection) {
    this.#connection = connection;
    this.#election = election;
    this.#clock = connection.clock;
    this.#leaseMs = election.leaseMs ?? DEFAULT_LEASE_MS;
    this.identity = election.identity ?? systemRandom.uuid();
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(election.namespace)}/leases`;
  }

  /** Resolves when this program holds the Lease, with a promise that resolves when it has lost it. Undefined when the signal came first. */
  async win(signal: AbortSignal): Promise<{ readonly lost: Promise<void> } | undefined> {
    while (!signal.aborted) {
      if (await this.#tryToHold()) return { lost: this.#hold(signal) };
      await delay(this.#clock, this.#leaseMs * RENEW_PART);
    }
    return undefined;
  }

  /** Lets others have the Lease at once. */
  async release(): Promise<void> {
    const lease = await this.#read();
    if (lease?.spec?.holderIdentity !== this.identity) return;
    await this.#write(lease, { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 });
  }

  async #hold(signal: AbortSignal): Promise<void> {
    let renewedMs = this.#clock.monotonicMs();
    while (!signal.aborted && this.#clock.monotonicMs() - renewedMs < this.#leaseMs * GIVE_UP_PART) {
      await delay(this.#clock, this.#leaseMs * RENEW_PART);
      if (await this.#tryToHold()) renewedMs = this.#clock.monotonicMs();
    }
  }

  async #tryToHold(): Promise<boolean> {
    try {
      const lease = await this.#read();
      const time = new Date(this.#clock.now()).toISOString().replace('Z', '000Z');
      const mine = { holderIdentity: this.identity, leaseDurationSeconds: Math.max(1, Math.round(this.#leaseMs / 1000)), renewTime: time };
      if (lease === undefined) return await this.#create({ ...mine, acquireTime: time, leaseTransitions: 0 });
      const { spec = {} } = lease;
      if (spec.holderIdentity === this.identity) return await this.#write(lease, { ...spec, ...mine });
      if (!this.#isOver(spec)) return false;
      return await this.#write(lease, { ...mine, acquireTime: time, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 });
    } catch {
      return false;
    }
  }

  /** Whether the holder has not renewed it for as long as it said, by the clock of this program. */
  #isOver(spec: LeaseSpec): boolean {
    if ((spec.holderIdentity ?? '') === '') return true;
    const text = JSON.stringify(spec);
    const nowMs = this.#clock.monotonicMs();
    if (this.#seen?.text !== text) this.#seen = { text, atMs: nowMs };
    return nowMs - this.#seen.atMs > (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  async #read(): Promise<Lease | undefined> {
    const path = `${this.#path}/${encodeURIComponent(this.#election.name)}`;
    const response = await this.#connection.ask({ path });
    return response.status === 404 ? undefined : takeBody('GET', path, response) as Lease;
  }

  async #create(spec: LeaseSpec): Promise<boolean> {
    const { name, namespace } = this.#election;
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec };
    return this.#isTaken(await this.#connection.ask({ method: 'POST', path: this.#path, body }));
  }

  async #write(lease: Lease, spec: LeaseSpec): Promise<boolean> {
    const path = `${this.#path}/${encodeURIComponent(this.#election.name)}`;
    return this.#isTaken(await this.#connection.ask({ method: 'PUT', path, body: { ...lease, spec } }));
  }

  /** Another program was faster: no error. */
  #isTaken(response: Parameters<typeof takeBody>[2]): boolean {
    if (response.status === 409) return false;
    if (response.status >= 400) throw new ApiError('a Lease', response);
    return true;
  }
}
