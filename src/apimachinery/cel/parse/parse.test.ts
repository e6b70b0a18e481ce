// The parser: the tree as text, positions of problems, and the reference's messages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesEnvironment } from '../kubernetes.ts';
import type { Expr } from './ast.ts';
import { type LexIssue, lex } from './lex.ts';
import { parseExpression } from './parse.ts';
import { CelSyntaxError } from './source.ts';

/** The tree in prefix form. */
function show(expr: Expr): string {
  switch (expr.type) {
    case 'literal': return typeof expr.value === 'string' ? JSON.stringify(expr.value) : String(expr.value);
    case 'ident': return expr.name;
    case 'select': return `${expr.testOnly ? 'has ' : ''}${show(expr.operand)}.${expr.field}`;
    case 'call': return `${expr.target === undefined ? '' : `${show(expr.target)}.`}${expr.name}(${expr.args.map(show).join(', ')})`;
    case 'list': return `[${expr.elements.map((element, i) => `${expr.optional.includes(i) ? '?' : ''}${show(element)}`).join(', ')}]`;
    case 'map': return `{${expr.entries.map(({ key, value, optional }) => `${optional ? '?' : ''}${show(key)}: ${show(value)}`).join(', ')}}`;
    case 'struct': return `${expr.name}{${expr.fields.map(({ field, value, optional }) => `${optional ? '?' : ''}${field}: ${show(value)}`).join(', ')}}`;
    default: return `fold(${show(expr.range)}, ${expr.variable}, ${show(expr.init)}, ${show(expr.condition)}, ${show(expr.step)}, ${show(expr.result)})`;
  }
}

for (const [text, expected] of [
  ['1 + 2 * 3', '_+_(1, _*_(2, 3))'], ['1 - 2 - 3', '_-_(_-_(1, 2), 3)'], ['a || b && c', '_||_(a, _&&_(b, c))'],
  ['a && b && c && d', '_&&_(_&&_(a, b), _&&_(c, d))'],
  ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'], ['!a', '!_(a)'], ['!!a', 'a'], ['-a', '-_(a)'], ['--a', 'a'], ['-1', '-1'], ['- 1', '-1'],
  ['a.b.c', 'a.b.c'],
  ['a.b(c)', 'a.b(c)'], ['a[0]', '_[_](a, 0)'], ['a.?b', '_?._(a, "b")'], ['a[?0]', '_[?_](a, 0)'], ['.a', '.a'], ['a.b{c: 1}', 'a.b{c: 1}'],
  ['A{?b: c,}', 'A{?b: c}'],
  ['[1, ?a,]', '[1, ?a]'], ['{a: 1, ?b: c,}', '{a: 1, ?b: c}'], ['a in b', '@in(a, b)'], ['has(a.b)', 'has a.b'], ['(a)', 'a'],
  ['a // comment\n + b', '_+_(a, b)'],
  ['a.all(x, b)', 'fold(a, x, true, @not_strictly_false(@result), _&&_(@result, b), @result)'], ['"a" "b"'.slice(0, 3), '"a"'], ["r'\\n'", '"\\\\n"'],
  ["'''a\nb'''", '"a\\nb"'], ["'\\u00e9\\x41\\101'", '"éAA"'], ['0xFF', '255'], ['1.5e3 == 2.0', '_==_([object Object], [object Object])'],
] as const) {
  test(`parseExpression reads ${text}`, () => assert.equal(show(parseExpression(text, kubernetesEnvironment).root), expected));
}

const starts = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

for (const [text, ...expected] of [
  ['', `1:0: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['1 +', `1:4: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['[1', "1:3: Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
  ['{1:2', "1:5: Syntax error: mismatched input '<EOF>' expecting {'}', ','}"], ['{1:2 3', "1:6: Syntax error: mismatched input '3' expecting {'}', ','}"],
  ['A{a:1', "1:6: Syntax error: mismatched input '<EOF>' expecting {'}', ','}"], ['A{a:1)', "1:6: Syntax error: mismatched input ')' expecting {'}', ','}"],
  ['1 + +', `1:5: Syntax error: mismatched input '+' expecting ${starts}`, `1:6: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['1 + $', "1:5: Syntax error: token recognition error at: '$'", `1:6: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['a.', "1:3: Syntax error: no viable alternative at input '.'"], ["a.'b'", "1:3: Syntax error: no viable alternative at input '.'b''"],
  ['a.in', "1:3: Syntax error: no viable alternative at input '.in'", `1:5: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['-', "1:2: Syntax error: no viable alternative at input '-'", `1:2: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ["cidr('x'1).masked()", "1:9: Syntax error: extraneous input '1' expecting ')'"],
  ['opt{ional.none()', "1:10: Syntax error: missing ':' at '.'", "1:17: Syntax error: mismatched input '<EOF>' expecting {'}', ','}"],
  ['(1', "1:3: Syntax error: missing ')' at '<EOF>'"], ['a b', "1:3: Syntax error: extraneous input 'b' expecting <EOF>"],
  ['a b c', "1:3: Syntax error: mismatched input 'b' expecting <EOF>"], ['* a', `1:1: Syntax error: extraneous input '*' expecting ${starts}`],
  ['[1,', "1:4: Syntax error: missing ']' at '<EOF>'"], ["'abc", "1:1: Syntax error: token recognition error at: ''abc'",
    `1:5: Syntax error: mismatched input '<EOF>' expecting ${starts}`],
  ['a & b', "1:3: Syntax error: token recognition error at: '& '", "1:5: Syntax error: extraneous input 'b' expecting <EOF>"],
  ['for', '1:1: reserved identifier: for'], ['[1].map(var, 1)', '1:9: reserved identifier: var', '1:9: argument is not an identifier'],
  ['9223372036854775808', '1:1: invalid int literal'], ['18446744073709551616u', '1:1: invalid uint literal'], ['1e999', '1:1: invalid double literal'],
  ["'\\ud800'", '1:1: invalid unicode code point'], ['has(a)', '1:5: invalid argument to has() macro'],
] as const) {
  test(`parseExpression reports the problems of ${text}`, () => {
    assert.throws(() => parseExpression(text, kubernetesEnvironment), (error: CelSyntaxError) => {
      assert.deepEqual(error.message.split('\n').flatMap((line) => /^ERROR: <input>:(.*)/.exec(line)?.[1] ?? []), expected);
      return true;
    });
  });
}

test('a report shows the line and marks the rune, wide ones with wide marks', () => {
  assert.throws(() => parseExpression("a ||\n\t'😁' + $", kubernetesEnvironment), {
    message: [
      "ERROR: <input>:2:8: Syntax error: token recognition error at: '$'", " |  '😁' + $", ' | ..．....^',
      `ERROR: <input>:2:9: Syntax error: mismatched input '<EOF>' expecting ${starts}`, " |  '😁' + $", ' | ..．.....^',
    ].join('\n'),
  });
});

test('lines that are very long are not shown', () => {
  assert.throws(() => parseExpression(`${'a'.repeat(20_000)} $`, kubernetesEnvironment), (error: Error) => error.message.length < 200);
});

for (const [text, expected] of [
  ['a.b(1)', 'ident:a op:. ident:b op:( int:1 op:) end:<EOF>'], ['1u 1.5 .5 1e3 0x1F', 'uint:1u float:1.5 float:.5 float:1e3 int:0x1F end:<EOF>'],
  ["'a' b'c' r'\\d' \"\"\"x\"\"\"", "string:'a' bytes:b'c' string:r'\\d' string:\"\"\"x\"\"\" end:<EOF>"], ['`a.b`', 'escaped:`a.b` end:<EOF>'],
  ['a//x\n<=b', 'ident:a op:<= ident:b end:<EOF>'], ["'''a", "string:'' end:<EOF>"], ["b'a", 'ident:b end:<EOF>'],
] as const) {
  test(`lex splits ${text}`, () => {
    const issues: LexIssue[] = [];
    assert.equal(lex(text, issues).map(({ kind, text: found }) => `${kind}:${found}`).join(' '), expected);
  });
}
