// Expressions and texts that would take very long: they stop at the limit before a large value is built, or are read in one pass. Work is counted,
// not timed: without the bounds these tests take hours.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../../schema/validate/pattern.ts';
import { compileExpression } from '../compile.ts';
import { extendEnvironment } from '../check/environment.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { PER_CALL_LIMIT } from '../limits.ts';
import { declareType, declaredStructs } from '../schema/declared.ts';
import { fromDeclared } from '../schema/json-values.ts';
import { stringType } from '../values/types.ts';
import { CelError } from '../values/values.ts';

before(loadPatternEngine);

const env = extendEnvironment(kubernetesEnvironment, { variables: new Map([['text', stringType]]) });
const text = 'a'.repeat(100);

function run(expression: string): unknown {
  const { value } = compileExpression(expression, env).program.evaluate(() => text, PER_CALL_LIMIT);
  return value instanceof CelError ? value.message : value;
}

/** `step` applied to x, which starts as `from`, so many times. */
const repeat = (from: string, step: string, times: number): string => {
  let expression = from;
  for (let i = 0; i < times; i++) expression = `[${expression}].map(x, ${step})[0]`;
  return expression;
};
const tooCostly = 'operation cancelled: actual cost limit exceeded';

test('texts that double stop at the limit', () => assert.equal(run(`${repeat('text', 'x + x', 24)} != ""`), tooCostly));
test('lists that double stop at the limit, although adding lists costs next to nothing', () => {
  assert.equal(run(`${repeat('[1, 2, 3, 4]', 'x + x', 24)}.size() > 0`), tooCostly);
});
test('replacements that blow up stop before they are made', () => {
  assert.equal(run('text.replace("", text).replace("", text).replace("", text) != ""'), tooCostly);
  assert.equal(run(`${repeat('text', 'x.replace("a", x)', 8)} != ""`), tooCostly);
});
test('joins and formats that blow up stop before they are made', () => {
  assert.equal(run(`[${repeat('text', 'x + x', 12)}].map(x, [${Array(40).fill('x').join(', ')}].join(x).size()) == []`), tooCostly);
  assert.equal(run(`[${repeat('text', 'x + x', 12)}].map(x, "${'%s'.repeat(40)}".format([${Array(40).fill('x').join(', ')}]).size()) == []`), tooCostly);
});
test('what fits is built', () => {
  assert.equal(run('text.replace("a", "bb").size()'), 200);
  assert.equal(run(`${repeat('text', 'x + x', 8)}.size()`), 25_600);
  assert.equal(run('["a", "b"].join(text).size()'), 102);
  assert.equal(run('([1, 2] + [3]).size()'), 3);
});

const LONG = 300_000;
const data: Record<string, unknown> = {
  text: 'a'.repeat(LONG), list: Array.from({ length: 20_000 }, (_, i) => i), set: Array.from({ length: 20_000 }, (_, i) => `k${i}`),
  map: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v'])),
};
const declared = declareType({
  type: 'object',
  properties: {
    text: { type: 'string' }, list: { type: 'array', items: { type: 'integer' } }, map: { type: 'object', additionalProperties: { type: 'string' } },
    set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  },
}, { root: false, name: 'selfType' })!;
const selfEnvironment = extendEnvironment(kubernetesEnvironment, { structs: [declaredStructs(declared)], variables: new Map([['self', declared.type]]) });

function runOn(value: object, expression: string): { result: unknown; work: number } {
  const self = fromDeclared(value, declared);
  const { value: found, work } = compileExpression(expression, selfEnvironment).program.evaluate(() => self, PER_CALL_LIMIT);
  return { result: found instanceof CelError ? found.message : found, work };
}

/** A list in which one text can be reached along 2^n paths. */
const nested = (depth: number): string => repeat("['a']", '[dyn(x), dyn(x)]', depth);

for (const expression of [
  `${nested(40)} == ${nested(40)}`, `${nested(40)} in [${nested(40)}]`, `'%s'.format([${nested(40)}]) == ''`, `[${nested(40)}].indexOf(${nested(40)}) == 0`,
  `${nested(40)}.flatten(50).size() == 0`, `sets.contains([${nested(40)}], [${nested(40)}])`, `[${nested(40)}, ${nested(40)}].distinct().size() == 1`,
]) test(`a list of 2^40 paths stops: ${expression.slice(-60)}`, () => assert.equal(run(expression), tooCostly));

for (const expression of [
  'self.list.all(i, self.text.charAt(1) == "a")', 'self.list.all(i, self.text.indexOf("b") < 0)', 'self.list.all(i, int(self.text) == 1)',
  'self.list.all(i, duration(self.text) == duration("1s"))', 'self.list.all(i, (self.set + self.set).size() > 0)', 'self.list.all(i, self.set == self.set)',
  'self.list.all(i, self.list.reverse().size() > 0)', 'self.list.all(i, timestamp("2020-01-01T00:00:00Z").getHours("Nope/" + string(i)) < 0 || true)',
  'self.text.matches("(a|b|ab|ba|[a-z]?c){900}x")', 'self.text.findAll("a.*b|a").size() > 0', 'lists.range(1000000).map(i, lists.range(1000000)).size() > 0',
]) {
  test(`work at a cost of one stops at the limit: ${expression}`, () => {
    assert.equal(runOn(data, expression).result, tooCostly);
  });
}

test('keys of a map are listed once for an evaluation, however often they are asked for', () => {
  assert.deepEqual(runOn(data, 'self.list.all(i, self.map.size() == 20000)'), { result: true, work: 0 });
});

const hostileTexts: readonly (readonly [expression: string, text: string, result: unknown])[] = [
  ['duration(self.text) == duration("0s")', `${'5'.repeat(LONG)}!`, "type conversion error from 'string' to 'google.protobuf.Duration'"],
  ['duration(self.text) == duration("0s")', '0h'.repeat(LONG), true],
  ['int(self.text) == 7', `${'0'.repeat(LONG)}7`, true],
  ['int(self.text) == 7', '7'.repeat(LONG), "type conversion error from 'string' to 'int'"],
  ['uint(self.text) == 7u', '7'.repeat(LONG), "type conversion error from 'string' to 'uint'"],
  ['double(self.text) == 7.0', `${'7'.repeat(LONG)}x`, "type conversion error from 'string' to 'double'"],
  ['self.text.trim().size() == 300002', `a${' '.repeat(LONG)}b`, true],
  ['isSemver(self.text)', `1.0.0-${'1a'.repeat(LONG)}`, false],
  ['isSemver(self.text, true)', `${'0'.repeat(LONG)}1`, false],
  ['isIP(self.text)', '.'.repeat(LONG), false],
  ['isIP(self.text)', ':'.repeat(LONG), false],
  ['isCIDR(self.text)', `${'1.'.repeat(LONG)}/8`, false],
  ['isCIDR(self.text)', `1.2.3.4/${'9'.repeat(LONG)}`, false],
  ['self.text.format([1.0]) == "1.0"', `%.${'0'.repeat(LONG)}1f`, true],
  ['isURL(self.text)', `http://${':'.repeat(LONG)}`, false], ['isURL(self.text)', `ftp://${':'.repeat(LONG)}`, true],
  ['url(self.text).getHostname().size() > 0', `http://${'a.'.repeat(LONG)}`, true],
  ['format.byte().validate(self.text).hasValue()', `${'AAAA'.repeat(5000)}!`, true],
  ['self.text.matches("^(a+)+$")', `${'a'.repeat(LONG)}!`, false],
];

for (const [expression, value, result] of hostileTexts) {
  test(`one pass reads a long text: ${expression} of ${value.slice(0, 8)}…${value.slice(-2)}`, () => {
    assert.equal(runOn({ text: value }, expression).result, result);
  });
}

test('no number is made of a long run of digits', () => {
  const real = globalThis.BigInt;
  let longest = 0;
  const noting = (value: string | number | bigint | boolean): bigint => {
    if (typeof value === 'string') longest = Math.max(longest, value.length);
    return real(value);
  };
  globalThis.BigInt = new Proxy(real, { apply: (_target, _self, [value]: [string | number | bigint | boolean]) => noting(value) });
  try {
    const digits = '9'.repeat(LONG);
    assert.equal(runOn({ text: `1.2.3.4/${digits}` }, 'isCIDR(self.text)').result, false);
    assert.match(String(runOn({ text: `%.${digits}f` }, 'self.text.format([1.0]) == ""').result), /value out of range$/);
    assert.equal(runOn({ text: `1.0.${digits}` }, 'isSemver(self.text)').result, false);
    assert.ok(longest <= 20, `${longest} digits became a number`);
  } finally {
    globalThis.BigInt = real;
  }
});

const repeated = (part: string, times: number): string => part.repeat(times);
const longExpressions: readonly (readonly [name: string, text: string, problem: RegExp | undefined])[] = [
  ['signs that are no tokens', repeated('$', 100_000), /^Error: (ERROR: .*token recognition error at: '\$'\n){100}1 more errors were truncated$/],
  ['parentheses', repeated('(', 50_000), /expression recursion limit exceeded: 250/],
  ['empty lists', `[${repeated('[],', 33_000)}[]]`, undefined],
  ['calls with type variables', `[${repeated('size([]),', 11_000)}1]`, undefined],
  ['a chain of sums', `${repeated('1+', 49_000)}1`, /max recursion depth exceeded/],
  ['undeclared names', `[${repeated('x,', 49_000)}x]`, /undeclared reference to 'x'[^]*48901 more errors were truncated$/],
  ['one rune too many', repeated('1', 100_001), /expression code point size exceeds limit: size: 100001, limit 100000/],
];

for (const [name, expression, problem] of longExpressions) {
  test(`compileExpression bounds its work and its report: ${name}`, () => {
    if (problem === undefined) assert.doesNotThrow(() => compileExpression(expression, kubernetesEnvironment));
    else assert.throws(() => compileExpression(expression, kubernetesEnvironment), problem);
  });
}
