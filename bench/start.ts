// How long a built server takes from its start to its first 200 on an empty store, and what it weighs when it has nothing to do.
// Usage: node dist/bench/start.js [runs]. Prints milliseconds per run, the median, and resident memory five seconds later.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const idleMs = 5000;

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function tryOnce(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer bench-token' };
    const sent = request({ host: '127.0.0.1', port, path: '/api/v1/namespaces', headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.on('error', () => resolve(false));
    sent.end();
  });
}

/** One start; memory is read on the last one only. */
async function measureStart(weigh: boolean): Promise<{ readonly ms: number; readonly rssMb: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-bench-'));
  const port = await findFreePort();
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, 'bench-token,bench,bench-uid,"system:masters"\n');
  const main = fileURLToPath(new URL('../bin/pintle.js', import.meta.url));
  const startedMs = performance.now();
  const flags = ['--data-dir', join(directory, 'data'), '--secure-port', String(port), '--token-auth-file', tokens];
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    while (!(await tryOnce(port))) {
      if (child.exitCode !== null || performance.now() - startedMs > 20_000) throw new Error('the server did not start');
      await sleep(2);
    }
    const ms = performance.now() - startedMs;
    if (weigh) await sleep(idleMs);
    const resident = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? '0';
    return { ms, rssMb: Number(resident) / 1024 };
  } finally {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

const runs = Number(process.argv[2] ?? '5');
const times: number[] = [];
for (let run = 1; run <= runs; run += 1) {
  const { ms, rssMb } = await measureStart(run === runs);
  times.push(ms);
  process.stdout.write(`first 200 after ${ms.toFixed(0)} ms\n`);
  if (run === runs) process.stdout.write(`median ${([...times].sort((a, b) => a - b)[runs >> 1] as number).toFixed(0)} ms, idle RSS ${rssMb.toFixed(0)} MB\n`);
}
