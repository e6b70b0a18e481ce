// Reads of rows whose versions a remote converter makes: when it is asked, and what is kept of its answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, badRequest } from '../../apimachinery/index.ts';
import type { Resource } from '../resource.ts';
import { createBench, rows, select } from '../testing.ts';
import { convertAsNeeded, convertNow, trackOwners } from './restartable-conversion.ts';

/** A row with two versions, whose converter counts its calls and may be set to fail. */
function createRow(): { readonly row: Resource; readonly state: { calls: number; fails: boolean } } {
  const state = { calls: 0, fails: false };
  const row: Resource = {
    ...rows.widgets, versions: ['v1', 'v2'].map((name) => ({ name, served: true, schema: { type: 'object', preserveUnknownFields: true }, columns: [] })),
    convertRemotely: async (objects, to) => {
      state.calls++;
      if (state.fails) throw badRequest('conversion failed');
      return objects.map((object) => ({ ...object, apiVersion: `example.com/${to}` }));
    },
  };
  return { row, state };
}

test('get asks the converter each time; lists and reads of any state keep what it made', async () => {
  const { row, state } = createRow();
  const bench = createBench();
  bench.catalog.add(row);
  await bench.create(row, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: {} });
  const at = { ...bench.at(row), version: 'v2' };
  const get = (resourceVersion = '') => bench.registry.get({ ...at, name: 'a' }, { resourceVersion });
  assert.equal((await get()).object('v2').apiVersion, 'example.com/v2');
  await get();
  assert.equal(state.calls, 2);
  const list = () => bench.registry.list(at, { predicate: select(row, {}) });
  await list();
  await list();
  assert.equal(state.calls, 3);
  state.fails = true;
  await assert.rejects(async () => get(), { message: 'conversion failed' });
  assert.equal((await get('0')).object('v2').apiVersion, 'example.com/v2');
  assert.equal([...(await list()).items].length, 1);
});

test('convertAsNeeded starts over for each conversion and answers once all are there', async () => {
  const { row, state } = createRow();
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } } as KubeObject;
  let runs = 0;
  const versions = await convertAsNeeded(row, () => {
    runs++;
    return [convertNow(row, object, 'v2').apiVersion, convertNow(row, { ...object, kind: 'Other' }, 'v2').apiVersion];
  });
  assert.deepEqual([versions, runs, state.calls], [['example.com/v2', 'example.com/v2'], 3, 2]);
  state.fails = true;
  const fresh = { ...object, metadata: { name: 'b' } };
  assert.equal(await trackOwners(row, () => (convertNow(row, fresh, 'v2'), [])), undefined);
});
