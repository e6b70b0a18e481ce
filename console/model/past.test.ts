// The revision that a time stands for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRevision, timeOf } from './index.ts';

test('findRevision is the last change made by then; changes without a time belong to those before them', () => {
  const at = (minute: number): string => `2026-01-01T14:0${minute}:00Z`;
  const changes = [{ revision: 9, time: at(6) }, { revision: 5, time: at(3) }, { revision: 7, time: '' }, { revision: 8, time: at(5) }];
  assert.deepEqual([2, 3, 4, 5, 9].map((minute) => findRevision(changes, 4, at(minute))), [4, 7, 7, 8, 9]);
  assert.equal(timeOf({ creationTimestamp: at(1), managedFields: [{ time: at(3) }, { time: at(2) }] }), at(3));
});
