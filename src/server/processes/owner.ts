// A server of several processes: this one owns the store, does all that is done once for a store (controllers, Leases, compaction), and accepts
// connections; the others serve them. A connection is served by one process from its first byte to its last. Each process has caches of its own, fed
// by the changes of the store, and reads what is current by asking for the store's revision: an answer of the owner comes after all changes before it.
import { type Server as NetServer, type Socket, createServer } from 'node:net';
import { type Timer, createTimeSlice, invariant, runStepsInSlices } from '../../base/index.ts';
import type { StorageHealth } from '../../storage/index.ts';
import type { ExposedParts } from '../local/seams.ts';
import { describeError } from '../observability/logger.ts';
import { type DiskChange, createStorageHealth, isShared, listFaults } from '../open-store.ts';
import { type ServerOptions, StartError, describeOptions, resolveOptions } from '../options/options.ts';
import { type RunningServer, startServer } from '../server.ts';
import { acceptedSockets } from '../http/tls-front.ts';
import { describeListenError } from '../listen-error.ts';
import { joinMetrics } from './join-metrics.ts';
import type { Beginning } from './messages.ts';
import { type OwnerMessage, ServingChild } from './serving-child.ts';

/** What the processes are made of. */
export interface ProcessesOptions {
  readonly settings: Partial<ServerOptions>;
  /** Processes that serve connections. */
  readonly count: number;
  readonly log: Beginning['log'];
}

/** A process that ended is replaced after this time, or after twice the time of the last attempt if that came to nothing. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** What a process may take to end beyond the time that its requests have. */
const END_MS = 10_000;
/** Connections that may wait for a process to serve; further ones are ended. */
const MOST_WAITING = 10_000;
/** How long metrics are joined in one turn, before the owner commits for all again. */
const METRICS_SLICE_MS = 5;

const share = (whole: number, count: number): number => Math.ceil(whole / count);

/** Refuses what several processes cannot keep the promise of. Throws StartError. */
function checkOptions(options: ServerOptions): void {
  if (options.dataDir === '' && options.certDir === '') throw new StartError('--workers needs --data-dir or --cert-dir, where the keys are that they share');
  if (options.console) throw new StartError('--workers and --console cannot be given together: sessions of the console are kept by one process');
}

class Processes {
  readonly #options: ServerOptions;
  readonly #count: number;
  readonly #log: Beginning['log'];
  readonly #health: StorageHealth;
  /** Those that were given a connection last stand at the end. */
  readonly #children = new Set<ServingChild>();
  /** Connections that came while no process served. */
  readonly #waiting: Socket[] = [];
  readonly #port: NetServer;
  #exposed: ExposedParts | undefined;
  #server: RunningServer | undefined;
  #portNumber = 0;
  #pauseMs = FIRST_PAUSE_MS;
  readonly #timers = new Set<Timer>();
  #stopped: Promise<void> | undefined;

  constructor({ settings, count, log }: ProcessesOptions) {
    this.#options = resolveOptions(settings);
    checkOptions(this.#options);
    this.#count = count;
    this.#log = log;
    this.#health = createStorageHealth(this.#options, (change) => this.#announceDisk(change));
    this.#port = createServer({ ...acceptedSockets, pauseOnConnect: true }, (socket) => this.#give(socket));
  }

  async start(): Promise<RunningServer> {
    this.#portNumber = await this.#listen();
    try {
      // Requests are divided among the seats of the processes that serve them; this one has none.
      this.#server = await startServer({ ...this.#options, enablePriorityAndFairness: false }, {
        health: this.#health, openPort: async () => this.#portNumber,
        expose: (parts) => {
          this.#exposed = parts;
        },
        sharesAuditLog: true,
      });
      await this.#server.ready;
      await Promise.all(Array.from({ length: this.#count }, () => this.#fork().serving));
    } catch (error) {
      await this.close();
      throw error instanceof StartError ? error : new StartError(`a serving process did not start: ${(error as Error).message}`, { cause: error });
    }
    const { url, port, kubeconfig, kubeconfigPath, ready } = this.#server;
    return { url, port, kubeconfig, kubeconfigPath, ready, close: () => this.close() };
  }

  close(): Promise<void> {
    return this.#stopped ??= this.#stop();
  }

  #listen(): Promise<number> {
    const { securePort, bindAddress } = this.#options;
    return new Promise((resolve, reject) => {
      this.#port.once('error', (error) => reject(describeListenError(error, `${bindAddress}:${securePort}`)));
      this.#port.listen({ port: securePort, host: bindAddress, backlog: 1024 }, () => resolve((this.#port.address() as { port: number }).port));
    });
  }

  #fork(): ServingChild {
    const { clock, maxRequestsInflight, maxMutatingRequestsInflight } = this.#options;
    const seats = {
      maxRequestsInflight: share(maxRequestsInflight, this.#count), maxMutatingRequestsInflight: share(maxMutatingRequestsInflight, this.#count),
    };
    invariant(this.#exposed !== undefined, 'the store is open');
    const child = new ServingChild({
      clock, store: this.#exposed.store,
      beginning: {
        options: { ...describeOptions(this.#options), ...seats }, port: this.#portNumber, usesOwner: !isShared(this.#options), log: this.#log,
      },
      onMessage: (message) => {
        if (message.type === 'tokenUse') this.#exposed?.noteTokenUse(message.secret);
        else if (message.type === 'rotateAudit') this.#exposed?.rotateAudit(message.bytes);
        else void this.#answerMetrics(child, message);
      },
      onEnd: (why, left) => {
        this.#replace(child, why);
        for (const socket of left) this.#give(socket);
      },
    });
    this.#children.add(child);
    for (const change of listFaults(this.#health)) child.send({ type: 'disk', change });
    child.serving.then(() => {
      this.#pauseMs = FIRST_PAUSE_MS;
      for (const socket of this.#waiting.splice(0)) this.#give(socket);
    }, () => {});
    return child;
  }

  #replace(child: ServingChild, why: string): void {
    this.#children.delete(child);
    if (this.#stopped !== undefined || this.#server === undefined) return;
    this.#options.logger.error('a serving process ended and is replaced', { pid: child.pid, why, pauseMs: this.#pauseMs });
    const timer = this.#options.clock.after(this.#pauseMs, () => {
      this.#timers.delete(timer);
      this.#fork();
    });
    this.#timers.add(timer);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  /** Gives a connection to the process that has the fewest; of equals, to the one that has waited longest for one. */
  #give(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    let chosen: ServingChild | undefined;
    for (const child of this.#children) if (child.isServing && (chosen === undefined || child.connections < chosen.connections)) chosen = child;
    if (chosen !== undefined) {
      this.#children.delete(chosen);
      this.#children.add(chosen);
      chosen.give(socket);
    } else if (this.#stopped === undefined && this.#waiting.length < MOST_WAITING) this.#waiting.push(socket);
    else socket.destroy();
  }

  #announceDisk(change: DiskChange): void {
    for (const child of this.#children) child.send({ type: 'disk', change });
  }

  async #answerMetrics(child: ServingChild, { id, text }: Extract<OwnerMessage, { type: 'joinMetrics' }>): Promise<void> {
    const whole = await this.#joinMetrics(child, text).catch((error: unknown) => {
      this.#options.logger.error('the metrics of the processes were not joined', describeError(error));
      return text;
    });
    child.send({ type: 'metrics', id, text: whole });
  }

  /** The metrics of a process with those of all others. */
  async #joinMetrics(asking: ServingChild, text: string): Promise<string> {
    const others = [...this.#children].filter((child) => child !== asking && child.isServing).map((child) => child.showMetrics());
    const texts = await Promise.all([this.#exposed?.renderMetrics(), ...others]);
    const slice = createTimeSlice(this.#options.clock, METRICS_SLICE_MS);
    return runStepsInSlices(joinMetrics([text, ...texts.filter((one) => one !== undefined)]), slice);
  }

  /** Requests end first, in all processes at once; then the controllers, and the store at last. */
  async #stop(): Promise<void> {
    const { clock, shutdownGraceMs, shutdownDelayMs, shutdownWatchGraceMs, logger } = this.#options;
    for (const timer of this.#timers) timer.cancel();
    const closed = new Promise((resolve) => this.#port.close(resolve));
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    for (const child of this.#children) child.send({ type: 'stop' });
    const late = clock.after(shutdownDelayMs + shutdownGraceMs + shutdownWatchGraceMs + END_MS, () => {
      for (const child of this.#children) {
        logger.error('a serving process did not end in time', { pid: child.pid });
        child.kill();
      }
    });
    await Promise.all([...this.#children].map((child) => child.ended));
    late.cancel();
    await closed;
    await this.#server?.close().catch((error: unknown) => {
      logger.error('the store was not closed properly', describeError(error));
      throw error;
    });
  }
}

/** Starts them; rejects with StartError when they cannot start. */
export async function startProcesses(options: ProcessesOptions): Promise<RunningServer> {
  return new Processes(options).start();
}
