// The memory Store against the suite of all Stores, and as a fork of one that is closed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { describeStore } from '../store.suite.ts';
import { createMemoryStore } from './memory-store.ts';

describeStore('createMemoryStore', async (clock) => createMemoryStore({ clock }));

describeStore('fork of a memory Store', async (clock) => {
  const origin = createMemoryStore({ clock });
  await origin.close();
  return origin.fork({ clock });
});

test('fork takes keys and leases along, and each Store ends its own', async () => {
  const clock = createManualClock();
  const origin = createMemoryStore({ clock });
  await origin.txn({ key: 'a', expect: 0, value: new Uint8Array([1]), ttlSeconds: 10 });
  await origin.close();
  const fork = origin.fork({ clock });
  const count = async (): Promise<number> => {
    const result = await fork.range({ start: 'a', end: 'b' });
    return result.type === 'ok' ? result.count : -1;
  };
  assert.equal(await count(), 1);
  clock.advance(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([await count(), fork.versions('a').length, origin.versions('a').length], [0, 2, 1]);
  await fork.close();
});
