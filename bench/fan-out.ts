// What watches cost: CPU per delivered event beside bare TLS writes of the same frame in the same run, what slow receivers cost the others,
// what idle watches cost. Usage: node dist/bench/fan-out.js [--watchers 1000] [--rates 10,20,40,80] [--rounds 5] [--seconds 2]
// [--only rates,shared,slow,idle] [--idle 10000] [--peer KUBE-APISERVER, which then takes part in `rates`].
// Rounds of what is compared take turns, so that a machine that changes its speed hits both.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Connection, formatCall, openSocket } from './load/connection.ts';
import { quantile } from './load/measure.ts';
import { nameOf, populate, scratch } from './load/objects.ts';
import { startPeer } from './load/peer.ts';
import { type Target, readCpuMs, readMemoryMb, startBareServer, startOwnServer } from './load/target.ts';
import { FanOut, type Round, type Source, makeHotObject, openOwnConnection, shareConnections } from './workloads/fan-out.ts';

const { values: flags } = parseArgs({
  options: {
    watchers: { type: 'string', default: '1000' }, rates: { type: 'string', default: '10,20,40,80' }, rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' }, idle: { type: 'string', default: '10000' }, only: { type: 'string', default: 'rates,shared,slow,idle' },
    peer: { type: 'string' },
  },
});
const watchers = Number(flags.watchers);
const rounds = Number(flags.rounds);
const seconds = Number(flags.seconds);
const slowWatchers = 100;
const bytesPerSecond = 1024;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (values: readonly number[]): number => quantile(values, 0.5);
const usPerEvent = ({ usedMs, delivered }: Round): number => (usedMs * 1000) / delivered;

interface Contestant {
  readonly name: string;
  readonly fanOut: FanOut;
}

/** Rounds of all in turn, each being first as often as the others; a short one before does not count. */
async function takeTurns(contestants: readonly Contestant[], rate: number): Promise<Map<string, Round[]>> {
  const results = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]));
  for (const { fanOut } of contestants) await fanOut.round(Math.ceil(rate / 2), rate);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const { name, fanOut } of order) {
      results.get(name)?.push(await fanOut.round(rate * seconds, rate));
      await sleep(50);
    }
  }
  return results;
}

/** Medians of the rounds, beside those of the first contestant. */
function tell(title: string, results: ReadonlyMap<string, readonly Round[]>): void {
  const [base = []] = results.values();
  for (const [name, all] of results) {
    const ratios = all.map((round, index) => usPerEvent(round) / usPerEvent(base[index] as Round));
    const p50 = median(all.map(({ latencies }) => quantile(latencies, 0.5)));
    const p99 = median(all.map(({ latencies }) => quantile(latencies, 0.99)));
    const tails = all.map(({ latencies }, index) => quantile(latencies, 0.99) / quantile((base[index] as Round).latencies, 0.99));
    const wrong = all.reduce((sum, { lostOrDoubled }) => sum + lostOrDoubled, 0);
    say(`${title}, ${name}: ${median(all.map(usPerEvent)).toFixed(2)} us per event (${median(ratios).toFixed(2)} of the first), ` +
      `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${median(tails).toFixed(2)}: ${tails.map((each) => each.toFixed(2)).join(' ')}), ` +
      `lost or doubled ${wrong}`);
  }
}

/** Bare writes of a frame as long as an event of ours. */
function makeBareSource(target: Target): Source {
  const writer = new Connection(target);
  return { target, path: '/stream', update: async () => void await writer.send({ path: '/send' }), close: () => writer.close() };
}

async function compareRates(ours: Target, { bare, peer }: { readonly bare: Target; readonly peer: Target | undefined }): Promise<void> {
  const update = await FanOut.open(await makeHotObject(ours), 1);
  await update.round(100, 50);
  say(`an update with one watcher: ${usPerEvent(await update.round(100, 50)).toFixed(0)} us`);
  update.close();
  const contestants = [
    { name: 'bare', fanOut: await FanOut.open(makeBareSource(bare), watchers) },
    { name: 'pintle', fanOut: await FanOut.open(await makeHotObject(ours), watchers) },
    ...peer === undefined ? [] : [{ name: 'peer', fanOut: await FanOut.open(await makeHotObject(peer), watchers) }],
  ];
  for (const rate of flags.rates.split(',').map(Number)) tell(`${watchers} watchers, ${rate}/s`, await takeTurns(contestants, rate));
  for (const { fanOut } of contestants) fanOut.close();
}

/** Ten streams on each HTTP/2 connection, beside connections of their own. */
async function compareShared(ours: Target): Promise<void> {
  const contestants = [
    { name: 'own connections', fanOut: await FanOut.open(await makeHotObject(ours), watchers) },
    { name: 'ten streams a connection', fanOut: await FanOut.open(await makeHotObject(ours), watchers, shareConnections(10)) },
  ];
  tell(`${watchers} watchers, 40/s`, await takeTurns(contestants, 40));
  for (const { fanOut } of contestants) fanOut.close();
}

/** A stream that is read a little once a second. */
async function openSlow({ target, path }: Source): Promise<() => void> {
  const socket = await openSocket(target);
  socket.on('error', () => {});
  socket.write(formatCall({ path }, target));
  socket.pause();
  const timer = setInterval(() => socket.read(bytesPerSecond), 1000);
  return () => {
    clearInterval(timer);
    socket.destroy();
  };
}

/** The same updates seen by healthy watchers, of an object without other watchers and of one that slow receivers watch too. */
async function compareSlow(ours: Target): Promise<void> {
  const [alone, shared] = [await makeHotObject(ours), await makeHotObject(ours)];
  const before = readMemoryMb(ours).nowMb;
  const closers = await Promise.all(Array.from({ length: slowWatchers }, () => openSlow(shared)));
  // What the kernel takes for a receiver that does not read is filled first.
  const filler = new Connection(ours);
  const name = /metadata.name%3D([^&]+)/.exec(shared.path)?.[1] ?? nameOf('hot', 0);
  for (let count = 0; count < 30; count += 1) {
    const body = JSON.stringify({ data: { big: `${count}`.padEnd(count < 29 ? 200_000 : 1, 'x') } });
    await filler.send({ method: 'PATCH', path: `${scratch}/${name}`, contentType: 'application/merge-patch+json', body });
    await sleep(50);
  }
  say(`${slowWatchers} slow watchers, 6 MB each not read: RSS ${before.toFixed(0)} MB before, ${readMemoryMb(ours).nowMb.toFixed(0)} MB then`);
  filler.close();
  const fromNow = 'resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  const current = { ...shared, path: shared.path.replace(/resourceVersion=\d+/, fromNow) };
  const contestants = [
    { name: 'alone', fanOut: await FanOut.open(alone, watchers) },
    { name: `beside ${slowWatchers} slow ones`, fanOut: await FanOut.open(current, watchers) },
  ];
  for (const rate of [20, 40]) tell(`${watchers} watchers, ${rate}/s`, await takeTurns(contestants, rate));
  say(`RSS ${readMemoryMb(ours).nowMb.toFixed(0)} MB after`);
  for (const { fanOut } of contestants) fanOut.close();
  for (const close of closers) close();
}

async function measureGetsFor(target: Target, forMs: number): Promise<number[]> {
  const connection = new Connection(target);
  const latencies: number[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    latencies.push((await connection.send({ path: '/api/v1/namespaces/default' })).totalMs);
    await sleep(2);
  }
  connection.close();
  return latencies;
}

/** Watches with bookmarks that nothing happens on; each looks at a name of its own. */
async function measureIdle(ours: Target): Promise<void> {
  const count = Number(flags.idle);
  await populate(ours, 0);
  const before = readMemoryMb(ours).nowMb;
  const quiet = await measureGetsFor(ours, 3000);
  let bookmarks = 0;
  let opened = 0;
  const closers: (() => void)[] = [];
  const openNext = async (): Promise<void> => {
    while (opened < count) {
      const path = `${scratch}?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dnone-${opened++}`;
      closers.push(await openOwnConnection({ target: ours, path, update: async () => {}, close: () => {} }, () => (bookmarks += 1)));
    }
  };
  await Promise.all(Array.from({ length: 32 }, openNext));
  await sleep(2000);
  const openMb = readMemoryMb(ours).nowMb;
  bookmarks = 0;
  const cpuMs = readCpuMs(ours);
  await sleep(10_000);
  const usedMs = readCpuMs(ours) - cpuMs;
  const told = bookmarks;
  const busy = await measureGetsFor(ours, 3000);
  say(`${count} idle watches: RSS ${before.toFixed(0)} to ${openMb.toFixed(0)} MB, ${(((openMb - before) * 1024) / count).toFixed(1)} KB each; ` +
    `${told} bookmarks in 10 s, ${usedMs.toFixed(0)} ms of CPU meanwhile; ` +
    `GET p50 ${median(quiet).toFixed(2)} ms, p99 ${quantile(quiet, 0.99).toFixed(2)} ms before, ` +
    `${median(busy).toFixed(2)} and ${quantile(busy, 0.99).toFixed(2)} ms with them`);
  for (const close of closers) close();
}

const ours = await startOwnServer();
const bare = await startBareServer(Buffer.from(`${'x'.repeat(1250)}\n`));
const peer = flags.peer === undefined ? undefined : await startPeer(flags.peer);
try {
  const parts = flags.only.split(',');
  if (parts.includes('rates')) await compareRates(ours, { bare, peer });
  if (parts.includes('shared')) await compareShared(ours);
  if (parts.includes('slow')) await compareSlow(ours);
  if (parts.includes('idle')) await measureIdle(ours);
} finally {
  await Promise.all([ours.close(), bare.close(), peer?.close()]);
}
process.exit(0);
