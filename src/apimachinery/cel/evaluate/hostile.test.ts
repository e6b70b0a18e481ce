// Expressions that grow without being charged for it: they stop at the limit before the large value is built. Steps and sizes are counted, not timed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '../compile.ts';
import { extendEnvironment } from '../check/environment.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { PER_CALL_LIMIT } from '../limits.ts';
import { stringType } from '../values/types.ts';
import { CelError } from '../values/values.ts';

const env = extendEnvironment(kubernetesEnvironment, { variables: new Map([['text', stringType]]) });
const text = 'a'.repeat(100);

function run(expression: string): unknown {
  const { value } = compileExpression(expression, env).program.evaluate(() => text, PER_CALL_LIMIT);
  return value instanceof CelError ? value.message : value;
}

/** `step` applied to x, which starts as `from`, so many times. */
const repeat = (from: string, step: string, times: number): string => {
  let expression = from;
  for (let i = 0; i < times; i++) expression = `[${expression}].map(x, ${step})[0]`;
  return expression;
};
const tooCostly = 'operation cancelled: actual cost limit exceeded';

test('texts that double stop at the limit', () => assert.equal(run(`${repeat('text', 'x + x', 24)} != ""`), tooCostly));
test('lists that double stop at the limit, although adding lists costs next to nothing', () => {
  assert.equal(run(`${repeat('[1, 2, 3, 4]', 'x + x', 24)}.size() > 0`), tooCostly);
});
test('replacements that blow up stop before they are made', () => {
  assert.equal(run('text.replace("", text).replace("", text).replace("", text) != ""'), tooCostly);
  assert.equal(run(`${repeat('text', 'x.replace("a", x)', 8)} != ""`), tooCostly);
});
test('joins and formats that blow up stop before they are made', () => {
  assert.equal(run(`[${repeat('text', 'x + x', 12)}].map(x, [${Array(40).fill('x').join(', ')}].join(x).size()) == []`), tooCostly);
  assert.equal(run(`[${repeat('text', 'x + x', 12)}].map(x, "${'%s'.repeat(40)}".format([${Array(40).fill('x').join(', ')}]).size()) == []`), tooCostly);
});
test('what fits is built', () => {
  assert.equal(run('text.replace("a", "bb").size()'), 200);
  assert.equal(run(`${repeat('text', 'x + x', 8)}.size()`), 25_600);
  assert.equal(run('["a", "b"].join(text).size()'), 102);
  assert.equal(run('([1, 2] + [3]).size()'), 3);
});
