// Parts of a text that are parsed by themselves come to what the whole comes to, and large ones take steps of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../apimachinery/index.ts';
import { finishSteps, resumableSteps } from '../../base/index.ts';
import { parseJson, parseJsonInParts } from './json.ts';
import { cutLargeParts, putPart } from './parts.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (given: Uint8Array): string => new TextDecoder().decode(given);

function parseCut(whole: string, minBytes: number): JsonValue {
  const { rest, parts } = cutLargeParts(bytes(whole), minBytes);
  const value = JSON.parse(text(rest)) as JsonValue;
  for (const { start, end, path } of parts) assert.ok(putPart(value, path, JSON.parse(text(bytes(whole).subarray(start, end))) as JsonValue), String(path));
  return value;
}

test('a text without its parts, and the parts in their places, are the whole', () => {
  fc.assert(fc.property(fc.jsonValue(), fc.integer({ min: 2, max: 40 }), fc.constantFrom(0, 1), (value, minBytes, indent) => {
    const whole = JSON.stringify(value, undefined, indent);
    assert.deepEqual(parseCut(whole, minBytes), JSON.parse(whole));
  }));
});

test('cutLargeParts takes the innermost parts, by keys that are escaped or mean something elsewhere', () => {
  const { rest, parts } = cutLargeParts(bytes('{"a\\"\\u0062":[1,{"__proto__":{"b":[10,20,30]}}],"c":[]}'), 10);
  assert.deepEqual(parts.map(({ path }) => path), [['a"b', 1, '__proto__', 'b']]);
  assert.equal(text(rest), '{"a\\"\\u0062":[1,{"__proto__":{"b":null}}],"c":[]}');
  const value = JSON.parse(text(rest)) as JsonValue;
  assert.ok(putPart(value, parts[0]?.path ?? [], ['own']));
  assert.equal(JSON.stringify(value), '{"a\\"b":[1,{"__proto__":{"b":["own"]}}],"c":[]}');
});

test('what is left of a text that is no JSON is none', () => {
  for (const broken of ['{{"a":[1,2,3]}:1}', '[1{"a":[1,2,3]}]', '{"a":nul{"b":[1,2,3]}}', '[[1,2,3][1,2,3]]', '{"a":[1,2,3]', '[[1,2,3]],']) {
    assert.throws(() => JSON.parse(text(cutLargeParts(bytes(broken), 3).rest)), broken);
  }
});

const wide = (value: unknown): object => Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, value]));

test('parseJsonInParts parses each large part of a text in a step of its own, and finds duplicates', () => {
  const whole = bytes(JSON.stringify({ a: { b: [wide('a'), wide(1)] }, c: wide(null) }));
  const steps = resumableSteps(() => parseJsonInParts(whole));
  let taken = 1;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) taken++;
  assert.deepEqual(step.value, parseJson(whole));
  // Two walks over the whole, one that cuts, what is left of it, and three parts.
  assert.equal(taken, 7);
  const twice = bytes(`{"a":${JSON.stringify(wide('a'))},"a":${JSON.stringify(wide('b'))}}`);
  assert.deepEqual(finishSteps(resumableSteps(() => parseJsonInParts(twice))), parseJson(twice));
});
