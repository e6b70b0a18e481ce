// Warning headers: format, escapes, budget.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatWarnings } from './warnings.ts';

test('formatWarnings quotes, escapes and drops repetitions and texts with control characters', () => {
  assert.deepEqual(formatWarnings(['a "b" \\', 'a "b" \\', '', 'x\ny', 'x\ty', 'z']), ['299 - "a \\"b\\" \\\\"', '299 - "z"']);
});

test('formatWarnings writes text beyond ASCII as the bytes of its UTF-8', () => {
  assert.deepEqual(formatWarnings(['ü']), ['299 - "\u00c3\u00bc"']);
});

test('formatWarnings keeps a single long text whole', () => {
  assert.equal((formatWarnings(['x'.repeat(300)])[0] as string).length, 300 + '299 - ""'.length);
});

test('formatWarnings cuts texts to 256 runes once all together exceed 4096, and stops when the budget is spent', () => {
  const texts = ['short', ...Array.from({ length: 20 }, (_, index) => `${String(index).padStart(2, '0')}${'x'.repeat(298)}`)];
  const found = formatWarnings(texts);
  assert.equal(found.length, 17);
  assert.equal((found[1] as string).length, 256 + '299 - ""'.length);
});

test('formatWarnings never writes more than the budget and one text, nor a byte that a header may not have', () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 60 }), (texts) => {
    for (const value of formatWarnings(texts)) assert.match(value, /^299 - "[\x20-\x7e\x80-\xff]*"$/);
  }));
});
