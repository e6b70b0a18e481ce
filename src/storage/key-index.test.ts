// The index against a test of everything that is in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBoundsTest } from '../base/index.ts';
import { KeyIndex } from './key-index.ts';
import { type KeyRange, keyRange, prefixRange } from './store.ts';

interface Sleeper {
  readonly range: KeyRange;
  readonly isInside: (key: string) => boolean;
}

const makeSleeper = (range: KeyRange): Sleeper => ({ range, isInside: createBoundsTest(range) });
const keyArb = fc.string({ unit: fc.constantFrom('a', 'b', '/'), minLength: 1, maxLength: 5 });
const rangeArb = fc.oneof(keyArb.map(keyRange), keyArb.map((key) => prefixRange(`${key}/`)), fc.record({ start: keyArb, end: keyArb }));

test('visit calls for those whose range holds the key, each once, until they are removed', () => {
  fc.assert(
    fc.property(fc.array(rangeArb, { maxLength: 20 }), fc.array(keyArb), fc.nat(5), (ranges, keys, step) => {
      const keyIndex = new KeyIndex<Sleeper>();
      const twin = new Set(ranges.map(makeSleeper));
      for (const sleeper of twin) keyIndex.add(sleeper);
      for (const [i, sleeper] of [...twin].entries()) {
        if (i % (step + 2) !== 0) continue;
        keyIndex.remove(sleeper);
        twin.delete(sleeper);
      }
      for (const key of keys) {
        const expected = new Set([...twin].filter((sleeper) => sleeper.isInside(key)));
        const visited: Sleeper[] = [];
        keyIndex.visit(key, (sleeper) => void visited.push(sleeper));
        assert.equal(visited.length, expected.size);
        assert.deepEqual(new Set(visited), expected);
        for (const sleeper of visited.slice(0, step)) {
          keyIndex.remove(sleeper);
          twin.delete(sleeper);
        }
      }
    }),
  );
});

test('visit finds the watches of keys beyond ASCII too', () => {
  const piece = fc.constantFrom('/a', '/b', '/a/', 'é', '\u{1f600}', '\uffee', 'x');
  const name = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
  const range: fc.Arbitrary<KeyRange> = fc.oneof(name.map(keyRange), name.filter((start) => !start.endsWith('\uffff')).map(prefixRange),
    fc.record({ start: name, end: name }));
  fc.assert(fc.property(fc.array(range, { maxLength: 30 }), fc.array(fc.nat(29)), name, (ranges, removed, key) => {
    const index = new KeyIndex<{ range: KeyRange }>();
    const watches = new Set(ranges.map((candidate) => ({ range: candidate })));
    for (const watch of watches) index.add(watch);
    for (const watch of [...watches].filter((_, at) => removed.includes(at))) {
      index.remove(watch);
      watches.delete(watch);
    }
    const found = new Set<unknown>();
    index.visit(key, (watch) => found.add(watch));
    assert.deepEqual(found, new Set([...watches].filter((watch) => createBoundsTest(watch.range)(key))));
  }));
});
