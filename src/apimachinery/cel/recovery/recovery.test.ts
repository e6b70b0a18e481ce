// Texts with several errors: which are found, where, and in which words. The expected reports are those of cel-go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishSteps, resumableSteps } from '../../../base/index.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { parseExpression } from '../parse/parse.ts';
import { CelSyntaxError } from '../parse/source.ts';

const starts = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const argumentStarts = starts.replace("'.'", "')', '.'");

function problemsOf(text: string): readonly string[] {
  try {
    parseExpression(text, kubernetesEnvironment);
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message.split('\n').flatMap((line) => /^ERROR: <input>:(.*)/.exec(line)?.[1] ?? []);
    throw error;
  }
  return [];
}

for (const [text, ...expected] of [
  ['t[ype', "1:6: Syntax error: missing ']' at '<EOF>'"],
  ['has(self.a]ft.size)', "1:11: Syntax error: mismatched input ']' expecting ')'", "1:19: Syntax error: extraneous input ')' expecting <EOF>"],
  ["f(g('(%%', [1]).)im/)", "1:17: Syntax error: no viable alternative at input '.)'", "1:18: Syntax error: mismatched input 'im' expecting <EOF>"],
  ["f(, 'x').g()", `1:3: Syntax error: extraneous input ',' expecting ${argumentStarts}`],
  ["ip('1.2", "1:4: Syntax error: token recognition error at: ''1.2'", `1:8: Syntax error: mismatched input '<EOF>' expecting ${argumentStarts}`],
  ['u(d(a ? b ? 1u : 0u : 0u * 2u))', "1:11: Syntax error: mismatched input '?' expecting ':'", "1:21: Syntax error: mismatched input ':' expecting ')'",
    "1:30: Syntax error: mismatched input ')' expecting <EOF>"],
  ['a..b &&&& true', "1:3: Syntax error: no viable alternative at input '..'", `1:8: Syntax error: extraneous input '&&' expecting ${starts}`],
  ['a|😀size()', "1:2: Syntax error: token recognition error at: '|😀'", "1:4: Syntax error: mismatched input 'size' expecting <EOF>"],
  ['ol[d.?`n', "1:7: Syntax error: token recognition error at: '`n'", "1:9: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}",
    '1:9: unsupported ident kind'],
  ["-1.]", "1:4: Syntax error: no viable alternative at input '.]'"], ['a.true', "1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  ['[for, 9223372036854775808].map(1, x', '1:2: reserved identifier: for', '1:7: invalid int literal', '1:32: argument is not an identifier',
    "1:36: Syntax error: missing ')' at '<EOF>'"],
] as const) {
  test(`parseExpression finds all problems of ${text}`, () => assert.deepEqual(problemsOf(text), expected));
}

test('parseExpression ends after thirty recoveries', () => {
  assert.deepEqual(problemsOf('['.repeat(40)).slice(-1), ['1:41: Syntax error: error recovery attempt limit exceeded: 30']);
});

test('parseExpression ends a recovery after 256 tokens', () => {
  assert.deepEqual(problemsOf('1 '.repeat(300)).filter((line) => line.startsWith('-1')), ['-1:0: error recovery token lookahead limit exceeded: 256']);
});

test('parseExpression counts the rules that operands on the right open', () => {
  const nested = (depth: number): string => `${'(1+'.repeat(depth)}1${')'.repeat(depth)}`;
  assert.deepEqual(problemsOf(nested(124)), []);
  assert.deepEqual(problemsOf(nested(125)), ['-1:0: expression recursion limit exceeded: 250']);
  assert.deepEqual([problemsOf(`${'1+'.repeat(250)}1`), problemsOf(`${'1+'.repeat(251)}1`)], [[], ['-1:0: max recursion depth exceeded']]);
});

test('parseExpression finds the problems of a long text in steps', () => {
  let steps = 0;
  const work = resumableSteps(() => {
    steps++;
    return problemsOf(`[${'-1.a(x)+'.repeat(400)}$`);
  });
  assert.deepEqual(finishSteps(work), problemsOf(`[${'-1.a(x)+'.repeat(400)}$`));
  assert.ok(steps > 10, String(steps));
});
