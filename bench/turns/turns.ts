// How long large requests hold the server's thread: the longest turn of each, in CPU time, of a server in a process of its own.
// Usage: node dist/bench/turns/turns.js [--json] [GROUP or part of a name…]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createTestClient } from '../../src/test-support/index.ts';
import { recordLongestTurn, startTestServer } from '../../src/test-support/index.ts';
import { LARGE_REQUESTS, type LargeRequest, type Sent } from './requests.ts';

async function serve(): Promise<void> {
  const server = await startTestServer();
  let longestTurn = recordLongestTurn();
  let used = process.cpuUsage();
  process.on('message', (message) => {
    if (message === 'start') {
      used = process.cpuUsage();
      longestTurn = recordLongestTurn();
      process.send?.('started');
    } else if (message === 'stop') {
      const { user, system } = process.cpuUsage(used);
      process.send?.({ turnMs: longestTurn(), cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 });
    }
  });
  process.on('disconnect', () => void server.close().then(() => process.exit(0)));
  process.send?.({ url: server.url });
}

const ask = async <T>(child: ChildProcess, question: string): Promise<T> => {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as T;
};

async function measure(groups: readonly string[], names: readonly string[]): Promise<void> {
  const child = fork(new URL(import.meta.url), ['serve']);
  const [{ url }] = await once(child, 'message') as [{ url: string }];
  const client = createTestClient(url, 'admin-token');
  const send = ({ method, path, body, type = 'application/json', accept }: Sent) =>
    client.request({ method, path, body, headers: { 'content-type': type, ...(accept !== undefined && { accept }) } });
  const run = async ({ name, before = [], measured }: LargeRequest): Promise<void> => {
    for (const each of before) {
      const { status, text } = await send(each);
      if (status >= 300) console.log(`  before ${name}: ${status} ${text.slice(0, 200)}`);
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    await ask(child, 'start');
    const { status, text } = await send(measured);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const { turnMs, cpuMs, rssMb } = await ask<{ turnMs: number; cpuMs: number; rssMb: number }>(child, 'stop');
    const why = status >= 400 ? ` ${text.replace(/\s+/g, ' ').slice(0, 110)}` : '';
    console.log(`${turnMs.toFixed(0).padStart(6)} ms  ${cpuMs.toFixed(0).padStart(6)} ms in all  ${rssMb.toFixed(0).padStart(5)} MB  ${status}  ${name}${why}`);
    if (measured.path.endsWith('customresourcedefinitions')) await new Promise((resolve) => setTimeout(resolve, 1500));
  };
  try {
    const isWanted = ({ name }: LargeRequest): boolean => names.length === 0 || names.some((part) => name.includes(part));
    for (const group of groups) for (const each of LARGE_REQUESTS[group]?.().filter(isWanted) ?? []) await run(each);
  } finally {
    client.close();
    child.disconnect();
  }
}

const args = process.argv.slice(2);
if (args[0] === 'serve') await serve();
else {
  const groups = args.filter((arg) => LARGE_REQUESTS[arg] !== undefined);
  await measure(groups.length > 0 ? groups : Object.keys(LARGE_REQUESTS), args.filter((arg) => LARGE_REQUESTS[arg] === undefined));
}
