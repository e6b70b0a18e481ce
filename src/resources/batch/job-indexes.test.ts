// Lists of indexes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIndexes, findIndexProblem, findOverlap } from './job-indexes.ts';

test('findIndexProblem and findOverlap read lists of indexes', () => {
  assert.equal(findIndexProblem('0,2-4,7', 8), undefined);
  assert.equal(findIndexProblem('3,1', 8), 'non-increasing order, previous: 3, current: 1');
  assert.equal(findIndexProblem('1-2-3', 8),
    'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'');
  assert.equal(findIndexProblem('x', 8), 'cannot convert string to integer for index: "x"');
  assert.equal(findIndexProblem('8', 8), 'too large index: "8"');
  assert.equal(findOverlap('0-2,5', '3,5-6', 8), 5);
  assert.equal(findOverlap('0-2', '3', 8), undefined);
});

test('countIndexes counts, and reads numbers of 63 bits whatever zeros they begin with', () => {
  assert.equal(countIndexes('0,2-4', 8), 4);
  assert.equal(countIndexes(`${'0'.repeat(30)}1`, 8), 1);
  assert.equal(countIndexes('9223372036854775807', 8), 'too large index: "9223372036854775807"');
  assert.equal(countIndexes('9223372036854775808', 8), 'cannot convert string to integer for index: "9223372036854775808"');
});
