// The size that is read off a pattern, against what the engine compiles it to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RE2JS } from 're2js';
import { estimatePatternSize } from './pattern-size.ts';
import { checkPattern, loadPatternEngine } from './pattern.ts';

const patterns = [
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'a{1,900}', '((a{10}){10}){10}', '(a?){900}', '(xx?){1000}', '[^a]{1000}', 'a{3}b{2,}c{0,7}', '(ab|cd){20}',
  '\\pL{100}', '[]a]{5}', '[^]]{5}', '[[:alpha:]]{7}', '\\(\\{a{2}', 'a{,3}', 'x*y+z?', '(?:a(?:b{50}){4})',
];

for (const pattern of patterns) {
  test(`estimatePatternSize is near what ${pattern} compiles to`, () => {
    const { prog } = (RE2JS.compile(pattern) as unknown as { re2Input: { prog: { numInst(): number } } }).re2Input;
    const [estimate, real] = [estimatePatternSize(pattern), prog.numInst()];
    assert.ok(estimate >= real * 0.6 && estimate <= real * 25 + 10, `${estimate} for ${real}`);
  });
}

test('checkPattern refuses what is too large to be compiled, in the words of Go', async () => {
  await loadPatternEngine();
  for (const pattern of ['a'.repeat(10_001), 'a{1000}'.repeat(25), '((a{10}){10}){10}'.repeat(30)]) {
    assert.equal(checkPattern(pattern), `error parsing regexp: expression too large: \`${pattern}\``);
  }
  assert.equal(checkPattern('a{1,900}'), undefined);
});
