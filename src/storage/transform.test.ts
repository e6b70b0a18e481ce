// A transformed Store against the suite of all Stores, and what lies beneath it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/index.ts';
import { createMemoryStore } from './memory/memory-store.ts';
import { describeStore } from './store.suite.ts';
import { keyRange } from './store.ts';
import { eventually } from '../testing/wait.ts';
import { Recorder, all, bytes, ok, put, text } from './suite-tools.suite.ts';
import { type ValueTransform, transformValues } from './transform.ts';

/** Turns every bit and marks the value with its key. */
const inverted: ValueTransform = {
  toStore: (value, key) => Buffer.concat([bytes(`${key}|`), value.map((byte) => byte ^ 255)]),
  fromStore(stored, key) {
    const mark = bytes(`${key}|`);
    if (!Buffer.from(stored.subarray(0, mark.length)).equals(Buffer.from(mark))) throw new Error('not ours');
    return stored.slice(mark.length).map((byte) => byte ^ 255);
  },
};

describeStore('transformValues', async (clock) => transformValues(createMemoryStore({ clock }), inverted));

test('transformValues keeps other bytes beneath, and a watch that meets a foreign value fails', async () => {
  const beneath = createMemoryStore({ clock: createManualClock() });
  const store = transformValues(beneath, inverted);
  await put(store, { key: '/a', value: 'plain' });
  assert.notEqual(text(ok(await beneath.range(all)).kvs[0]?.value as Uint8Array), 'plain');
  assert.equal(text(ok(await store.range(all)).kvs[0]?.value as Uint8Array), 'plain');
  const watch = new Recorder();
  store.watch(all, 2, watch);
  await put(beneath, { key: '/b', value: 'foreign' });
  await eventually(() => assert.equal(watch.end?.type, 'failed'));
  await assert.rejects(store.range(keyRange('/b')), /not ours/);
  await store.close();
});
