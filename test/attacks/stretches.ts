// The longest stretch of the main threads of a server: of this process, and of those that serve connections for it, which report it over a socket.
import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { type Timer, systemClock } from '../../src/base/index.ts';
import { readMainThreadMs } from '../../src/test-support/index.ts';

/** The variable of the environment with the path of the socket. */
export const METER_SOCKET = 'PINTLE_ATTACK_METER';

/** Looks at the processor time of the main thread between turns of a timer of a millisecond. */
export class StretchMeter {
  #lastMs = readMainThreadMs();
  #longestMs = 0;
  #nextLook: Timer | undefined;

  constructor() {
    this.#look();
  }

  /** The longest stretch since the last question, in milliseconds; ends a rest. */
  take(): number {
    this.rest();
    this.#look();
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }

  /** What the main thread has done since the last look was not the server's. */
  skip(): void {
    this.#lastMs = readMainThreadMs();
  }

  /** Ends the looks, which wake the process, until the next question. */
  rest(): void {
    this.#nextLook?.cancel();
  }

  #look(): void {
    const nowMs = readMainThreadMs();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#nextLook = systemClock.after(1, () => this.#look());
  }
}

/** What serving processes measure. */
export interface ServingStretches {
  /** The longest stretch of any of them since the last question. */
  take(): Promise<number>;
  rest(): void;
}

/** Listens at `path` for the meters of serving processes (serving-meter.child.ts). */
export function listenForStretches(path: string): ServingStretches {
  const meters = new Set<Socket>();
  createServer((socket) => {
    meters.add(socket);
    socket.on('close', () => meters.delete(socket)).on('error', () => socket.destroy());
  }).listen(path).unref();
  const ask = async (socket: Socket): Promise<number> => {
    const stop = new AbortController();
    const { signal } = stop;
    socket.write('take\n');
    // A process that ends meanwhile has nothing to say any more.
    const answer = await Promise.race([once(socket, 'data', { signal }), once(socket, 'close', { signal }).then(() => ['0'])]);
    stop.abort();
    return Number(String(answer[0]));
  };
  return {
    take: async () => Math.max(0, ...await Promise.all(Array.from(meters, ask))),
    rest() {
      for (const socket of meters) socket.write('rest\n');
    },
  };
}

/** Answers the questions of the process that listens on `socket`. */
export function answerWith(meter: StretchMeter, socket: Socket): void {
  socket.on('error', () => socket.destroy()).unref();
  createInterface({ input: socket }).on('line', (question) => {
    if (question === 'rest') meter.rest();
    else socket.write(`${meter.take()}\n`);
  }).on('error', () => {});
}
