// What a watch holds while it is open.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RegistryWatch } from '../contract.ts';
import { everything } from '../reads/predicate.ts';
import { type Bench, createBench, rows, settle } from '../testing.ts';

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
