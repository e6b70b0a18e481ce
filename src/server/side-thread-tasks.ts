// What the side thread can do, and its loop: a message names a task and brings its input, the answer is what came of it.
import { parentPort } from 'node:worker_threads';
import { createJudge } from '../crd/index.ts';

const tasks = { judge: createJudge() };

/** The tasks by name. */
export type SideTasks = typeof tasks;

interface Message {
  readonly name: keyof SideTasks;
  readonly input: never;
}

parentPort?.on('message', ({ name, input }: Message) => {
  tasks[name](input).then((output) => ({ output }), (error: unknown) => ({ error: error instanceof Error ? error.stack : String(error) }))
    .then((answer) => parentPort?.postMessage(answer));
});
