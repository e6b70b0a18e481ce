// W5, W8 and W9: gets by name, full lists in each representation, pages of 500; W5 and W8 beside a bare Node server that sends the same bytes.
import { callOnce, hashItems, measureLoad, round, type Row, type Scale } from '../load/measure.ts';
import { collection, nameOf, populate } from '../load/objects.ts';
import { startBareServer, type Target } from '../load/target.ts';

/** Gets of names spread over all objects. */
export async function measureGets(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  const pathOf = (index: number): string => `${collection}/${nameOf('item', (index * 7919) % scale.objects)}`;
  const sample = await callOnce(target, { path: pathOf(0), keep: true });
  const rows: Row[] = [];
  for (const clients of [1, 64]) {
    const load = { workload: `W5 get c=${clients}`, clients, seconds: scale.seconds, call: (index: number) => ({ path: pathOf(index) }) };
    const row = await measureLoad(target, load);
    rows.push({ ...row, hash: hashItems(sample.body as Buffer), ...(clients === 64 && await compareToBare(row, { load, body: sample.body as Buffer })) });
  }
  return rows;
}

type Load = Parameters<typeof measureLoad>[1];

/** The same load on a bare server, in the same run: how much more CPU and time ours takes. */
async function compareToBare(row: Row, { load, body }: { readonly load: Load; readonly body: Buffer }): Promise<{ readonly extra: Record<string, number> }> {
  const bare = await startBareServer(body);
  try {
    const yardstick = await measureLoad(bare, load);
    return {
      extra: {
        ...row.extra, bareCpuMsPerOp: yardstick.cpuMsPerOp, bareP50Ms: yardstick.p50Ms,
        cpuRatio: round(row.cpuMsPerOp / yardstick.cpuMsPerOp), timeRatio: round(row.p50Ms / yardstick.p50Ms),
      },
    };
  } finally {
    await bare.close();
  }
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const shapes = [
  { name: 'JSON', accept: 'application/json', query: '' },
  { name: 'JSON rv=0', accept: 'application/json', query: '?resourceVersion=0' },
  { name: 'protobuf', accept: 'application/vnd.kubernetes.protobuf', query: '' },
  { name: 'Table', accept: table, query: '' },
  { name: 'PartialObjectMetadata', accept: partial, query: '' },
];

/** Full lists. The first of each shape builds what the others share and is not counted. */
export async function measureLists(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  const rows: Row[] = [];
  for (const { name, accept, query } of shapes) {
    const call = { path: `${collection}${query}`, accept };
    const first = await callOnce(target, { ...call, keep: true });
    const load = { workload: `W8 list ${scale.objects} ${name}`, clients: 1, seconds: scale.seconds, call: () => call };
    const row = await measureLoad(target, load);
    const extra = { ...row.extra, firstTimeMs: round(first.totalMs), megabytes: round(first.bytes / 1e6) };
    const isJson = name === 'JSON';
    const compared = isJson ? await compareToBare({ ...row, extra }, { load, body: first.body as Buffer }) : { extra };
    rows.push({ ...row, ...compared, ...(isJson && { hash: hashItems(first.body as Buffer) }) });
  }
  return rows;
}

/** The first page again and again, then all pages once. */
export async function measurePages(target: Target, scale: Scale): Promise<Row[]> {
  await populate(target, scale.objects);
  const page = `${collection}?limit=500`;
  const load = { workload: `W9 first page of 500 of ${scale.objects}`, clients: 1, seconds: scale.seconds, call: () => ({ path: page }) };
  const first = await measureLoad(target, load);
  const startedMs = performance.now();
  let [pages, token] = [0, ''];
  do {
    const { body } = await callOnce(target, { path: `${page}${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`, keep: true });
    const head = /"continue":"([^"]*)"/.exec((body as Buffer).toString('latin1', 0, 2000));
    token = head?.[1] ?? '';
    pages += 1;
  } while (token !== '');
  return [{ ...first, extra: { ...first.extra, pages, walkMs: round(performance.now() - startedMs) } }];
}
