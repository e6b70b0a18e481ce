// Quantities: the reference's canonical forms, refusals, and laws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addQuantities, canonicalizeQuantity, compareQuantities, formatQuantity, parseQuantity } from './quantity.ts';

test('canonicalizeQuantity writes what the reference writes', () => {
  const table: [string, string][] = [
    ['1000m', '1'], ['0.5', '500m'], ['1.5', '1500m'], ['1024Mi', '1Gi'], ['1000Ki', '1000Ki'], ['1e9', '1e9'], ['1500M', '1500M'], ['0', '0'], ['-0', '0'],
    ['128974848000m', '128974848'], ['8388608Ki', '8Gi'], ['0.0015', '1500u'], ['0.1Ki', '102400m'], ['1.5Gi', '1536Mi'], ['-1Gi', '-1Gi'], ['00100', '100'],
    ['1E', '1E'], ['5e30', '5e30'], ['.5', '500m'], ['5.', '5'], ['1000000', '1M'], ['1500', '1500'], ['0.0000000001', '1n'], ['1e1', '10'],
    ['9999999999999999999999', '9223372036854775807'],
  ];
  for (const [text, want] of table) assert.equal(canonicalizeQuantity(text), want, text);
});

test('parseQuantity refuses what the reference refuses, in its words', () => {
  for (const text of ['', 'lots', 'much', '1.2.3', '1 ', '1Gi1x', '+', 'm', 'NaN', '0x10']) {
    assert.throws(() => parseQuantity(text), /quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)/, text);
  }
  for (const text of ['1GG', '1Ke', '1e', '1mm']) assert.throws(() => parseQuantity(text), /unable to parse quantity's suffix/, text);
});

test('parseQuantity answers huge exponents and a million digits in a moment', () => {
  const started = performance.now();
  assert.equal(canonicalizeQuantity('1e1000000000'), '10e999999999');
  assert.equal(canonicalizeQuantity('9'.repeat(1_000_000)), '9223372036854775807');
  canonicalizeQuantity(`0.${'1'.repeat(1_000_000)}`);
  assert.ok(compareQuantities(parseQuantity('1e1000000000'), parseQuantity('1e-100000000')) > 0);
  assert.ok(performance.now() - started < 1000);
});

const quantityText = fc.tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
  fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi', 'e3', 'n')).map(([n, s]) => `${n}${s}`);

test('formatQuantity and parseQuantity round-trip: the canonical form means the same and is its own canonical form', () => {
  fc.assert(fc.property(quantityText, (text) => {
    const parsed = parseQuantity(text);
    const canonical = formatQuantity(parsed);
    assert.equal(compareQuantities(parseQuantity(canonical), parsed), 0);
    assert.equal(canonicalizeQuantity(canonical), canonical);
  }), { numRuns: 2000 });
});

test('addQuantities agrees with compareQuantities: a + b exceeds a exactly when b is positive', () => {
  fc.assert(fc.property(quantityText, quantityText, (a, b) => {
    const [left, right] = [parseQuantity(a), parseQuantity(b)];
    assert.equal(Math.sign(compareQuantities(addQuantities(left, right), left)), Math.sign(compareQuantities(right, parseQuantity('0'))));
  }));
});
