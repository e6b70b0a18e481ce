// A server under steady mixed load for as long as wanted: `npm run soak [-- --minutes N]`. Writes, reads, watches that come and go, definitions that
// come and go, connections that break. Prints resident memory, open files and the longest stretch of the main thread once a minute, and at least
// sixteen times what the heap and its buffers keep after a full collection: resident memory has also the room that V8 and the C library hold for
// reuse, more on a busy machine. The exit code is 1 when what is kept, resident memory or files of the last quarter are above those of the second,
// or when a request failed that should not have.
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Victim, CONFIG_MAPS, configMap, connect, ignoreErrorsBelow, send } from './attack.ts';
import { prepareUsers, startTarget } from './target.ts';

const SECONDS_A_SAMPLE = 10;
const OBJECTS = 500;
/** What the medians of two quarters may differ by without being called growth: caches with a bound of 16 MB take their time to fill. */
const KEPT_NOISE_MB = 16;
const MEMORY_NOISE_MB = 64;
const FILES_NOISE = 16;
const COLLECTIONS = 16;
/** History is forgotten at this interval: what is kept is measured at the same moment of it in runs that are long enough. */
const COMPACTION_MS = 5 * 60_000;

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Sample {
  readonly memoryMb: number;
  readonly files: number;
}

/** What went wrong, by its sort. */
const failures = new Map<string, number>();
let requests = 0;

async function expect(victim: Victim, request: Parameters<typeof send>[1], expected: readonly number[]): Promise<void> {
  const { status, error, text } = await send(victim, request);
  requests++;
  if (expected.includes(status)) return;
  const what = `${request.method ?? 'GET'} ${status} ${error ?? ''}`;
  failures.set(what, (failures.get(what) ?? 0) + 1);
  process.stdout.write(`failed: ${request.method ?? 'GET'} ${request.path}: ${status} ${error ?? text.slice(0, 300)}\n`);
}

/** One object is written, read, listed with others and, every fourth time, deleted. */
async function work(victim: Victim, round: number): Promise<void> {
  const name = `soak${round % OBJECTS}`;
  const text = 'x'.repeat((round * 7919) % 8192);
  await expect(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap(name, { text }) }, [201, 409]);
  const patch = { data: { round: String(round) } };
  await expect(victim, { method: 'PATCH', path: `${CONFIG_MAPS}/${name}`, type: 'application/merge-patch+json', body: patch }, [200]);
  await expect(victim, { path: `${CONFIG_MAPS}/${name}` }, [200]);
  if (round % 10 === 0) await expect(victim, { path: `${CONFIG_MAPS}?limit=100` }, [200]);
  if (round % 4 === 0) await expect(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/${name}` }, [200]);
  if (round % 5 === 0) await expect(victim, { method: 'POST', path: CONFIG_MAPS, body: '{"kind":' }, [400]);
  if (round % 50 === 0) await expect(victim, { path: '/openapi/v2' }, [200]);
}

/** A connection of watches that lives for a few seconds, and one that breaks in the middle of a request. */
async function comeAndGo(victim: Victim): Promise<void> {
  const session = http2.connect(victim.url, { rejectUnauthorized: false });
  session.on('error', () => {}).on('connect', ignoreErrorsBelow);
  for (let count = 0; count < 20; count++) {
    session.request({ ':path': `${CONFIG_MAPS}?watch=1`, authorization: 'Bearer alice-token' }).on('error', () => {}).resume();
  }
  const socket = await connect(victim);
  socket.write('POST /api/v1/namespaces/alice/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nContent-Length: 100\r\n\r\n{');
  await sleep(5000);
  socket.destroy();
  session.destroy();
}

/** A kind that is defined, used and taken away. */
async function define(victim: Victim, round: number): Promise<void> {
  const plural = `soaks${round}`;
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.soak.io` },
    spec: {
      group: 'soak.io', scope: 'Cluster', names: { plural, kind: `Soak${round}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { a: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.size() < 10' }] } } } } } } }],
    },
  };
  const token = 'admin-token';
  await expect(victim, { method: 'POST', path: DEFINITIONS, token, body }, [201]);
  await sleep(3000);
  const object = { apiVersion: 'soak.io/v1', kind: `Soak${round}`, metadata: { name: 'a' }, spec: { a: 'b' } };
  await expect(victim, { method: 'POST', path: `/apis/soak.io/v1/${plural}`, token, body: object }, [201]);
  await expect(victim, { method: 'DELETE', path: `${DEFINITIONS}/${plural}.soak.io`, token }, [200]);
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** What the last quarter has more than the second, by medians. */
function growth(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  return median(values.slice(-quarter)) - median(values.slice(quarter, 2 * quarter));
}

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } });
const server = await startTarget();
await prepareUsers(server);
const samples: Sample[] = [];
const kept: number[] = [];
const durationMs = Number(values.minutes) * 60_000;
const endMs = performance.now() + durationMs;
/** Rounds at a steady rate, as far as the machine can: history has as much in it as was written in its time. Rounds that are missed stay so. */
const wait = async (run: (round: number) => Promise<void>, everyMs: number): Promise<void> => {
  for (let round = 0, nextMs = performance.now(); performance.now() < endMs; round++) {
    await run(round);
    nextMs = Math.max(nextMs + everyMs, performance.now());
    await sleep(nextMs - performance.now());
  }
};
const evenly = durationMs / COLLECTIONS;
const collectEveryMs = evenly < COMPACTION_MS ? evenly : Math.floor(evenly / COMPACTION_MS) * COMPACTION_MS;
const sample = async (round: number): Promise<void> => {
  samples.push({ memoryMb: server.readMemoryMb() ?? 0, files: server.countFiles() });
  const passedMs = durationMs - (endMs - performance.now());
  if (passedMs >= (kept.length + 1) * collectEveryMs) {
    kept.push(await server.measureKeptMb());
    process.stdout.write(`          ${kept.at(-1)?.toFixed(0)} MB kept\n`);
  }
  if (round % (60 / SECONDS_A_SAMPLE) !== 0) return;
  const { memoryMb, files } = samples.at(-1) as Sample;
  process.stdout.write(`${String(Math.round((round * SECONDS_A_SAMPLE) / 60)).padStart(4)} min  ${memoryMb.toFixed(0)} MB  ${files} files  `
    + `longest stretch ${(await server.takeLongestMs())?.toFixed(0)} ms  ${requests} requests\n`);
};
await Promise.all([
  wait((round) => work(server, round), 100), wait(() => comeAndGo(server), 6000), wait((round) => define(server, round), 25_000),
  wait(sample, SECONDS_A_SAMPLE * 1000),
]);
const [keptMb, memoryMb, files] = [growth(kept), growth(samples.map((one) => one.memoryMb)), growth(samples.map((one) => one.files))];
const failed = [...failures].map(([what, count]) => `${count} × ${what.trim()}`).join(', ');
process.stdout.write(`${requests} requests, failed: ${failed || 'none'}; the last quarter keeps ${keptMb.toFixed(0)} MB more than the second, with `
  + `${memoryMb.toFixed(0)} MB more of resident memory and ${files} more files\n`);
await server.close();
process.exit(keptMb > KEPT_NOISE_MB || memoryMb > MEMORY_NOISE_MB || files > FILES_NOISE || failures.size > 0 ? 1 : 0);
