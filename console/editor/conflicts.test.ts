// Conflicts that a text would have: fields of other managers with other values; what is left out, added or the same is none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findConflicts } from './conflicts.ts';

const original = 'spec:\n  replicas: 3\n  paused: false\n  ports:\n    - port: 80\n      name: web\nlabels:\n  tier: front\n';
const scaler = { manager: 'scaler', fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:ports': { 'k:{"port":80}': { '.': {}, 'f:name': {} } } } } };
const other = { manager: 'other', fieldsV1: { 'f:spec': { 'f:replicas': {} }, 'f:labels': { '.': {}, 'f:tier': {} } } };

function conflictsOf(text: string): Record<string, readonly string[]> {
  return Object.fromEntries(findConflicts(original, text, [scaler, other]).map(({ from, to, managers }) => [text.slice(from, to), managers]));
}

test('findConflicts names the managers of each value that is another one', () => {
  assert.deepEqual(conflictsOf(original), {});
  assert.deepEqual(conflictsOf(original.replace('3', '5').replace('false', 'true')), { 'replicas: 5': ['scaler', 'other'] });
  assert.deepEqual(conflictsOf(original.replace('name: web', 'name: http')), { 'name: http': ['scaler'] });
  assert.deepEqual(conflictsOf('spec:\n  ports:\n    - {port: 80}\n    - {port: 81, name: new}\nlabels: {tier: front, more: x}\n'), {});
  assert.deepEqual(conflictsOf('labels: ['), {});
});
