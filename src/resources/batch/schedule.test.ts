// Schedules as the reference's parser reads them.
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import { findScheduleProblem, isTimeZone } from './schedule.ts';

const problems: readonly (readonly [string, string | undefined])[] = [
  ['*/5 * * * *', undefined], ['0 0 1,15 jan-mar MON-fri', undefined], ['@daily', undefined], ['@every 1h30m', undefined], ['TZ=UTC * * * * *', undefined],
  ['every day', 'expected exactly 5 fields, found 2: [every day]'], ['61 * * * *', 'end of range (61) above maximum (59): 61'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'], ['5-2 * * * *', 'beginning of range (5) beyond end of range (2): 5-2'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'], ['1-2-3 * * * *', 'too many hyphens: 1-2-3'], ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'], ['@never', 'unrecognized descriptor: @never'],
];

for (const [schedule, problem] of problems) {
  test(`findScheduleProblem says of ${JSON.stringify(schedule)}: ${problem ?? 'nothing'}`, () => assert.equal(findScheduleProblem(schedule), problem));
}

test('findScheduleProblem answers whatever it is given', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.stringMatching(/^([-*/,0-9?]{1,6} ){4}[-*/,0-9?]{1,6}$/)), (text) => {
    const answer = findScheduleProblem(text);
    assert.ok(answer === undefined || answer !== '');
  }));
});

test('isTimeZone knows zones by their names', () => {
  assert.deepEqual(['UTC', 'Europe/Berlin', 'Moon/Base', '../x'].map(isTimeZone), [true, true, false, false]);
});
