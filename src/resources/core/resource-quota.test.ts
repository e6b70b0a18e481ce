// Amounts beyond an int64, as the reference counts them, and errors of a quota with very many scopes, which stay bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '../kinds.suite.ts';

test('validateResourceQuota reports of very many scopes what fits into an answer', () => {
  const count = 20_000;
  const hard = { cpu: '1', memory: '1' };
  const scopes = Array.from({ length: count }, () => 'BestEffort');
  const matchExpressions = scopes.map((scopeName) => ({ scopeName, operator: 'Exists' }));
  for (const spec of [{ hard, scopes }, { hard, scopeSelector: { matchExpressions } }]) {
    const told = create('/ResourceQuota', { spec });
    assert.ok(told.length > 0 && told.join('').length < 8 * 1024 * 1024);
    assert.match(told[0] as string, /unsupported scope applied to resource$/);
  }
});

test('validateResourceQuota refuses the amounts whose thousandths overflow to a fraction, as the reference does', () => {
  const whole = ['9223372036854775', '9223372036854775807', '9223372036854775808', '10E', '9E', '8Ei', '1e20', '1e30', '10000P', '1e16', '0.9999'];
  for (const pods of whole) assert.deepEqual(create('/ResourceQuota', { spec: { hard: { pods } } }), [], pods);
  for (const pods of ['9223372036854776', '99999999999999999999', '1Ei', '1500m']) {
    assert.deepEqual(create('/ResourceQuota', { spec: { hard: { pods } } }), [`spec.hard[pods]: Invalid value: "${pods}": must be an integer`]);
  }
  assert.deepEqual(create('/ResourceQuota', { spec: { hard: { 'x.com/a': '500m' } } }), ['spec.hard[x.com/a]: Invalid value: "500m": must be an integer']);
});

test('validateResourceQuota takes a whole amount in the form that it is stored in, whatever its size', () => {
  assert.deepEqual(create('/ResourceQuota', { spec: { hard: { pods: '100E' } } }), []);
  assert.deepEqual(create('/ResourceQuota', { spec: { hard: { pods: '100m' } } }), ['spec.hard[pods]: Invalid value: "100m": must be an integer']);
});
