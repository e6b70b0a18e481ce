// A map whose entries leave quickly.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PassingMap } from './passing-map.ts';

test('PassingMap has what was set and not deleted, in the order of the first settings', () => {
  const map = new PassingMap<string, number>();
  assert.deepEqual([map.size, map.firstKey, map.get('a'), map.has('a'), map.delete('a')], [0, undefined, undefined, false, false]);
  map.set('a', 1).set('b', 2).set('a', 3);
  assert.deepEqual([map.size, map.firstKey, map.get('a'), map.get('b'), map.has('b')], [2, 'a', 3, 2, true]);
  assert.equal(map.delete('a'), true);
  assert.deepEqual([map.size, map.firstKey, map.get('a'), map.has('a')], [1, 'b', undefined, false]);
  map.set('a', 4);
  assert.equal(map.firstKey, 'b');
  map.clear();
  assert.deepEqual([map.size, map.firstKey, map.get('a'), map.has('b')], [0, undefined, undefined, false]);
});

test('PassingMap.forEach passes over entries that leave meanwhile', () => {
  const map = new PassingMap<number, string>().set(1, 'one').set(2, 'two').set(3, 'three');
  const seen: string[] = [];
  map.forEach((value) => {
    seen.push(value);
    map.delete(2);
  });
  assert.deepEqual([seen, map.size], [['one', 'three'], 2]);
});
