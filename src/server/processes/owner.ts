// A server of several processes: this one owns the store, does all that is done once for a store (controllers, Leases, compaction), and accepts
// connections; the others serve them. A connection is served by one process from its first byte to its last. Each process has caches of its own, fed
// by the changes of the store, and reads what is current by asking for the store's revision: an answer of the owner comes after all changes before it.
import { type Server as NetServer, type Socket, createServer } from 'node:net';
import { type Timer, invariant } from '../../base/index.ts';
import type { ExposedParts } from '../local/seams.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import { type DiskChange, createStorageHealth, isShared } from '../open-store.ts';
import { type ServerOptions, StartError, resolveOptions } from '../options/options.ts';
import { type RunningServer, startServer } from '../server.ts';
import { acceptedSockets } from '../http/tls-front.ts';
import { describeListenError } from '../listen-error.ts';
import { joinMetrics } from './join-metrics.ts';
import type { Beginning } from './messages.ts';
import { ServingChild } from './serving-child.ts';

/** What the processes are made of. */
export interface ProcessesOptions {
  readonly settings: Partial<ServerOptions> & { readonly logger: Logger };
  /** Processes that serve connections. */
  readonly count: number;
  readonly log: Beginning['log'];
}

/** A process that ended is replaced after this time, or after twice the time of the last attempt if that came to nothing. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** What a process may take to end beyond the time that its requests have. */
const END_MS = 10_000;

const share = (whole: number, count: number): number => Math.ceil(whole / count);

/** Refuses what several processes cannot keep the promise of. Throws StartError. */
function checkOptions(options: ServerOptions): void {
  if (options.dataDir === '' && options.certDir === '') throw new StartError('--workers needs --data-dir or --cert-dir, where the keys are that they share');
  if (options.console) throw new StartError('--workers and --console cannot be given together: sessions of the console are kept by one process');
}

class Processes {
  readonly #options: ProcessesOptions;
  readonly #resolved: ServerOptions;
  readonly #children = new Set<ServingChild>();
  /** Connections that came while no process served. */
  readonly #waiting: Socket[] = [];
  readonly #port: NetServer;
  #exposed: ExposedParts | undefined;
  #server: RunningServer | undefined;
  #portNumber = 0;
  #pauseMs = FIRST_PAUSE_MS;
  readonly #timers = new Set<Timer>();
  #stopping = false;

  constructor(options: ProcessesOptions, resolved: ServerOptions) {
    this.#options = options;
    this.#resolved = resolved;
    this.#port = createServer({ ...acceptedSockets, pauseOnConnect: true }, (socket) => this.#give(socket));
  }

  async start(): Promise<RunningServer> {
    this.#portNumber = await this.#listen();
    try {
      this.#server = await startServer(this.#options.settings, {
        health: createStorageHealth(this.#resolved, (change) => this.#announceDisk(change)), openPort: async () => this.#portNumber,
        expose: (parts) => {
          this.#exposed = parts;
        },
        sharesAuditLog: true,
      });
      await this.#server.ready;
      await Promise.all(Array.from({ length: this.#options.count }, () => this.#fork().serving));
    } catch (error) {
      await this.#stop();
      throw error instanceof StartError ? error : new StartError(`a serving process did not start: ${(error as Error).message}`, { cause: error });
    }
    const { url, port, kubeconfig, kubeconfigPath, ready } = this.#server;
    const stop = (): Promise<void> => this.#stop();
    return { url, port, kubeconfig, kubeconfigPath, ready, close: stop };
  }

  #listen(): Promise<number> {
    const { securePort, bindAddress } = this.#resolved;
    return new Promise((resolve, reject) => {
      this.#port.once('error', (error) => reject(describeListenError(error, `${bindAddress}:${securePort}`)));
      this.#port.listen({ port: securePort, host: bindAddress, backlog: 1024 }, () => resolve((this.#port.address() as { port: number }).port));
    });
  }

  #fork(): ServingChild {
    const { count, log, settings: { logger, clock: _clock, random: _random, ...options } } = this.#options;
    const { maxRequestsInflight, maxMutatingRequestsInflight } = this.#resolved;
    invariant(this.#exposed !== undefined, 'the store is open');
    const child = new ServingChild({
      clock: this.#resolved.clock,
      store: this.#exposed.store,
      beginning: {
        options: { ...options, maxRequestsInflight: share(maxRequestsInflight, count), maxMutatingRequestsInflight: share(maxMutatingRequestsInflight, count) },
        port: this.#portNumber, usesOwner: !isShared(this.#resolved), log,
      },
      onMessage: (message) => {
        if (message.type === 'tokenUse') this.#exposed?.noteTokenUse(message.secret);
        else if (message.type === 'rotateAudit') this.#exposed?.rotateAudit(message.bytes);
        else void this.#joinMetrics(child, message.text).then((text) => child.send({ type: 'metrics', id: message.id, text }));
      },
      onEnd: (why, left) => {
        this.#replace(child, why);
        for (const socket of left) this.#give(socket);
      },
    });
    this.#children.add(child);
    child.serving.then(() => {
      this.#pauseMs = FIRST_PAUSE_MS;
      for (const socket of this.#waiting.splice(0)) this.#give(socket);
    }, () => {});
    return child;
  }

  #replace(child: ServingChild, why: string): void {
    this.#children.delete(child);
    if (this.#stopping || this.#server === undefined) return;
    this.#options.settings.logger.error('a serving process ended and is replaced', { pid: child.pid, why, pauseMs: this.#pauseMs });
    const timer = this.#resolved.clock.after(this.#pauseMs, () => {
      this.#timers.delete(timer);
      this.#fork();
    });
    this.#timers.add(timer);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  /** Gives a connection to the process that has the fewest. */
  #give(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    let chosen: ServingChild | undefined;
    for (const child of this.#children) if (child.isServing && (chosen === undefined || child.connections < chosen.connections)) chosen = child;
    if (chosen === undefined) this.#waiting.push(socket);
    else chosen.give(socket);
  }

  #announceDisk(change: DiskChange): void {
    for (const child of this.#children) child.send({ type: 'disk', change });
  }

  /** The metrics of a process with those of all others. */
  async #joinMetrics(asking: ServingChild, text: string): Promise<string> {
    const others = [...this.#children].filter((child) => child !== asking && child.isServing).map((child) => child.showMetrics());
    const texts = await Promise.all([this.#exposed?.renderMetrics(), ...others]);
    return joinMetrics([text, ...texts.filter((one) => one !== undefined)]);
  }

  /** Requests end first, in all processes at once; then the controllers, and the store at last. */
  async #stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    const { clock, shutdownGraceMs, shutdownDelayMs, shutdownWatchGraceMs, logger } = this.#resolved;
    for (const timer of this.#timers) timer.cancel();
    const closed = new Promise((resolve) => this.#port.close(resolve));
    for (const socket of this.#waiting) socket.destroy();
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
export function startProcesses(options: ProcessesOptions): Promise<RunningServer> {
  const resolved = resolveOptions(options.settings);
  checkOptions(resolved);
  return new Processes(options, resolved).start();
}
