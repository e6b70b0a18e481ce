// What a watch holds while it is open.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RegistryWatch, StoredObject } from '../contract.ts';
import { everything } from '../reads/predicate.ts';
import { type Bench, createBench, rows, select, settle } from '../testing.ts';

/** More changes than history keeps however old they are. */
const CHANGES = 120;

/** Opens a watch and reads its initial state; answers a weak reference to the object in it. */
async function openWatch({ registry, at }: Bench): Promise<{ readonly watch: RegistryWatch; readonly object: WeakRef<object> }> {
  const watch = await registry.watch(at(rows.configMaps), { predicate: everything });
  const [event] = watch.take(10);
  assert.ok(event?.type === 'ADDED');
  watch.take(10);
  return { watch, object: new WeakRef(event.object) };
}

test('watchObjects holds nothing of the state that a watch began with once history has forgotten it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const bench = createBench();
  await bench.create(rows.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { n: '0' } });
  const { watch, object } = await openWatch(bench);
  for (let change = 1; change <= CHANGES; change++) {
    await bench.patch(rows.configMaps, 'a', (next) => void (next['data'] = { n: String(change) }));
    watch.take(10);
  }
  bench.clock.advance(600_000);
  await bench.patch(rows.configMaps, 'a', (next) => void (next['data'] = { n: 'last' }));
  watch.take(10);
  await settle();
  collect();
  assert.equal(object.deref(), undefined);
  assert.equal(watch.end, undefined);
  watch.close();
});

test('watchObjects looks at so many changes in one turn, and at the others in the next ones', async () => {
  const bench = createBench();
  const { object } = await bench.create(rows.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { n: '0' } } });
  const changes = 5000;
  const marked = new Set([1, 3000, changes]);
  for (let change = 1; change <= changes; change++) {
    await bench.patch(rows.configMaps, 'a', (next) => void (next.metadata.labels = { n: String(change), ...(marked.has(change) && { marked: 'yes' }) }));
  }
  await settle();
  let looked = 0;
  const chosen = select(rows.configMaps, { labelSelector: 'marked' });
  const predicate = { ...chosen, matches: (shown: StoredObject) => (looked++, chosen.matches(shown)) };
  const watch = await bench.registry.watch(bench.at(rows.configMaps), { predicate, resourceVersion: String(object.revision) });
  const [seen, turns]: [string[], number[]] = [[], []];
  while (watch.revision < object.revision + changes) {
    looked = 0;
    for (let events = watch.take(256); events.length > 0; events = watch.take(256)) {
      for (const event of events) if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.labels?.['n'] ?? ''}`);
    }
    turns.push(looked);
    const readable = new Promise<void>((resolve) => void watch.onReadable(resolve));
    if (watch.revision < object.revision + changes) await readable;
  }
  assert.deepEqual(seen, ['ADDED 1', 'DELETED 1', 'ADDED 3000', 'DELETED 3000', 'ADDED 5000']);
  // The state before a change and the one after it are looked at.
  assert.ok(turns.length > 1 && turns.every((count) => count <= 2 * (2048 + 256)), `${turns.join()}`);
  watch.close();
});
