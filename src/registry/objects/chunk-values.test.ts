// Passing over chunks against looking at every object: nothing that is selected may be passed over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseLabelSelector } from '../../apimachinery/index.ts';
import { finishSteps } from '../../base/index.ts';
import { mayHold as mayHoldInSteps, wantedField, wantedLabel } from './chunk-values.ts';

type Input = Parameters<typeof mayHoldInSteps>;
const mayHold = (...input: Input): boolean => finishSteps(mayHoldInSteps(...input));

const size = 100;
const key = fc.constantFrom('app', 'tier', 'a', 'b');
const value = fc.constantFrom('', 'x', 'y', '1', '2');
const labels = fc.option(fc.dictionary(key, value, { maxKeys: 3 }), { nil: undefined });
const object = fc.record({ labels, fields: fc.array(value, { minLength: 2, maxLength: 2 }), size: fc.constant(size) });
const chunks = fc.array(object.map((each) => ({ value: each })), { minLength: 1, maxLength: 5 });
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
  fc.tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1, maxLength: 2 })).map(([k, op, values]) => `${k} ${op} (${values.join(',')})`),
  fc.tuple(key, fc.constantFrom('>', '<')).map(([k, op]) => `${k}${op}1`),
  key, key.map((k) => `!${k}`),
);

test('mayHold lets every chunk through that holds an object which the selector matches', () => {
  fc.assert(fc.property(chunks, fc.array(requirement, { minLength: 1, maxLength: 3 }), (chunk, texts) => {
    const selector = parseLabelSelector(texts.join(','));
    const wanted = selector.requirements.flatMap((each) => wantedLabel(each) === undefined ? [] : [wantedLabel(each) as readonly number[]]);
    const matching = chunk.some(({ value: { labels } }) => selector.matches(labels));
    if (matching) assert.equal(mayHold(chunk, wanted, false), true);
  }));
});

test('mayHold passes over chunks in which a label or a field has another value', () => {
  const chunk = [{ labels: { app: 'x' }, fields: ['', 'node-1'], size }, { labels: undefined, fields: ['', 'node-2'], size }].map((value) => ({ value }));
  const label = (text: string): readonly (readonly number[])[] => parseLabelSelector(text).requirements.map((each) => wantedLabel(each) ?? []);
  assert.equal(mayHold(chunk, label('app=x'), true), true);
  assert.equal(mayHold(chunk, label('app=y'), true), false);
  assert.equal(mayHold(chunk, label('app in (y,x)'), true), true);
  assert.equal(mayHold(chunk, label('app=x,tier'), true), false);
  assert.equal(mayHold(chunk, [wantedField(1, 'node-2')], true), true);
  assert.equal(mayHold(chunk, [wantedField(1, 'node-3')], true), false);
  assert.equal(mayHold(chunk, [wantedField(0, 'node-2')], true), false);
});

test('mayHold lets chunks through whose objects cannot be read', () => {
  const broken = { get labels(): never { throw new Error('no'); }, fields: [], size };
  assert.equal(mayHold([{ value: broken }], [[1]], false), true);
});

test('mayHold reads large objects in a step each, and once', () => {
  let reads = 0;
  const large = { size: 1_000_000, fields: [], get labels() { reads++; return { app: 'x' }; } };
  const chunk = Array.from({ length: 6 }, () => ({ value: large }));
  const steps = mayHoldInSteps(chunk, [[1]], false);
  for (let step = 1; step <= 6; step++) {
    assert.equal(steps.next().done, false);
    assert.equal(reads, step);
  }
  assert.deepEqual(steps.next(), { done: true, value: false });
  assert.equal(mayHold(chunk, [[1]], false), false);
  assert.equal(reads, 6);
});
