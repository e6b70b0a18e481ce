// Errors in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invalid, notFound } from './status.ts';

test('messages write names as Go quotes them', () => {
  assert.equal(invalid({ group: '', kind: 'Pod' }, 'a\\b\u00a0', []).status.message, 'Pod "a\\\\b\\u00a0" is invalid');
  assert.equal(notFound({ group: 'apps', resource: 'deployments' }, 'a"b').status.message, 'deployments.apps "a\\"b" not found');
});
