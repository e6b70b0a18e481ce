// Maps, comprehensions with one and two variables, and optional values.
import { testRows } from '../rows.suite.ts';

testRows('maps', [
  ["{'a': 1}.a", '1'], ["{'a': 1}['a']", '1'], ["{'a': 1}['b']", '!no such key: b'], ["{'a': 1}.b", '!no such key: b'], ["'a' in {'a': 1}", 'true'],
  ["{'a': null}.a == null", 'true'], ["{'a': null}['a'] == null", 'true'], ["has({'a': null}.a)", 'true'], ["has({'a': dyn(null)}.a.b)", 'false'],
  ["has({'a': 1}.a)", 'true'], ["has({'a': 1}.b)", 'false'], ["{1: 'x'}[dyn(1.0)]", '"x"'], ["{1: 'x'}[dyn(1u)]", '"x"'],
  ["{'a': 1, 'a': 2}", '{"a": 2}'],
  ["size({'a': 1})", '1'], ["{'a': 1} == {'a': 1}", 'true'], ["{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", 'true'], ["{'a': 1} == {'a': 2}", 'false'],
  ['{1.5: 1}', '{1.5: 1}'], ["{'a': {'b': 1}}.a.b", '1'], ["{?'a': optional.none(), ?'b': optional.of(1)}", '{"b": 1}'],
]);

testRows('macros of one variable', [
  ['[1, 2].all(x, x > 0)', 'true'], ['[1, 2].exists(x, x > 1)', 'true'], ['[1, 2].exists_one(x, x > 1)', 'true'], ['[1, 2].existsOne(x, x > 0)', 'false'],
  ['[1, 2].map(x, x * 2)', '[2, 4]'], ['[1, 2, 3].map(x, x > 1, x * 2)', '[4, 6]'], ['[1, 2, 3].filter(x, x > 1)', '[2, 3]'],
  ["{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])", 'true'], ["{'a': 1}.map(k, k)", '["a"]'], ['[1, 0].all(x, 1 / x > 0)', '!division by zero'],
  ['[0, 1].exists(x, 1 / x > 0)', 'true'], ['[1, 2].map(x, [3, 4].map(y, x * y))', '[[3, 4], [6, 8]]'],
  ['[[1, 2], [3]].map(l, l.filter(x, x > 1))', '[[2], [3]]'],
  ['[].exists_one(x, true)', 'false'],
  ["'abc'.all(x, true)", "?expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)"],
  ['[1].all(x.y, true)', '?argument must be a simple name'],
  ['[1].map(x.y, true)', '?argument is not an identifier'], ['[1].all(__result__, true)', '?iteration variable overwrites accumulator variable'],
  ['has(1)', '?invalid argument to has() macro'],
]);

testRows('macros of two variables', [
  ['[5, 6].all(i, v, v == i + 5)', 'true'], ['[5, 6].exists(i, v, i == 1 && v == 6)', 'true'], ['[5, 6].existsOne(i, v, v > 5)', 'true'],
  ['[5, 6].transformList(i, v, i * v)', '[0, 6]'], ['[5, 6].transformList(i, v, i > 0, v)', '[6]'], ["{'a': 1}.transformMap(k, v, v + 1)", '{"a": 2}'],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)", '{"b": 20}'], ["{'a': 'x'}.transformMapEntry(k, v, {v: k})", '{"x": "a"}'],
  ["['a', 'a'].transformMapEntry(i, v, {v: i})", '!insert failed: key a already exists'], ["['a'].transformMapEntry(i, v, i > 0, {v: i})", '{}'],
  ["{'a': 1}.all(k, v, k == 'a' && v == 1)", 'true'], ["{'a': 1}.transformList(k, v, k + string(v))", '["a1"]'],
  ['[1].all(x, x, true)', '?duplicate variable name: x'],
]);

testRows('optional values', [
  ['optional.of(1)', 'optional(1)'], ['optional.none()', 'none'], ['optional.ofNonZeroValue(0)', 'none'], ["optional.ofNonZeroValue('a')", 'optional("a")'],
  ['optional.ofNonZeroValue([])', 'none'], ["optional.ofNonZeroValue(duration('0s'))", 'none'], ['optional.of(1).value()', '1'],
  ['optional.none().value()', '!optional.none() dereference'], ['optional.of(1).hasValue()', 'true'], ['optional.none().orValue(2)', '2'],
  ['optional.of(1).orValue(1 / 0)', '1'], ['optional.none().or(optional.of(3))', 'optional(3)'], ['optional.of(1).or(optional.of(1 / 0))', 'optional(1)'],
  ["{'a': 1}.?a", 'optional(1)'], ["{'a': 1}.?b", 'none'], ["{'a': {'b': 1}}.?a.b", 'optional(1)'], ["{'a': {'b': 1}}.?x.b", 'none'],
  ["{'a': 1}[?'a']", 'optional(1)'],
  ['[1][?0]', 'optional(1)'], ['[[1]][?0][0]', 'optional(1)'], ['optional.of(2).optMap(x, x * 2)', 'optional(4)'], ['optional.none().optMap(x, x)', 'none'],
  ['optional.of(2).optFlatMap(x, optional.of(x + 1))', 'optional(3)'], ['[?optional.none(), ?optional.of(1)]', '[1]'],
  ['optional.unwrap([optional.of(1), optional.none()])', '[1]'], ['[optional.of(1), optional.none()].unwrapOpt()', '[1]'],
  ['optional.of(null).value() == null', 'true'], ["{'a': null}[?'a'].value() == null", 'true'], ['optional.of(dyn(null)).orValue(1) == null', 'true'],
  ['optional.of(1) == optional.of(1)', 'true'], ['optional.none() == optional.of(1)', 'false'], ["has({'a': {'b': 1}}.?a.b)", 'true'],
  ['[?1]', "?expected type 'optional_type(int)' but found 'int'"],
]);
