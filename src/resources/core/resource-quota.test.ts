// Errors of a quota with very many scopes stay bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '../kinds.suite.ts';

test('validateResourceQuota tells of very many scopes what fits into an answer', () => {
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
