// parseYaml and stringifyYaml against answers of the reference, and against each other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JsonValue } from '../../apimachinery/index.ts';
import { startStepCounter } from '../../test-support/steps.ts';
import { YamlError, formatYamlDuplicates, parseYaml, parseYamlToJson, stringifyYaml } from './yaml.ts';

const countSteps = await startStepCounter();

const parse = async (text: string): Promise<JsonValue> => (await parseYaml(new TextEncoder().encode(text))).value;
const duplicatesOf = async (text: string): Promise<readonly string[]> => (await parseYaml(new TextEncoder().encode(text))).duplicates;
async function failureOf(input: string | Uint8Array): Promise<string> {
  try {
    await parseYaml(typeof input === 'string' ? new TextEncoder().encode(input) : input);
  } catch (error) {
    assert.ok(error instanceof YamlError, String((error as Error).stack));
    return error.message;
  }
  return 'no error';
}

test('parseYaml reads a root in brackets whatever follows, unless it makes a key of it or is no token', async () => {
  const good: [string, JsonValue][] = [
    ['{"a":"b"} {}', { a: 'b' }], ['{a: b} {c: d} [1]', { a: 'b' }], ['{}{}', {}], ['[1] x', [1]], ['{} }', {}], ['{} # c\n{}', {}], ['{}\na: b', {}],
    ['{} a: b', {}], ['{a: b}\n: {}', { a: 'b' }], ['{}\n- a', {}], ["{} 'x': b", {}], ['{}\n%x', {}], ['---\n&a {b: c} {}', { b: 'c' }], ['{} \t{}', {}],
    ['{a: {b: c}} d: {}', { a: { b: 'c' } }], ['{}\n--- {}\n', {}],
  ];
  for (const [text, value] of good) assert.deepEqual(await parse(text), value, text);
  for (const text of ['{} @', '{} "abc', "{} 'abc", '{} - x', '{} ? x', '{} %x', '{}\n\t{}', '{a: b} : {}', '{a: b}: c\nd: e', 'a: b\n}', 'a: {}\n{}']) {
    assert.notEqual(await failureOf(text), 'no error', text);
  }
});

test('parseYaml lets lines inside brackets and quotes begin anywhere, also with tabs', async () => {
  const cases: [string, unknown][] = [
    ['a: [\nb]\nd: e\n', { a: ['b'], d: 'e' }], ['a: {\nb: c\n}\n', { a: { b: 'c' } }], ['a: {\n\tb: c,\n\td: "e\nf"\n}\n', { a: { b: 'c', d: 'e f' } }],
    ['a:\n  b: "x\ny"\n', { a: { b: 'x y' } }], ["a: 'x\n\n\ty'\n", { a: 'x\ny' }], ['- - a: [\n1\n]\n', [[{ a: [1] }]]],
    ['a: |\n  "x\n  [\nb: {\n# ]\nc: d # }\n}\n', { a: '"x\n[\n', b: { c: 'd' } }], ['a: "x\n\t\ny"\n', { a: 'x\ny' }],
    ["a: it's\nb: [say \"hi\",\nit's]\n", { a: "it's", b: ['say "hi"', "it's"] }],
  ];
  for (const [text, value] of cases) assert.deepEqual(await parse(text), value, text);
  for (const text of ['a: "x\n---\n"\n', 'a: [\nb\n', 'a: b\n  c: "d\ne"\n']) assert.notEqual(await failureOf(text), 'no error', text);
});

test('parseYaml fails with the texts of the reference', async () => {
  const cases: [string, string][] = [
    ['apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: a\n', 'yaml: line 4: found character that cannot start any token'],
    ['kind: Widget\nmetadata:\n\tname: e\napiVersion: x/v1\n', 'yaml: line 3: found character that cannot start any token'],
    ['kind: Widget\n\tmetadata: {}\n', 'yaml: line 2: found a tab character that violates indentation'],
    ['a: {\n  b: c\n\t,\n}\n', 'yaml: line 3: found a tab character that violates indentation'],
    ['apiVersion: v1\n kind: ConfigMap\n', 'yaml: line 2: mapping values are not allowed in this context'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [a}\n', "yaml: line 2: did not find expected ',' or ']'"],
    ['a: @x\n', 'yaml: found character that cannot start any token'],
    ['a:\n  b: 1\n   c: 2\n', 'yaml: line 3: mapping values are not allowed in this context'],
    ['a: b\nc: [a, b\n', "yaml: line 2: did not find expected ',' or ']'"],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: [\n', 'yaml: line 3: did not find expected node content'],
    ['{', 'yaml: line 1: did not find expected node content'],
    ['a: {', 'yaml: line 1: did not find expected node content'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  k: *nope\n', "yaml: unknown anchor 'nope' referenced"],
    ['a: &x [*x]\n', "yaml: anchor 'x' value contains itself"],
    ['a: .nan\n', 'json: unsupported value: NaN'],
    ['a: -.inf\n', 'json: unsupported value: -Inf'],
    ['a: \u0001\n', 'yaml: control characters are not allowed'],
    ['a: !!int x\n', 'yaml: cannot decode !!str `x` as a !!int'],
    ['<<: 1\n', 'yaml: map merge requires map or sequence of maps as the value'],
  ];
  for (const [text, message] of cases) assert.equal(await failureOf(text), message, JSON.stringify(text));
});

test('parseYaml reads scalars by YAML 1.1 as the reference does', async () => {
  const cases: [string, JsonValue][] = [
    ['yes', true], ['on', true], ['y', true], ['Off', false], ['n', false], ['yES', 'yES'], ['~', null], ['null', null], ['', null], ['"yes"', 'yes'], ["'1'",
    '1'],
    ['017', 15], ['0o17', 15], ['0x1F', 31], ['0b11', 3], ['-0x10', -16], ['1_000', 1000], ['08', 8], ['1e3', 1000], ['1.0', 1], ['.5', 0.5], ['+3', 3],
    ['9007199254740993', 9007199254740993n], ['2020-01-02', '2020-01-02'], ['12:30', '12:30'], ['!!str 12', '12'], ['!!float 3', 3], ['!!binary aGk=', 'hi'],
    ['!custom 12', '12'], ['1.2.3', '1.2.3'], ['0x', '0x'], ['-', [null]],
  ];
  for (const [text, value] of cases) assert.deepEqual(await parse(`k: ${text === '-' ? '\n- ' : text}\n`), { k: value }, text);
});

test('parseYaml turns keys into strings', async () => {
  assert.deepEqual(await parse('2020-01-02: x\n1: one\ntrue: two\n1.5: f\nn: off\n"y": q\n'), { '2020-01-02': 'x', '1': 'one', true: 'two', '1.5': 'f',
    false: false, y: 'q' });
  const value = await parse('__proto__: {a: 1}\nconstructor: 2\n');
  assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
});

test('parseYaml expands aliases and merges', async () => {
  assert.deepEqual(await parse('labels: &l {app: x}\nannotations: *l\none: &t some\ntwo: *t\n'), { labels: { app: 'x' }, annotations: { app: 'x' },
    one: 'some', two: 'some' });
  assert.deepEqual(await parse('data:\n  <<: {k: v, m: x}\n  k: w\n'), { data: { k: 'w', m: 'x' } });
  assert.deepEqual(await parse('a: &a {x: 1, s: 1}\nb: &b {s: 2, z: 2}\nc: {<<: [*a, *b], w: 0}\n'), { a: { x: 1, s: 1 }, b: { s: 2, z: 2 }, c: { s: 1, z: 2,
    x: 1, w: 0 } });
});

test('parseYaml reads only the first document, and nothing as null', async () => {
  assert.deepEqual(await parse('---\na: 1\n---\nb: 2\n'), { a: 1 });
  for (const text of ['', '# nothing\n', '---\n---\na: 1\n']) assert.equal(await parse(text), null);
  assert.deepEqual(await parse('- a\n- b\n'), ['a', 'b']);
  assert.equal(await parse('just text'), 'just text');
});

test('parseYaml reports duplicate keys with their lines', async () => {
  const duplicates = await duplicatesOf('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\ndata:\n  k: v\n  k: w\n');
  assert.equal(formatYamlDuplicates(duplicates), 'yaml: unmarshal errors:\n  line 5: key "name" already set in map\n  line 8: key "k" already set in map');
  assert.deepEqual(await duplicatesOf('{"spec":{"n":1,"n":2}}'), ['line 1: key "n" already set in map']);
});

test('parseYaml refuses alias bombs and depth after few steps', async () => {
  const bomb = `a: &a [${'x,'.repeat(9)}x]\n${[...'bcdefghi'].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefghi'[i]}`).join()}]\n`).join('')}`;
  const rows: readonly (readonly [string, RegExp, { readonly steps: number }])[] = [
    [bomb, /^yaml: document contains excessive aliasing$/, { steps: 500_000 }],
    ['['.repeat(100_000), /^yaml: /, { steps: 500_000 }],
    ['- '.repeat(20_000), /^yaml: /, { steps: 5_000_000 }],
    ['[a, '.repeat(100_000), /^yaml: exceeded max depth$/, { steps: 500_000 }],
    ['a: b\n'.repeat(500_000), /^yaml: document is too complex$/, { steps: 20_000_000 }],
  ];
  for (const [text, failure, limit] of rows) {
    const steps = await countSteps(async () => assert.match(await failureOf(text), failure));
    assert.ok(steps < limit.steps, `${steps} steps: ${text.slice(0, 20)}`);
  }
});

test('stringifyYaml quotes, folds and orders like the reference', () => {
  const data = {
    plain: 'text', number: '12', bool: 'true', yes: 'yes', empty: '', null: 'null', tilde: '~', colon: 'a: b', hash: 'a #b', star: '*a', dash: '- a',
    multi: 'one\ntwo\n',
    trailing: 'one\ntwo', blank: '\n', spaces: '  lead', trail: 'x ', quote: 'it\'s "x"', tab: 'a\tb', date: '2020-01-02', unicode: 'héé☃',
    long: 'word '.repeat(40).trim(),
    crlf: 'a\r\nb', octal: '0o17', float: '1e3', brace: '{a}', at: '@x', percent: '%x',
  };
  const word = (n: number): string => Array(n).fill('word').join(' ');
  assert.equal(stringifyYaml({ apiVersion: 'v1', data, kind: 'ConfigMap' }), `apiVersion: v1
data:
  at: '@x'
  blank: |2+

  bool: "true"
  brace: '{a}'
  colon: 'a: b'
  crlf: "a\\r\\nb"
  dash: '- a'
  date: "2020-01-02"
  empty: ""
  float: "1e3"
  hash: 'a #b'
  long: ${word(15)}
    ${word(16)}
    ${word(9)}
  multi: |
    one
    two
  "null": "null"
  number: "12"
  octal: "0o17"
  percent: '%x'
  plain: text
  quote: it's "x"
  spaces: '  lead'
  star: '*a'
  tab: "a\\tb"
  tilde: "~"
  trail: 'x '
  trailing: |-
    one
    two
  unicode: héé☃
  "yes": "yes"
kind: ConfigMap
`);
});

test('stringifyYaml folds quoted texts and lays out sequences like the reference', () => {
  const message = 'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.\', and must start'
    + ' and end with an alphanumeric character (e.g. \'example.com\','
    + ' regex used for validation is \'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\')';
  const status = { metadata: {}, details: { causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }], kind: 'ConfigMap' }, code: 422,
    nested: [[1, 2], [], [{}]], z10: 1.5, z9: null };
  assert.equal(stringifyYaml(status), `code: 422
details:
  causes:
  - field: metadata.name
    message: 'Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist
      of lower case alphanumeric characters, ''-'' or ''.'', and must start and end
      with an alphanumeric character (e.g. ''example.com'', regex used for validation
      is ''[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'')'
    reason: FieldValueInvalid
  kind: ConfigMap
metadata: {}
nested:
- - 1
  - 2
- []
- - {}
z9: null
z10: 1.5
`);
  assert.equal(stringifyYaml({ fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} }, 'v:"example.com/f"': {} } } }),
    'fieldsV1:\n  f:metadata:\n    f:labels:\n      .: {}\n      f:a: {}\n    v:"example.com/f": {}\n');
});

test('parseYaml bounds what aliases of large scalars and keys add up to', async () => {
  const tooMuch = 'yaml: document contains excessive aliasing';
  const repeat = (size: number, count: number, item: string): string => `x: &x "${'y'.repeat(size)}"\nz: [${Array(count).fill(item).join(',')}]\n`;
  assert.equal(await failureOf(repeat(100_000, 100, '*x')), tooMuch);
  assert.equal(await failureOf(repeat(1_000_000, 10, '{*x : 1}')), tooMuch);
  assert.equal(await failureOf(`n: &n 0.${'0'.repeat(100_000)}1\nz: [${Array(100).fill('*n').join(',')}]\n`), tooMuch);
  assert.equal(((await parse(repeat(1000, 90, '*x'))) as { z: string[] }).z.length, 90);
});

test('parseYamlToJson gives the JSON text of what parseYaml gives', async () => {
  const input = new TextEncoder().encode('a: 9007199254740993\nb: [0x1F, 1.5, ~, "<&>"]\n__proto__: {c: y}\na: 2\n? 7\n: é\n');
  const { json, duplicates } = await parseYamlToJson(input);
  const direct = await parseYaml(input);
  assert.equal(json, '{"7":"é","a":2,"b":[31,1.5,null,"<&>"],"__proto__":{"c":true}}');
  assert.deepEqual(duplicates, direct.duplicates);
  assert.deepEqual((await parseYaml(new Uint8Array(20_000).fill(0x20, 0, 19_999), async () => ({ json, duplicates }))).value, direct.value);
});

test('parseYaml leaves a short text of many pieces to the other thread, and reads a manifest of 400 lines itself', async () => {
  const read = async (yaml: string): Promise<boolean> => {
    let isElsewhere = false;
    await parseYaml(new TextEncoder().encode(yaml), async () => {
      isElsewhere = true;
      return { json: 'null', duplicates: [] };
    });
    return isElsewhere;
  };
  const manifest = Array.from({ length: 200 }, (_, index) => `- name: entry-${index}\n  image: "registry.io/a:1"\n`).join('');
  assert.ok(manifest.length < 16_384);
  assert.equal(await read(manifest), false);
  for (const many of [`x: &x a\nz: [${Array(3000).fill('*x').join(',')}]`, `[${'[],'.repeat(900)}]`, '- \n'.repeat(2500)]) {
    assert.equal(await read(many), true, many.slice(0, 40));
  }
});

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[-a-c01:#{}[\]?&*!|>'"%@`., \n\t]*$/), fc.constantFrom('yes', '~', '0o7', '1_0',
  '<<', '---', '... ', 'a: b', '.5', '+.inf', '1:30'));
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 }, text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true,
    noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
    fc.array(tie('tree'), { maxLength: 4 }), fc.array(fc.tuple(text, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as JsonValue),
  ),
}));
const wellFormed = (value: JsonValue): boolean => !/[\ud800-\udfff]/u.test(JSON.stringify(value)) && !/\\ud[89ab]/.test(JSON.stringify(value));

test('parseYaml of stringifyYaml gives back any value', async () => {
  await fc.assert(fc.asyncProperty(tree.filter(wellFormed), async (value) => {
    assert.deepEqual(await parse(stringifyYaml(value)), value);
  }), { numRuns: 500 });
});

test('parseYaml never fails with anything but YamlError', async () => {
  const piece = fc.constantFrom('a', ': ', '- ', '\n', '  ', '[', ']', '{', '}', ',', '&x ', '*x', '"', "'", '|', '>', '#', '?', '!', '!!int ', '%', '@',
    '\t', '---\n', '<<: ', '1');
  await fc.assert(fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => void (await failureOf(pieces.join('')))), { numRuns: 2000 });
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (input) => void (await failureOf(input))), { numRuns: 500 });
});
