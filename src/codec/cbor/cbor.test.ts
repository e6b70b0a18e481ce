// CBOR against RFC 8949's examples, upstream's rules for Kubernetes, and itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue, Schema } from '../../apimachinery/index.ts';
import { hasManyItems } from './count.ts';
import { CborError, isCbor, parseCbor } from './decode.ts';
import { encodeCbor, encodeCborItem, turnCbor } from './encode.ts';
import { formatCbor } from './format.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');
const parse = (text: string): JsonValue => {
  const { value, problem } = parseCbor(bytes(text));
  assert.equal(problem, undefined);
  return value;
};
const failure = (text: string): string => {
  try {
    parseCbor(bytes(text));
  } catch (error) {
    assert.ok(error instanceof CborError, String(error));
    return error.message;
  }
  return 'no error';
};

test('parseCbor reads the examples of RFC 8949 that JSON has values for', () => {
  const examples: [string, JsonValue][] = [
    ['00', 0], ['17', 23], ['1818', 24], ['1903e8', 1000], ['1a000f4240', 1_000_000], ['1b000000e8d4a51000', 1_000_000_000_000],
    ['20', -1], ['3903e7', -1000], ['1b7fffffffffffffff', 2n ** 63n - 1n], ['3b7fffffffffffffff', -(2n ** 63n)],
    ['f90000', 0], ['f93c00', 1], ['fb3ff199999999999a', 1.1], ['f93e00', 1.5], ['f97bff', 65_504], ['fa47c35000', 100_000],
    ['fa7f7fffff', 3.4028234663852886e38],
    ['fb7e37e43c8800759c', 1e300], ['f90001', 2 ** -24], ['f90400', 2 ** -14], ['f9c400', -4], ['fbc010666666666666', -4.1],
    ['f4', false], ['f5', true], ['f6', null], ['40', ''], ['60', ''], ['6449455446', 'IETF'], ['62c3bc', 'ü'], ['43616263', 'abc'],
    ['80', []], ['83010203', [1, 2, 3]], ['a0', {}], ['a2616101416202', { a: 1, b: 2 }],
    ['9fff', []], ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]], ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }], ['7f657374726561646d696e67ff', 'streaming'],
    ['5f42616241 63ff'.replace(' ', ''), 'abc'], ['d9d9f7a0', {}],
    ['c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'], ['c11a514b67b0', '2013-03-21T20:04:00Z'],
    ['c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'], ['d64401020304', 'AQIDBA=='], ['d74401020304', '01020304'], ['d544ffff0304', '__8DBA'],
    ['d682 41014102'.replace(' ', ''), ['AQ==', 'Ag==']], ['d8206161', 'a'],
  ];
  for (const [text, value] of examples) assert.deepEqual(parse(text), value, text);
});

test('parseCbor refuses what is not well formed in the words of upstream', () => {
  const cases: [string, string][] = [
    ['', 'EOF'], ['a1', 'unexpected EOF'], ['42', 'unexpected EOF'], ['19', 'unexpected EOF'], ['9bffffffffffffffff', 'unexpected EOF'],
    ['a0a0', 'cbor: 1 bytes of extraneous data starting at index 1'], ['ff', 'cbor: unexpected "break" code'], ['bf6161ff', 'cbor: unexpected "break" code'],
    ['1c', 'cbor: invalid additional information 28 for type positive integer'], ['df', 'cbor: invalid additional information 31 for type tag'],
    ['f818', 'cbor: invalid simple value 24 for type primitives'], ['5f6161ff', 'cbor: wrong element type UTF-8 text string for indefinite-length byte string'],
    ['5f5fff', 'cbor: indefinite-length byte string chunk is not definite-length'],
    ['c2420100', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
    ['f97e00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
    ['fa7f800000', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
    ['81'.repeat(1001) + '00', 'cbor: exceeded max nested level 1000'], ['d7'.repeat(5000) + '00', 'cbor: exceeded max nested level 1000'],
    ['9f'.repeat(200_000), 'cbor: exceeded max nested level 1000'], ['c0'.repeat(200_000), 'cbor: exceeded max nested level 1000'],
    ['c1'.repeat(200_000), 'cbor: exceeded max nested level 1000'], ['d9d9f7'.repeat(200_000), 'cbor: exceeded max nested level 1000'],
  ];
  for (const [text, message] of cases) assert.equal(failure(text), message, text.slice(0, 40));
});

test('parseCbor reports the first thing that is well formed and not acceptable', () => {
  const cases: [string, string][] = [
    ['a2616101416102', 'cbor: found duplicate map key "a" at map element index 1'],
    ['a10102', 'cbor: cannot unmarshal positive integer into Go value of type string'],
    ['61ff', 'cbor: invalid UTF-8 string'],
    ['1bffffffffffffffff', "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)"],
    ['3b8000000000000000', "cbor: cannot unmarshal negative integer into Go value of type int64 (-9223372036854775809 overflows Go's int64)"],
    ['f7', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
    ['c0416a', 'cbor: tag number 0 must be followed by text string, got byte string'],
  ];
  for (const [text, problem] of cases) assert.equal(parseCbor(bytes(text)).problem, problem, text);
  assert.equal(parseCbor(bytes('a2616101616102')).outerProblem, 'cbor: found duplicate map key "a" at map element index 1');
  assert.equal(parseCbor(bytes('a16178a2616101616102')).outerProblem, undefined);
  // Bytes that are not well formed win, wherever they are.
  assert.equal(failure('8261ffff'), 'cbor: unexpected "break" code');
  assert.equal(parse('43ff6162'), '\uFFFDab');
  assert.equal(parse('63efbfbd'), '\uFFFD');
  assert.equal(parseCbor(bytes('7f61c361bcff')).problem, 'cbor: invalid UTF-8 string', 'each piece of a text is UTF-8');
});

test('parseCbor names floats with integral values, and keeps __proto__ an ordinary key', () => {
  assert.deepEqual(parseCbor(bytes('a1616182f93c0002')).oddNumbers, [{ path: 'a[0]', literal: '1.0' }]);
  assert.equal(parseCbor(bytes('8102')).oddNumbers, undefined);
  const value = parse('a1695f5f70726f746f5f5fa1616101') as object;
  assert.deepEqual([Object.getPrototypeOf(value) === Object.prototype, Object.keys(value)], [true, ['__proto__']]);
});

test('encodeCbor writes strings as bytes, numbers in their shortest form, bytes and floats where the schema has them', () => {
  const cases: [unknown, string][] = [
    ['abc', '43616263'], ['ü', '42c3bc'], ['x'.repeat(300), `59012c${'78'.repeat(300)}`], [23, '17'], [24, '1818'], [-1, '20'], [65_536, '1a00010000'],
    [2 ** 40, '1b0000010000000000'], [2n ** 63n - 1n, '1b7fffffffffffffff'], [-(2n ** 63n), '3b7fffffffffffffff'], [1.5, 'f93e00'], [0.1, 'fb3fb999999999999a'],
    [100_000.5, 'fa47c35040'], [2 ** -24, 'f90001'], [2 ** 60, 'fa5d800000'], [true, 'f5'], [null, 'f6'], [[1, ['a']], '82018141 61'.replace(' ', '')],
    [{ b: 1, a: undefined, aa: 2 }, 'a2416201426161 02'.replace(' ', '')],
  ];
  for (const [value, text] of cases) assert.equal(hex(encodeCborItem(value)), text, String(value));
  const field = (name: string, schema: Schema) => [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 1 }] as const;
  const schema: Schema = { type: 'object', fields: new Map([
    field('data', { type: 'map', items: { type: 'string', format: 'byte' } }), field('max', { type: 'number' }),
    field('list', { type: 'array', items: { type: 'number' } }),
  ]) };
  assert.equal(hex(encodeCborItem({ data: { k: 'AQI=' }, max: 1, list: [2] }, { schema })), 'a34464617461a1416bd6420102436d6178f93c00446c69737481f94000');
});

test('encodeCbor marks documents, and sorts keys by their bytes on request', () => {
  const document = encodeCbor({ bb: 1, a: 2, c: 3, é: 4, aa: 5 }, { sortsKeys: true });
  assert.ok(isCbor(document));
  assert.deepEqual(Object.keys(parseCbor(document).value as object), ['a', 'c', 'aa', 'bb', 'é']);
});

test('turnCbor moves the first entry to the end and changes nothing else', () => {
  const kind = 'K'.repeat(30);
  const document = encodeCbor({ kind, apiVersion: 'v1', metadata: { name: 'a' } });
  const turned = parseCbor(turnCbor(document)).value as object;
  assert.deepEqual([Object.keys(turned), turned], [['apiVersion', 'metadata', 'kind'], { kind, apiVersion: 'v1', metadata: { name: 'a' } }]);
});

test('formatCbor prints diagnostic notation', () => {
  assert.equal(formatCbor({ a: ["it's", 1, null] }), "55799({'a': ['it\\'s', 1, null]})");
});

const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 }, fc.string(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('tree'), { maxLength: 5 }), fc.dictionary(fc.string(), tie('tree'), { maxKeys: 5 }) as fc.Arbitrary<JsonValue>,
  ),
}));

test('parseCbor of encodeCbor gives back any value', () => {
  fc.assert(fc.property(tree, fc.boolean(), (value, sortsKeys) => {
    const { value: read, problem } = parseCbor(encodeCbor(value, { sortsKeys }));
    assert.equal(problem, undefined);
    assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(value)));
  }), { numRuns: 300 });
});

test('parseCbor accepts a text string if and only if it is UTF-8', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isText = (input: Uint8Array): boolean => {
    try {
      decoder.decode(input);
      return true;
    } catch {
      return false;
    }
  };
  const piece = fc.oneof(fc.uint8Array({ maxLength: 3 }), fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => Uint8Array.from(Buffer.from(text))));
  fc.assert(fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
    const input = Buffer.concat(pieces);
    const { problem } = parseCbor(Buffer.concat([Uint8Array.of(0x79, 0, input.length), input]));
    assert.equal(problem === undefined, isText(input));
  }), { numRuns: 3000 });
});

test('parseCbor and hasManyItems take any bytes', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (input) => {
    hasManyItems(input, 5);
    try {
      parseCbor(input);
    } catch (error) {
      assert.ok(error instanceof CborError, String(error));
    }
  }), { numRuns: 3000 });
  assert.equal(hasManyItems(bytes(`84${'00'.repeat(4)}`), 4), true);
  assert.equal(hasManyItems(bytes('5a00000005 0000000000'.replace(' ', '')), 1), false);
});
