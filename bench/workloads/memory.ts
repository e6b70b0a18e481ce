// W3: memory with objects in the store, and after four full lists at once.
import { makeRow, measureLoad, type Row, type Scale } from '../load/measure.ts';
import { collection, populate } from '../load/objects.ts';
import { type Target, readMemoryMb } from '../load/target.ts';

/** Fills the store, reads everything once, then four times at once. */
export async function measureMemory(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  await measureLoad(target, { workload: 'W3', clients: 1, seconds: 60, limit: 1, call: () => ({ path: collection }) });
  const filled = readMemoryMb(target);
  await measureLoad(target, { workload: 'W3', clients: 4, seconds: 60, limit: 4, call: () => ({ path: collection }) });
  const after = readMemoryMb(target);
  const extra = { filledMb: Math.round(filled.nowMb), afterFourListsMb: Math.round(after.nowMb), peakMb: Math.round(after.peakMb) };
  return [makeRow(target, { workload: `W3 memory, ${scale.objects} objects`, latencies: [], elapsedMs: 1, usedMs: Number.NaN, extra })];
}
