// Lists and sets, function by function.
import { testRows } from '../rows.suite.ts';

testRows("Kubernetes' list functions", [
  ['[1, 2, 2, 3].isSorted()', 'true'], ['[3, 1].isSorted()', 'false'], ['[].isSorted()', 'true'], ["['a', 'b'].isSorted()", 'true'],
  ['[1, 2, 3].sum()', '6'], ['[1.5, 2.0].sum()', '3.5'], ['[1u, 2u].sum()', '3u'], ["[duration('1s'), duration('2s')].sum()", 'duration(3s)'],
  ['[9223372036854775807, 1].sum()', '!integer overflow'], ['[1, 3, 2].max()', '3'], ['[1, 3, 2].min()', '1'], ["['b', 'a'].min()", '"a"'],
  ['[].max()', '!max called on empty list'], ['[].min()', '!min called on empty list'], ['[1, 2, 1].indexOf(1)', '0'], ['[1, 2, 1].lastIndexOf(1)', '2'],
  ['[1].indexOf(2)', '-1'], ['[1].lastIndexOf(2)', '-1'], ["[[1], [2]].indexOf([2])", '1'],
]);

testRows("cel-go's list functions", [
  ['[1, 2, 3, 4].slice(1, 3)', '[2, 3]'], ['[1].slice(0, 0)', '[]'], ['[1].slice(0, 2)', '!cannot slice(0, 2), list is length 1'],
  ['[1].slice(1, 0)', '!cannot slice(1, 0), start index must be less than or equal to end index'],
  ['[1].slice(-1, 0)', '!cannot slice(-1, 0), negative indexes not supported'], ['[[1], [2, 3]].flatten()', '[1, 2, 3]'],
  ['[dyn(1), dyn([dyn(2), dyn([3])])].flatten(1)', '[1, 2, [3]]'], ['[dyn(1), dyn([dyn(2), dyn([3])])].flatten(2)', '[1, 2, 3]'],
  ['[[1]].flatten(-1)', '!level must be non-negative'], ['lists.range(4)', '[0, 1, 2, 3]'],
  ['lists.range(0)', '[]'], ['[1, 2, 3].reverse()', '[3, 2, 1]'], ['[1, 2, 1, 3, 2].distinct()', '[1, 2, 3]'], ['[[1], [1], [2]].distinct()', '[[1], [2]]'],
  ['[3, 1, 2].sort()', '[1, 2, 3]'], ["['b', 'a'].sort()", '["a", "b"]'], ['[].sort()', '[]'],
  ["['bbb', 'a', 'cc'].sortBy(s, s.size())", '["a", "cc", "bbb"]'], ["[{'n': 2}, {'n': 1}].sortBy(e, e.n)", '[{"n": 1}, {"n": 2}]'],
  ['[[1][2]].sort()', '!index out of bounds: 2'], ['[1, [1][2]].distinct()', '!index out of bounds: 2'],
  ['[1, 2].first()', 'optional(1)'], ['[1, 2].last()', 'optional(2)'], ['[].first()', 'none'],
]);

testRows('sets', [
  ['sets.contains([1, 2, 3], [3, 1])', 'true'], ['sets.contains([1], [2])', 'false'], ['sets.contains([1], [])', 'true'], ['sets.contains([], [1])', 'false'],
  ['sets.contains([dyn(1)], [dyn(1.0), dyn(1u)])', 'true'], ['sets.equivalent([1, 2], [2, 1, 1])', 'true'], ['sets.equivalent([1], [1, 2])', 'false'],
  ['sets.intersects([1, 2], [2, 3])', 'true'], ['sets.intersects([1], [2])', 'false'], ['sets.intersects([[1]], [[1]])', 'true'],
]);

testRows('operators and access', [
  ['[1, 2] + [3]', '[1, 2, 3]'], ['2 in [1, 2]', 'true'], ["'a' in ['b']", 'false'],
  ['1 in [1.0]', '?found no matching overload for \'@in\' applied to \'(int, list(double))\''],
  ['dyn(1) in [1.0]', 'true'], ['dyn(1.5) in [1.5, 2.5]', 'true'], ['null in [null]', 'true'], ['[1, 2][1]', '2'], ['[1][1]', '!index out of bounds: 1'],
  ['[1][dyn(0.0)]', '1'], ['[1][dyn(0u)]', '1'], ['[1][dyn(0.5)]', '!unsupported index value 0.5 in list'],
  ['[1] == [1.0]', '?found no matching overload for \'_==_\' applied to \'(list(int), list(double))\''],
  ['dyn([1]) == [1.0]', 'true'], ['[1, 2] == [2, 1]', 'false'], ['size([1, 2])', '2'], ['[].size()', '0'], ['[1][?3]', 'none'],
  ["[1, 'a']", "?expected type 'int' but found 'string'"],
]);
