// The sorted map against a naive twin: a plain Map sorted by the bytes of its keys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SortedMap, SortedMapBuilder, createSortedMap } from './sorted-map.ts';

interface Item {
  readonly key: string;
  readonly value: number;
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const sorted = (twin: Map<string, number>): Item[] => [...twin].sort(([a], [b]) => byBytes(a, b)).map(([key, value]) => ({ key, value }));
const inBounds = (items: Item[], start: string, end: string): Item[] => items.filter(({ key }) => byBytes(start, key) <= 0 && byBytes(key, end) < 0);

const keyArb = fc.oneof(
  fc.nat(300).map((n) => `k${n}`),
  fc.string({ unit: fc.constantFrom('a', '/', '\u{1f600}', '\ue000', '\uffff', '\u00e9'), maxLength: 4 }),
);
const opArb = fc.record({ key: keyArb, remove: fc.boolean(), keep: fc.nat(20).map((n) => n === 0) });

function checkSame(map: SortedMap<Item>, expected: Item[], bounds: { start: string; end: string }): void {
  assert.deepEqual([...map], expected);
  assert.equal(map.size, expected.length);
  const part = inBounds(expected, bounds.start, bounds.end);
  assert.deepEqual([...map.entries(bounds)], part);
  assert.equal(map.count(bounds), part.length);
  for (const item of expected) assert.equal(map.get(item.key)?.value, item.value);
}

test('set, delete, entries and count agree with a naive twin, and old versions stay as they were', () => {
  fc.assert(
    fc.property(fc.array(opArb, { maxLength: 600, size: 'max' }), keyArb, keyArb, (ops, start, end) => {
      let map = createSortedMap<Item>();
      const twin = new Map<string, number>();
      const versions: { map: SortedMap<Item>; expected: Item[] }[] = [];
      for (const [value, { key, remove, keep }] of ops.entries()) {
        map = remove ? map.delete(key) : map.set({ key, value });
        if (remove) twin.delete(key);
        else twin.set(key, value);
        if (keep) versions.push({ map, expected: sorted(twin) });
      }
      versions.push({ map, expected: sorted(twin) });
      for (const version of versions) checkSame(version.map, version.expected, { start, end });
    }),
    { numRuns: 60 },
  );
});

test('edit changes many keys at once without touching the version it began with or those it finished', () => {
  fc.assert(
    fc.property(fc.array(opArb, { maxLength: 400, size: 'max' }), (ops) => {
      const before = Array.from({ length: 500 }, (_, i) => ({ key: `k${String(i).padStart(3, '0')}`, value: -1 }));
      const base = createSortedMap<Item>(before);
      const twin = new Map(before.map(({ key, value }) => [key, value]));
      const edit = base.edit();
      const versions: { map: SortedMap<Item>; expected: Item[] }[] = [];
      for (const [value, { key, remove, keep }] of ops.entries()) {
        if (remove) assert.equal(edit.delete(key), twin.delete(key));
        else edit.set({ key, value });
        if (!remove) twin.set(key, value);
        if (keep) versions.push({ map: edit.finish(), expected: sorted(twin) });
      }
      versions.push({ map: edit.finish(), expected: sorted(twin) }, { map: base, expected: before });
      for (const version of versions) assert.deepEqual([...version.map], version.expected);
    }),
    { numRuns: 40 },
  );
});

test('chunks shares every leaf but the changed one between versions', () => {
  const bounds = { start: '', end: '\uffff' };
  const before = createSortedMap(Array.from({ length: 10_000 }, (_, i) => ({ key: String(i).padStart(6, '0'), value: i })));
  const after = before.set({ key: '005000', value: -1 });
  const old = new Set([...before.chunks(bounds)].map(({ chunk }) => chunk));
  const fresh = [...after.chunks(bounds)].filter(({ chunk }) => !old.has(chunk));
  assert.equal(fresh.length, 1);
  assert.ok(old.size < 200, `${old.size} leaves`);
});

test('set in descending or ascending order keeps leaves at least a quarter full', () => {
  const bounds = { start: '', end: '\uffff' };
  for (const direction of [1, -1]) {
    const edit = createSortedMap<Item>().edit();
    for (let i = 0; i < 20_000; i++) edit.set({ key: String(50_000 + direction * i), value: i });
    const map = edit.finish();
    assert.equal(map.size, 20_000);
    assert.ok([...map.chunks(bounds)].length <= 20_000 / 24 + 1);
  }
});

test('delete of everything leaves an empty map that can be filled again', () => {
  let map = createSortedMap(Array.from({ length: 3000 }, (_, i) => ({ key: `x${i}`, value: i })).sort((a, b) => byBytes(a.key, b.key)));
  for (let i = 0; i < 3000; i++) map = map.delete(`x${(i * 7) % 3000}`);
  assert.equal(map.size, 0);
  assert.deepEqual([...map], []);
  assert.equal(map.set({ key: 'y', value: 1 }).size, 1);
});

test('createSortedMap refuses entries that are out of order', () => {
  assert.throws(() => createSortedMap([{ key: 'b' }, { key: 'a' }]), /key order/);
});

test('SortedMapBuilder answers each chunk of the map once it is complete, and refuses entries out of order', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 8 }), (sizes) => {
      const builder = new SortedMapBuilder<Item>();
      const all: Item[] = [];
      const complete: (readonly Item[])[] = [];
      for (const size of sizes) {
        const part = Array.from({ length: size }, (_, i) => ({ key: String(all.length + i).padStart(6, '0'), value: i }));
        all.push(...part);
        complete.push(...builder.add(part));
      }
      const map = builder.finish();
      checkSame(map, all, { start: '000010', end: '000200' });
      const chunks = [...map.chunks({ start: '', end: '\uffff' })].map(({ chunk }) => chunk);
      assert.ok(complete.every((chunk, i) => chunk === chunks[i]));
      assert.ok(chunks.length - complete.length <= 1);
    }),
  );
  const builder = new SortedMapBuilder<Item>();
  builder.add([{ key: 'b', value: 1 }]);
  assert.throws(() => builder.add([{ key: 'b', value: 2 }]));
  assert.throws(() => createSortedMap([{ key: 'b', value: 1 }, { key: 'a', value: 2 }]));
});
