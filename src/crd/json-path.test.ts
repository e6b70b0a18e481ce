// Paths of columns and scales: any text is a path or none, and what a path looks at is bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MOST_LOOKS, findAll, parsePath } from './json-path.ts';

const pieces = ['.', '..', '[', ']', '*', '[*]', '[0]', '[-1]', '[0:2]', '[::2]', "['a']", '["b"]', '\\.',
  '{', '}', '$', '@', '?(', ')', '==', 'a', 'b', 'c', '.a',
  '.b', '..a', '[?(@.a==1)]', '[?(@.b!="x")]', ',', ':', '\'', '"', ' ', '0', '9'.repeat(30), '\u0000', '\ud800'];
const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3 })), { maxLength: 12 }).map((parts) => parts.join(''));
const object = { a: { a: [1, { a: 2 }, [3]], b: 'x', c: null }, b: [{ a: 1 }, { a: 1, b: 'y' }], c: true };

test('any text is read as a path or refused, and leads to something or to nothing', () => {
  fc.assert(fc.property(text, (path) => {
    const steps = parsePath(path);
    if (steps !== undefined) assert.ok(Array.isArray(findAll(steps, object)));
  }), { numRuns: 3000 });
});

test('paths that branch again and again end', () => {
  const wide = Array.from({ length: 1000 }, (_, i) => ({ a: { a: [i, i] } }));
  for (const path of ['..a..a..a..a', `${'[*]'.repeat(2)}..a`, '[0,0]'.repeat(30), '..*'.repeat(10)]) {
    const steps = parsePath(path);
    if (steps !== undefined) assert.ok(findAll(steps, wide).length <= MOST_LOOKS, path);
  }
});
