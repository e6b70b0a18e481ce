// What writes cost the server: merge patches and server-side applies by 32 clients, each on objects of its own, through TLS. The server is
// another process; its CPU per request is what counts. Usage: node dist/bench/writes.js [seconds]
import { Connection } from './load/connection.ts';
import { type Row, measureLoad } from './load/measure.ts';
import { populate as makeNamespaces, scratch as collection } from './load/objects.ts';
import { type Target, startOwnServer } from './load/target.ts';

const clients = 32;
const objects = 256;
const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(21);

const nameOf = (index: number): string => `write-${index % objects}`;

async function populate(target: Target): Promise<void> {
  await makeNamespaces(target, 0);
  const connection = new Connection(target);
  for (let index = 0; index < objects; index += 1) {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: nameOf(index) }, data: { filler } });
    const { status } = await connection.send({ method: 'POST', path: collection, body });
    if (status !== 201) throw new Error(`populate: the server answered ${status}`);
  }
  connection.close();
}

/** Changes one key each time. */
function mergePatches(target: Target, seconds: number): Promise<Row> {
  return measureLoad(target, {
    workload: 'merge patch', clients, seconds,
    call: (index) => ({
      method: 'PATCH', path: `${collection}/${nameOf(index)}`, contentType: 'application/merge-patch+json', body: `{"data":{"count":"${index}"}}`,
    }),
  });
}

/** The same through apply, by a manager of its own. */
function applies(target: Target, seconds: number): Promise<Row> {
  return measureLoad(target, {
    workload: 'apply', clients, seconds,
    call: (index) => {
      const name = nameOf(index);
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { by: 'apply' } }, data: { applied: String(index) } });
      return { method: 'PATCH', path: `${collection}/${name}?fieldManager=bench`, contentType: 'application/apply-patch+yaml', body };
    },
  });
}

/** One row per kind of write. */
async function run({ seconds }: { readonly seconds: number }): Promise<Row[]> {
  const target = await startOwnServer();
  try {
    await populate(target);
    await mergePatches(target, Math.min(1, seconds));
    return [await mergePatches(target, seconds), await applies(target, seconds)];
  } finally {
    await target.close();
  }
}

if (process.argv[1] === import.meta.filename) {
  for (const row of await run({ seconds: Number(process.argv[2] ?? 5) })) {
    const { workload, opsPerSecond, p50Ms, p99Ms, cpuMsPerOp } = row;
    process.stdout.write(`${workload}: ${opsPerSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, server CPU ${cpuMsPerOp} ms each\n`);
  }
}
