// Runs attacks on a server with an ordinary user beside them: `npm run attack [-- TEXT…] [--workers COUNT | --url URL --pid PID]`. A TEXT selects
// attacks by number or name. For each attack it prints the answer, the longest stretch of processor time of the server's main thread, the latency of the
// other user beside the calm one of the same run, and the memory that the attack took; where that is more than 64 MB, also what is left of it when it is
// less or a minute has passed. Stretches and memory are those of all processes of a server of several. The exit code is the number of attacks that fell
// short, and one more when all of them together left more than that.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Attack } from './attack.ts';
import { bodyAttacks } from './bodies.ts';
import { certificateAttacks } from './connections/certificates.ts';
import { consoleAttacks } from './console.ts';
import { dependentAttacks } from './dependents.ts';
import { faultAttacks } from './faults.ts';
import { floodAttacks } from './floods.ts';
import { kmsAttacks } from './kms.ts';
import { largeObjectAttacks } from './large-objects.ts';
import { loadAttacks } from './load.ts';
import { patchAttacks } from './patches.ts';
import { protocolAttacks } from './connections/protocol.ts';
import { requestAttacks } from './requests.ts';
import { streamAttacks } from './connections/streams.ts';
import { type Target, prepareUsers, readMemoryMb, startTarget } from './target.ts';

/** The longest stretch that one request may take, and how far another user's latency may rise above a calm one. */
const LONGEST_STRETCH_MS = 50;
const LATENCY_FACTOR = 5;
const CALM_FLOOR_MS = 10;
const MEMORY_LEFT_MB = 64;
const MEMORY_WAIT_SECONDS = 60;

interface Probe {
  readonly p99Ms: number;
  readonly worstMs: number;
  readonly refused: number;
}

/** Lets bob read from now on; the answer stops him. */
function startProbe(): () => Promise<Probe> {
  bob.send('start');
  return async () => {
    const probe = once(bob, 'message');
    bob.send('stop');
    return (await probe)[0] as Probe;
  };
}

async function runAttack(server: Target, attack: Attack, calm: Probe): Promise<boolean> {
  await server.takeLongestMs();
  const beforeMb = server.readMemoryMb() ?? Number.NaN;
  const stop = startProbe();
  await sleep(300);
  const outcome = await attack.run(server).catch((error: Error) => ({ holds: false, answer: `the attack failed: ${error.message}` }));
  await sleep(200);
  const probe = await stop();
  const longestMs = await server.takeLongestMs();
  const memory = await waitForMemory(server, beforeMb);
  const bound = Math.max(CALM_FLOOR_MS, calm.p99Ms) * LATENCY_FACTOR;
  const isFair = probe.refused === 0 && probe.p99Ms <= bound && (longestMs ?? 0) <= LONGEST_STRETCH_MS;
  const holds = outcome.holds && isFair && !(memory.leftMb > MEMORY_LEFT_MB);
  process.stdout.write(`${holds ? 'holds' : 'SHORT'}  ${attack.number.padEnd(4)}${attack.name}: ${outcome.answer}\n`
    + `       longest stretch ${longestMs?.toFixed(0) ?? '?'} ms; bob p99 ${probe.p99Ms.toFixed(1)} worst ${probe.worstMs.toFixed(0)} ms`
    + ` (calm ${calm.p99Ms.toFixed(1)}), refused ${probe.refused}; memory ${describeMemory(memory)}\n`);
  return holds;
}

/** The memory that an attack took, in megabytes, and what is left of it after a while. */
interface TakenMemory {
  readonly tookMb: number;
  readonly leftMb: number;
  readonly afterSeconds: number;
}

const describeMb = (megabytes: number): string => `${megabytes >= 0 ? '+' : ''}${megabytes.toFixed(0)} MB`;

function describeMemory({ tookMb, leftMb, afterSeconds }: TakenMemory): string {
  return afterSeconds === 0 ? describeMb(tookMb) : `${describeMb(tookMb)}, ${describeMb(leftMb)} after ${afterSeconds} s`;
}

/** Waits up to a minute for the memory that was taken since it was `beforeMb` to come back. Nothing is asked of the server meanwhile. */
async function waitForMemory(target: Target, beforeMb: number): Promise<TakenMemory> {
  const read = (): number => (target.readMemoryMb() ?? Number.NaN) - beforeMb;
  const tookMb = read();
  if (!(tookMb > MEMORY_LEFT_MB)) return { tookMb, leftMb: tookMb, afterSeconds: 0 };
  target.rest();
  for (let afterSeconds = 1; ; afterSeconds++) {
    await sleep(1000);
    const leftMb = read();
    if (leftMb > MEMORY_LEFT_MB && afterSeconds < MEMORY_WAIT_SECONDS) continue;
    await target.takeLongestMs();
    return { tookMb, leftMb, afterSeconds };
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true, options: { url: { type: 'string' }, pid: { type: 'string' }, workers: { type: 'string' } } });
const all = [...requestAttacks, ...bodyAttacks, ...patchAttacks, ...loadAttacks, ...floodAttacks, ...faultAttacks, ...protocolAttacks, ...certificateAttacks,
  ...streamAttacks, ...kmsAttacks, ...consoleAttacks, ...dependentAttacks, ...largeObjectAttacks];
const chosen = all.filter(({ number, name }) => positionals.length === 0 || positionals.some((text) => number === text || name.includes(text)));
const isLoopback = (url: string): boolean => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(url).hostname);
if (values.url !== undefined && !isLoopback(values.url)) throw new Error('only servers on the loopback address are attacked');
const server: Target = values.url === undefined ? await startTarget(Number(values.workers ?? 1)) : {
  url: values.url, readMemoryMb: () => readMemoryMb(Number(values.pid)), takeLongestMs: async () => undefined, rest() {},
  close: async () => {} };
await prepareUsers(server);
const startMb = server.readMemoryMb();
const bob = fork(fileURLToPath(new URL('probe.child.js', import.meta.url)), [server.url]);
const stopCalm = startProbe();
await sleep(2000);
const calm = await stopCalm();
let short = 0;
for (const attack of chosen) if (!await runAttack(server, attack, calm)) short++;
bob.disconnect();
const { leftMb } = await waitForMemory(server, startMb ?? Number.NaN);
await server.close();
process.stdout.write(`${chosen.length - short} of ${chosen.length} attacks hold; ${leftMb.toFixed(0)} MB more than at the start are left\n`);
process.exit(leftMb > MEMORY_LEFT_MB ? short + 1 : short);
