// What the side thread can do, and its loop: a message names a task and brings its input, the answer is what came of it.
import { parentPort } from 'node:worker_threads';
import { YamlError, parseYaml } from '../../codec/index.ts';
import { createWriteValidator } from '../../crd/index.ts';

type Yaml = Awaited<ReturnType<typeof parseYaml>>;

/** What is wrong with a text is an answer too: errors do not cross threads with their class. */
async function readYaml(bytes: Uint8Array): Promise<{ readonly parsed: Yaml } | { readonly problem: string }> {
  try {
    return { parsed: await parseYaml(bytes) };
  } catch (error) {
    if (error instanceof YamlError) return { problem: error.message };
    throw error;
  }
}

const tasks = { judge: createWriteValidator(), readYaml };

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
