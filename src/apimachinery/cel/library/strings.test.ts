// The string extension, function by function. Positions count runes.
import { testRows } from '../rows.suite.ts';

const overload = (name: string, types: string): string => `?found no matching overload for '${name}' applied to '${types}'`;

testRows('charAt gives one rune', [
  ["'abc'.charAt(0)", '"a"'], ["'a😀c'.charAt(1)", '"😀"'], ["'a😀c'.charAt(2)", '"c"'], ["'abc'.charAt(3)", '""'],
  ["'abc'.charAt(4)", '!index out of range: 4'], ["'abc'.charAt(-1)", '!index out of range: -1'], ["''.charAt(0)", '""'],
  ["'abc'.charAt('a')", overload('charAt', 'string.(string)')],
]);

testRows('indexOf finds the first occurrence', [
  ["'hello mellow'.indexOf('')", '0'], ["'hello mellow'.indexOf('ello')", '1'], ["'hello mellow'.indexOf('jello')", '-1'],
  ["'hello mellow'.indexOf('', 2)", '2'], ["'hello mellow'.indexOf('ello', 2)", '7'], ["'hello mellow'.indexOf('ello', 20)", '-1'],
  ["'hello'.indexOf('ello', -1)", '!index out of range: -1'], ["'a😀b'.indexOf('b')", '2'], ["'a😀b😀b'.indexOf('b', 3)", '4'], ["'abc'.indexOf('c', 3)", '-1'],
]);

testRows('lastIndexOf finds the last occurrence', [
  ["'hello mellow'.lastIndexOf('')", '12'], ["'hello mellow'.lastIndexOf('ello')", '7'], ["'hello mellow'.lastIndexOf('jello')", '-1'],
  ["'hello mellow'.lastIndexOf('ello', 6)", '1'], ["'hello mellow'.lastIndexOf('ello', 20)", '-1'],
  ["'hello'.lastIndexOf('l', -1)", '!index out of range: -1'], ["'😀b😀b'.lastIndexOf('b')", '3'], ["'abc'.lastIndexOf('abc', 0)", '0'],
]);

testRows('substring counts runes', [
  ["'tacocat'.substring(4)", '"cat"'], ["'tacocat'.substring(0, 4)", '"taco"'], ["'a😀b'.substring(1, 2)", '"😀"'], ["'abc'.substring(3)", '""'],
  ["'abc'.substring(4)", '!index out of range: 4'], ["'abc'.substring(-1)", '!index out of range: -1'], ["'abc'.substring(1, 5)", '!index out of range: 5'],
  ["'abc'.substring(2, 1)", '!invalid substring range. start: 2, end: 1'], ["'abc'.substring(1, 1)", '""'],
]);

testRows('replace replaces all, or the first so many', [
  ["'hello hello'.replace('he', 'we')", '"wello wello"'], ["'hello hello'.replace('he', 'we', -1)", '"wello wello"'],
  ["'aa'.replace('a', 'b', 9223372036854775807)", '"bb"'], ["'aa'.replace('', '-', 9223372036854775807)", '"-a-a-"'],
  ["'hello hello'.replace('he', 'we', 1)", '"wello hello"'], ["'hello hello'.replace('he', 'we', 0)", '"hello hello"'],
  ["'ab'.replace('', '-')", '"-a-b-"'], ["'ab'.replace('', '-', 2)", '"-a-b"'], ["'aaa'.replace('a', '')", '""'], ["'abc'.replace('x', 'y')", '"abc"'],
]);

testRows('split and join', [
  ["'a,b,c'.split(',')", '["a", "b", "c"]'], ["'a,b,c'.split(',', 0)", '[]'], ["'a,b,c'.split(',', 1)", '["a,b,c"]'],
  ["'a,b,c'.split(',', 2)", '["a", "b,c"]'], ["'a,b,c'.split(',', -1)", '["a", "b", "c"]'], ["'a😀'.split('')", '["a", "😀"]'], ["''.split(',')", '[""]'],
  ["['x', 'y'].join()", '"xy"'], ["['x', 'y'].join('-')", '"x-y"'], ["[].join('-')", '""'], ["[1].join()", overload('join', 'list(int).()')],
]);

testRows('lowerAscii, upperAscii, trim and quote', [
  ["'TacoCÆt'.lowerAscii()", '"tacocÆt"'], ["'TacoCÆt xii'.upperAscii()", '"TACOCÆT XII"'], ["'ABC'.lowerAscii()", '"abc"'], ["'abc'.upperAscii()", '"ABC"'],
  [String.raw`' \t\n\f\r trim \u00a0\u3000'.trim()`, '"trim"'], ["'   '.trim()", '""'], ["''.trim()", '""'], ["'a b'.trim()", '"a b"'],
  [String.raw`strings.quote('a"b\n\\')`, String.raw`"\"a\\\"b\\n\\\\\""`], ["strings.quote('')", String.raw`"\"\""`],
]);

testRows('contains, startsWith, endsWith, size and +', [
  ["'abc'.contains('b')", 'true'], ["'abc'.contains('')", 'true'], ["'abc'.startsWith('ab')", 'true'], ["'abc'.endsWith('bc')", 'true'],
  ["'abc'.endsWith('a')", 'false'], ["size('a😀')", '2'], ["'é'.size()", '1'], ["'a' + 'b'", '"ab"'], ["'a' < 'b'", 'true'], ["'\\uffff' < '😀'", 'true'],
]);
