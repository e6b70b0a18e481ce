// The ranges that store.ts makes, against the order of bytes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBoundsTest } from '../base/index.ts';
import { keyRange, prefixRange } from './store.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });

test('keyRange holds its key alone, prefixRange what begins with it', () => {
  fc.assert(fc.property(key, fc.string({ maxLength: 3 }), (start, rest) => {
    assert.equal(createBoundsTest(keyRange(start))(start + rest), rest === '');
    if (start.charCodeAt(start.length - 1) < 0xd7ff) assert.ok(createBoundsTest(prefixRange(start))(start + rest));
  }));
});
