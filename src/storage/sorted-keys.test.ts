// Sorted keys against a plain sorted array, and the order of keys against that of their bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys, isInRange } from './keys.ts';
import { SortedKeys } from './sorted-keys.ts';
import { keyRange, prefixRange } from './store.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });

test('compareKeys orders as the UTF-8 bytes do', () => {
  fc.assert(fc.property(key, key, (left, right) => {
    assert.equal(Math.sign(compareKeys(left, right)), Buffer.compare(Buffer.from(left), Buffer.from(right)));
  }));
});

test('keyRange holds its key alone, prefixRange what begins with it', () => {
  fc.assert(fc.property(key, fc.string({ maxLength: 3 }), (start, rest) => {
    assert.equal(isInRange(start + rest, keyRange(start)), rest === '');
    if (start.charCodeAt(start.length - 1) < 0xd7ff) assert.ok(isInRange(start + rest, prefixRange(start)));
  }));
});

test('SortedKeys holds, orders and counts as a sorted array does', () => {
  const operation = fc.tuple(fc.boolean(), fc.nat(3000));
  fc.assert(fc.property(fc.array(operation, { size: 'max', maxLength: 4000 }), fc.nat(3000), fc.nat(3000), (operations, from, to) => {
    const keys = new SortedKeys();
    const naive = new Set<string>();
    for (const [isAdd, number] of operations) {
      const name = `/k/${number}`;
      if (isAdd) keys.add(name);
      else keys.delete(name);
      if (isAdd) naive.add(name);
      else naive.delete(name);
    }
    const range = { start: `/k/${from}`, end: `/k/${to}` };
    const expected = [...naive].filter((name) => isInRange(name, range)).sort(compareKeys);
    assert.deepEqual([...keys.between(range)], expected);
    assert.equal(keys.count(range), expected.length);
    assert.equal(keys.size, naive.size);
  }), { numRuns: 30 });
});

test('SortedKeys splits and joins runs as thousands of keys come and go', () => {
  const keys = new SortedKeys();
  const names = Array.from({ length: 5000 }, (_, index) => `/k/${(index * 7919) % 5000}`);
  for (const name of names) keys.add(name);
  assert.equal(keys.count({ start: '/', end: '0' }), 5000);
  for (const name of names) keys.delete(name);
  assert.deepEqual([keys.size, [...keys.between({ start: '', end: '\uffff' })]], [0, []]);
});
