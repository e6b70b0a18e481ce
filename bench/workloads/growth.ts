// W16: what a get, a create, a page, a selection of nothing and an event cost with more and more objects of their kind. None of them should feel it.
import { callOnce, measureLoad, round, type Row, type Scale } from '../load/measure.ts';
import { collection, createCall, nameOf, populate, scratch } from '../load/objects.ts';
import type { Target } from '../load/target.ts';
import { measureFanOut } from './fan-out.ts';

/** The sizes, as parts of the largest. */
const parts = [100, 10, 1];
const clients = 16;
const mostWatchers = 100;

/** Every call at every size; `growth` is its CPU beside that at the smallest one. Throws where the server has objects already. */
export async function measureGrowth(target: Target, scale: Scale): Promise<Row[]> {
  const { status } = await callOnce(target, { path: `${collection}/${nameOf('item', 0)}` });
  if (status === 200) throw new Error('W16 begins with a server that has no objects: it comes before other workloads');
  const rows: Row[] = [];
  const smallest = new Map<string, number>();
  for (const part of parts) {
    const count = Math.ceil(scale.objects / part);
    await populate(target, count);
    for (const [name, row] of await measureSize(target, scale, count)) {
      const base = smallest.get(name) ?? row.cpuMsPerOp;
      smallest.set(name, base);
      rows.push({ ...row, workload: `W16 ${name} of ${count}`, extra: { ...row.extra, growth: round(row.cpuMsPerOp / base) } });
    }
  }
  return rows;
}

async function measureSize(target: Target, scale: Scale, count: number): Promise<[string, Row][]> {
  const run = `w16-${Math.round(performance.timeOrigin + performance.now()).toString(36)}`;
  const callsOf = (prefix: string) => ({
    get: (index: number) => ({ path: `${collection}/${nameOf('item', (index * 7919) % count)}` }),
    create: (index: number) => createCall(scratch, prefix, index),
    page: () => ({ path: `${collection}?limit=100` }),
    'select none': () => ({ path: `${collection}?labelSelector=bench%3Dabsent` }),
  });
  const rows: [string, Row][] = [];
  const first = callsOf(`${run}-first`);
  for (const [name, call] of Object.entries(callsOf(run))) {
    // What first calls build for those after them does not count.
    await measureLoad(target, { workload: name, clients, seconds: scale.seconds, limit: clients, call: first[name as keyof typeof first] });
    rows.push([name, await measureLoad(target, { workload: name, clients, seconds: scale.seconds, call })]);
  }
  const [event] = await measureFanOut(target, { ...scale, watchers: Math.min(scale.watchers, mostWatchers) });
  return [...rows, ['event', event as Row]];
}
