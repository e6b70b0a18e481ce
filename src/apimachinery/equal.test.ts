// equalJson against the JSON texts of values.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { equalJson } from './equal.ts';

test('equalJson ignores the order of keys, keys without a value, and the type of numbers', () => {
  assert.ok(equalJson({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1n }));
  assert.ok(equalJson({ a: undefined }, {}));
  assert.ok(equalJson([2n ** 60n], [2n ** 60n]));
  const unequal: [unknown, unknown][] = [[{ a: null }, {}], [[], {}], [[1], [1, 2]], ['1', 1], [0, false], [null, undefined], [1n, '1'],
    [{ a: 1 }, JSON.parse('{"__proto__":{}}')]];
  for (const [a, b] of unequal) assert.equal(equalJson(a, b) || equalJson(b, a), false, String(a));
});

test('equalJson agrees with JSON texts of sorted keys', () => {
  const sort = (value: unknown): unknown => (Array.isArray(value) ? value.map(sort) : typeof value !== 'object' || value === null ? value
    : Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sort(inner)]));
  const json = fc.jsonValue({ maxDepth: 3 });
  fc.assert(fc.property(json, json, (a, b) => {
    assert.ok(equalJson(a, structuredClone(a)));
    const text = (value: unknown): string => JSON.stringify([Array.isArray(value), sort(value)]);
    if (typeof a !== 'object' && typeof b !== 'object') assert.equal(equalJson(a, b), text(a) === text(b));
  }));
});
