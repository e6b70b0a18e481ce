// One thread beside the server's own, for work that cannot be done in turns and takes long: it starts when it is first needed, does one task
// at a time, and ends when nothing came for a while. A task that takes too much time or memory is given up, and the thread with it.
import { Worker } from 'node:worker_threads';
import { type StatusError, failure, timeoutError, tooManyRequests } from '../../apimachinery/index.ts';
import type { Clock, Timer } from '../../base/index.ts';
import { type ParseYaml, YamlError, parseYaml } from '../../codec/index.ts';
import type { SideTasks } from './worker-tasks.ts';

type Name = keyof SideTasks;

/** The thread, as the server sees it. */
export interface WorkerThread {
  /** Does a task there; rejects with a Status when it cannot be done. */
  run<N extends Name>(name: N, input: Parameters<SideTasks[N]>[0]): Promise<Awaited<ReturnType<SideTasks[N]>>>;
  stop(): Promise<void>;
}

export interface WorkerThreadOptions {
  readonly clock: Clock;
  /** Is told what the thread died of. */
  readonly report: (error: unknown) => void;
}

interface Task {
  readonly name: Name;
  readonly input: unknown;
  readonly resolve: (output: never) => void;
  readonly reject: (error: Error) => void;
}

const taskMs = 20_000;
const idleMs = 30_000;
const mostWaiting = 100;
const memoryMb = 512;

const tooMuch = (): StatusError => failure(500, 'InternalError', 'the request needs more computation than is available to it');

class Side implements WorkerThread {
  readonly #clock: Clock;
  readonly #report: WorkerThreadOptions['report'];
  readonly #waiting: Task[] = [];
  #running: Task | undefined;
  #worker: Worker | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor({ clock, report }: WorkerThreadOptions) {
    this.#clock = clock;
    this.#report = report;
  }

  run<N extends Name>(name: N, input: Parameters<SideTasks[N]>[0]): Promise<Awaited<ReturnType<SideTasks[N]>>> {
    if (this.#stopped || this.#waiting.length >= mostWaiting) return Promise.reject(tooManyRequests('too much work is waiting, please try again later', 1));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ name, input, resolve, reject });
      this.#next();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#end(timeoutError('the server is stopping'));
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#timer?.cancel();
    this.#running = this.#waiting.shift();
    if (this.#running === undefined) {
      this.#timer = this.#clock.after(idleMs, () => void this.#end(tooMuch()));
      return;
    }
    this.#timer = this.#clock.after(taskMs, () => void this.#end(tooMuch()));
    const { name, input } = this.#running;
    (this.#worker ??= this.#start()).postMessage({ name, input });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./worker-tasks.js', import.meta.url), { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
    worker.unref();
    worker.on('message', ({ output, error }: { readonly output?: never; readonly error?: string }) => {
      // What a thread says that was given up meanwhile is no answer to the task of the next one.
      if (this.#worker !== worker) return;
      const task = this.#running;
      this.#running = undefined;
      if (error === undefined) task?.resolve(output as never);
      else task?.reject(new Error(error));
      this.#next();
    });
    // What goes wrong with a thread that was ended on purpose is nobody's concern.
    worker.on('error', (error) => {
      if (this.#worker !== worker) return;
      this.#report(error);
      void this.#end(tooMuch());
    });
    return worker;
  }

  /** Ends the thread, and with it the task that it is at. */
  async #end(why: Error): Promise<void> {
    this.#timer?.cancel();
    const [worker, task] = [this.#worker, this.#running];
    this.#worker = this.#running = undefined;
    task?.reject(why);
    if (this.#stopped) for (const each of this.#waiting.splice(0)) each.reject(why);
    else if (this.#waiting.length > 0) this.#next();
    await worker?.terminate();
  }
}

/** Parses YAML, long texts on the side. */
export function parseYamlWith(side: WorkerThread): ParseYaml {
  const aside: ParseYaml = async (bytes) => {
    const answer = await side.run('readYaml', bytes);
    if ('problem' in answer) throw new YamlError(answer.problem);
    return answer.parsed;
  };
  return (bytes) => parseYaml(bytes, aside);
}

/** A thread that does not run yet. */
export function createWorkerThread(options: WorkerThreadOptions): WorkerThread {
  return new Side(options);
}
