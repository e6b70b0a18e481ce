// The faults of one server: kept in order, counted, and found by request.
import type { RequestInfo } from '../../endpoints/index.ts';
import type { Random } from '../../base/index.ts';
import { isReadVerb } from '../../server/index.ts';
import { type ActiveFault, type Fault, type FaultEffect, type FaultMatch, type Faults, type WebhookFault, findFaultProblem } from './fault.ts';

type RequestFault = FaultMatch & FaultEffect;

interface Entry extends ActiveFault {
  fitted: number;
  hits: number;
  /** The revision at which it was added. */
  readonly addedAt: number;
}

/** A request as faults look at it. */
interface FaultRequest {
  readonly user: string;
  readonly info: RequestInfo;
}

const fits = <T>(wanted: T | readonly T[] | undefined, is: (value: T) => boolean): boolean =>
  wanted === undefined || (Array.isArray(wanted) ? (wanted as readonly T[]).some(is) : is(wanted as T));

function fitsRequest(fault: RequestFault, { user, info }: FaultRequest): boolean {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
  return info.isResource
    && fits(fault.user, (value) => value === user)
    && fits(fault.verb, (value) => value === info.verb || value === (isReadVerb(info.verb) ? 'read' : 'write'))
    && (fault.watch === undefined || info.verb === 'watch') && (fault.stale === undefined || info.verb === 'get' || info.verb === 'list')
    && fits(fault.group, (value) => value === info.group) && fits(fault.resource, (value) => value === resource)
    && fits(fault.namespace, (value) => value === info.namespace) && fits(fault.name, (value) => value === info.name);
}

/** Keeps faults and counts what they befall. */
export class FaultBook implements Faults {
  readonly #entries = new Map<number, Entry>();
  readonly #random: Random;
  #revision = (): number => 0;
  #skew: (skewMs: number) => void = () => {};
  #lastId = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Gives the function that answers the newest revision, and the one that sets the time apart. */
  at(revision: () => number, skew: (skewMs: number) => void): void {
    this.#revision = revision;
    this.#skew = skew;
  }

  add(fault: Fault): ActiveFault {
    const problem = findFaultProblem(fault);
    if (problem !== undefined) throw new TypeError(`a fault cannot be added: ${problem}`);
    const id = ++this.#lastId;
    const entry: Entry = { id, fault, hits: 0, fitted: 0, addedAt: this.#revision(), remove: () => this.#remove(entry) };
    this.#entries.set(id, entry);
    if ('clockSkewMs' in fault) this.#skew(fault.clockSkewMs);
    return entry;
  }

  list(): readonly ActiveFault[] {
    return [...this.#entries.values()];
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#remove(entry);
  }

  /** The effects on a request, those of faults added first before the others; counts them. */
  take(request: FaultRequest): readonly FaultEffect[] {
    if (this.#entries.size === 0) return [];
    return [...this.#entries.values()].flatMap((entry) => {
      if ('webhook' in entry.fault || 'clockSkewMs' in entry.fault || !fitsRequest(entry.fault, request) || !this.#strikes(entry, entry.fault)) return [];
      const { stale } = entry.fault;
      return [stale === true ? { ...entry.fault, stale: entry.addedAt } : entry.fault];
    });
  }

  /** The outcome of a call of a webhook; undefined when it is made. */
  takeWebhook(target: string): WebhookFault['outcome'] | undefined {
    for (const entry of this.#entries.values()) {
      if ('webhook' in entry.fault && target.includes(entry.fault.webhook) && this.#strikes(entry, entry.fault)) return entry.fault.outcome;
    }
    return undefined;
  }

  #remove(entry: Entry): void {
    if (!this.#entries.delete(entry.id) || !('clockSkewMs' in entry.fault)) return;
    const skews = [...this.#entries.values()].flatMap(({ fault }) => ('clockSkewMs' in fault ? [fault.clockSkewMs] : []));
    this.#skew(skews.at(-1) ?? 0);
  }

  #strikes(entry: Entry, { nth, times, probability }: Pick<FaultMatch, 'nth' | 'times' | 'probability'>): boolean {
    entry.fitted++;
    if (!fits(nth, (value) => value === entry.fitted) || (times !== undefined && entry.hits >= times)) return false;
    if (probability !== undefined && this.#random.below(1_000_000) >= probability * 1_000_000) return false;
    entry.hits++;
    return true;
  }
}
