// Declared variables: compiled once, evaluated for many values, with types and estimates from their schemas.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from './compile.ts';
import { PER_CALL_LIMIT } from './limits.ts';
import { CelSyntaxError } from './parse/source.ts';
import { declareScope } from './scope.ts';

const at = { type: 'string', format: 'date-time' };
const schema = { type: 'object', properties: { replicas: { type: 'integer' }, name: { type: 'string', maxLength: 100 }, at } };
const scope = declareScope({ object: schema, oldObject: schema, request: undefined });

test('declareScope types variables by their schemas, and leaves the others dynamic', () => {
  assert.equal(compileExpression('object.replicas', scope.environment).resultType.kind, 'int');
  assert.equal(compileExpression('object.at', scope.environment).resultType.kind, 'timestamp');
  assert.equal(compileExpression('request.anything', scope.environment).resultType.kind, 'dyn');
  assert.throws(() => compileExpression('object.absent', scope.environment), CelSyntaxError);
  assert.throws(() => compileExpression('object.name > 1', scope.environment), /found no matching overload for '_>_' applied to '\(string, int\)'/);
});

test('bind gives the values of one evaluation; a compiled expression is evaluated for as many as there are', () => {
  const { program } = compileExpression('object.replicas > (oldObject == null ? 0 : oldObject.replicas) && request.user == "alice"', scope.environment);
  const run = (values: Record<string, unknown>): unknown => program.evaluate(scope.bind(values), PER_CALL_LIMIT).value;
  const request = { user: 'alice' };
  assert.equal(run({ object: { replicas: 1 }, request }), true);
  assert.equal(run({ object: { replicas: 1 }, oldObject: { replicas: 2 }, request }), false);
  assert.equal(run({ object: { replicas: 1 }, request: { user: 'bob' } }), false);
});

test('estimateCost bounds what evaluations cost by the sizes of the schemas', () => {
  const bounded = compileExpression("object.name.contains('abc')", scope.environment);
  assert.deepEqual(bounded.estimateCost(scope.sizes), { min: 2, max: 42 });
  assert.ok(bounded.estimateCost().max > 1e18);
  const { cost, exceeded } = bounded.program.evaluate(scope.bind({ object: { name: 'x'.repeat(100) } }), PER_CALL_LIMIT);
  assert.deepEqual({ cost, exceeded }, { cost: 12, exceeded: false });
});
