// W4: durable creates of ConfigMaps, by one client and by 64; beside them what one fdatasync of this disk takes.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureLoad, quantile, type Row, type Scale } from '../load/measure.ts';
import { createCall, populate, scratch } from '../load/objects.ts';
import type { Target } from '../load/target.ts';

/** Unique names; the store keeps growing. */
export async function measureCreates(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, 0);
  const run = `w4-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  const one = await measureLoad(target, {
    workload: 'W4 create c=1', clients: 1, seconds: scale.seconds, call: (index) => createCall(scratch, `${run}-1`, index),
  });
  const many = await measureLoad(target, {
    workload: 'W4 create c=64', clients: 64, seconds: scale.seconds, call: (index) => createCall(scratch, `${run}-64`, index),
  });
  return [{ ...one, extra: { fdatasyncP50Ms: measureSync() } }, many];
}

function measureSync(): number {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-sync-'));
  const file = openSync(join(folder, 'file'), 'w');
  const times: number[] = [];
  for (let index = 0; index < 100; index += 1) {
    const startedMs = performance.now();
    writeSync(file, Buffer.alloc(1300, 'x'));
    fdatasyncSync(file);
    times.push(performance.now() - startedMs);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  return quantile(times, 0.5);
}
