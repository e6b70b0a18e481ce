// ChunkedList against an array.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ChunkedList } from './chunked-list.ts';

test('ChunkedList gives what an array gives after any inserts, removals and replacements', () => {
  const place = fc.double({ min: 0, max: 0.999, noNaN: true });
  const edit = fc.record({ type: fc.constantFrom('insert', 'insert', 'remove', 'set'), at: place, item: fc.integer() });
  fc.assert(fc.property(fc.constantFrom(0, 1, 1023, 1024, 3000), fc.array(edit, { maxLength: 60 }), (size, edits) => {
    const twin = Array.from({ length: size }, (_, i) => i);
    const list = new ChunkedList(twin);
    for (const { type, at, item } of edits) {
      const index = Math.floor(at * (twin.length + (type === 'insert' ? 1 : 0)));
      if (type === 'insert') list.insert(index, item), twin.splice(index, 0, item);
      else if (twin.length === 0) continue;
      else if (type === 'remove') list.remove(index), twin.splice(index, 1);
      else list.set(index, item), (twin[index] = item);
      assert.equal(list.length, twin.length);
    }
    if (twin.length > 0) assert.equal(list.get(twin.length - 1), twin.at(-1));
    assert.deepEqual(list.toArray(), twin);
  }), { numRuns: 300 });
});

test('ChunkedList keeps its order when thousands of items are put at the head and taken from it', () => {
  const list = new ChunkedList<number>([]);
  for (let i = 0; i < 5000; i++) list.insert(0, i);
  for (let i = 0; i < 2500; i++) list.remove(0);
  assert.deepEqual(list.toArray(), Array.from({ length: 2500 }, (_, i) => 2499 - i));
});
