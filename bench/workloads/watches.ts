// Watches on which nothing happens, a hundred on each HTTP/2 connection: the memory of each, what all of them cost while they are idle, and the gets of
// another client beside them.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, measureLoad, round, type Row, type Scale } from '../load/measure.ts';
import { collection, nameOf, populate, scratch } from '../load/objects.ts';
import { WatchSession } from '../load/streams.ts';
import { type Target, readCpuMs, readMemoryMb } from '../load/target.ts';

const watchesOfWatcher = 10;
const streamsOfConnection = 100;
const settleMs = 500;

/** Gets alone, then with ten watches for each watcher of the scale. */
export async function measureIdleWatches(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, 1);
  const watches = scale.watchers * watchesOfWatcher;
  const gets = (workload: string): Promise<Row> =>
    measureLoad(target, { workload, clients: 1, seconds: scale.seconds, call: () => ({ path: `${collection}/${nameOf('item', 0)}` }) });
  const alone = await gets('watches: gets without');
  const path = `${scratch}?watch=1&allowWatchBookmarks=true&timeoutSeconds=3600&resourceVersion=${await readVersion(target)}`;
  await sleep(settleMs);
  const before = readMemoryMb(target).nowMb;
  const sessions = Array.from({ length: Math.ceil(watches / streamsOfConnection) }, () => new WatchSession(target));
  try {
    for (const [index, session] of sessions.entries()) {
      const count = Math.min(streamsOfConnection, watches - index * streamsOfConnection);
      for (const stream of await Promise.all(Array.from({ length: count }, () => session.open(path)))) stream.resume();
    }
    await sleep(settleMs);
    const kbEach = ((readMemoryMb(target).nowMb - before) * 1024) / watches;
    const cpuMs = readCpuMs(target);
    await sleep(scale.idleMs);
    const idleCpuShare = (readCpuMs(target) - cpuMs) / scale.idleMs;
    const beside = await gets(`watches: gets beside ${watches} idle ones`);
    return [alone, { ...beside, extra: { kbEach: round(kbEach), idleCpuShare: round(idleCpuShare), p99Ratio: round(beside.p99Ms / alone.p99Ms) } }];
  } finally {
    for (const session of sessions) session.close();
  }
}

async function readVersion(target: Target): Promise<string> {
  const { body } = await callOnce(target, { path: `${scratch}?limit=1`, keep: true });
  return JSON.parse((body as Buffer).toString('utf8')).metadata.resourceVersion;
}
