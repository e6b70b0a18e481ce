// 'text %s'.format([values]): each clause, each type of value, precision, and what does not fit.
import { testRows } from '../rows.suite.ts';

testRows('%s prints any value', [
  ["'%s'.format(['a'])", '"a"'], ["'%s'.format([1])", '"1"'], ["'%s'.format([1u])", '"1"'], ["'%s'.format([1.5])", '"1.5"'],
  ["'%s'.format([true])", '"true"'],
  ["'%s'.format([null])", '"null"'], ["'%s'.format([[1, 'a', [true]]])", '"[1, \\"a\\", [true]]"'], ["'%s'.format([{'b': 2, 'a': 1}])",
  '"{\\"a\\":1, \\"b\\":2}"'],
  ["'%s'.format([{1: [2.5], 0: {'x': null}}])", '"{0:{\\"x\\":null}, 1:[2.500000]}"'], ["'%s'.format([duration('90m')])", '"5400s"'],
  ["'%s'.format([timestamp('2020-01-02T03:04:05.5Z')])", '"2020-01-02T03:04:05.5Z"'], ["'%s'.format([b'abc'])", '"abc"'],
  ["'%s'.format([type('a')])", '"string"'],
  ["'%s'.format([1e20])", '"1e+20"'], ["'%s'.format([double('NaN')])", '"NaN"'], ["'%s'.format([-double('inf')])", '"-Inf"'],
  ["'%s and %s'.format(['a', 'b'])", '"a and b"'],
]);

testRows('%d prints integers', [
  ["'%d'.format([42])", '"42"'], ["'%d'.format([42u])", '"42"'], ["'%d'.format([-9223372036854775808])", '"-9223372036854775808"'],
  ["'%d'.format([1.5])", '?error during formatting: decimal clause can only be used on integers, was given double'],
  ["'%d'.format(['x'])", '?error during formatting: decimal clause can only be used on integers, was given string'],
]);

testRows('%f and %e take a precision', [
  ["'%f'.format([1.5])", '"1.500000"'], ["'%.3f'.format([1.2345])", '"1.234"'], ["'%.0f'.format([1.4])", '"1"'], ["'%.2f'.format([2])",
  '?error during formatting: fixed-point clause can only be used on doubles, was given int'],
  ["'%.1f'.format([-0.25])", '"-0.2"'], ["'%e'.format([1052.032911275])", '"1.052033×10⁰³"'], ["'%.2e'.format([0.00012])", '"1.200000×10⁻⁰⁴"'],
  ["'%f'.format([double('inf')])", '"∞"'], ["'%f'.format(['NaN'])", '"NaN"'],
  ["'%.1001f'.format([1.0])",
  '"1.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"'],
  ["'%.120f'.format([0.5]).size()", '122'], ["'%.120f'.format([0.1]).endsWith('00')", 'true'],
]);

testRows('%b, %o, %x and %X print in other bases', [
  ["'%b'.format([5])", '"101"'], ["'%b'.format([-5])", '"-101"'], ["'%b'.format([true])", '"1"'], ["'%b'.format([5u])", '"101"'],
  ["'%o'.format([8])", '"10"'],
  ["'%x'.format([255])", '"ff"'], ["'%X'.format([255])", '"FF"'], ["'%x'.format(['hi'])", '"6869"'], ["'%X'.format([b'\\xff'])", '"FF"'],
  ["'%b'.format(['x'])", '?error during formatting: only integers and bools can be formatted as binary, was given string'],
  ["'%x'.format([1.5])", '?error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given double'],
]);

testRows('clauses that are wrong', [
  ["'%%'.format([])", '"%"'], ["'100%% %s'.format(['a'])", '"100% a"'], ["'%s'.format([])", '?index 0 out of range'],
  ["'%'.format([1])", '?unexpected end of string'],
  ["'%z'.format([1])", '?could not parse formatting clause: unrecognized formatting clause "z"'], ["'a'.format([1])",
  '?too many arguments supplied to string.format (expected 0, got 1)'],
]);
