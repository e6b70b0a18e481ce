// Threads beside the server's own, for work that is long and cannot be done in turns. Workers start when they are needed, at most one less than
// there are cores, and end when they are idle. Tasks wait in a bounded queue that is fair by user. A task that takes too much time or memory is
// given up, and its worker with it; a task whose client left is dropped.
import { availableParallelism } from 'node:os';
import { type StatusError, failure, timeoutError, tooManyRequests } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import { type ParseYaml, YamlError, parseYaml } from '../../codec/index.ts';
import type { Store } from '../../storage/index.ts';
import { FairQueue } from './fair-queue.ts';
import type { WorkerTasks } from './messages.ts';
import { type Task, TaskWorker, shareMemory } from './task-worker.ts';

type Name = keyof WorkerTasks;

/** The caller that a task is done for. */
export interface TaskOwner {
  /** Users take turns. */
  readonly user: string;
  /** Aborted when no request waits for the task any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The workers, as the server sees them. */
export interface WorkerPool {
  /** Does a task in a worker; rejects with a Status when it cannot be done. */
  run<N extends Name>(name: N, input: WorkerTasks[N]['input'], owner: TaskOwner): Promise<WorkerTasks[N]['output']>;
  /** Ends all workers; what they are at is rejected. */
  stop(): Promise<void>;
}

/** What a pool is made with. */
export interface WorkerPoolOptions {
  readonly clock: Clock;
  /** Gets the error that a worker died of. */
  readonly report: (error: unknown) => void;
  /** What workers that handle requests read and write. */
  readonly store: Store;
  /** What workers are given at their start: the options of the server, without what does not cross threads. */
  readonly data?: unknown;
  /** Most workers at once; one less than there are cores unless given. */
  readonly mostWorkers?: number;
}

/** Tasks that wait, and the bytes of their inputs. */
const queueLimits = { tasks: 100, bytes: 64 * 1024 * 1024 };
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
/** A worker without a task ends after this. */
const IDLE_MS = 30_000;

const tooMuchWaits = (): StatusError => tooManyRequests('too much work is waiting, please try again later', 1);
const tooMuchWork = (): StatusError => failure(500, 'InternalError', 'the request needs more computation than is available to it');
const clientLeft = (): StatusError => timeoutError('request did not complete within the allotted timeout');

class Pool implements WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #queue = new FairQueue<Task>(queueLimits);
  readonly #workers = new Set<TaskWorker>();
  readonly #mostWorkers: number;
  #stopped = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#mostWorkers = options.mostWorkers ?? Math.max(1, availableParallelism() - 1);
  }

  run<N extends Name>(name: N, input: WorkerTasks[N]['input'], { user, signal }: TaskOwner): Promise<WorkerTasks[N]['output']> {
    if (this.#stopped) return Promise.reject(tooMuchWaits());
    if (signal?.aborted === true) return Promise.reject(clientLeft());
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        if (this.#queue.remove(task)) task.reject(clientLeft());
        else for (const worker of this.#workers) worker.abort(task);
      };
      const settled = (): void => signal?.removeEventListener('abort', leave);
      const task: Task = {
        name, input, user, bytes: inputBytes(input),
        resolve(output) {
          settled();
          resolve(output as WorkerTasks[N]['output']);
        },
        reject(error) {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener('abort', leave);
      for (const dropped of this.#queue.push(task)) dropped.reject(tooMuchWaits());
      this.#assign();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const why = timeoutError('the server is stopping');
    for (let task = this.#queue.take(); task !== undefined; task = this.#queue.take()) task.reject(why);
    await Promise.all(Array.from(this.#workers, (worker) => worker.end(why)));
  }

  /** Gives waiting tasks to workers that can take them, and starts workers for the others. */
  #assign(): void {
    for (const worker of this.#workers) this.#fill(worker);
    while (this.#queue.length > 0 && this.#workers.size < this.#mostWorkers && !this.#stopped) this.#fill(this.#start());
  }

  #fill(worker: TaskWorker): void {
    const accepts = (task: Task): boolean => worker.accepts(task);
    for (let task = this.#queue.take(accepts); task !== undefined; task = this.#queue.take(accepts)) worker.run(task);
  }

  #start(): TaskWorker {
    const { clock, report, store, data } = this.#options;
    const worker: TaskWorker = new TaskWorker({
      clock, report, store, data, idleMs: IDLE_MS, memoryMb: shareMemory(process.constrainedMemory(), this.#mostWorkers), tooMuchWork,
      onFree: () => this.#assign(),
      onEnd: () => {
        this.#workers.delete(worker);
        this.#assign();
      },
    });
    this.#workers.add(worker);
    return worker;
  }
}

/** How much of the queue's bytes an input takes. */
function inputBytes(input: WorkerTasks[Name]['input']): number {
  if (input instanceof Uint8Array) return input.length;
  if ('json' in input) return input.json.length;
  // Objects of requests, which nothing has measured: as large as they may be.
  if ('spec' in input) return MAX_OBJECT_BYTES;
  return 'body' in input ? input.body.length : input.definition.length;
}

/** Parses YAML for a user, long texts in a worker. */
export type ParseYamlFor = (bytes: Uint8Array, owner?: TaskOwner) => ReturnType<ParseYaml>;

/** Parses YAML with the help of a pool. */
export function parseYamlWith(pool: WorkerPool): ParseYamlFor {
  return (bytes, owner = { user: '' }) => parseYaml(bytes, async (long) => {
    const answer = await pool.run('readYaml', long, owner);
    if ('problem' in answer) throw new YamlError(answer.problem);
    return answer.parsed;
  });
}

/** A pool without workers yet. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  return new Pool(options);
}
