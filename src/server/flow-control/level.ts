// One priority level at work: requests that take seats, and requests that wait in queues for them.
//
//   take ──a seat is free, none waits──▶ running ──release──▶ the queue that has had the least takes the seat
//     ├──no seat──▶ waiting ──dispatched──▶ running
//     │                └──the wait is over: 'time-out', the client went away: 'cancelled'
//     └──the flow's queues are full: 'queue-full', a level without queues: 'concurrency-limit'
//
// Fairness is that of start-time fair queuing over seats. A level may use more than its own seats while others leave theirs to it.
import type { User } from '../../auth/index.ts';
import type { Clock } from '../../base/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';
import { dealHand } from './shards.ts';

/** Why a request was turned away. */
export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

/** What a PriorityLevelConfiguration says. */
export interface LevelSpec {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  readonly borrowingPercent: number | undefined;
  /** undefined: what finds no seat is turned away. */
  readonly queuing: { readonly queues: number; readonly handSize: number; readonly limit: number } | undefined;
}

interface WrittenLimits {
  readonly nominalConcurrencyShares?: number;
  readonly lendablePercent?: number;
  readonly borrowingLimitPercent?: number;
  readonly limitResponse?: { readonly queuing?: { readonly queues?: number; readonly handSize?: number; readonly queueLengthLimit?: number } };
}

/** Reads a PriorityLevelConfiguration object. */
export function readLevel(object: KubeObject): LevelSpec {
  const { type, limited, exempt } = (object['spec'] ?? {}) as { type?: string; limited?: WrittenLimits; exempt?: WrittenLimits };
  const isExempt = type === 'Exempt';
  const limits = (isExempt ? exempt : limited) ?? {};
  const queuing = limits.limitResponse?.queuing;
  return {
    name: object.metadata.name ?? '', uid: object.metadata.uid ?? '', isExempt, shares: limits.nominalConcurrencyShares ?? (isExempt ? 0 : 30),
    lendablePercent: limits.lendablePercent ?? 0, borrowingPercent: limits.borrowingLimitPercent,
    queuing: queuing && { queues: queuing.queues ?? 64, handSize: queuing.handSize ?? 8, limit: queuing.queueLengthLimit ?? 50 },
  };
}

/** A request of a level, as operators see it. */
export interface LevelRequest {
  readonly schema: string;
  /** The user or namespace by which flows of one schema differ. */
  readonly distinguisher: string;
  readonly user: User;
  readonly info?: RequestInfo | undefined;
  /** Monotonic milliseconds since which it waits or runs. */
  readonly sinceMs: number;
}

/** One that may wait for so long. */
interface QueuedRequest extends LevelRequest {
  readonly waitLimitMs: number;
}

const flowOf = ({ schema, distinguisher }: LevelRequest): string => `${schema}\n${distinguisher}`;

/** A waiting request; `start` is called once, with a refusal or with nothing. */
interface Waiting {
  readonly request: LevelRequest;
  readonly width: number;
  readonly start: (refusal: Refusal | undefined) => void;
}

interface Queue {
  readonly waiting: Set<Waiting>;
  /** Seats that its flows have been given, on a clock that all queues of the level share. */
  virtual: number;
}

/** What all levels of a server share. */
export interface Seats {
  readonly clock: Clock;
  /** Seats that levels leave to others at this moment, less those that are borrowed. */
  readonly spare: () => number;
}

/** A level and its requests. */
export class PriorityLevel {
  readonly name: string;
  readonly #seats: Seats;
  readonly #queues = new Map<number, Queue>();
  #spec: LevelSpec;
  #virtual = 0;
  nominalSeats = 0;
  usedSeats = 0;
  running = 0;
  waiting = 0;

  constructor(spec: LevelSpec, seats: Seats) {
    this.name = spec.name;
    this.#spec = spec;
    this.#seats = seats;
  }

  get spec(): LevelSpec {
    return this.#spec;
  }

  /** Takes a new configuration; waiting requests keep waiting. */
  configure(spec: LevelSpec, nominalSeats: number): void {
    this.#spec = spec;
    this.nominalSeats = nominalSeats;
  }

  /** Seats that this level leaves to others now. */
  get idleSeats(): number {
    const lendable = Math.round((this.nominalSeats * this.#spec.lendablePercent) / 100);
    return Math.max(0, Math.min(lendable, this.nominalSeats - this.usedSeats));
  }

  /** The fewest and the most seats that it may use, while others wait for theirs or leave them to it. */
  limits(totalSeats: number): { readonly lower: number; readonly upper: number } {
    const { lendablePercent, borrowingPercent } = this.#spec;
    const part = (percent: number): number => Math.round((this.nominalSeats * percent) / 100);
    const borrowed = borrowingPercent === undefined ? totalSeats : part(borrowingPercent);
    return { lower: this.nominalSeats - part(lendablePercent), upper: this.nominalSeats + borrowed };
  }

  get borrowedSeats(): number {
    return Math.max(0, this.usedSeats - this.nominalSeats);
  }

  /** Takes seats at once; false when there are none or others wait for them. */
  tryTake(width: number): boolean {
    if (this.waiting > 0 || !this.#fits(width)) return false;
    this.usedSeats += width;
    this.running += 1;
    return true;
  }

  /** Waits for seats. Call after tryTake has failed; `onGone` registers what to do when the client leaves. */
  wait(request: QueuedRequest, width: number, onGone: (gone: () => void) => void): Promise<Refusal | undefined> {
    const { queuing } = this.#spec;
    if (queuing === undefined) return Promise.resolve('concurrency-limit');
    const queue = this.#chooseQueue(flowOf(request), queuing);
    if (queue.waiting.size >= queuing.limit) return Promise.resolve('queue-full');
    return new Promise((resolve) => {
      const leave = (refusal: Refusal): void => {
        if (!queue.waiting.delete(one)) return;
        this.waiting -= 1;
        one.start(refusal);
      };
      const timer = this.#seats.clock.after(request.waitLimitMs, () => leave('time-out'));
      const one: Waiting = {
        request, width,
        start(refusal) {
          timer.cancel();
          resolve(refusal);
        },
      };
      if (queue.waiting.size === 0) queue.virtual = Math.max(queue.virtual, this.#virtual);
      queue.waiting.add(one);
      this.waiting += 1;
      onGone(() => leave('cancelled'));
    });
  }

  /** The requests that wait in each queue of the level, those without any included. */
  describeQueues(): readonly { readonly waiting: readonly LevelRequest[]; readonly virtual: number }[] {
    return Array.from({ length: this.#spec.queuing?.queues ?? 0 }, (_, index) => {
      const queue = this.#queues.get(index);
      return { waiting: Array.from(queue?.waiting ?? [], ({ request }) => request), virtual: queue?.virtual ?? 0 };
    });
  }

  /** The queue that a running request is shown in, as if its flow's first had been the shortest: what finds a seat at once waits in none. */
  queueOf(request: LevelRequest): number {
    const { queuing } = this.#spec;
    return queuing === undefined ? -1 : dealHand(flowOf(request), queuing.queues, 1)[0] ?? -1;
  }

  /** Gives seats back; they are handed on by `dispatch`. */
  release(width: number): void {
    this.usedSeats -= width;
    this.running -= 1;
  }

  #fits(width: number): boolean {
    const wanted = this.usedSeats + width;
    // Whatever the width, one request can always run.
    if (wanted <= this.nominalSeats || this.usedSeats === 0) return true;
    const { borrowingPercent } = this.#spec;
    const most = borrowingPercent === undefined ? Infinity : this.nominalSeats + Math.round((this.nominalSeats * borrowingPercent) / 100);
    return wanted <= most && wanted - Math.max(this.nominalSeats, this.usedSeats) <= this.#seats.spare();
  }

  #chooseQueue(flow: string, { queues, handSize }: { queues: number; handSize: number }): Queue {
    let best: { index: number; length: number } | undefined;
    for (const index of dealHand(flow, queues, handSize)) {
      const length = this.#queues.get(index)?.waiting.size ?? 0;
      if (best === undefined || length < best.length) best = { index, length };
    }
    const index = best?.index ?? 0;
    let queue = this.#queues.get(index);
    if (queue === undefined) this.#queues.set(index, queue = { waiting: new Set(), virtual: this.#virtual });
    return queue;
  }

  /** Starts waiting requests, as far as there are seats. */
  dispatch(): void {
    while (this.waiting > 0) {
      const next = this.#nextQueue();
      const [one] = next?.waiting ?? [];
      if (next === undefined || one === undefined || !this.#fits(one.width)) return;
      next.waiting.delete(one);
      this.waiting -= 1;
      this.usedSeats += one.width;
      this.running += 1;
      this.#virtual = next.virtual;
      next.virtual += one.width;
      one.start(undefined);
    }
    this.#queues.clear();
  }

  /** The queue with a waiting request that has had the least. */
  #nextQueue(): Queue | undefined {
    let best: Queue | undefined;
    for (const queue of this.#queues.values()) if (queue.waiting.size > 0 && (best === undefined || queue.virtual < best.virtual)) best = queue;
    return best;
  }
}
