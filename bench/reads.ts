// What reads cost the server: its CPU per list, page and get, beside a bare Node https server that sends the same bytes (fan-out.ts has watches).
// Usage: node dist/bench/reads.js [--objects 10000] [--only list,get,memory] [--main FILE]
// CPU is user and system time of the server process; every client below is a plain TLS connection in this process.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TLSSocket, connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findPorts } from '../src/test-support/index.ts';

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000' }, gets: { type: 'string', default: '36000' },
    only: { type: 'string', default: 'list,get,memory' },
    main: { type: 'string' }, certificate: { type: 'string' }, key: { type: 'string' }, bare: { type: 'string' }, 'node-arg': { type: 'string',
      multiple: true },
  },
});
const objects = Number(flags.objects);
const collection = '/api/v1/namespaces/default/configmaps';
const clockTicks = 100;
const getRounds = 9;
/** Long enough for whatever is given back at rest. */
const restMs = 30_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const headers = (accept: string): string => `Host: localhost\r\nAuthorization: Bearer bench-token\r\nUser-Agent: bench/1.0\r\nAccept: ${accept}\r\n`;

interface Subject {
  readonly pid: number;
  readonly port: number;
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTicks;
}

function statusMb(pid: number, field: 'VmRSS' | 'VmHWM' | 'RssFile'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

interface Pending {
  readonly resolve: (bytes: number) => void;
  readonly reject: (error: Error) => void;
  readonly onFirst: (() => void) | undefined;
  head: Buffer;
  left: number;
  size: number;
}

/** A keep-alive connection that counts what it receives. */
class Connection {
  readonly socket: TLSSocket;
  #pending: Pending | undefined;

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    this.socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.socket.on('error', (error) => this.#pending?.reject(error));
    this.socket.on('close', () => this.#pending?.reject(new Error('closed')));
  }

  get(path: string, accept = 'application/json', onFirst?: () => void): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject, head: Buffer.alloc(0), left: -1, size: 0, onFirst };
      this.socket.write(`GET ${path} HTTP/1.1\r\n${headers(accept)}\r\n`);
    });
  }

  #receive(chunk: Buffer): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    let body = chunk.length;
    if (pending.left < 0) {
      pending.head = Buffer.concat([pending.head, chunk]);
      const end = pending.head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = pending.head.toString('latin1', 0, end);
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (!text.startsWith('HTTP/1.1 200')) return pending.reject(new Error(text));
      // Chunked bodies end with an empty chunk; nothing else ends like it in what is listed here.
      pending.left = length === undefined ? Infinity : Number(length);
      body = pending.head.length - end - 4;
      pending.onFirst?.();
    }
    pending.left -= body;
    pending.size += body;
    if (pending.left > 0 && !(pending.left === Infinity && chunk.toString('latin1', Math.max(0, chunk.length - 5)) === '0\r\n\r\n')) return;
    this.#pending = undefined;
    pending.resolve(pending.size);
  }
}

async function startSubject(directory: string): Promise<Subject & { child: ChildProcess }> {
  const [port] = await findPorts(1) as [number];
  const tokens = join(directory, 'tokens.csv');
  writeFileSync(tokens, 'bench-token,bench,bench-uid,"system:masters"\n');
  const main = flags.main ?? fileURLToPath(new URL('../bin/pintle.js', import.meta.url));
  const args = [...(flags['node-arg'] ?? []), main, '--data-dir', join(directory, 'data'), '--secure-port', String(port), '--token-auth-file', tokens];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  for (let tries = 0; tries < 1000; tries++) {
    if (await new Connection(port).get('/api/v1/namespaces/default').then(() => true, () => false)) break;
    await sleep(20);
  }
  return { pid: child.pid as number, port, child };
}

/** Bytes from one buffer, from a process that does nothing else. */
async function startBare(directory: string, bytes: Buffer): Promise<Subject & { child: ChildProcess }> {
  const file = join(directory, 'bytes');
  writeFileSync(file, bytes);
  const pki = join(directory, 'data', 'pki');
  const child = fork(fileURLToPath(import.meta.url), ['--bare', file, '--certificate', join(pki, 'apiserver.crt'), '--key', join(pki, 'apiserver.key')]);
  const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(Number(message))));
  return { pid: child.pid as number, port, child };
}

function fetchBytes(port: number, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const wanted = { authorization: 'Bearer bench-token', accept: 'application/json' };
    const sent = request({ host: '127.0.0.1', port, path, headers: wanted, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The same body for every request. */
function serveBare(): void {
  const body = readFileSync(flags.bare as string);
  const server = createServer({ cert: readFileSync(flags.certificate as string), key: readFileSync(flags.key as string) }, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}

const agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });

function send(port: number, method: string, path: string, body: unknown): Promise<number> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const sent = request({
      host: '127.0.0.1', port, path, method, agent, headers: { authorization: 'Bearer bench-token', 'content-type': type, 'content-length': bytes.length },
    }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

const nameOf = (index: number): string => `object-${String(index).padStart(7, '0')}`;

async function fill({ port }: Subject): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < objects) {
      const index = next++;
      const metadata = { name: nameOf(index), labels: { app: `app-${index % 10}`, tier: 'bench' } };
      const status = await send(port, 'POST', collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: 'x'.repeat(800) } });
      if (status !== 201) throw new Error(`create answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, work));
}

/** Server CPU and wall time of one of `runs` repetitions, after five that do not count. */
async function measure(subject: Subject, what: () => Promise<unknown>, runs: number): Promise<{ cpu: number; wall: number }> {
  for (let i = 0; i < 5; i++) await what();
  const before = cpuMs(subject.pid);
  const startedMs = performance.now();
  for (let i = 0; i < runs; i++) await what();
  return { cpu: (cpuMs(subject.pid) - before) / runs, wall: (performance.now() - startedMs) / runs };
}

const round = (value: number): string => (value >= 10 ? value.toFixed(1) : value.toFixed(3));

async function benchLists(directory: string, subject: Subject): Promise<void> {
  const connection = new Connection(subject.port);
  const runs = objects > 20_000 ? 8 : 30;
  const row = async (name: string, path: string, accept?: string, repeat = runs): Promise<{ cpu: number; wall: number }> => {
    let size = 0;
    let firstMs = 0;
    const result = await measure(subject, async () => {
      const startedMs = performance.now();
      size = await connection.get(path, accept, () => (firstMs = performance.now() - startedMs));
    }, repeat);
    say(`${name.padEnd(34)} cpu ${round(result.cpu)} ms, wall ${round(result.wall)} ms, first byte ${round(firstMs)} ms, ${(size / 1e6).toFixed(2)} MB`);
    return result;
  };
  const json = await row('list JSON', collection);
  await row('list JSON, any version', `${collection}?resourceVersion=0`);
  await row('list protobuf', collection, 'application/vnd.kubernetes.protobuf');
  await row('list Table', collection, 'application/json;as=Table;g=meta.k8s.io;v=v1', Math.ceil(runs / 4));
  await row('list PartialObjectMetadata', collection, 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1', Math.ceil(runs / 4));
  await row('first page of 500', `${collection}?limit=500`, undefined, 200);
  await row('label selector, nothing matches', `${collection}?labelSelector=app%3Dnone`, undefined, 10);
  const bare = await startBare(directory, await fetchBytes(subject.port, collection));
  const plain = new Connection(bare.port);
  const base = await measure(bare, () => plain.get('/'), runs);
  say(`${'bare server, same bytes'.padEnd(34)} cpu ${round(base.cpu)} ms, wall ${round(base.wall)} ms; ` +
    `ratio cpu ${(json.cpu / base.cpu).toFixed(2)}, wall ${(json.wall / base.wall).toFixed(2)}`);
  bare.child.kill();
  const restMb = statusMb(subject.pid, 'VmRSS');
  let peakMb = 0;
  const watching = setInterval(() => (peakMb = Math.max(peakMb, statusMb(subject.pid, 'VmRSS'))), 20);
  await Promise.all([1, 2, 3, 4].map(async () => {
    const own = new Connection(subject.port);
    for (let i = 0; i < 3; i++) await own.get(collection);
    own.socket.destroy();
  }));
  clearInterval(watching);
  say(`${'four full lists at once'.padEnd(34)} RSS ${restMb.toFixed(0)} MB before, ${peakMb.toFixed(0)} MB peak (+${(peakMb - restMb).toFixed(0)})`);
  connection.socket.destroy();
  plain.socket.destroy();
}

/** 64 connections to one server, which ask for objects by name. */
function openGets({ port, pid }: Subject): { run(total: number): Promise<{ cpu: number; rate: number }>; close(): void } {
  const connections = Array.from({ length: 64 }, () => new Connection(port));
  return {
    async run(total) {
      let left = total;
      const before = cpuMs(pid);
      const startedMs = performance.now();
      await Promise.all(connections.map(async (connection) => {
        while (left-- > 0) await connection.get(`${collection}/${nameOf((left * 7919) % objects)}`);
      }));
      return { cpu: ((cpuMs(pid) - before) * 1000) / total, rate: (total * 1000) / (performance.now() - startedMs) };
    },
    close: () => connections.forEach(({ socket }) => socket.destroy()),
  };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** Ours and the bare server take turns: the speed of a shared machine changes within seconds. */
async function benchGets(directory: string, subject: Subject): Promise<void> {
  // What the creates left to be done (tables behind the journal, packing) is not the cost of a get.
  await sleep(3000);
  const bare = await startBare(directory, await fetchBytes(subject.port, `${collection}/${nameOf(0)}`));
  const [ours, plain] = [openGets(subject), openGets(bare)];
  for (const each of [ours, plain]) await each.run(10_000);
  const rounds: Record<'ours' | 'plain', { cpu: number; rate: number }>[] = [];
  const each = Math.ceil(Number(flags.gets) / getRounds);
  for (let count = 0; count < getRounds; count++) rounds.push({ ours: await ours.run(each), plain: await plain.run(each) });
  ours.close();
  plain.close();
  bare.child.kill();
  const of = (pick: (round: (typeof rounds)[number]) => number, digits: number): string => median(rounds.map(pick)).toFixed(digits);
  say(`get by name, 64 clients, medians of ${getRounds} rounds: cpu ${of((r) => r.ours.cpu, 1)} us, ${of((r) => r.ours.rate, 0)}/s; ` +
    `bare ${of((r) => r.plain.cpu, 1)} us, ${of((r) => r.plain.rate, 0)}/s; ` +
    `ratio cpu ${of((r) => r.ours.cpu / r.plain.cpu, 2)}, rate ${of((r) => r.ours.rate / r.plain.rate, 2)}`);
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-bench-'));
  const subject = await startSubject(directory);
  try {
    const parts = (flags.only as string).split(',');
    await sleep(1000);
    say(`idle RSS ${statusMb(subject.pid, 'VmRSS').toFixed(0)} MB`);
    const startedMs = performance.now();
    await fill(subject);
    say(`${objects} objects created in ${((performance.now() - startedMs) / 1000).toFixed(1)} s, RSS ${statusMb(subject.pid, 'VmRSS').toFixed(0)} MB`);
    if (parts.includes('list')) await benchLists(directory, subject);
    if (parts.includes('get')) await benchGets(directory, subject);
    if (parts.includes('memory')) {
      await sleep(restMs);
      const [all, files, peak] = (['VmRSS', 'RssFile', 'VmHWM'] as const).map((field) => statusMb(subject.pid, field).toFixed(0));
      say(`RSS ${all} MB with ${objects} objects, at rest for ${restMs / 1000} s, ${files} MB of it pages of files; peak ${peak} MB`);
    }
  } finally {
    subject.child.kill('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
    agent.destroy();
  }
}

if (flags.bare === undefined) {
  await main();
  process.exit(0);
} else {
  serveBare();
}
