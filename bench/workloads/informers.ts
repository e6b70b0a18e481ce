// Informers that begin at the same moment, as after the start of a controller manager with many replicas: each gets all objects by a watch with
// `sendInitialEvents` and is in sync when the bookmark comes that ends them.
import { once } from 'node:events';
import type { ClientHttp2Stream } from 'node:http2';
import { setInterval } from 'node:timers';
import { makeRow, type Row, type Scale } from '../load/measure.ts';
import { collection, populate } from '../load/objects.ts';
import { WatchSession } from '../load/streams.ts';
import { type Target, readCpuMs, readMemoryMb } from '../load/target.ts';

const path = `${collection}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3600`;
const endOfInitialEvents = 'k8s.io/initial-events-end';
const sampleMs = 20;
const mostInformers = 64;

/** The time until each is in sync, and the memory that the server took for it. */
export async function measureInformers(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  const count = Math.min(mostInformers, scale.watchers);
  const sessions = Array.from({ length: count }, () => new WatchSession(target));
  const beforeMb = readMemoryMb(target).nowMb;
  let peakMb = beforeMb;
  const sampling = setInterval(() => void (peakMb = Math.max(peakMb, readMemoryMb(target).nowMb)), sampleMs);
  try {
    const cpuMs = readCpuMs(target);
    const startedMs = performance.now();
    let bytes = 0;
    const latencies = await Promise.all(sessions.map(async (session) => {
      const read = await readUntilInSync(await session.open(path));
      bytes += read;
      return performance.now() - startedMs;
    }));
    const elapsedMs = performance.now() - startedMs;
    const usedMs = readCpuMs(target) - cpuMs;
    const extra = { megabytes: Math.round(bytes / 1e6), peakMb: Math.round(peakMb), moreMb: Math.round(peakMb - beforeMb) };
    return [makeRow(target, { workload: `informers: ${count} of ${scale.objects} objects`, latencies, elapsedMs, usedMs, extra })];
  } finally {
    clearInterval(sampling);
    for (const session of sessions) session.close();
  }
}

/** Reads until the bookmark has come; answers how many bytes that took. */
async function readUntilInSync(stream: ClientHttp2Stream): Promise<number> {
  let bytes = 0;
  let tail = '';
  for (;;) {
    const [chunk] = await once(stream, 'data') as [Buffer];
    bytes += chunk.length;
    // Chunks may come before the next one is waited for: the stream must not flow on.
    stream.pause();
    const text = tail + chunk.toString('latin1');
    if (text.includes(endOfInitialEvents)) return bytes;
    tail = text.slice(-endOfInitialEvents.length);
    stream.resume();
  }
}
