// W11: many watchers on one namespace and one hot object. Every event carries a number; none may be lost or come twice.
import type { TLSSocket } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, formatCall, openSocket } from '../load/connection.ts';
import { makeRow, type Row, type Scale } from '../load/measure.ts';
import { createCall, nameOf, populate, scratch } from '../load/objects.ts';
import { type Target, readCpuMs } from '../load/target.ts';

const newline = 10;
const carriageReturn = 13;
/** One watcher in this many is read in full, for latencies and order. */
const sampleEvery = 16;

interface Watcher {
  readonly socket: TLSSocket;
  events: number;
  lastByte: number;
  text: string;
  readonly numbers: number[];
}

/** Updates at a steady rate; answers what the watchers saw. */
export async function measureFanOut(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, 0);
  const writer = new Connection(target);
  const hot = `hot-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  await writer.send(createCall(scratch, hot, 0));
  const path = `${scratch}/${nameOf(hot, 0)}`;
  const latencies: number[] = [];
  const sentMs: number[] = [];
  const query = `?watch=1&fieldSelector=metadata.name%3D${nameOf(hot, 0)}&timeoutSeconds=600&resourceVersion=`;
  const version = await readVersion(writer, path);
  const watchers: Watcher[] = [];
  for (let index = 0; index < scale.watchers; index += 1) {
    watchers.push(await openWatcher(target, { path: `${scratch}${query}${version}`, index, latencies, sentMs }));
  }
  await sleep(200);
  const updates = Math.max(1, Math.round(scale.updatesPerSecond * scale.seconds));
  const cpuMs = readCpuMs(target);
  const startedMs = performance.now();
  for (let number = 0; number < updates; number += 1) {
    await sleep(Math.max(0, startedMs + (number * 1000) / scale.updatesPerSecond - performance.now()));
    sentMs[number] = performance.now();
    await writer.send({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: `{"data":{"number":"n${number}n"}}` });
  }
  await waitForAll(watchers, updates);
  const elapsedMs = performance.now() - startedMs;
  const usedMs = readCpuMs(target) - cpuMs;
  const delivered = watchers.reduce((sum, { events }) => sum + events, 0);
  const wrong = countWrong(watchers, updates);
  for (const { socket } of watchers) socket.destroy();
  writer.close();
  const row = makeRow(target, { workload: `W11 ${scale.watchers} watchers, ${scale.updatesPerSecond} updates/s`, latencies, elapsedMs, usedMs });
  const perEvent = { opsPerSecond: Math.round((delivered * 1000) / elapsedMs), cpuMsPerOp: Number((usedMs / delivered).toPrecision(3)) };
  return [{ ...row, ops: delivered, ...perEvent, extra: { lostOrDoubled: wrong } }];
}

async function readVersion(connection: Connection, path: string): Promise<string> {
  const { body } = await connection.send({ path, keep: true });
  return JSON.parse((body as Buffer).toString('utf8')).metadata.resourceVersion;
}

interface WatcherOptions {
  readonly path: string;
  readonly index: number;
  readonly latencies: number[];
  readonly sentMs: readonly number[];
}

async function openWatcher(target: Target, { path, index, latencies, sentMs }: WatcherOptions): Promise<Watcher> {
  const socket = await openSocket(target);
  const watcher: Watcher = { socket, events: 0, lastByte: 0, text: '', numbers: [] };
  const sampled = index % sampleEvery === 0;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    countLines(watcher, chunk);
    if (!sampled) return;
    watcher.text = (watcher.text + chunk.toString('latin1')).slice(-100_000);
    watcher.text = watcher.text.replace(/"number":"n(\d+)n"[^\n]*\n/g, (_, number: string) => {
      watcher.numbers.push(Number(number));
      latencies.push(performance.now() - (sentMs[Number(number)] ?? 0));
      return '';
    });
  });
  const begun = new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.write(formatCall({ path }, target));
  await begun;
  return watcher;
}

/** Events end with a newline; those of the chunked coding come after a carriage return. */
function countLines(watcher: Watcher, chunk: Buffer): void {
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
    const before = at === 0 ? watcher.lastByte : chunk[at - 1];
    if (before !== carriageReturn) watcher.events += 1;
  }
  watcher.lastByte = chunk.at(-1) ?? 0;
}

async function waitForAll(watchers: readonly Watcher[], updates: number): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (performance.now() < deadlineMs && watchers.some(({ events }) => events < updates)) await sleep(2);
}

function countWrong(watchers: readonly Watcher[], updates: number): number {
  const counted = watchers.reduce((sum, { events }) => sum + Math.abs(events - updates), 0);
  const disordered = watchers.filter(({ numbers }, index) => index % sampleEvery === 0 && numbers.some((number, position) => number !== position)).length;
  return counted + disordered;
}
