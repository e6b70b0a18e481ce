// What evaluations cost that cel-go does not charge as plain calls: values that nothing uses, and calls that fail. The numbers are cel-go's.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../../schema/validate/pattern.ts';
import { compileExpression } from '../compile.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { PER_CALL_LIMIT } from '../limits.ts';
import type { CelError } from '../values/values.ts';

const rows: readonly (readonly [text: string, cost: number])[] = [
  ['optional.of(1).optMap(i, 5)', 3], ['optional.of(1).optFlatMap(i, optional.of(5))', 3], ["format.uuid().validate('A')", 19],
  ["format.byte().validate('A')", 22], ["format.date().validate('A')", 19], ["format.uri().validate('A')", 277], ['dyn(1).reverse()', 12],
  ["{'a': 1}.transformMap(s, i, int(s))", 6],
];

before(() => loadPatternEngine());
test('evaluate charges a number where the depth of a flatten failed', () => {
  const { cost, value } = compileExpression('[[1]].flatten([1][1])', kubernetesEnvironment).program.evaluate(() => undefined, PER_CALL_LIMIT);
  assert.deepEqual([Number.isFinite(cost), (value as CelError).message], [true, 'index out of bounds: 1']);
});

for (const [text, cost] of rows) {
  test(`evaluate charges ${cost} for ${text}`, () => {
    assert.equal(compileExpression(text, kubernetesEnvironment).program.evaluate(() => undefined, PER_CALL_LIMIT).cost, cost);
  });
}
