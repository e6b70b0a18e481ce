// The other user, in a process of its own, so that the work of the attacker's client is not taken for the server's: bob reads his ConfigMap all
// the time on one connection, from the message `start` until `stop`, which is answered with how long it took.
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './attack.ts';

const url = process.argv[2] ?? '';
const PAUSE_MS = 10;
let isOn = false;
let round: Promise<{ readonly p99Ms: number; readonly worstMs: number; readonly refused: number }> | undefined;

async function read(): Promise<{ readonly p99Ms: number; readonly worstMs: number; readonly refused: number }> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const times: number[] = [];
  let refused = 0;
  while (isOn) {
    const { ms, status } = await send({ url, readMemoryMb: () => undefined }, { path: '/api/v1/namespaces/bob/configmaps/mine', token: 'bob-token', agent });
    times.push(ms);
    if (status !== 200) refused++;
    await sleep(PAUSE_MS);
  }
  agent.destroy();
  times.sort((a, b) => a - b);
  return { p99Ms: times[Math.floor(times.length * 0.99)] ?? 0, worstMs: times.at(-1) ?? 0, refused };
}

process.on('message', (message) => {
  isOn = message === 'start';
  if (isOn) round = read();
  else void round?.then((probe) => process.send?.(probe));
});
process.on('disconnect', () => process.exit(0));
