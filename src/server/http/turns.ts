// Requests that arrive at once, and connections that begin or end at once, have several turns of the event loop: Node hands over all that one read
// brought, thousands when many connections are readable. Connections are read in turns, and while requests wait, callers take turns, and the connections
// of each: a user with two hundred connections, or a connection with a hundred requests, does not come before one with a single request.
import type { Socket } from 'node:net';
import { ANONYMOUS_NAME } from '../../auth/index.ts';
import { type Clock, PassingMap, systemClock } from '../../base/index.ts';

/** How long requests may begin in one turn. What they do after their first wait, several times as much, is part of it. */
const TURN_MS = 1;

/**
 * Whose the connections of a listener are, as far as it is known before their next request is: the user of the last one. Until a connection has brought
 * a request with credentials it is one of those from its address.
 */
export class Callers {
  readonly #names = new WeakMap<object, string>();

  /** A connection from an address has begun. */
  begin(connection: object, address: string): void {
    this.#names.set(connection, `from ${address}`);
  }

  /** A request of a connection was that of a user; '' before authentication. A caller that no credentials made known stays one of its address. */
  note(connection: object, user: string): void {
    if (user !== '' && user !== ANONYMOUS_NAME && this.#names.get(connection) !== user) this.#names.set(connection, user);
  }

  /** What stands for the caller. */
  of(connection: object): unknown {
    return this.#names.get(connection) ?? connection;
  }
}

/** Something that waits for its turn, and how long what follows it takes beyond its own time. */
interface Work {
  readonly run: () => void;
  readonly costMs: number;
}

/** Works of several owners that take turns. */
class TurnQueue {
  /** In the order of their turns. */
  readonly #waiting = new PassingMap<unknown, Work[]>();

  get size(): number {
    return this.#waiting.size;
  }

  add(owner: unknown, work: Work): void {
    const waiting = this.#waiting.get(owner);
    if (waiting === undefined) this.#waiting.set(owner, [work]);
    else waiting.push(work);
  }

  /** The first work of the owner whose turn it is; the next one comes after those of all others. */
  take(): Work {
    const owner = this.#waiting.firstKey;
    const waiting = this.#waiting.get(owner) as Work[];
    const work = waiting.shift() as Work;
    this.#waiting.delete(owner);
    if (waiting.length > 0) this.#waiting.set(owner, waiting);
    return work;
  }
}

/** The requests of one listener that have arrived and not begun. */
export class RequestTurns {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #callers: Pick<Callers, 'of'>;
  /** By caller, in the order of their turns; each has the requests of its connections. */
  readonly #waiting = new PassingMap<unknown, TurnQueue>();
  /** When the first request of this turn began; undefined before it. */
  #startedMs: number | undefined;
  /** What follows the works of this turn will take. */
  #costMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, callers: Pick<Callers, 'of'> = new Callers()) {
    this.#clock = clock;
    this.#callers = callers;
  }

  /** Calls `run` now, or in a later turn when this one has taken long; `nowMs` is the time. */
  begin(connection: object, nowMs: number, run: () => void): void {
    this.#add(connection, nowMs, { run, costMs: 0 });
  }

  /** The same for a request that has waited for its body: what follows `run` takes about `costMs`. */
  resume(connection: object, costMs: number, run: () => void): void {
    this.#add(connection, this.#clock.monotonicMs(), { run, costMs });
  }

  #add(connection: object, nowMs: number, work: Work): void {
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      this.#costMs = 0;
      setImmediate(() => this.#nextTurn());
    }
    if (this.#waiting.size === 0 && nowMs - this.#startedMs + this.#costMs < TURN_MS) return this.#run(work);
    const caller = this.#callers.of(connection);
    let requests = this.#waiting.get(caller);
    if (requests === undefined) this.#waiting.set(caller, (requests = new TurnQueue()));
    requests.add(connection, work);
  }

  #nextTurn(): void {
    const isSpent = this.#costMs >= TURN_MS;
    this.#startedMs = undefined;
    this.#costMs = 0;
    if (this.#waiting.size === 0) return;
    const startedMs = this.#startedMs = this.#clock.monotonicMs();
    setImmediate(() => this.#nextTurn());
    // Requests that have begun since the last turn, when connections were read, are followed by more than a turn of work.
    if (isSpent) return;
    while (this.#waiting.size > 0 && this.#clock.monotonicMs() - startedMs + this.#costMs < TURN_MS) this.#run(this.#take());
  }

  #run({ run, costMs }: Work): void {
    this.#costMs += costMs;
    run();
  }

  /** The next request of the caller whose turn it is. */
  #take(): Work {
    const caller = this.#waiting.firstKey;
    const requests = this.#waiting.get(caller) as TurnQueue;
    const work = requests.take();
    this.#waiting.delete(caller);
    if (requests.size > 0) this.#waiting.set(caller, requests);
    return work;
  }
}

/** How many requests may come in one turn. Each takes 5 to 40 µs before it begins, and a read brings all that a connection has sent. */
const REQUESTS_READ_A_TURN = 200;
/** Callers that have brought no more in it are read on until it has brought as many again: others do not keep them from being heard. */
const FEW_REQUESTS = 10;
/** How many connections are read again in one turn, which takes 2 to 3 µs each. */
const RESUMED_A_TURN = 500;

/** A connection whose reads can be stopped; both are idempotent. */
export interface PausableReads {
  readStart(): void;
  readStop(): void;
}

/** What Node keeps of a connection below its stream. */
interface Handle extends PausableReads {
  /** Whether the stream above wants to be read: a paused one does not. */
  readonly reading?: boolean;
  /** Gets what was read. */
  onread: () => void;
  /** Writes the address of the other side; answers the number of an error where there is no other side any more. */
  readonly getpeername?: (address: object) => number;
}

const handleOf = (socket: Socket): Handle | null => (socket as unknown as { readonly _handle: Handle | null })._handle;

/**
 * The reads of a connection, below its stream: a stream that was paused by others stays so. A class, since an object literal with a getter of its own
 * would keep the connection until a full collection (endpoints/request/resource-request).
 */
export class SocketReads implements PausableReads {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  readStart(): void {
    const handle = handleOf(this.#socket);
    if (handle?.reading !== false) handle?.readStart();
  }

  readStop(): void {
    handleOf(this.#socket)?.readStop();
  }
}

/** Whether the system has given a connection up: one that is not read does not learn of it. */
export const isBroken = (socket: Socket): boolean => (handleOf(socket)?.getpeername?.({}) ?? 0) !== 0;

/** The connections of one caller, and how many requests they brought in a turn. */
interface Lane {
  readonly brought: number;
  readonly connections: readonly PausableReads[];
}

/**
 * The reads of the connections of one listener: when one turn has brought many requests, or ends of connections, those of the callers that brought many
 * wait for a turn of their own. There the callers that brought less come first; of the connections of each, those that brought nothing are read before
 * those that did.
 */
export class RequestIntake {
  readonly #callers: Pick<Callers, 'of'>;
  /** With the objects that stand for them where requests begin. */
  readonly #connections = new Map<PausableReads, object>();
  readonly #reading = new Set<PausableReads>();
  /** Those that wait longest first. */
  readonly #paused = new Set<PausableReads>();
  /** How many requests they brought in this turn. */
  readonly #served = new Map<PausableReads, number>();
  /** What gives out requests that were read long ago, by connection. */
  readonly #held = new Map<PausableReads, () => void>();
  #requests = 0;
  /** The callers that brought many requests in this turn are not read on in it. */
  #isLimited = false;
  #isScheduled = false;
  /** Stops what may still become a connection that brings requests in this turn. */
  #onFull: () => void = () => {};

  constructor(callers: Pick<Callers, 'of'> = new Callers()) {
    this.#callers = callers;
  }

  /** Calls `listener` when a turn has brought so many requests that no connection is read on in it: the end of a handshake may bring requests too. */
  onFull(listener: () => void): void {
    this.#onFull = listener;
  }

  add(connection: PausableReads, head: object = connection): void {
    this.#connections.set(connection, head);
    this.#reading.add(connection);
  }

  remove(connection: PausableReads): void {
    for (const set of [this.#connections, this.#reading, this.#paused, this.#served, this.#held]) set.delete(connection);
  }

  /** A connection has brought a request, or its end, which takes as long as a few. */
  count(connection: PausableReads, requests = 1): void {
    this.#served.set(connection, (this.#served.get(connection) ?? 0) + requests);
    this.#requests += requests;
    this.#schedule();
    if (this.#requests >= 2 * REQUESTS_READ_A_TURN) {
      this.#pause(0);
      this.#onFull();
    } else if (this.#requests >= REQUESTS_READ_A_TURN && !this.#isLimited) this.#pause(FEW_REQUESTS + 1);
  }

  /** Lets `release`, which gives out requests that a connection has held back, have a turn. */
  release(connection: PausableReads, release: () => void): void {
    this.#held.set(connection, release);
    this.#schedule();
  }

  /** Stops the reads of the callers that brought so many requests. */
  #pause(fewest: number): void {
    this.#isLimited = true;
    if (this.#reading.size === 0) return;
    for (const { brought, connections } of this.#sort(this.#reading)) {
      if (brought < fewest) continue;
      for (const connection of connections) {
        connection.readStop();
        this.#reading.delete(connection);
        this.#paused.add(connection);
      }
    }
  }

  /** Connections by their callers, those that brought less in this turn first; of each caller those that brought nothing stand before the others. */
  #sort(connections: Iterable<PausableReads>): Lane[] {
    const lanes = new Map<unknown, { brought: number; readonly quiet: PausableReads[]; readonly served: PausableReads[] }>();
    for (const one of connections) {
      const caller = this.#callers.of(this.#connections.get(one) ?? one);
      let lane = lanes.get(caller);
      if (lane === undefined) lanes.set(caller, (lane = { brought: 0, quiet: [], served: [] }));
      const brought = this.#served.get(one) ?? 0;
      lane.brought += brought;
      (brought === 0 ? lane.quiet : lane.served).push(one);
    }
    return [...lanes.values()].map(({ brought, quiet, served }) => ({ brought, connections: [...quiet, ...served] })).sort((a, b) => a.brought - b.brought);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    this.#requests = 0;
    this.#isLimited = false;
    const lanes = this.#paused.size === 0 ? [] : this.#sort(this.#paused);
    this.#served.clear();
    this.#releaseNext();
    this.#resume(lanes);
  }

  /**
   * Reads connections again, all of a caller before those of the callers that brought more. The order matters: the first that brings hundreds of
   * requests stops all that come after it.
   */
  #resume(lanes: Lane[]): void {
    let left = RESUMED_A_TURN;
    for (const { connections } of lanes) {
      for (const connection of connections) {
        if (left-- === 0) return this.#schedule();
        if (!this.#paused.delete(connection)) continue;
        this.#reading.add(connection);
        connection.readStart();
      }
    }
  }

  /** One connection a turn: a chunk of its stream may hold hundreds of requests. */
  #releaseNext(): void {
    for (const [connection, release] of this.#held) {
      this.#held.delete(connection);
      release();
      if (this.#held.size > 0) this.#schedule();
      return;
    }
  }
}

/** Bytes that joined connections pass on in one turn: half a megabyte takes 1 ms. To stop and start a connection takes 2 to 3 µs, so that many pass on more. */
const passedATurn = { least: 512 * 1024, ofEach: 4 * 1024, most: 4 * 1024 * 1024 };

/**
 * The connections whose bytes are passed on to others. Each that can be read brings up to 256 KiB, so fifty forwarded ports that are busy would fill
 * turns of 30 ms. When one turn has passed on much they all rest until the next, where those that passed on nothing are read first.
 */
export class PassingTurns {
  /** Those that were read least recently first. */
  readonly #sources = new Set<PausableReads>();
  #passedBytes = 0;
  #isResting = false;

  add(source: PausableReads): void {
    this.#sources.add(source);
    if (this.#isResting) source.readStop();
  }

  remove(source: PausableReads): void {
    this.#sources.delete(source);
  }

  /** A source has brought bytes. */
  count(source: PausableReads, bytes: number): void {
    if (this.#passedBytes === 0 && !this.#isResting) setImmediate(() => this.#nextTurn());
    this.#passedBytes += bytes;
    if (this.#sources.delete(source)) this.#sources.add(source);
    if (this.#isResting) return source.readStop();
    const { least, ofEach, most } = passedATurn;
    if (this.#passedBytes < Math.min(Math.max(least, this.#sources.size * ofEach), most)) return;
    this.#isResting = true;
    for (const each of this.#sources) each.readStop();
  }

  #nextTurn(): void {
    this.#passedBytes = 0;
    if (!this.#isResting) return;
    this.#isResting = false;
    for (const source of this.#sources) source.readStart();
  }
}

/** How many connections whose handshake is not done are read at once: a hello takes 200 to 400 µs. */
const HANDSHAKES_A_TURN = 40;
/** How long they are read before others are, if they say nothing. */
const SILENT_TURN_MS = 1;

/** A connection before it is secure. */
interface Handshake extends PausableReads {
  readonly bytesRead: number;
}

/**
 * The connections of one listener before they are secure. A client that opens thousands at once could have each of them bring its part of the
 * handshake in one turn, so beyond a few they are read one after the other, in rounds.
 */
export class HandshakeTurns {
  readonly #clock: Pick<Clock, 'after'>;
  /** In the order in which they are read. */
  readonly #waiting = new Set<Handshake>();
  /** Those of this turn. */
  readonly #reading = new Set<Handshake>();
  #bytesBefore = 0;
  #isScheduled = false;
  /** No more is read in this turn. */
  #isResting = false;

  /** Connections are read by the clock of the machine: they do not wait for one that a test moves. */
  constructor(clock: Pick<Clock, 'after'> = systemClock) {
    this.#clock = clock;
  }

  /** A connection that is read has begun. */
  add(connection: Handshake): void {
    this.#waiting.add(connection);
    if (this.#waiting.size <= HANDSHAKES_A_TURN && !this.#isResting) return void this.#reading.add(connection);
    connection.readStop();
    this.#schedule();
  }

  /** Reads no connection until the next turn. With the last part of its handshake a client may send the requests that follow it. */
  rest(): void {
    if (this.#isResting || this.#reading.size === 0) return;
    this.#isResting = true;
    for (const connection of this.#reading) connection.readStop();
    this.#reading.clear();
    this.#schedule(false);
  }

  /** A connection is secure, or gone. */
  remove(connection: Handshake): void {
    this.#reading.delete(connection);
    if (this.#waiting.delete(connection)) connection.readStart();
  }

  /** A turn follows the one before at once when that has brought something: a busy machine would wake the process late from each pause. */
  #schedule(isSilent = true): void {
    if (this.#isScheduled || this.#waiting.size === this.#reading.size) return;
    this.#isScheduled = true;
    this.#clock.after(isSilent ? SILENT_TURN_MS : 0, () => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isScheduled = false;
    this.#isResting = false;
    const isSilent = this.#reading.size === HANDSHAKES_A_TURN && this.#countBytes() === this.#bytesBefore;
    for (const connection of this.#reading) {
      connection.readStop();
      this.#waiting.delete(connection);
      this.#waiting.add(connection);
    }
    this.#reading.clear();
    for (const connection of this.#waiting) {
      if (this.#reading.size === HANDSHAKES_A_TURN) break;
      this.#reading.add(connection);
      connection.readStart();
    }
    this.#bytesBefore = this.#countBytes();
    this.#schedule(isSilent);
  }

  #countBytes(): number {
    let bytes = 0;
    for (const connection of this.#reading) bytes += connection.bytesRead;
    return bytes;
  }
}

/** How many requests may end in one turn. */
const STREAMS_A_TURN = 250;

/** Bytes for a stream that is destroyed already are an error in Node that ends the process: records of TLS that were read together come one by one. */
function stopReading(socket: Socket): void {
  const handle = handleOf(socket);
  if (handle === null) return;
  handle.readStop();
  handle.onread = () => {};
}

interface Ending {
  readonly countStreams: () => number;
  readonly end: () => void;
}

/**
 * The connections of one listener that are about to end. The end of a connection ends all of its requests, which takes 15 to 30 µs each: a client that
 * drops a hundred connections with a hundred watches each would hold up others for 200 ms.
 */
export class ConnectionEnds {
  readonly #waiting = new Set<Ending>();

  /** Lets the destruction of `socket` wait for its turn; `countStreams` says how many streams it ends. The first of a turn never waits longer. */
  pace(socket: Socket, countStreams: () => number): void {
    const destroy = socket._destroy.bind(socket);
    socket._destroy = (error, done) => {
      stopReading(socket);
      this.#add({ countStreams, end: () => destroy(error, done) });
    };
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
