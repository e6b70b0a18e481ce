// Key order, the ring buffer against an array, and the manual clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RingBuffer, compareKeys, createBoundsTest, createManualClock } from './index.ts';

const wideString = fc.string({ unit: fc.constantFrom('a', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'), maxLength: 4 });
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('compareKeys orders strings as their UTF-8 bytes do', () => {
  fc.assert(fc.property(wideString, wideString, (a, b) => assert.equal(Math.sign(compareKeys(a, b)), byBytes(a, b))));
});

test('createBoundsTest accepts exactly the keys of a half-open interval', () => {
  fc.assert(
    fc.property(wideString, wideString, wideString, (start, end, key) => {
      assert.equal(createBoundsTest({ start, end })(key), byBytes(start, key) <= 0 && byBytes(key, end) < 0);
    }),
  );
});

test('RingBuffer keeps elements and their numbers as an array with an offset does', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('push', 'push', 'push', 'shift', 'clear', 'shift'), { maxLength: 300, size: 'max' }), (ops) => {
      const ring = new RingBuffer<number>();
      const twin: number[] = [];
      let first = 0;
      for (const [i, op] of ops.entries()) {
        if (op === 'push') assert.equal(ring.push(i), first + twin.push(i) - 1);
        if (op === 'shift') {
          first += twin.length > 0 ? 1 : 0;
          assert.equal(ring.shift(), twin.shift());
        }
        if (op === 'clear' && i % 9 === 0) {
          first += twin.splice(0).length;
          ring.clear();
        }
        assert.deepEqual([ring.first, ring.next, ring.size], [first, first + twin.length, twin.length]);
      }
      assert.deepEqual(Array.from({ length: twin.length + 2 }, (_, i) => ring.at(first - 1 + i)), [undefined, ...twin, undefined]);
      assert.equal(ring.search((element) => element < 100), first + twin.filter((element) => element < 100).length);
    }),
  );
});

test('createManualClock calls timers in order of due time, also those set by timers', () => {
  const clock = createManualClock(1000);
  const calls: string[] = [];
  clock.after(20, () => calls.push(`b@${clock.now()}`));
  clock.after(10, () => {
    calls.push(`a@${clock.now()}`);
    clock.after(5, () => calls.push(`c@${clock.now()}`));
  });
  clock.after(15, () => calls.push('never')).cancel();
  clock.advance(30);
  assert.deepEqual(calls, ['a@1010', 'c@1015', 'b@1020']);
  assert.equal(clock.monotonicMs(), 30);
  assert.equal(clock.pendingTimers, 0);
});
