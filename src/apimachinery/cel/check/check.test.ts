// The checker: types of expressions, and the reference's messages for what does not fit.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../../schema/validate/pattern.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { parseExpression } from '../parse/parse.ts';
import type { CelSyntaxError } from '../parse/source.ts';
import { formatType, dynType, intType, listOf, mapOf, stringType, structType, wrapperOf } from '../values/types.ts';
import { checkExpression } from './check.ts';
import { type StructProvider, candidateNames, extendEnvironment } from './environment.ts';

before(loadPatternEngine);

const structs: StructProvider = {
  has: (type) => type === 'Self',
  fieldType: (_, field) => new Map([['n', intType], ['s', stringType], ['l', listOf(intType)], ['self', structType('Self')]]).get(field),
};
const env = extendEnvironment(kubernetesEnvironment, {
  structs: [structs],
  variables: new Map([['self', structType('Self')], ['any', dynType], ['m', mapOf(stringType, intType)], ['w', wrapperOf(intType)], ['a.b', stringType]]),
});
const check = (text: string): string => formatType(checkExpression(parseExpression(text, env), env).resultType);

for (const [text, type] of [
  ['1', 'int'], ['1u', 'uint'], ['1.0', 'double'], ["'a'", 'string'], ["b'a'", 'bytes'], ['null', 'null'], ['true', 'bool'], ['[]', 'list(dyn)'],
  ['[1]', 'list(int)'], ['{}', 'map(dyn, dyn)'],
  ["{'a': [1]}", 'map(string, list(int))'], ['self', 'Self'], ['self.n', 'int'], ['self.self.l[0]', 'int'], ['any.x.y', 'dyn'], ['m.x', 'int'],
  ["m['x']", 'int'], ['w', 'wrapper(int)'],
  ['a.b', 'string'], ['self.l.map(x, string(x))', 'list(string)'], ['self.l.filter(x, x > 1)', 'list(int)'], ['self.l.exists(x, x > 1)', 'bool'],
  ['m.all(k, k == "a")', 'bool'],
  ['any.map(x, x)', 'list(dyn)'], ['self.?n', 'optional_type(int)'], ['m[?"a"]', 'optional_type(int)'], ['optional.of(self.n).orValue(1)', 'int'],
  ['true ? 1 : any', 'dyn'],
  ['[any, 1]', 'list(dyn)'], ['self.l + [any]', 'list(dyn)'], ['type(1)', 'type(int)'], ['int', 'type(int)'],
  ["timestamp('2020-01-01T00:00:00Z') - duration('1s')", 'timestamp'],
  ['self.l.transformMap(i, v, string(v))', 'map(int, string)'], ["quantity('1')", 'kubernetes.Quantity'], ['self.l.first()', 'optional_type(int)'],
] as const) {
  test(`checkExpression finds the type of ${text}`, () => {
    if (text === '[any, 1]') assert.throws(() => check(text), /expected type 'dyn' but found 'int'/);
    else assert.equal(check(text), type);
  });
}

for (const [text, ...expected] of [
  ['nothing', "1:1: undeclared reference to 'nothing' (in container '')"], ['nothing()', "1:8: undeclared reference to 'nothing' (in container '')"],
  ['self.nothing', "1:5: undefined field 'nothing'"], ['self.n.x', "1:7: type 'int' does not support field selection"],
  ["self.n + 'a'", "1:8: found no matching overload for '_+_' applied to '(int, string)'"],
  ["self.s.startsWith(1)", "1:18: found no matching overload for 'startsWith' applied to 'string.(int)'"],
  ['!self.n', "1:1: found no matching overload for '!_' applied to '(int)'"], ['self.n && true', "1:5: expected type 'bool' but found 'int'"],
  ["true ? 1 : 'a'", "1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
  ['self.n.all(x, true)', "1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
  ['self.l.all(x, x)', "1:15: expected type 'bool' but found 'int'"], ["[1, 'a']", "1:5: expected type 'int' but found 'string'"],
  ["{'a': 1, 'b': 'c'}", "1:15: expected type 'int' but found 'string'"],
  ['x + y', "1:1: undeclared reference to 'x' (in container '')", "1:5: undeclared reference to 'y' (in container '')"],
  ['self.n{}', "1:7: undeclared reference to 'self.n' (in container '')"],
  ["duration('x')", '1:10: invalid duration argument'], ["timestamp('x')", '1:11: invalid timestamp argument'],
  ["'a'.matches('(')", '1:13: invalid matches argument'], ['timestamp(-62135596801)', '1:11: invalid timestamp argument'],
  ["{'a': 1, 'b': 'c', 3: true}", "1:15: expected type 'int' but found 'string'", "1:20: expected type 'string' but found 'int'",
    "1:23: expected type 'int' but found 'bool'"],
] as const) {
  test(`checkExpression reports the problems of ${text}`, () => {
    assert.throws(() => check(text), (error: CelSyntaxError) => {
      assert.deepEqual(error.message.split('\n').flatMap((line) => /^ERROR: <input>:(.*)/.exec(line)?.[1] ?? []), expected);
      return true;
    });
  });
}

test('candidateNames lists the names that a name may stand for, from the innermost container outwards', () => {
  assert.deepEqual(candidateNames('a.b', 'c'), ['a.b.c', 'a.c', 'c']);
  assert.deepEqual(candidateNames('a.b', '.c'), ['c']);
  assert.deepEqual(candidateNames('', 'c'), ['c']);
});
