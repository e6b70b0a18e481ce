// History against a naive twin that keeps a copy of every state.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Change, History, Listing } from './history.ts';

const unbounded = { windowMs: Infinity, limit: Infinity, limitBytes: Infinity, lasting: { recentMs: Infinity, limit: 0, limitBytes: 0 } };
const change = (key: string, revision: number, value?: string): Change<string> => {
  return { key, revision, entry: value === undefined ? undefined : { key, modRevision: revision, value } };
};

test('at rebuilds exact states whose map was let go, with bounds that drop the oldest and with large batches', () => {
  const batchArb = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 5, maxLength: 30, size: 'max' });
  fc.assert(
    fc.property(batchArb, fc.constantFrom(Infinity, 3000), (batches, limit) => {
      const history = new History<string>({ ...unbounded, limit });
      history.reset(new Listing(), 10);
      const states: (ReadonlyMap<string, string> | undefined)[] = [];
      const twin = new Map<string, string>();
      let revision = 10;
      for (const size of batches) {
        const batch = Array.from({ length: size }, () => {
          revision += 1 + (revision % 2);
          const key = `k${(revision * 31) % 40}`;
          const value = revision % 5 === 0 ? undefined : `${revision}`;
          if (value === undefined) twin.delete(key);
          else twin.set(key, value);
          if (revision % 97 < 2) states[revision] = new Map(twin);
          return change(key, revision, value);
        });
        history.extend(batch, 0);
        for (const key of new Set(batch.map((one) => one.key))) assert.equal(history.get(key), history.newest.get(key));
      }
      for (const [at, expected] of states.entries()) {
        if (expected === undefined) continue;
        const map = history.at(at);
        if (at < history.baseRevision) assert.equal(map, undefined);
        else assert.deepEqual(new Map([...(map ?? [])].map(({ key, value }) => [key, value])), expected);
      }
      assert.ok(history.next - history.first <= limit);
    }),
    { numRuns: 25 },
  );
});

test('extend gives events the version before, also inside one batch', () => {
  const history = new History<string>(unbounded);
  history.extend([change('a', 2, 'x'), change('a', 3, 'y'), change('a', 4)], 0);
  assert.deepEqual([0, 1, 2].map((cursor) => history.eventAt(cursor)?.previous), [undefined, 'x', 'y']);
  assert.equal(history.newest.size, 0);
});

test('extend keeps no more bytes of replaced values than the bound says, and always the last change', () => {
  const history = new History<string>({ ...unbounded, limitBytes: 10 }, (value) => value.length);
  history.extend([change('a', 2, 'xxxx'), change('a', 3, 'yyyy'), change('b', 4, 'zzzzzzzzzzzz')], 0);
  assert.deepEqual([history.first, history.next], [0, 3]);
  history.extend([change('a', 5, 'wwww')], 0);
  assert.deepEqual([history.first, history.baseRevision], [0, 0]);
  history.extend([change('a', 6)], 0);
  assert.deepEqual([history.first, history.baseRevision], [2, 3]);
  assert.equal(history.at(3)?.get('a')?.value, 'yyyy');
  history.extend([change('b', 7)], 0);
  assert.deepEqual([history.first, history.next, history.at(6)?.get('b')?.value], [5, 6, 'zzzzzzzzzzzz']);
});

test('reset lets every cursor fall out, and begins with what was listed', () => {
  const listing = new Listing<string>();
  listing.add([{ key: 'c', modRevision: 4, value: 'z' }]);
  const history = new History<string>(unbounded);
  history.extend([change('a', 2, 'x'), change('b', 3, 'y')], 0);
  history.reset(listing, 9);
  assert.deepEqual([history.first, history.next, history.baseRevision, history.at(3)], [2, 2, 9, undefined]);
  assert.deepEqual([...(history.at(9) ?? [])].map(({ key }) => key), ['c']);
  assert.deepEqual(['a', 'b', 'c'].map((key) => history.get(key)?.value), [undefined, undefined, 'z']);
});

test('a burst is kept while it is recent, and no more than the closer bounds after that', () => {
  const lasting = { recentMs: 1000, limit: 150, limitBytes: 900 };
  const history = new History<string>({ ...unbounded, windowMs: 5000, lasting }, (value) => value.length);
  const burst = (count: number, value: string): Change<string>[] =>
    Array.from({ length: count }, (_, index) => change('a', history.next + index + 1, value));
  history.extend(burst(400, 'x'), 0);
  history.trim(1000);
  assert.equal(history.next - history.first, 400);
  history.trim(1001);
  assert.equal(history.next - history.first, 150);
  history.extend(burst(20, 'y'.repeat(100)), 2000);
  assert.equal(history.next - history.first, 20, 'what is recent makes room by what is not');
  history.trim(3001);
  assert.equal(history.next - history.first, 9, 'each replaced a value of 100 bytes');
  assert.equal(history.at(history.baseRevision)?.get('a')?.modRevision, history.baseRevision);
});
