// W11: many watchers on one namespace and one hot object. Every event carries a number; none may be lost or come twice.
import { type ClientHttp2Session, connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, formatCall, openSocket } from '../load/connection.ts';
import { makeRow, type Row, type Scale } from '../load/measure.ts';
import { createCall, nameOf, populate, scratch } from '../load/objects.ts';
import { type Target, readCpuMs } from '../load/target.ts';

const newline = 10;
const carriageReturn = 13;
/** One watcher in this many is read in full, for latencies and order. */
const sampleEvery = 16;
const openedAtOnce = 50;

/** The object that is watched, and the updates that make its events. */
export interface Source {
  readonly target: Target;
  readonly path: string;
  /** Makes one event with this number in it. */
  update(number: number): Promise<void>;
  close(): void;
}

/** Opens one stream; answers how to end it. Resolves when the response has begun. */
export type OpenStream = (source: Source, onData: (chunk: Buffer) => void) => Promise<() => void>;

/** What one round of updates came to. */
export interface Round {
  readonly latencies: number[];
  readonly elapsedMs: number;
  readonly usedMs: number;
  readonly delivered: number;
  readonly lostOrDoubled: number;
}

/** A fresh object on a server, and updates of it. */
export async function makeHotObject(target: Target): Promise<Source> {
  await populate(target, 0);
  const writer = new Connection(target);
  const hot = `hot-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  const { body } = await writer.send({ ...createCall(scratch, hot, 0), keep: true });
  const version: string = JSON.parse((body as Buffer).toString('utf8')).metadata.resourceVersion;
  const query = `?watch=1&fieldSelector=metadata.name%3D${nameOf(hot, 0)}&timeoutSeconds=3600&resourceVersion=${version}`;
  return {
    target,
    path: `${scratch}${query}`,
    update: async (number) => void await writer.send({
      method: 'PATCH', path: `${scratch}/${nameOf(hot, 0)}`, contentType: 'application/merge-patch+json', body: `{"data":{"number":"n${number}n"}}`,
    }),
    close: () => writer.close(),
  };
}

/** A stream on a connection of its own. */
export async function openOwnConnection({ target, path }: Source, onData: (chunk: Buffer) => void): Promise<() => void> {
  const socket = await openSocket(target);
  const begun = new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.on('error', () => {});
  socket.on('data', onData);
  socket.write(formatCall({ path }, target));
  await begun;
  return () => socket.destroy();
}

/** Streams over HTTP/2 connections that each carry so many. */
export function shareConnections(streams: number): OpenStream {
  let session: ClientHttp2Session | undefined;
  let carried = 0;
  return async ({ target, path }, onData) => {
    if (session === undefined || carried++ % streams === 0) session = connect(target.url, { rejectUnauthorized: false });
    const used = session;
    const stream = used.request({ ':path': path, authorization: `Bearer ${target.token}`, accept: 'application/json' });
    stream.on('error', () => {});
    stream.on('data', onData);
    await new Promise((resolve) => stream.once('response', resolve));
    return () => used.destroy();
  };
}

class Watcher {
  events = 0;
  readonly numbers: number[] = [];
  #lastByte = 0;
  #text = '';

  /** Counts lines; those of the chunked coding come after a carriage return. */
  count(chunk: Buffer): number {
    const before = this.events;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
      if ((at === 0 ? this.#lastByte : chunk[at - 1]) !== carriageReturn) this.events += 1;
    }
    this.#lastByte = chunk.at(-1) ?? 0;
    return this.events - before;
  }

  readNumbers(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString('latin1')).slice(-100_000).replace(/"number":"n(\d+)n"[^\n]*\n/g, (_, number: string) => {
      this.numbers.push(Number(number));
      return '';
    });
  }
}

/** Streams that stay open over several rounds of updates. */
export class FanOut {
  readonly #source: Source;
  readonly #watchers: Watcher[] = [];
  readonly #closers: (() => void)[] = [];
  readonly #sentMs: number[] = [];
  #latencies: number[] = [];

  private constructor(source: Source) {
    this.#source = source;
  }

  static async open(source: Source, watchers: number, openStream: OpenStream = openOwnConnection): Promise<FanOut> {
    const fanOut = new FanOut(source);
    for (let opened = 0; opened < watchers; opened += openedAtOnce) {
      const many = Array.from({ length: Math.min(openedAtOnce, watchers - opened) }, () => fanOut.#open(openStream));
      fanOut.#closers.push(...await Promise.all(many));
    }
    await sleep(200);
    return fanOut;
  }

  /** Updates at a steady rate; answers what the watchers saw, and what the server used until the last had seen all. */
  async round(updates: number, perSecond: number): Promise<Round> {
    this.#latencies = [];
    const first = this.#sentMs.length;
    const deliveredBefore = this.#delivered();
    const cpuMs = readCpuMs(this.#source.target);
    const startedMs = performance.now();
    for (let index = 0; index < updates; index += 1) {
      await sleep(Math.max(0, startedMs + (index * 1000) / perSecond - performance.now()));
      this.#sentMs.push(performance.now());
      await this.#source.update(first + index);
    }
    await this.#waitForAll();
    const usedMs = readCpuMs(this.#source.target) - cpuMs;
    const delivered = this.#delivered() - deliveredBefore;
    return { latencies: this.#latencies, elapsedMs: performance.now() - startedMs, usedMs, delivered, lostOrDoubled: this.#countWrong() };
  }

  close(): void {
    for (const close of this.#closers) close();
    this.#source.close();
  }

  #open(openStream: OpenStream): Promise<() => void> {
    const sampled = this.#watchers.length % sampleEvery === 0;
    const watcher = new Watcher();
    this.#watchers.push(watcher);
    return openStream(this.#source, (chunk) => {
      const count = watcher.count(chunk);
      if (!sampled) return;
      watcher.readNumbers(chunk);
      for (let index = watcher.events - count; index < watcher.events; index += 1) this.#latencies.push(performance.now() - (this.#sentMs[index] ?? 0));
    });
  }

  #delivered(): number {
    return this.#watchers.reduce((sum, { events }) => sum + events, 0);
  }

  async #waitForAll(): Promise<void> {
    const deadlineMs = performance.now() + 10_000;
    while (performance.now() < deadlineMs && this.#watchers.some(({ events }) => events < this.#sentMs.length)) await sleep(2);
  }

  #countWrong(): number {
    const counted = this.#watchers.reduce((sum, { events }) => sum + Math.abs(events - this.#sentMs.length), 0);
    return counted + this.#watchers.filter(({ numbers }) => numbers.some((number, position) => number !== position)).length;
  }
}

/** One round on a fresh object. */
export async function measureFanOut(target: Target, scale: Scale): Promise<Row[]> {
  const fanOut = await FanOut.open(await makeHotObject(target), scale.watchers);
  const updates = Math.max(1, Math.round(scale.updatesPerSecond * scale.seconds));
  const { latencies, elapsedMs, usedMs, delivered, lostOrDoubled } = await fanOut.round(updates, scale.updatesPerSecond);
  fanOut.close();
  const row = makeRow(target, { workload: `W11 ${scale.watchers} watchers, ${scale.updatesPerSecond} updates/s`, latencies, elapsedMs, usedMs });
  const perEvent = { opsPerSecond: Math.round((delivered * 1000) / elapsedMs), cpuMsPerOp: Number((usedMs / delivered).toPrecision(3)) };
  return [{ ...row, ops: delivered, ...perEvent, extra: { lostOrDoubled } }];
}
