// The worker's side: a message names a task and brings its input, the answer is what came of it. The API is composed with the first request.
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { once, systemClock } from '../../base/index.ts';
import { YamlError, parseJson, parseYamlToJson, stringifyJson, stringifyYaml } from '../../codec/index.ts';
import { createWriteValidator } from '../../crd/index.ts';
import type { FromWorker, HandledRequest, ToWorker, WorkerTasks, YamlAnswer } from './messages.ts';
import { RemoteStore } from './remote-store.ts';
import type { Replica } from './replica.ts';
import { takeOver } from './task-bytes.ts';

type Tasks = { readonly [N in keyof WorkerTasks]: (input: WorkerTasks[N]['input'], signal: AbortSignal) => Promise<WorkerTasks[N]['output']> };

/** How often a worker says that its loop turns. */
const ALIVE_MS = 2000;

const countHeapBytes = (): number => getHeapStatistics().total_heap_size;

const post = (message: FromWorker): void => parentPort?.postMessage(message);
const store = new RemoteStore(post);
const running = new Map<number, AbortController>();
const replica = once((): Promise<Replica> => import('./replica.ts').then(({ startReplica }) => startReplica(workerData, store)));

async function readYaml(bytes: Uint8Array): Promise<YamlAnswer> {
  try {
    return { parsed: await parseYamlToJson(bytes) };
  } catch (error) {
    if (error instanceof YamlError) return { problem: error.message };
    throw error;
  }
}

async function handle(request: HandledRequest, signal: AbortSignal): Promise<WorkerTasks['handle']['output']> {
  // Workers that only read YAML or validate do not load the server.
  return (await replica()).handle(request, signal);
}

async function makeReadable({ json, form }: WorkerTasks['makeReadable']['input']): Promise<Uint8Array> {
  const { value } = parseJson(json);
  return new TextEncoder().encode(form === 'yaml' ? stringifyYaml(value) : stringifyJson(value, 2));
}

async function evaluatePolicy(task: WorkerTasks['evaluatePolicy']['input']): Promise<unknown> {
  const { evaluateTask } = await import('../../admission/index.ts');
  return evaluateTask(task);
}

const tasks: Tasks = { validate: createWriteValidator(), readYaml, makeReadable, evaluatePolicy, handle };

/** Says that the loop turns while there is something to do. */
function sayAlive(): void {
  if (running.size === 0) return;
  post({ type: 'alive' });
  systemClock.after(ALIVE_MS, sayAlive);
}

async function run({ id, name, input }: Extract<ToWorker, { type: 'task' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  if (running.size === 1) systemClock.after(ALIVE_MS, sayAlive);
  try {
    const output = await tasks[name](takeOver(input) as never, controller.signal);
    post({ type: 'done', id, output, heapBytes: countHeapBytes() });
  } catch (error) {
    post({ type: 'done', id, error: error instanceof Error ? error.stack ?? error.message : String(error), heapBytes: countHeapBytes() });
  } finally {
    running.delete(id);
  }
}

// Tasks that came while the worker was loading its modules begin to run here.
post({ type: 'alive' });
parentPort?.on('message', (message: ToWorker) => {
  if (message.type === 'task') void run(message);
  else if (message.type === 'abort') running.get(message.id)?.abort();
  else store.receive(message);
});
