// Timestamps and durations: texts, arithmetic, parts, zones, ranges.
import { testRows } from '../rows.suite.ts';

const noTimestamp = '?invalid timestamp argument';
const noDuration = '?invalid duration argument';
const at = "timestamp('2023-02-25T23:30:45.123456789Z')";

testRows('timestamp reads RFC 3339', [
  ["timestamp('2020-01-02T03:04:05Z')", 'timestamp(2020-01-02T03:04:05Z)'], ["timestamp('2020-01-02T03:04:05.120Z')", 'timestamp(2020-01-02T03:04:05.12Z)'],
  ["timestamp('2020-01-02T03:04:05+02:30')", 'timestamp(2020-01-02T03:04:05+02:30)'], ["timestamp('2020-02-30T00:00:00Z')", noTimestamp],
  ["timestamp('2020-01-02')", noTimestamp],
  ["timestamp('2020-01-02T24:00:00Z')", noTimestamp], ['timestamp(0)', 'timestamp(1970-01-01T00:00:00Z)'], ['timestamp(-62135596801)', noTimestamp],
  ["timestamp('0001-01-01T00:00:00Z')", 'timestamp(0001-01-01T00:00:00Z)'], [`int(${at})`, '1677367845'],
  [`string(timestamp('2020-01-02T03:04:05Z'))`, '"2020-01-02T03:04:05Z"'],
  ["timestamp('x' + 'y')", "!type conversion error from 'string' to 'google.protobuf.Timestamp'"],
  ["timestamp('2020-01-01T00:00:00Z') == timestamp('2020-01-01T01:00:00+01:00')", 'true'],
]);

testRows('duration reads what Go reads', [
  ["duration('1h30m')", 'duration(5400s)'], ["duration('-1.5s')", 'duration(-1.5s)'], ["duration('0')", 'duration(0s)'],
  ["duration('+0')", 'duration(0s)'], ["duration('1ns')", 'duration(0.000000001s)'],
  ["duration('1us') == duration('1µs')", 'true'], ["duration('.5s')", 'duration(0.5s)'], ["duration('1.s')", 'duration(1s)'],
  ["duration('00000000000000000000001s')", 'duration(1s)'],
  ["duration('1')", noDuration], ["duration('')", noDuration], ["duration('s')", noDuration], ["duration('.s')", noDuration],
  ["duration('1h-1m')", noDuration], ["duration('1 h')", noDuration],
  ["duration('2562047h47m16.854775807s')", 'duration(9223372036.854775807s)'], ["duration('2562047h47m16.854775808s')", noDuration],
  ["duration('-2562047h47m16.854775808s')", 'duration(-9223372036.854775808s)'], ["duration('0.3333333333333333333333h')", 'duration(1200s)'],
]);

testRows('arithmetic', [
  [`${at} - duration('1s') < ${at}`, 'true'], ["timestamp('2020-01-01T00:00:01Z') - timestamp('2020-01-01T00:00:00Z')", 'duration(1s)'],
  ["duration('1m') + timestamp('2020-01-01T00:00:00Z')", 'timestamp(2020-01-01T00:01:00Z)'], ["duration('1m') - duration('2m')", 'duration(-60s)'],
  ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", '!timestamp overflow'], ["duration('2562047h') + duration('2562047h')", '!integer overflow'],
  ["timestamp('2024-01-01T00:00:00Z') - timestamp('0001-01-01T00:00:00Z')", '!integer overflow'],
  ["duration('1s') < duration('2s')", 'true'], ["string(duration('90m'))", '"5400s"'], ["int(duration('1s'))", '1000000000'],
]);

testRows('parts of a date', [
  [`${at}.getFullYear()`, '2023'], [`${at}.getMonth()`, '1'], [`${at}.getDate()`, '25'], [`${at}.getDayOfMonth()`, '24'], [`${at}.getDayOfWeek()`, '6'],
  [`${at}.getDayOfYear()`, '55'], [`${at}.getHours()`, '23'], [`${at}.getMinutes()`, '30'], [`${at}.getSeconds()`, '45'], [`${at}.getMilliseconds()`, '123'],
  [`${at}.getHours('Asia/Kolkata')`, '5'], [`${at}.getDate('Asia/Kolkata')`, '26'], [`${at}.getHours('-02:00')`, '21'],
  [`${at}.getMinutes('02:15')`, '45'], [`${at}.getHours('UTC')`, '23'],
  [`${at}.getHours('Nowhere/Town')`, '!unknown time zone Nowhere/Town'], ["duration('90m').getHours()", '1'], ["duration('90m').getMinutes()", '90'],
  ["duration('90m').getSeconds()", '5400'], ["duration('1.234s').getMilliseconds()", '1234'],
]);
