// One process that serves connections, as the owner of the store sees it: it gets connections, calls the store, and is asked for its metrics.
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../base/index.ts';
import type { Store } from '../../storage/index.ts';
import { StoreService } from '../worker/store-service.ts';
import type { StoreAnswer, StoreCall } from '../worker/messages.ts';
import { Channel } from './channel.ts';
import { type Beginning, type FromServing, STORE_PIPE, type ToServing } from './messages.ts';

/** The entry of the process: beside this module in a checkout, beside the program where it is bundled. */
const entry = fileURLToPath(new URL('./serving-process.js', import.meta.url));
/**
 * glibc gives a piece of memory of so many bytes back when it is freed. Without the setting it raises that bound to the size of the largest piece that was
 * freed, and keeps smaller ones: reads of 60 Pods of a megabyte left 200 MB more.
 */
const memorySettings = { MALLOC_MMAP_THRESHOLD_: String(2 ** 18) };
/** How long a process may take to show its metrics; it is left out of those of the server otherwise. */
const METRICS_MS = 1000;

/** What a process wants of the owner. */
export type OwnerMessage = Extract<FromServing, { type: 'tokenUse' | 'rotateAudit' | 'joinMetrics' }>;

interface ServingChildOptions {
  readonly clock: Clock;
  readonly beginning: Beginning;
  readonly store: Store;
  /** Called with what the child wants of the owner. */
  readonly onMessage: (message: OwnerMessage) => void;
  /** Called once, when the process has ended, with the reason and the connections that it has not taken. */
  readonly onEnd: (why: string, left: readonly Socket[]) => void;
}

/** A process that serves connections. */
export class ServingChild {
  /** Resolves when it serves; rejects when it cannot. */
  readonly serving: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #options: ServingChildOptions;
  readonly #process: ChildProcess;
  readonly #service: StoreService;
  readonly #showing = new Map<number, (text: string | undefined) => void>();
  #settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  /**
   * Connections that are on the way to it: the first one is sent, and stays open here until the process has taken it, so that another one can get it
   * if this one ends. Node would forget those that it queues.
   */
  readonly #given: Socket[] = [];
  #open = 0;
  #lastId = 0;
  #isServing = false;

  constructor(options: ServingChildOptions) {
    this.#options = options;
    this.#process = fork(entry, {
      serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'], execArgv: listNodeArguments(),
      env: { ...memorySettings, ...process.env },
    });
    const channel = new Channel<StoreAnswer, StoreCall>(this.#process.stdio[STORE_PIPE] as unknown as Duplex, (message) => this.#service.receive(message));
    this.#service = new StoreService({ store: options.store, copiesItself: true, post: (message) => channel.post(message) });
    this.serving = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.serving.catch(() => {});
    this.ended = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => {
        this.#end(`it ended with ${signal ?? `code ${code}`}`);
        resolve();
      });
    });
    this.#process.on('error', (error) => this.#settle?.reject(error));
    this.#process.on('message', (message: FromServing) => this.#receive(message));
    this.send({ type: 'begin', beginning: options.beginning });
  }

  get isServing(): boolean {
    return this.#isServing;
  }

  /** Connections that it has, and those that are on the way to it. */
  get connections(): number {
    return this.#open + this.#given.length;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  send(message: ToServing): void {
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  give(socket: Socket): void {
    if (this.#given.push(socket) === 1) this.#sendConnection(socket);
  }

  /** The metrics of the process; undefined when it does not answer in time. */
  showMetrics(): Promise<string | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(METRICS_MS, () => settle(undefined));
      const settle = (text: string | undefined): void => {
        timer.cancel();
        this.#showing.delete(id);
        resolve(text);
      };
      this.#showing.set(id, settle);
      this.send({ type: 'showMetrics', id });
    });
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #receive(message: FromServing): void {
    if (message.type === 'serving') {
      this.#isServing = true;
      this.#settle?.resolve();
    } else if (message.type === 'failed') this.#settle?.reject(new Error(message.message));
    else if (message.type === 'connectionTaken') this.#noteTaken(message.hasConnection);
    else if (message.type === 'connectionsClosed') this.#open -= message.count;
    else if (message.type === 'shownMetrics') this.#showing.get(message.id)?.(message.text);
    else if (message.type === 'tokenUse' || message.type === 'rotateAudit' || message.type === 'joinMetrics') this.#options.onMessage(message);
  }

  #sendConnection(socket: Socket): void {
    if (this.#process.connected) this.#process.send({ type: 'connection' } satisfies ToServing, socket, { keepOpen: true }, () => {});
  }

  #noteTaken(hasConnection: boolean): void {
    // The process has the connection open as well, so that this ends nothing but the part of it here.
    this.#given.shift()?.destroy();
    if (hasConnection) this.#open += 1;
    const [next] = this.#given;
    if (next !== undefined) this.#sendConnection(next);
  }

  #end(why: string): void {
    this.#isServing = false;
    this.#service.close();
    for (const settle of this.#showing.values()) settle(undefined);
    this.#settle?.reject(new Error(why));
    this.#options.onEnd(why, this.#given);
  }
}

/** Arguments of Node that hold for the child as well; those of a debugger would have it listen on the same port. */
const listNodeArguments = (): string[] => process.execArgv.filter((argument) => !argument.startsWith('--inspect'));

