// Expressions that are compiled in steps come to what they come to at once: value, type, estimate and the report of problems.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Steps, finishSteps, resumableSteps } from '../../base/index.ts';
import { loadPatternEngine } from '../schema/validate/pattern.ts';
import { validateLiterals } from './check/validate-literals.ts';
import { compileExpression } from './compile.ts';
import { kubernetesEnvironment } from './kubernetes.ts';
import { PER_CALL_LIMIT } from './limits.ts';
import { CelSyntaxError } from './parse/source.ts';
import { parseExpression } from './parse/parse.ts';
import { showValue } from './rows.suite.ts';
import { formatType } from './values/types.ts';

const many = (text: string, separator: string, times: number): string => Array.from({ length: times }, () => text).join(separator);

/** Everything that can be seen of an expression. */
function show(text: string): string {
  try {
    const compiled = compileExpression(text, kubernetesEnvironment);
    const { min, max } = compiled.estimateCost();
    const { value, cost } = compiled.program.evaluate(() => undefined, PER_CALL_LIMIT);
    return `${showValue(value)} ${cost}: ${formatType(compiled.resultType)}, ${min} to ${max}, ${compiled.program.problem}`;
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

const texts = [
  '1 + 2 * 3 - [4, 5][1]', '{"a": [1, 2], "b": []}.map(k, k + "x")', '[[], [1], []].map(x, x.map(y, y * 2))', '[[], [1], ["a"], [dyn(1)]]',
  '[1, 2, 3].all(x, [x].exists(y, y == x && x > 0)) ? "yes" : "no"', '[3, 1, 2].map(x, {"k": x}).filter(m, m.k > 1).size()', 'int("1") + int("2")',
  '[duration("1s"), duration("2s")].map(d, string(d)).join(",")', 'quantity("1Ki").isGreaterThan(quantity("1k")) || ip("::1").isLoopback()',
  '[?optional.of(1), 2, ?optional.none()]', '{1: 2, ?3: optional.of(4)}[3]', '"a.b".split(".").map(x, x.upperAscii())', '!!true && !false',
  '[1, "a"]', '[1, x, y.z, f(2)]', 'x.all(y, y > 0) && z.exists(a, b)', '[1].map(x, x.y)', '[1].all(x, undefined)', 'has(a)', '[1, 2',
  '1 + + 2', '[(1, 2]', '{"a" 1}', 'reserved(in, if)', 'namespace(1) + 2', '[{}, {"a": 1}.?b]', '"%s %d".format([1, "a"])', '"a".matches("(")', 'duration("x")',
  '[int("x"), 2]', 'type(1) == int ? [type("a")] : []', many('true', '&&', 40), many('[1].all(x, x > 0)', '||', 10), `[${many('[1].map(x, x)', ',', 10)}]`,
  `${'['.repeat(30)}1${']'.repeat(30)}`, `${many('(', '', 260)}1`, many('1', '+', 300), many('"a"', '+', 20), '"unterminated', 'a @ b # c',
];

const countSteps = (steps: Steps<unknown>): number => {
  let taken = 1;
  while (steps.next().done !== true) taken++;
  return taken;
};

describe('an expression that is compiled in steps', () => {
  before(loadPatternEngine);

  for (const text of texts) {
    it(`comes to the same: ${text.slice(0, 60)}`, () => {
      const expected = show(text);
      for (const parts of [1, 2, 3, 7, 50]) assert.equal(finishSteps(resumableSteps(() => show(text), parts)), expected, `in steps of ${parts} parts`);
    });
  }

  for (const [what, text] of [
    ['a chain', many('true', '&&', 16_000)], ['a list', `[${many('1', ',', 40_000)}]`], ['macros', `[${many('[].map(x,x)', ',', 8000)}]`],
    ['one macro around all', `[1].all(x, [${many('x', ',', 40_000)}].size() > 0)`],
  ] as const) {
    it(`takes steps by its length: ${what}`, () => {
      assert.ok(countSteps(resumableSteps(() => compileExpression(text, kubernetesEnvironment))) > 100);
    });
  }

  it('looks at its literals in steps', () => {
    const parsed = parseExpression(`[${many('1', ',', 40_000)}]`, kubernetesEnvironment);
    assert.ok(countSteps(resumableSteps(() => validateLiterals(parsed.root, new Map(), assert.fail))) > 30);
  });
});
