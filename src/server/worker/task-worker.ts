// One worker of the pool, from the server's side. It does one long task at a time, or a few requests of different users, which take turns in it.
// A worker that shows no sign of life is ended with what it is at.
import { Worker } from 'node:worker_threads';
import type { StatusError } from '../../apimachinery/index.ts';
import type { Clock, Timer } from '../../base/index.ts';
import type { Store } from '../../storage/index.ts';
import type { Queued } from './fair-queue.ts';
import type { FromWorker, ToWorker, WorkerTasks } from './messages.ts';
import { StoreService } from './store-service.ts';
import { handOver } from './task-bytes.ts';

/** A task with its waiting requests. */
export interface Task extends Queued {
  readonly name: keyof WorkerTasks;
  readonly input: unknown;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface TaskWorkerOptions {
  readonly clock: Clock;
  readonly store: Store;
  readonly data: unknown;
  readonly idleMs: number;
  /** The most that its heap may grow to. */
  readonly memoryMb: number;
  readonly report: (error: unknown) => void;
  readonly tooMuchWork: () => StatusError;
  /** Called when the worker can take another task. */
  readonly onFree: () => void;
  /** Called once, when the worker has ended. */
  readonly onEnd: () => void;
}

/** The longest time of a task, and of silence of a worker that handles requests: these wait for others, and end with their own deadlines. */
const TASK_MS = 20_000;
/** The longest start of a worker, which is no part of its first task: on a machine that has no time it may take longer than a task. */
const START_MS = 60_000;
/** Memory of a worker: the API over a thousand definitions takes some 150 MB of it, an apply of 90,000 fields 250 MB. */
const MOST_MEMORY_MB = 512;
const LEAST_MEMORY_MB = 64;
/** A worker whose heap has grown beyond this is idle for a shorter time, because it gives its memory back only when it ends. */
const LARGE_HEAP_BYTES = 128 * 1024 * 1024;
const LARGE_IDLE_MS = 1000;
/** Requests that one worker handles at once, of different users. */
const MOST_REQUESTS = 2;

/** What the heap of each worker may grow to: of a limit on the whole process (a container's), all of them together take half. */
export function shareMemory(limitBytes: number | undefined, workers: number): number {
  if (limitBytes === undefined || limitBytes === 0) return MOST_MEMORY_MB;
  return Math.min(MOST_MEMORY_MB, Math.max(LEAST_MEMORY_MB, Math.floor(limitBytes / 2 ** 20 / 2 / workers)));
}

/** A worker that runs. */
export class TaskWorker {
  readonly #options: TaskWorkerOptions;
  readonly #worker: Worker;
  readonly #service: StoreService;
  readonly #running = new Map<number, Task>();
  #timer: Timer | undefined;
  #lastId = 0;
  #ended = false;
  #hasStarted = false;
  #heapBytes = 0;

  constructor(options: TaskWorkerOptions) {
    this.#options = options;
    this.#worker = new Worker(new URL('./worker-tasks.js', import.meta.url), {
      execArgv: [], workerData: options.data, resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
    });
    this.#worker.unref();
    this.#service = new StoreService({ store: options.store, post: (message, transfer) => this.#post(message, transfer) });
    this.#worker.on('message', (message: FromWorker) => this.#receive(message));
    this.#worker.on('error', (error) => {
      if (this.#ended) return;
      options.report(error);
      void this.end(options.tooMuchWork());
    });
  }

  /** Whether it can begin a task at once. */
  accepts({ name, user }: Task): boolean {
    if (this.#ended) return false;
    if (this.#running.size === 0) return true;
    if (name !== 'handle' || this.#running.size >= MOST_REQUESTS) return false;
    for (const running of this.#running.values()) if (running.name !== 'handle' || running.user === user) return false;
    return true;
  }

  run(task: Task): void {
    const id = ++this.#lastId;
    this.#running.set(id, task);
    this.#watchOver();
    const { input, copies } = handOver(task.input);
    this.#post({ type: 'task', id, name: task.name, input }, copies);
  }

  /** Marks a task that no request waits for any more. Requests stop before their next step; other tasks end by themselves. */
  abort(task: Task): void {
    for (const [id, running] of this.#running) if (running === task) this.#post({ type: 'abort', id });
  }

  /** Ends the worker, and with it what it is at. */
  async end(why: Error): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#service.close();
    for (const task of this.#running.values()) task.reject(why);
    this.#running.clear();
    const terminated = this.#worker.terminate();
    this.#options.onEnd();
    await terminated;
  }

  #post(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    if (!this.#ended) this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromWorker): void {
    if (this.#ended) return;
    if (message.type === 'done') this.#finish(message);
    else if (message.type !== 'alive') this.#service.receive(message);
    // A task that is no request has its time in all, whatever else the worker says once it has started.
    if (message.type === 'done' || !this.#hasStarted || this.#isHandling()) {
      this.#hasStarted = true;
      this.#watchOver();
    }
  }

  #finish({ id, output, error, heapBytes }: Extract<FromWorker, { type: 'done' }>): void {
    const task = this.#running.get(id);
    this.#running.delete(id);
    this.#heapBytes = heapBytes;
    if (error === undefined) task?.resolve(output);
    else task?.reject(new Error(error));
    this.#options.onFree();
  }

  #isHandling(): boolean {
    for (const { name } of this.#running.values()) return name === 'handle';
    return false;
  }

  /** Starts the time again after which the worker ends: of its task, or because it is idle. */
  #watchOver(): void {
    this.#timer?.cancel();
    const workMs = this.#hasStarted ? TASK_MS : START_MS;
    const limitMs = this.#running.size > 0 ? workMs : this.#heapBytes > LARGE_HEAP_BYTES ? LARGE_IDLE_MS : this.#options.idleMs;
    this.#timer = this.#options.clock.after(limitMs, () => void this.end(this.#options.tooMuchWork()));
  }
}
