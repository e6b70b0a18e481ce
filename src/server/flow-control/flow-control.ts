// API Priority and Fairness of one server: the FlowSchemas and PriorityLevelConfigurations that are stored, as the filter asks about them.
// Seats are the limits of reads and writes in flight together, divided by the levels' shares. Seats are lent at once, where the reference
// adjusts the levels' limits every ten seconds; each request takes one seat. Until the objects are known nothing is limited.
import type { User } from '../../auth/index.ts';
import { type Clock, type Link, LinkedList } from '../../base/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';
import { type LevelRequest, type LevelSpec, PriorityLevel, type Refusal, type Seats, readLevel } from './level.ts';
import { Classifier, type FlowSchema, readFlowSchema } from './schemas.ts';
import { UnreadAnswers } from './unread.ts';

/** Where a request belongs. */
export interface Flow {
  readonly schema: FlowSchema;
  readonly level: PriorityLevel;
  readonly isExempt: boolean;
  /** Headers that say so to the client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly counts: { dispatched: number; waiting: number; readonly rejected: Map<Refusal, number> };
}

/** A seat that a request holds, or has held until its answer waited for a client that does not read it. */
export interface Seat {
  readonly flow: Flow;
  readonly holder: SeatHolder;
  readonly sinceMs: number;
  /** Its place among the seats that are taken. */
  link?: Link<Seat>;
}

/** A seat that is held for longer than a request may take. */
interface StuckSeat extends Seat {
  readonly heldMs: number;
}

/** The request that holds a seat. */
export interface SeatHolder {
  readonly method: string;
  readonly path: string;
  readonly user: User;
  readonly info?: RequestInfo;
  /** Monotonic milliseconds since which what is written of the answer waits for the client to read; undefined while it does not. */
  readonly unreadSinceMs: number | undefined;
  /** Ends the request and its answer. */
  cut(reason: string): void;
}

/** A request that finds no seat free. */
interface SeatRequest {
  readonly user: User;
  readonly info: RequestInfo;
  /** How long it may take. */
  readonly timeoutMs: number;
}

/** A request as the tables of operators show it: those that run have no place in their queue. */
export interface DumpedRequest extends LevelRequest {
  readonly place: number;
}

/** What operators see of flow control. */
interface FlowDump {
  readonly levels: readonly {
    readonly name: string; readonly waiting: number; readonly executing: number; readonly dispatched: number;
    readonly rejected: number; readonly timedOut: number; readonly cancelled: number;
    readonly queues: readonly { readonly virtual: number; readonly requests: readonly DumpedRequest[] }[];
    /** Those that run in a level without queues. */
    readonly unqueued: readonly DumpedRequest[];
  }[];
}

/** The user or namespace by which the flows of a schema differ; '' where the level has no queues to divide them among. */
function distinguisherOf(
  { schema: { distinguisher }, level }: Pick<Flow, 'schema' | 'level'>, { user, info }: { readonly user: User; readonly info?: RequestInfo | undefined },
): string {
  if ((level.spec.queuing?.queues ?? 0) <= 1) return '';
  if (distinguisher === 'ByUser') return user.name;
  return distinguisher === 'ByNamespace' ? info?.namespace ?? '' : '';
}

/** A number with its labels. */
export interface FlowSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface FlowControlOptions {
  readonly clock: Clock;
  /** Requests that may run at once, all levels together. */
  readonly seats: number;
  readonly requestTimeoutMs: number;
}

const LONGEST_WAIT_MS = 60_000;
const LONGEST_RETRY_SECONDS = 32;
/** An answer that waits for its client for so long gives its seat back. */
const UNREAD_MS = 1000;
/** A request is cut off at its deadline; a seat that is held for so much longer was never given back. */
const STUCK_AFTER_DEADLINE_MS = 30_000;

/** Seconds after which a client that was turned away may come back: more while many are, fewer as it gets better. */
class RetryAfter {
  readonly #clock: Clock;
  #seconds = 1;
  #refused = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= 1000) {
      if (this.#refused >= 3 * this.#seconds) this.#seconds = Math.min(LONGEST_RETRY_SECONDS, this.#seconds * 2);
      else if (this.#refused < this.#seconds) this.#seconds = Math.max(1, this.#seconds - 1);
      this.#refused = 0;
      this.#sinceMs = nowMs;
    }
    this.#refused += 1;
    return this.#seconds;
  }
}

/** The state of flow control. Fed with objects by `putSchema` and the like, asked by the filter. */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #seats: Seats;
  readonly #schemas = new Map<string, FlowSchema>();
  readonly #levelSpecs = new Map<string, LevelSpec>();
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #flows = new Map<string, Flow>();
  /** The seats that are taken, the longest held first. */
  readonly #held = new LinkedList<Seat>();
  /** Requests of exempt levels, which take no seat and are shown alone. */
  readonly #exempt = new LinkedList<Seat>();
  readonly #unread = new UnreadAnswers();
  /** Whether unread answers are looked for, as they are while seats are taken. */
  #isSweeping = false;
  readonly #retryAfter: RetryAfter;
  #classifier: Classifier<Flow> | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#retryAfter = new RetryAfter(options.clock);
    this.#seats = { clock: options.clock, spare: () => this.#countSpare() };
  }

  putSchema(object: KubeObject): void {
    const schema = readFlowSchema(object);
    this.#schemas.set(schema.name, schema);
    this.#classifier = undefined;
  }

  removeSchema(name: string): void {
    this.#schemas.delete(name);
    this.#flows.delete(name);
    this.#classifier = undefined;
  }

  putLevel(object: KubeObject): void {
    const spec = readLevel(object);
    this.#levelSpecs.set(spec.name, spec);
    this.#classifier = undefined;
  }

  removeLevel(name: string): void {
    this.#levelSpecs.delete(name);
    this.#classifier = undefined;
  }

  /** The flow of a request; undefined when no schema matches. */
  classify(user: User, info: RequestInfo): Flow | undefined {
    return (this.#classifier ??= this.#compile()).classify(user, info);
  }

  /** Takes a seat at once, or says that the request has to wait. */
  tryTake({ level, counts }: Flow): boolean {
    if (!level.tryTake(1)) return false;
    counts.dispatched += 1;
    return true;
  }

  /** Waits for a seat, at most a quarter of the time that the request has; answers why there is none. */
  async wait(flow: Flow, asked: SeatRequest, onGone: (gone: () => void) => void): Promise<Refusal | undefined> {
    const { schema, level, counts } = flow;
    const { user, info, timeoutMs } = asked;
    const request = {
      schema: schema.name, distinguisher: distinguisherOf(flow, asked), user, info, sinceMs: this.#options.clock.monotonicMs(),
      waitLimitMs: Math.min(timeoutMs / 4, LONGEST_WAIT_MS),
    };
    counts.waiting += 1;
    const refusal = await level.wait(request, 1, onGone);
    counts.waiting -= 1;
    if (refusal === undefined) counts.dispatched += 1;
    else counts.rejected.set(refusal, (counts.rejected.get(refusal) ?? 0) + 1);
    return refusal;
  }

  /** Notes which request has the seat that tryTake or wait gave it, or that one of an exempt level runs. */
  hold(flow: Flow, holder: SeatHolder): Seat {
    const seat: Seat = { flow, holder, sinceMs: this.#options.clock.monotonicMs() };
    seat.link = (flow.isExempt ? this.#exempt : this.#held).add(seat);
    if (!flow.isExempt && !this.#isSweeping) this.#sweepLater();
    return seat;
  }

  /** Gives a seat back, and forgets an answer that waits unread; false when that has been done. */
  release(seat: Seat): boolean {
    if (this.#unread.delete(seat)) return true;
    if (seat.link?.listed !== true) return false;
    (seat.flow.isExempt ? this.#exempt : this.#held).remove(seat.link);
    if (seat.flow.isExempt) return true;
    seat.flow.level.release(1);
    for (const one of this.#levels.values()) if (one.waiting > 0) one.dispatch();
    return true;
  }

  #sweepLater(): void {
    this.#isSweeping = this.#held.size > 0;
    if (this.#isSweeping) this.#options.clock.after(UNREAD_MS, () => this.#releaseUnread());
  }

  /** Gives the seats of answers back that wait for their clients. */
  #releaseUnread(): void {
    this.#sweepLater();
    const beforeMs = this.#options.clock.monotonicMs() - UNREAD_MS;
    for (const seat of this.#held) {
      if (seat.sinceMs > beforeMs) return;
      if ((seat.holder.unreadSinceMs ?? Infinity) > beforeMs) continue;
      this.release(seat);
      this.#unread.add(seat);
    }
  }

  /** Seats that were not given back although their request is past its deadline: a bug of the server, which metrics and readiness show. */
  stuckSeats(): readonly StuckSeat[] {
    const nowMs = this.#options.clock.monotonicMs();
    const stuck: StuckSeat[] = [];
    for (const seat of this.#held) {
      const heldMs = nowMs - seat.sinceMs;
      if (heldMs < this.#options.requestTimeoutMs + STUCK_AFTER_DEADLINE_MS) break;
      stuck.push({ ...seat, heldMs });
    }
    return stuck;
  }

  /** Seconds after which to try again. */
  retryAfterSeconds(): number {
    return this.#retryAfter.next();
  }

  /** Levels with their queues, and the requests that wait or run, by the names of levels. */
  dump(): FlowDump {
    const flows = [...this.#flows.values()];
    const levels = [...this.#levels.values()].map((level) => {
      const own = flows.filter((flow) => flow.level === level);
      const refused = (reason: Refusal): number => own.reduce((sum, { counts }) => sum + (counts.rejected.get(reason) ?? 0), 0);
      return {
        name: level.name, ...this.#dumpRequests(level), waiting: level.waiting, executing: this.#listRunning(level).length,
        dispatched: own.reduce((sum, { counts }) => sum + counts.dispatched, 0), rejected: refused('concurrency-limit') + refused('queue-full'),
        timedOut: refused('time-out'), cancelled: refused('cancelled'),
      };
    }).sort((one, other) => (one.name < other.name ? -1 : 1));
    return { levels };
  }

  /** The requests of a level that run; answers that wait unread are none of them. */
  #listRunning(level: PriorityLevel): readonly Seat[] {
    return [...this.#held, ...this.#exempt].filter(({ flow }) => flow.level === level);
  }

  #dumpRequests(level: PriorityLevel): Pick<FlowDump['levels'][number], 'queues' | 'unqueued'> {
    const running = this.#listRunning(level).map(({ flow, holder, sinceMs }) => {
      const { user, info } = holder;
      const request = { schema: flow.schema.name, distinguisher: distinguisherOf(flow, holder), user, info, sinceMs };
      return { queue: level.queueOf(request), request: { ...request, place: -1 } };
    });
    const runningIn = (wanted: number): readonly DumpedRequest[] => running.filter(({ queue }) => queue === wanted).map(({ request }) => request);
    const queues = level.describeQueues().map(({ waiting, virtual }, index) =>
      ({ virtual, requests: [...waiting.map((request, place) => ({ ...request, place })), ...runningIn(index)] }));
    return { queues, unqueued: runningIn(-1) };
  }

  /** The metrics of upstream's names. */
  samples(): readonly FlowSample[] {
    const executing = new Map<string, number>();
    for (const { flow: { schema: { name } } } of [...this.#held, ...this.#exempt]) executing.set(name, (executing.get(name) ?? 0) + 1);
    const flows = [...this.#flows.values()].flatMap(({ schema, level, counts }): FlowSample[] => {
      const labels = { flow_schema: schema.name, priority_level: level.name };
      return [
        { name: 'apiserver_flowcontrol_dispatched_requests_total', labels, value: counts.dispatched },
        ...['requests', 'seats'].map((what) => ({ name: `apiserver_flowcontrol_current_inqueue_${what}`, labels, value: counts.waiting })),
        ...['requests', 'seats'].map((what) => ({
          name: `apiserver_flowcontrol_current_executing_${what}`, labels, value: executing.get(schema.name) ?? 0,
        })),
        ...[...counts.rejected].map(([reason, value]) => ({ name: 'apiserver_flowcontrol_rejected_requests_total', labels: { ...labels, reason }, value })),
      ];
    });
    const stuck = this.stuckSeats();
    const levels = [...this.#levels.values()].flatMap((level): FlowSample[] => {
      const labels = { priority_level: level.name };
      const { lower, upper } = level.limits(this.#options.seats);
      return [
        { name: 'apiserver_flowcontrol_lower_limit_seats', labels, value: lower },
        { name: 'apiserver_flowcontrol_upper_limit_seats', labels, value: upper },
        { name: 'apiserver_flowcontrol_nominal_limit_seats', labels, value: level.nominalSeats },
        { name: 'apiserver_flowcontrol_current_limit_seats', labels, value: Math.max(level.nominalSeats, level.usedSeats) },
        { name: 'pintle_flowcontrol_unread_answers', labels, value: this.#unread.count(level) },
        { name: 'pintle_flowcontrol_stuck_seats', labels, value: stuck.filter(({ flow }) => flow.level === level).length },
      ];
    });
    return [...flows, ...levels];
  }

  #countSpare(): number {
    let spare = 0;
    for (const level of this.#levels.values()) spare += level.idleSeats - level.borrowedSeats;
    return spare;
  }

  #compile(): Classifier<Flow> {
    this.#divideSeats();
    const flows = [...this.#schemas.values()].flatMap((schema) => {
      const level = this.#levels.get(schema.level);
      // A schema whose level is missing takes part in nothing.
      return level === undefined ? [] : [{ schema, value: this.#makeFlow(schema, level) }];
    });
    return new Classifier(flows);
  }

  #divideSeats(): void {
    let shares = 0;
    for (const spec of this.#levelSpecs.values()) shares += spec.shares;
    for (const spec of this.#levelSpecs.values()) {
      let level = this.#levels.get(spec.name);
      if (level === undefined) this.#levels.set(spec.name, level = new PriorityLevel(spec, this.#seats));
      level.configure(spec, shares === 0 ? 0 : Math.ceil((this.#options.seats * spec.shares) / shares));
    }
    // Requests in a level that is gone run to their end; no other request joins it.
    for (const name of this.#levels.keys()) if (!this.#levelSpecs.has(name)) this.#levels.delete(name);
  }

  #makeFlow(schema: FlowSchema, level: PriorityLevel): Flow {
    const known = this.#flows.get(schema.name);
    if (known !== undefined && known.schema === schema && known.level === level) return known;
    const flow: Flow = {
      schema, level, isExempt: level.spec.isExempt, counts: known?.counts ?? { dispatched: 0, waiting: 0, rejected: new Map() },
      headers: { 'x-kubernetes-pf-flowschema-uid': schema.uid, 'x-kubernetes-pf-prioritylevel-uid': level.spec.uid },
    };
    this.#flows.set(schema.name, flow);
    return flow;
  }
}

/** Throws when seats are stuck, and names the first of them: a check of readiness. */
export function checkSeats(flowControl: FlowControl): void {
  const stuck = flowControl.stuckSeats();
  const [first] = stuck;
  if (first === undefined) return;
  const { flow, holder, heldMs } = first;
  const seconds = Math.round(heldMs / 1000);
  throw new Error(`${stuck.length} seats are stuck, the first since ${seconds} s: ${holder.method} ${holder.path} of ${holder.user.name} in ${flow.level.name}`);
}
