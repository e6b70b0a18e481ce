// BoundedCache: what it keeps, in which order it forgets, and that it never holds more than its limit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoundedCache } from './bounded-cache.ts';

test('BoundedCache forgets what was used least recently', () => {
  const cache = new BoundedCache<string, number>({ limit: 3 });
  for (const [key, value] of [['a', 1], ['b', 2], ['c', 3]] as const) cache.set(key, value);
  assert.equal(cache.get('a'), 1);
  assert.equal(cache.peek('b'), 2);
  cache.set('d', 4);
  assert.deepEqual(['a', 'b', 'c', 'd'].map((key) => cache.peek(key)), [1, undefined, 3, 4]);
  assert.deepEqual([...cache.values()], [3, 1, 4]);
  assert.equal(cache.count, 3);
});

test('BoundedCache counts sizes, and does not keep what is larger than its limit', () => {
  const cache = new BoundedCache<string, string>({ limit: 10, sizeOf: (value, key) => value.length + key.length });
  cache.set('a', '1234');
  cache.set('b', '1234');
  assert.equal(cache.total, 10);
  cache.set('b', '1');
  assert.equal(cache.total, 7);
  assert.equal(cache.set('c', 'x'.repeat(10)), 'x'.repeat(10));
  assert.deepEqual(['a', 'b', 'c'].map((key) => cache.peek(key)), ['1234', '1', undefined]);
  assert.equal(cache.delete('a'), true);
  assert.equal(cache.delete('a'), false);
  cache.clear();
  assert.deepEqual([cache.count, cache.total], [0, 0]);
});

test('BoundedCache.getOrMake makes a value once as long as it is kept', () => {
  const cache = new BoundedCache<number, string>({ limit: 2 });
  let made = 0;
  const read = (key: number): string => cache.getOrMake(key, () => `value ${++made}`);
  assert.deepEqual([read(1), read(1), read(2), read(3), read(1)], ['value 1', 'value 1', 'value 2', 'value 3', 'value 4']);
});

test('BoundedCache gives what was set last or nothing, and never exceeds its limit', () => {
  const action = fc.record({ key: fc.nat(8), value: fc.integer({ min: 1, max: 30 }), sets: fc.boolean() });
  fc.assert(fc.property(fc.array(action, { maxLength: 100 }), (actions) => {
    const cache = new BoundedCache<number, number>({ limit: 50, sizeOf: (value) => value });
    const twin = new Map<number, number>();
    for (const { key, value, sets } of actions) {
      if (sets) cache.set(key, value), twin.set(key, value);
      else assert.ok([undefined, twin.get(key)].includes(cache.get(key)));
      assert.ok(cache.total <= 50);
    }
    assert.equal(cache.total, [...twin.keys()].reduce((sum, key) => sum + (cache.peek(key) ?? 0), 0));
  }));
});

test('BoundedCache calls onEvicted with what leaves for want of room, and with nothing else', () => {
  const evicted: string[] = [];
  const onEvicted = (value: number, key: string): void => void evicted.push(`${key} ${value} ${cache.total}`);
  const cache: BoundedCache<string, number> = new BoundedCache({ limit: 3, sizeOf: (value) => value, onEvicted });
  cache.set('a', 1);
  cache.set('b', 1);
  cache.set('a', 2);
  cache.delete('b');
  cache.set('large', 4);
  assert.deepEqual(evicted, []);
  cache.set('c', 2);
  assert.deepEqual(evicted, ['a 2 2']);
});
