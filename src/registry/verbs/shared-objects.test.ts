// Decoded objects that answers, watches and look-ups share.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { StoredObject } from '../contract.ts';
import { createBench, makeContext, rows } from '../testing.ts';

const hold = 'example.com/hold';
const cm = (name: string, meta: object = {}, data: object = { k: 'v' }): Record<string, unknown> =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });

test('what is shared of an object is what is stored, also beside dry runs and removals at its revision', async () => {
  const { create, put, registry, remove, names } = createBench();
  const shared = (object: StoredObject): unknown => object.shared('v1')['data'];
  const stored = async (): Promise<StoredObject> => registry.get({ resource: rows.configMaps, version: 'v1', namespace: 'ns', name: 'a' }, {});
  const made = await create(rows.configMaps, cm('a'));
  assert.deepEqual(shared(made.object), { k: 'v' });
  assert.equal((await stored()).shared('v1'), made.object.shared('v1'));
  const dry = await put(rows.configMaps, cm('a', {}, { k: 'dry' }) as unknown as KubeObject, { context: makeContext({ dryRun: true }) });
  assert.deepEqual([shared(dry.object), shared(await stored())], [{ k: 'dry' }, { k: 'v' }]);
  const held = await put(rows.configMaps, cm('a', { finalizers: [hold] }, { k: 'held' }) as unknown as KubeObject);
  assert.deepEqual([shared(held.object), shared(await stored())], [{ k: 'held' }, { k: 'held' }]);
  await remove(rows.configMaps, 'a');
  assert.deepEqual([shared(await stored()), (await stored()).shared('v1').metadata.finalizers], [{ k: 'held' }, [hold]]);
  const last = await put(rows.configMaps, cm('a', {}, { k: 'last' }) as unknown as KubeObject);
  assert.deepEqual([shared(last.object), await names(rows.configMaps)], [{ k: 'last' }, []]);
});
