// The index of sleepers against a search of all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBoundsTest } from '../base/index.ts';
import { type KeyRange, keyRange, prefixRange } from '../storage/index.ts';
import { KeyIndex, type Sleeper, classifyRange } from './key-index.ts';

const makeSleeper = (range: KeyRange): Sleeper => ({ range, rangeKind: classifyRange(range), isInside: createBoundsTest(range) });
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
