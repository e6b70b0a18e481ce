// Requests that arrive at once, and connections that end at once, have several turns of the event loop: HTTP/2 hands over all that one read
// brought, thousands when many connections are readable. Connections are read in turns, and while requests wait, connections take turns, so that one
// with a hundred streams does not come before one with a single request.
import type { Socket } from 'node:net';
import type { Clock } from '../../base/index.ts';

/** How long requests may begin in one turn. What they do after their first wait, several times as much, is part of it. */
const TURN_MS = 2;

/** The requests of one listener that have arrived and not begun. */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By connection, in the order of their turns. */
  readonly #waiting = new Map<object, (() => void)[]>();
  /** When the first request of this turn began; undefined before it. */
  #startedMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Calls `work` now, or in a later turn when this one has taken long; `nowMs` is the time. */
  begin(connection: object, nowMs: number, work: () => void): void {
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      setImmediate(() => this.#nextTurn());
    }
    if (this.#waiting.size === 0 && nowMs - this.#startedMs < TURN_MS) return work();
    const waiting = this.#waiting.get(connection);
    if (waiting === undefined) this.#waiting.set(connection, [work]);
    else waiting.push(work);
  }

  #nextTurn(): void {
    this.#startedMs = undefined;
    if (this.#waiting.size === 0) return;
    const startedMs = this.#startedMs = this.#clock.monotonicMs();
    setImmediate(() => this.#nextTurn());
    while (this.#waiting.size > 0 && this.#clock.monotonicMs() - startedMs < TURN_MS) this.#take()();
  }

  /** The first request of the connection whose turn it is; its next one comes after everybody else's. */
  #take(): () => void {
    for (const [connection, waiting] of this.#waiting) {
      const work = waiting.shift() as () => void;
      this.#waiting.delete(connection);
      if (waiting.length > 0) this.#waiting.set(connection, waiting);
      return work;
    }
    throw new Error('a request waits');
  }
}

/** How many streams may come in one turn. Each takes 30 to 40 µs before its request begins, and a read brings all that a connection has sent. */
const STREAMS_READ_A_TURN = 200;
/** How many connections are read again in one turn, which takes 2 to 3 µs each. */
const RESUMED_A_TURN = 500;

/** A connection whose reads can be stopped; both are idempotent. */
export interface PausableReads {
  readStart(): void;
  readStop(): void;
}

/**
 * The reads of the connections of one listener: when one turn has brought many streams, the others wait for a turn of their own. Connections that
 * brought nothing are read before those that did.
 */
export class StreamIntake {
  readonly #reading = new Set<PausableReads>();
  /** In the order in which they are read again. */
  readonly #paused = new Set<PausableReads>();
  /** Brought streams in this turn. */
  readonly #served = new Set<PausableReads>();
  #streams = 0;
  #isScheduled = false;

  add(connection: PausableReads): void {
    this.#reading.add(connection);
  }

  remove(connection: PausableReads): void {
    for (const set of [this.#reading, this.#paused, this.#served]) set.delete(connection);
  }

  /** A connection has brought a stream. */
  count(connection: PausableReads): void {
    this.#served.add(connection);
    this.#streams += 1;
    this.#schedule();
    if (this.#streams === STREAMS_READ_A_TURN) this.#pause();
  }

  #pause(): void {
    for (const connection of this.#reading) connection.readStop();
    for (const served of [false, true]) for (const one of this.#reading) if (this.#served.has(one) === served) this.#paused.add(one);
    this.#reading.clear();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    this.#streams = 0;
    this.#served.clear();
    let left = RESUMED_A_TURN;
    for (const connection of this.#paused) {
      if (left-- === 0) return this.#schedule();
      this.#paused.delete(connection);
      this.#reading.add(connection);
      connection.readStart();
    }
  }
}

/** How many streams may end in one turn. */
const STREAMS_A_TURN = 250;

interface Ending {
  readonly countStreams: () => number;
  readonly end: () => void;
}

/**
 * The connections of one listener that are about to end. The end of a connection ends all of its streams, which takes 15 to 30 µs each: a client that
 * drops a hundred connections with a hundred watches each would hold up others for 200 ms.
 */
export class ConnectionEnds {
  readonly #waiting = new Set<Ending>();

  /** Lets the destruction of `socket` wait for its turn; `countStreams` says how many streams it ends. The first of a turn never waits longer. */
  pace(socket: Socket, countStreams: () => number): void {
    const destroy = socket._destroy.bind(socket);
    socket._destroy = (error, done) => this.#add({ countStreams, end: () => destroy(error, done) });
  }

  #add(ending: Ending): void {
    this.#waiting.add(ending);
    if (this.#waiting.size === 1) setImmediate(() => this.#turn());
  }

  #turn(): void {
    let streams = 0;
    for (const ending of this.#waiting) {
      if (streams > 0 && streams + ending.countStreams() > STREAMS_A_TURN) break;
      this.#waiting.delete(ending);
      streams += ending.countStreams();
      ending.end();
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#turn());
  }
}
