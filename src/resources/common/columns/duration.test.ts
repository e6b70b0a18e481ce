// Durations and ages as tables print them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, formatHumanDuration } from './duration.ts';

test('formatHumanDuration prints two units while they are small', () => {
  const seconds: readonly (readonly [number, string])[] = [
    [-2, '<invalid>'], [-1, '0s'], [0, '0s'], [119, '119s'], [120, '2m'], [125, '2m5s'], [600, '10m'], [10_799, '179m'], [10_800, '3h'], [12_000, '3h20m'],
    [28_800, '8h'], [172_799, '47h'], [172_800, '2d'], [187_200, '2d4h'], [691_200, '8d'], [63_072_000, '2y'], [66_528_000, '2y40d'], [252_288_000, '8y'],
  ];
  for (const [duration, text] of seconds) assert.equal(formatHumanDuration(duration * 1000), text, String(duration));
});

test('formatAge does not know the age of what has no time', () => {
  assert.equal(formatAge(undefined, 0), '<unknown>');
  assert.equal(formatAge('2024-01-01T00:00:00Z', Date.parse('2024-01-01T00:05:00Z')), '5m');
});
