// parseJson and stringifyJson against Go's texts, JSON.parse, and naive twins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type JsonValue } from '../../apimachinery/index.ts';
import { JsonError, encodeJson, MAX_JSON_DEPTH, parseJson, stringifyJson } from './json.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): JsonValue => parseJson(bytes(text)).value;
const failureOf = (input: string | Uint8Array): string => {
  try {
    parseJson(typeof input === 'string' ? bytes(input) : input);
  } catch (error) {
    assert.ok(error instanceof JsonError, String(error));
    return error.message;
  }
  return 'no error';
};

test('parseJson fails with the texts of Go', () => {
  const cases: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['1e+', "invalid character ' ' in exponent of numeric literal"],
    ['{"a":fals', "invalid character ' ' in literal false (expecting 'e')"],
    ['"a\\', "invalid character ' ' in string escape code"],
    ['"\\u12', "invalid character ' ' in \\u hexadecimal character escape"],
    ['apiVersion: v1', "invalid character 'a' looking for beginning of value"],
    ['{"a":1} trailing', "invalid character 't' after top-level value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['not', "invalid character 'o' in literal null (expecting 'u')"],
    ['trUe', "invalid character 'U' in literal true (expecting 'u')"],
    ['01', "invalid character '1' after top-level value"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\u0000"', "invalid character '\\x00' in string literal"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['[1e999]', 'json: cannot unmarshal number 1e999 into Go value of type float64'],
  ];
  for (const [text, message] of cases) assert.equal(failureOf(text), message, JSON.stringify(text));
});

test('parseJson refuses nesting beyond its limit at once, and whatever it accepts can be written', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(stringifyJson(parse(nested(MAX_JSON_DEPTH))), nested(MAX_JSON_DEPTH));
  assert.equal(failureOf(nested(MAX_JSON_DEPTH + 1)), "invalid character '[' exceeded max depth");
  assert.equal(failureOf('{"a":'.repeat(500_000)), "invalid character '{' exceeded max depth");
});

test('parseJson reports duplicate keys with their paths, each once, and the last wins', () => {
  const text = '{"metadata":{"name":"a","name":"b","name":"c"},"spec":{"l":[{"x":1},{"x":1,"x":{"y":1,"y":2}}]},"spec":{"k":1}}';
  const { value, duplicates } = parseJson(bytes(text));
  assert.deepEqual(duplicates, ['metadata.name', 'spec.l[1].x', 'spec.l[1].x.y', 'spec']);
  assert.deepEqual(value, { metadata: { name: 'c' }, spec: { k: 1 } });
  assert.deepEqual(parseJson(bytes('[{"op":1,"op":2}]')).duplicates, ['[0].op']);
});

test('parseJson merges the objects of equal keys on request, as Go fills structs and maps', () => {
  const text = '{"metadata":{"labels":{"l":"1"},"labels":{"m":"2"}},"data":{"k":"1","k":"2"},"data":{"l":"3"}}';
  assert.deepEqual(parseJson(bytes(text), { onDuplicate: 'merge' }).value, { metadata: { labels: { l: '1', m: '2' } }, data: { k: '2', l: '3' } });
});

test('parseJson reports at most 100 duplicates', () => {
  const text = `{${Array.from({ length: 500 }, (_, i) => `"k${i}":1,"k${i}":2`).join()}}`;
  assert.equal(parseJson(bytes(text)).duplicates.length, 100);
});

test('parseJson keeps int64 exactly and reports numbers that are no int64', () => {
  assert.equal(parse('9007199254740993'), 9007199254740993n);
  assert.equal(parse('-9223372036854775808'), -9223372036854775808n);
  assert.equal(parse('9007199254740991'), 9007199254740991);
  assert.equal(parse('9223372036854775808'), 2 ** 63);
  assert.deepEqual(parseJson(bytes('{"a":1.0,"b":[1e3,1.5,2],"c":1.50}')).respelled, ['a', 'b[0]', 'c']);
  const { value, oddNumbers } = parseJson(bytes('{"a":1.0,"b":[1e3,1.5,2]}'));
  assert.deepEqual(value, { a: 1, b: [1000, 1.5, 2] });
  assert.deepEqual(oddNumbers, [{ path: 'a', literal: '1.0' }, { path: 'b[0]', literal: '1e3' }]);
});

test('parseJson replaces invalid UTF-8 byte by byte and lone surrogates', () => {
  const input = Uint8Array.from([0x22, 0xe2, 0x82, 0x61, 0xff, 0xed, 0xa0, 0x80, 0x22]);
  assert.equal(parseJson(input).value, '\uFFFD\uFFFDa\uFFFD\uFFFD\uFFFD\uFFFD');
  assert.equal(parse('"\\ud800x\\ud83d\\ude00"'), '\uFFFDx😀');
});

test('parseJson and stringifyJson keep __proto__ and constructor as ordinary keys', () => {
  for (const text of ['{"__proto__":{"a":1},"constructor":2}', '{"__proto__":{"a":9007199254740993},"constructor":2}']) {
    const value = parse(text);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(stringifyJson(value), text);
  }
});

test('stringifyJson escapes for HTML as Go does and writes bigint and indents', () => {
  assert.equal(stringifyJson({ a: '<&>\u2028\u2029"' }), '{"a":"\\u003c\\u0026\\u003e\\u2028\\u2029\\""}');
  assert.equal(stringifyJson({ a: [1n, {}, []], b: undefined, c: { d: 'x' } }), '{"a":[1,{},[]],"c":{"d":"x"}}');
  assert.equal(stringifyJson({ a: [9007199254740993n, {}], c: {} }, 2), '{\n  "a": [\n    9007199254740993,\n    {}\n  ],\n  "c": {}\n}');
  assert.equal(new TextDecoder().decode(encodeJson('é<')), '"é\\u003c"');
});

test('stringifyJson survives any depth', () => {
  let value: JsonValue = 1;
  for (let i = 0; i < 100_000; i++) value = [value];
  assert.equal(stringifyJson(value).length, 200_001);
});

const anyKey = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a', '0', ''));
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 }, fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.boolean(), fc.constant(null),
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).filter((n) => n !== BigInt(Number(n)) || n > 2n ** 53n),
    fc.double({ noNaN: true, noDefaultInfinity: true, maxExcluded: true }).filter((n) => !Object.is(n, -0)),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.array(fc.tuple(anyKey, tie('tree')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries) as JsonValue),
  ),
}));

test('parseJson of stringifyJson gives back any value', () => {
  fc.assert(fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
    assert.deepEqual(parse(stringifyJson(value, indent)), normalize(value));
  }), { numRuns: 300 });
});

/** Integers in the range where doubles and int64 overlap differ by their size only. */
function normalize(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(String(value));
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, normalize(v as JsonValue)]));
  return value;
}

test('parseJson reports exactly the duplicates that a naive scanner finds', () => {
  const key = fc.constantFrom('a', 'b', '__proto__', 'c');
  type Node = number | Node[] | { members: [string, Node][] };
  const { node } = fc.letrec<{ node: Node }>((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, fc.nat(9), fc.array(tie('node'), { maxLength: 3 }), fc.record({
      members: fc.array(fc.tuple(key, tie('node')), { maxLength: 4 }),
    })),
  }));
  const write = (n: Node): string =>
    typeof n === 'number' ? String(n) : Array.isArray(n) ? `[${n.map(write).join()}]` : `{${n.members.map(([k, v]) => `"${k}" : ${write(v)}`).join()}}`;
  const collect = (n: Node, path: string, found: Set<string>): void => {
    if (typeof n === 'number') return;
    if (Array.isArray(n)) return n.forEach((child, i) => collect(child, `${path}[${i}]`, found));
    const seen = new Set<string>();
    for (const [k, v] of n.members) {
      const at = path === '' ? k : `${path}.${k}`;
      if (seen.has(k)) found.add(at);
      seen.add(k);
      collect(v, at, found);
    }
  };
  fc.assert(fc.property(node, (n) => {
    const found = new Set<string>();
    collect(n, '', found);
    assert.deepEqual([...new Set(parseJson(bytes(write(n))).duplicates)].sort(), [...found].sort());
  }), { numRuns: 500 });
});

test('parseJson never fails with anything but JsonError, and accepts what JSON.parse accepts, numbers beyond 64 bits aside', () => {
  const refuseInfinite = (_: string, value: unknown): unknown => (typeof value === 'number' && !Number.isFinite(value) ? assert.fail() : value);
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '"a"', '1', '-', '0', '.5', 'e9', 'true', 'nul', '\\', '\\u', ' ', '\u00e9');
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const text = pieces.join('');
    let expected: boolean;
    try {
      JSON.parse(text, refuseInfinite);
      expected = true;
    } catch {
      expected = false;
    }
    assert.equal(failureOf(text) === 'no error', expected, text);
  }), { numRuns: 2000 });
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (input) => void failureOf(input)), { numRuns: 1000 });
});
