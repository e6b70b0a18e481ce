// Lists against a GET of each of their items, whether the bytes come from a cache or are encoded for the list.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Clock, createManualClock, finishSteps } from '../../base/index.ts';
import { stringifyJson } from '../../codec/index.ts';
import type { Column, ListRun, StoredObject } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Exchange } from '../exchange.ts';
import { respondListBody } from '../response/list-body.ts';
import { EncodedChunkCache, findOrEncode, joinItems, mapChunk } from '../response/encoded-chunk-cache.ts';
import { createRowEncoder } from '../response/table-chunks.ts';
import { type TableContext, tableRow } from '../response/table.ts';
import { createTestApi, makeResource, TestSink } from '../testing.ts';

const CM = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const PARTIALS = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

async function createMany(count: number): Promise<ReturnType<typeof createTestApi>> {
  const api = createTestApi();
  for (let i = 0; i < count; i++) {
    const metadata = { name: `m${String(i).padStart(4, '0')}`, labels: { half: String(i % 2) } };
    await api.send({ method: 'POST', path: CM, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { i: 'x'.repeat(i) } } });
  }
  return api;
}

test('a list holds each object as a get shows it, in all forms, with selectors, page by page, after changes', async () => {
  const api = await createMany(230);
  const check = async (): Promise<void> => {
    for (const [accept, single] of [['application/json', 'application/json'], [TABLE, TABLE], [PARTIALS, PARTIAL]] as const) {
      const itemsOf = async (query: string): Promise<any[]> => {
        const { json } = await api.send({ path: `${CM}?${query}`, headers: { accept } });
        const items = json.items ?? json.rows;
        if (!json.metadata.continue) return items;
        return [...items, ...(await itemsOf(`${query.split('&continue')[0]}&continue=${json.metadata.continue}`))];
      };
      const all = await itemsOf('');
      for (const item of all.slice(95, 99)) {
        const { name } = (item.object ?? item).metadata;
        const { json } = await api.send({ path: `${CM}/${name}`, headers: { accept: single } });
        const { kind: _kind, apiVersion: _apiVersion, ...rest } = json;
        assert.deepEqual(item, single === TABLE ? json.rows[0] : single === PARTIAL ? json : rest);
      }
      assert.deepEqual(await itemsOf('limit=37'), all);
      const odd = all.filter((item) => (item.object ?? item).metadata.labels.half === '1');
      assert.deepEqual(await itemsOf('labelSelector=half%3D1'), odd);
    }
  };
  await check();
  for (const name of ['m0000', 'm0096', 'm0097', 'm0229']) {
    const headers = { 'content-type': 'application/merge-patch+json' };
    await api.send({ method: 'PATCH', path: `${CM}/${name}`, headers, body: { data: { more: 'y' } } });
  }
  await api.send({ method: 'DELETE', path: `${CM}/m0098` });
  await check();
  api.close();
});

test('a large list is streamed with its length and waits for its reader', async () => {
  const api = await createMany(2);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data: { x: 'x'.repeat(700_000) } };
  await api.send({ method: 'POST', path: CM, body });
  const { response } = await api.send({ path: CM });
  assert.ok(typeof response.body === 'function');
  const sink = new TestSink();
  sink.behind = true;
  const written = response.body(sink);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sink.chunks.length, 1);
  while (sink.chunks.join('').length < Number(response.headers['content-length'])) {
    sink.catchUp();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  assert.equal((JSON.parse(sink.chunks.join('')) as { items: unknown[] }).items.length, 3);
  api.close();
});

test('createRowEncoder keeps rows but never an age', () => {
  const column = (name: string, cell: Column['cell'], age?: true): Column =>
    ({ name, type: 'string', format: '', description: '', priority: 0, cell, ...(age && { age }) });
  const age = column('Age', ({ metadata: { creationTimestamp: made } }, nowMs) => (made ? `${nowMs - Date.parse(made)}` : '<unknown>'), true);
  const name = column('Name', (object) => object.metadata.name ?? '');
  const clock = column('Seen', (_object, nowMs) => String(nowMs));
  const objects = [
    { metadata: { name: '"\u{1f600}', creationTimestamp: '2026-01-01T00:00:00Z' } }, { metadata: { name: 'b' } },
    { metadata: { name: 'c', creationTimestamp: '2026-01-02T00:00:00Z' } },
  ] as KubeObject[];
  for (const columns of [[name, age], [age], [age, name], [name, age, name], [name], [name, clock, age]]) {
    const chunk = objects.map((object) => ({ value: { object: () => structuredClone(object) } as unknown as StoredObject }));
    const things = makeResource({ kind: 'Thing', plural: 'things' });
    const cache = new EncodedChunkCache(createManualClock());
    const resource = { ...things, versions: [{ ...(things.versions[0] as (typeof things.versions)[0]), columns }] };
    for (const nowMs of [1_800_000_000_000, 1_900_000_000_000, 1_900_000_000_000, 99_000_000_000_000]) {
      const context: TableContext = { resource, served: 'v1', tableVersion: 'v1', include: 'Metadata', nowMs };
      const encoder = createRowEncoder(context, cache);
      for (const [from, to] of [[0, 3], [1, 2], [2, 3]] as const) {
        const expected = objects.slice(from, to).map((object) => `,${stringifyJson(tableRow(object, context))}`).join('');
        assert.equal(new TextDecoder().decode(finishSteps(encoder.run({ chunk, from, to } as unknown as ListRun))), expected);
      }
    }
  }
});

/** A clock that advances by a millisecond with every reading, and counts the turns that it gave. */
function createBusyClock(): Clock & { turns: number } {
  let nowMs = 0;
  const clock = {
    turns: 0, now: () => nowMs, monotonicMs: () => ++nowMs,
    after(_delayMs: number, callback: () => void) {
      clock.turns++;
      setImmediate(callback);
      return { cancel: () => undefined };
    },
  };
  return clock;
}

test('respondListBody gives others turns while chunks are made, be they small, large, zipped or written to a receiver that is never behind', async () => {
  for (const [size, count, encoding] of [[10, 400, ''], [20_000, 200, ''], [20_000, 200, 'gzip']] as const) {
    const clock = createBusyClock();
    const { signal } = new AbortController();
    const exchange = { clock, signal, aborted: false, headers: { 'accept-encoding': encoding }, warnings: [] } as unknown as Exchange;
    const request = { exchange, dependencies: { gzipStream: (chunks: AsyncIterable<Uint8Array>) => chunks } } as unknown as ResourceRequest;
    function* chunks(): Generator<Uint8Array | undefined> {
      for (let i = 0; i < count; i++) {
        yield undefined;
        yield Buffer.from(`,${'x'.repeat(size)}`);
      }
    }
    const [head, tail] = [Buffer.from('['), Buffer.from(']')];
    const { body } = await respondListBody(request, { contentType: 'text/plain', head, tail, separatorBytes: 1, chunks: chunks() });
    const sink = new TestSink();
    if (typeof body === 'function') await body(sink);
    const text = typeof body === 'function' ? sink.chunks.join('') : Buffer.concat(Array.isArray(body) ? body : [body as Uint8Array]).toString();
    assert.equal(text, `[${Array.from({ length: count }, () => 'x'.repeat(size)).join(',')}]`);
    assert.ok(clock.turns > count / 10, `${clock.turns} turns`);
  }
});

test('findOrEncode keeps one encoding of a chunk that two lists encode at the same time', () => {
  const cache = new EncodedChunkCache(createManualClock());
  const chunk = [{ value: 'a' }, { value: 'b' }] as unknown as ListRun['chunk'];
  const run = { chunk, from: 0, to: 2 } as unknown as ListRun;
  const make = () => findOrEncode(run, { cache, key: 'k' }, function* (of) {
    return yield* joinItems(yield* mapChunk(of, (value) => [Buffer.from(String(value))]));
  });
  const [one, other] = [make(), make()];
  one.next();
  other.next();
  const first = finishSteps(one);
  assert.equal(finishSteps(other), first);
  assert.equal(finishSteps(make()), first);
  assert.equal(Buffer.from(first.bytes).toString(), 'ab');
});
