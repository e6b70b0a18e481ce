// W10: lists of which selectors choose nothing, one object, one in a hundred, or everything.
import { callOnce, hashItems, measureLoad, type Row, type Scale } from '../load/measure.ts';
import { collection, nameOf, populate } from '../load/objects.ts';
import type { Target } from '../load/target.ts';

const selections = [
  { name: 'none by label', query: 'labelSelector=bench%3Dabsent' },
  { name: 'one by name', query: `fieldSelector=metadata.name%3D${nameOf('item', 0)}` },
  { name: '1 % by label', query: 'labelSelector=part%3D0' },
  { name: 'all by label', query: 'labelSelector=bench%3Ditem' },
];

/** Each selection again and again; the first time builds what the others use and is a figure of its own. */
export async function measureSelects(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  const rows: Row[] = [];
  for (const { name, query } of selections) {
    const call = { path: `${collection}?${query}` };
    const first = await callOnce(target, { ...call, keep: true });
    const row = await measureLoad(target, { workload: `W10 select ${name} of ${scale.objects}`, clients: 1, seconds: scale.seconds, call: () => call });
    rows.push({ ...row, hash: hashItems(first.body as Buffer), extra: { firstTimeMs: first.totalMs } });
  }
  return rows;
}
