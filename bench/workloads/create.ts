// W4: durable creates of ConfigMaps, by one client and by 64; beside the first what TLS and one fdatasync take on this machine in the same
// run, and how many times that a lonely create takes.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureLoad, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { createCall, populate, scratch } from '../load/objects.ts';
import { startBareServer, type Target } from '../load/target.ts';

/** What a lonely client's create is held against: a round trip of a bare TLS server, and one fdatasync. */
interface Floor {
  readonly tlsP50Ms: number;
  readonly fdatasyncP50Ms: number;
}

/** Creates before the figures, so that none of them is about a server that has not been compiled yet. */
const warmUpSeconds = 1;

/** Unique names; the store keeps growing. */
export async function measureCreates(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, 0);
  const run = `w4-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  const measure = (workload: string, clients: number, seconds: number): Promise<Row> => {
    const prefix = `${run}-${workload.replace(/[^0-9a-z]+/g, '')}`;
    return measureLoad(target, { workload, clients, seconds, call: (index) => createCall(scratch, prefix, index) });
  };
  await measure('warm up', 16, Math.min(warmUpSeconds, scale.seconds));
  const floor = await measureFloor(scale);
  const one = await measure('W4 create c=1', 1, scale.seconds);
  const many = await measure('W4 create c=64', 64, scale.seconds);
  return [{ ...one, extra: { ...floor, p50PerFloor: round(one.p50Ms / (floor.tlsP50Ms + floor.fdatasyncP50Ms)) } }, many];
}

async function measureFloor(scale: Scale): Promise<Floor> {
  const bare = await startBareServer(Buffer.alloc(1250, 'x'));
  try {
    const row = await measureLoad(bare, { workload: 'TLS', clients: 1, seconds: Math.min(1, scale.seconds), call: () => ({ path: '/' }) });
    return { tlsP50Ms: row.p50Ms, fdatasyncP50Ms: measureSync() };
  } finally {
    await bare.close();
  }
}

function measureSync(): number {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-sync-'));
  const file = openSync(join(folder, 'file'), 'w');
  const times: number[] = [];
  for (let index = 0; index < 500; index += 1) {
    const startedMs = performance.now();
    writeSync(file, Buffer.alloc(1300, 'x'));
    fdatasyncSync(file);
    times.push(performance.now() - startedMs);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  return quantile(times, 0.5);
}
