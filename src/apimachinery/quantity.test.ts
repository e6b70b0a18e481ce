// Quantities: the reference's canonical forms, refusals, and laws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { QuantityError, addQuantities, canonicalizeQuantity, compareQuantities, formatQuantity, parseQuantity } from './quantity.ts';

test('canonicalizeQuantity writes what the reference writes', () => {
  const table: [string, string][] = [
    ['1000m', '1'], ['0.5', '500m'], ['1.5', '1500m'], ['1024Mi', '1Gi'], ['1000Ki', '1000Ki'], ['1e9', '1e9'], ['1500M', '1500M'], ['0', '0'], ['-0', '0'],
    ['128974848000m', '128974848'], ['8388608Ki', '8Gi'], ['0.0015', '1500u'], ['0.1Ki', '102400m'], ['1.5Gi', '1536Mi'], ['-1Gi', '-1Gi'], ['00100', '00100'],
    ['1E', '1E'], ['5e30', '5e30'], ['.5', '500m'], ['5.', '5.'], ['1000000', '1M'], ['1500', '1500'], ['0.0000000001', '1n'], ['1e1', '10'],
    ['1E3', '1E3'], ['+1', '+1'], ['1.500', '1.500'], ['1.000', '1'], ['0.500', '500m'], ['1e3', '1e3'], ['1e0', '1e0'], ['1000e0', '1e3'],
    ['m', '0'], ['+', '0'], ['.', '0'],
    ['9999999999999999999999', '9999999999999999999999'], ['1000E', '1e21'], ['8Ei', '9223372036854775807'], ['-9Ei', '-9223372036854775807'],
    ['0.1000Ki', '102400m'], ['0.0000000001Ki', '103n'], ['1e0000000000000000000000002', '100'], ['1025Ki', '1025Ki'],
    ['123456789012345Ki', '123456789012345Ki'],
  ];
  for (const [text, want] of table) assert.equal(canonicalizeQuantity(text), want, text);
});

test('parseQuantity refuses what the reference refuses, in its words', () => {
  for (const text of ['', 'lots', 'much', '1.2.3', '1 ', '1Gi1x', 'NaN', '0x10', '1e+-3', '1 Gi', '１']) {
    assert.throws(() => parseQuantity(text), /quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)/, text);
  }
  for (const text of ['1GG', '1Ke', '1e', '1mm', '1e+', '1e9223372036854775808', '1eE', '1m5', '--1']) assert.throws(() => parseQuantity(text),
    /unable to parse quantity's suffix/, text);
});

test('parseQuantity takes huge exponents, and refuses numbers of more than 1,024 digits', () => {
  for (const text of ['1e1000000000', '1e1024', '-5e2147483647']) assert.throws(() => parseQuantity(text), /unable to parse numeric part of quantity/);
  assert.equal(canonicalizeQuantity('0e1000000000'), '0');
  assert.equal(canonicalizeQuantity('1e1001'), '100e999');
  assert.equal(canonicalizeQuantity('1e-1000000000'), '1e-9');
  assert.equal(canonicalizeQuantity('9'.repeat(1024)), '9'.repeat(1024));
  assert.throws(() => canonicalizeQuantity('9'.repeat(1025)), /unable to parse numeric part of quantity/);
  assert.equal(canonicalizeQuantity(`0.${'1'.repeat(1_000_000)}`), '111111112n');
  assert.equal(canonicalizeQuantity('0'.repeat(1_000_000)), '0');
  assert.throws(() => canonicalizeQuantity(`${'0'.repeat(1_000_000)}x`), /quantities must match/);
  assert.ok(compareQuantities(parseQuantity('1e1000'), parseQuantity('1e-100000000')) > 0);
  assert.equal(formatQuantity(addQuantities(parseQuantity('1e-9'), parseQuantity('1e1000'))), `1${'0'.repeat(1008)}1e-9`);
});

test('parseQuantity throws nothing but QuantityError, whatever the text', () => {
  const characters = fc.string({ unit: fc.constantFrom(...'0123456789+-.eEinumkKMGTP x'), maxLength: 40 });
  fc.assert(fc.property(characters, (text) => {
    try {
      const quantity = parseQuantity(text);
      assert.equal(compareQuantities(parseQuantity(canonicalizeQuantity(text)), quantity), 0, text);
    } catch (error) {
      assert.ok(error instanceof QuantityError, String(error));
    }
  }), { numRuns: 5000 });
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
