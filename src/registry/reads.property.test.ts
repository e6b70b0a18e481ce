// Reads under any history of writes: pages of one version whatever happens between them, the past as it was, a list and a watch that meet,
// also when another server over the same store answers half of the requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../apimachinery/index.ts';
import type { ListOptions, StoredObject } from './contract.ts';
import { everything } from './reads/predicate.ts';
import { type Bench, createBench, rows, select } from './testing.ts';

const resource = rows.configMaps;
const writes = fc.array(fc.record({ name: fc.integer({ min: 0, max: 14 }), remove: fc.boolean(), even: fc.boolean() }), { minLength: 1, maxLength: 25 });
type Write = { name: number; remove: boolean; even: boolean };
type State = Map<string, string>;

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does one write: whatever is there is changed or removed, whatever is not is created. */
async function write(bench: Bench, { name: index, remove, even }: Write, state: State): Promise<void> {
  const name = `m${String(index).padStart(2, '0')}`;
  const labels = { even: String(even) };
  if (!state.has(name)) state.set(name, (await bench.create(resource, { metadata: { name, labels } })).object.object('v1').metadata.resourceVersion as string);
  else if (remove) {
    await bench.remove(resource, name);
    state.delete(name);
  } else {
    const change = (object: KubeObject): void => {
      object.metadata.labels = labels;
      object['data'] = { n: `${Number((object['data'] as { n?: string } | undefined)?.n ?? 0) + 1}` };
    };
    state.set(name, String((await bench.patch(resource, name, change)).object.revision));
  }
}

const stateOf = (items: Iterable<StoredObject>): State => new Map(Array.from(items, (item) => [item.name, String(item.revision)]));
const list = (bench: Bench, options: Partial<ListOptions>) => bench.registry.list(bench.at(resource), { predicate: everything, ...options });

test('pages of any sizes, from two servers, with writes between them, are the list of the first page', async () => {
  await fc.assert(fc.asyncProperty(writes, writes, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), async (before, between, limits) => {
    const first = createBench();
    const second = createBench({ store: first.store });
    const state: State = new Map();
    for (const each of before) await write(first, each, state);
    const expected = new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
    const seen: State = new Map();
    let token: string | undefined;
    let revision: number | undefined;
    for (let page = 0; page === 0 || token !== undefined; page++) {
      const server = page % 2 === 0 ? first : second;
      const answer = await list(server, { limit: limits[page % limits.length] as number, ...(token !== undefined && { continue: token }) });
      assert.equal(answer.revision, revision ??= answer.revision);
      for (const [name, version] of stateOf(answer.items)) seen.set(name, version);
      assert.equal(answer.remainingItemCount ?? 0, expected.size - seen.size);
      token = answer.continue;
      const next = between[page];
      if (next !== undefined) await write(first, next, state);
    }
    assert.deepEqual([...seen], [...expected]);
    first.registry.close();
    second.registry.close();
  }), { numRuns: 40 });
});

test('an exact version is what was there, and a watch from it ends at what is there, with selectors too', async () => {
  await fc.assert(fc.asyncProperty(writes, writes, fc.boolean(), async (before, after, restarts) => {
    const bench = createBench();
    const state: State = new Map();
    for (const each of before) await write(bench, each, state);
    const past = await list(bench, {});
    const pastState = stateOf(past.items);
    for (const each of after) await write(bench, each, state);
    // A server that starts over has nothing of this in memory: the store's history answers.
    const server = restarts ? createBench({ store: bench.store }) : bench;
    const exact = await list(server, { resourceVersion: String(past.revision), resourceVersionMatch: 'Exact' });
    assert.deepEqual(stateOf(exact.items), pastState);
    for (const labelSelector of ['', 'even=true']) {
      const predicate = labelSelector === '' ? everything : select(resource, { labelSelector });
      const replica = stateOf((await list(server, { predicate, resourceVersion: String(past.revision), resourceVersionMatch: 'Exact' })).items);
      const watch = await server.registry.watch(server.at(resource), { predicate, resourceVersion: String(past.revision) });
      const current = await list(server, { predicate });
      for (let i = 0; i < 200 && watch.revision < current.revision; i++) {
        for (const event of watch.take(3)) {
          if (event.type === 'BOOKMARK') continue;
          assert.equal(replica.has(event.object.name), event.type !== 'ADDED');
          if (event.type === 'DELETED') replica.delete(event.object.name);
          else replica.set(event.object.name, String(event.object.revision));
        }
        await settle();
      }
      assert.deepEqual(new Map([...replica].sort()), new Map([...stateOf(current.items)].sort()));
      watch.close();
    }
    bench.registry.close();
    server.registry.close();
  }), { numRuns: 40 });
});

test('a watch from before the definition of its custom resource is expired; from then on it is answered from what the store kept', async () => {
  const bench = createBench();
  const key = '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com';
  const created = await bench.store.txn({ key, expect: 0, value: new Uint8Array(2) });
  await bench.create(rows.widgets, { metadata: { name: 'a' } });
  await bench.create(rows.widgets, { metadata: { name: 'b' } });
  const server = createBench({ store: bench.store });
  const watch = (revision: number) => server.registry.watch(server.at(rows.widgets), { predicate: everything, resourceVersion: String(revision) });
  const early = await watch(created.revision - 1);
  assert.equal(early.end, 'expired');
  assert.match(early.error?.message ?? '', /^too old resource version: \d+ \(\d+\)$/);
  const kept = await watch(created.revision);
  const names: string[] = [];
  for (let i = 0; i < 100 && names.length < 2; i++) {
    for (const event of kept.take(10)) if (event.type === 'ADDED') names.push(event.object.name);
    await settle();
  }
  assert.deepEqual(names, ['a', 'b']);
  kept.close();
  bench.registry.close();
  server.registry.close();
});

test('an exact version ends with the compaction of the store, though memory reaches back further; a watch continues', async () => {
  const bench = createBench();
  const past = (await bench.create(resource, { metadata: { name: 'a' } })).object.revision;
  await bench.create(resource, { metadata: { name: 'b' } });
  await bench.create(resource, { metadata: { name: 'c' } });
  const exact = { resourceVersion: String(past), resourceVersionMatch: 'Exact' };
  assert.equal((await list(bench, exact)).count, 1);
  await bench.store.compact(await bench.store.revision());
  await assert.rejects(list(bench, exact), /The resourceVersion for the provided list is too old/);
  const watch = await bench.registry.watch(bench.at(resource), { predicate: everything, resourceVersion: String(past) });
  await settle();
  assert.deepEqual(watch.take(10).map((event) => event.type === 'ADDED' && event.object.name), ['b', 'c']);
  watch.close();
  bench.registry.close();
});
