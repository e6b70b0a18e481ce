// The first list after a restart beside the second one, of ConfigMaps and of custom objects of about 4 KB: what objects cost that this process has not written.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, makeRow, measureLoad, type Row, type Scale } from '../load/measure.ts';
import { nameOf } from '../load/objects.ts';
import { readCpuMs, startOwnServer, type Target } from '../load/target.ts';

const namespaced = (group: string, plural: string): string => `/${group}/namespaces/default/${plural}`;
const kinds = [
  { apiVersion: 'v1', kind: 'ConfigMap', path: namespaced('api/v1', 'configmaps') },
  { apiVersion: 'bench.example.com/v1', kind: 'Widget', path: namespaced('apis/bench.example.com/v1', 'widgets') },
] as const;

type Kind = (typeof kinds)[number];

const parts = Array.from({ length: 40 }, (_, index) => ({ name: `part-${index}`, value: 'x'.repeat(60), size: index }));

/** Fills a server of its own, starts it again on the same directory, and lists each kind twice. */
export async function measureRestarts({ objects }: Scale): Promise<Row[]> {
  let server = await startOwnServer();
  try {
    await defineWidgets(server);
    for (const kind of kinds) await fill(server, kind, objects);
    server = await server.restart();
    await becomeIdle(server);
    const rows: Row[] = [];
    for (const kind of kinds) for (const which of ['first', 'second']) rows.push(await measureList(server, { kind, which, objects }));
    return rows;
  } finally {
    await server.close();
  }
}

/** Waits until the work of the start has ended. */
async function becomeIdle(target: Target): Promise<void> {
  for (let usedMs = Infinity; usedMs > 10;) {
    const cpuMs = readCpuMs(target);
    await sleep(500);
    usedMs = readCpuMs(target) - cpuMs;
  }
}

async function defineWidgets(target: Target): Promise<void> {
  const properties = { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } }, 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }];
  const spec = { group: 'bench.example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions };
  const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.bench.example.com' }, spec };
  await callOnce(target, { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: JSON.stringify(body) });
  while ((await callOnce(target, { path: kinds[1].path })).status !== 200) await sleep(20);
}

async function fill(target: Target, { apiVersion, kind, path }: Kind, objects: number): Promise<void> {
  const content = kind === 'ConfigMap' ? { data: { parts: JSON.stringify(parts) } } : { spec: { parts } };
  await measureLoad(target, {
    workload: 'fill', clients: 16, seconds: 3600, limit: objects,
    call: (index) => ({ method: 'POST', path, body: JSON.stringify({ apiVersion, kind, metadata: { name: nameOf('item', index) }, ...content }) }),
  });
}

async function measureList(target: Target, { kind, which, objects }: { readonly kind: Kind; readonly which: string; readonly objects: number }): Promise<Row> {
  const cpuMs = readCpuMs(target);
  const { totalMs, bytes } = await callOnce(target, { path: kind.path });
  const usedMs = readCpuMs(target) - cpuMs;
  const workload = `restart: ${which} list of ${objects} ${kind.kind}s`;
  return makeRow(target, { workload, latencies: [totalMs], elapsedMs: totalMs, usedMs, extra: { megabytes: bytes / 1e6 } });
}
