// The protobuf codec on schemas made by hand: the rules of Go's generated code, hostile bytes, envelopes. Upstream's published samples
// and generated objects of real kinds are in test/conformance/roundtrip.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Field, type JsonObject, type JsonValue, type Schema } from '../../apimachinery/index.ts';
import { ProtobufError, decodeEnvelope, decodeMessage, encodeEnvelope, encodeMessage } from '../index.ts';

const field = (name: string, number: number, schema: Schema, more: Partial<Field> = {}): Field =>
  ({ name, number, schema, required: false, omitEmpty: true, pointer: false, ...more });
const object = (...fields: Field[]): Schema => ({ type: 'object', fields: new Map(fields.map((f) => [f.name, f])) });
const string: Schema = { type: 'string' };
const int32: Schema = { type: 'integer', format: 'int32' };
const int64: Schema = { type: 'integer', format: 'int64' };
const special = (format: string): Schema => ({ type: 'any', format });
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const fromHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

test('encodeMessage writes fields by number: what is no pointer always, pointers when present', () => {
  const inner = object(field('x', 1, int32));
  const schema = object(field('b', 2, string), field('a', 1, string, { pointer: true }), field('n', 3, inner), field('p', 4, inner, { pointer: true }),
    field('t', 5, special('time')));
  assert.equal(hex(encodeMessage(schema, {})), '1200' + '1a020800' + '2a00');
  assert.equal(hex(encodeMessage(schema, { b: '', a: '', p: {} })), '0a00' + '1200' + '1a020800' + '22020800' + '2a00');
  assert.deepEqual(decodeMessage(schema, encodeMessage(schema, { a: '', p: {} })), { a: '', n: {}, p: {} });
});

test('encodeMessage writes negative integers in ten bytes and int64 exactly', () => {
  const schema = object(field('a', 1, int32), field('b', 2, int64));
  assert.equal(hex(encodeMessage(schema, { a: -1, b: 9007199254740993n })), '08ffffffffffffffffff01' + '108180808080808010');
  for (const b of [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -1n, -(2n ** 63n)]) {
    const value = decodeMessage(schema, encodeMessage(schema, { a: -7, b })) as { a: number; b?: bigint };
    assert.deepEqual([value.a, BigInt(value.b ?? 0)], [-7, b]);
  }
});

test('encodeMessage nests fields that JSON shows flat, and writes the wrapper even when empty', () => {
  const schema = object(field('name', 1, string), field('x', 1, string, { pointer: true, inlined: [2] }),
    field('y', 3, string, { pointer: true, inlined: [2, 5] }));
  assert.equal(hex(encodeMessage(schema, { name: 'n' })), '0a016e' + '12022a00');
  assert.deepEqual(decodeMessage(schema, encodeMessage(schema, { name: 'n', x: '1', y: '2' })), { name: 'n', x: '1', y: '2' });
});

test('encodeMessage sorts the keys of maps by bytes and keeps __proto__', () => {
  const schema = object(field('m', 1, { type: 'map', items: string }));
  const value = { m: JSON.parse('{"b":"2","a":"1","__proto__":"3","\u{1F600}":"4","\uffee":"5"}') as JsonObject };
  const decoded = decodeMessage(schema, encodeMessage(schema, value)) as { m: JsonObject };
  assert.deepEqual(Object.keys(decoded.m), ['__proto__', 'a', 'b', '\uffee', '\u{1F600}']);
  assert.equal(Object.getPrototypeOf(decoded.m), Object.prototype);
});

test('encodeMessage and decodeMessage turn the special types over', () => {
  const cases: [Schema, JsonValue, string][] = [
    [special('quantity'), '100m', '0a04' + '3130306d'],
    [special('int-or-string'), 8080, '0800' + '10903f' + '1a00'],
    [special('int-or-string'), 'web', '0801' + '1000' + '1a03776562'],
    [special('time'), '2020-01-02T03:04:05Z', '08a5bbb5f005' + '1000'],
    [special('micro-time'), '2020-01-02T03:04:05.123456Z', '08a5bbb5f005' + '108094ef3a'],
    [special('duration'), '1h2m3.5s', '08809bd7f8fd8701'],
    [special('raw'), { a: [1, '<'] }, '0a' + '12' + hex(Buffer.from('{"a":[1,"\\u003c"]}'))],
    [{ type: 'array', format: 'wrapped', items: string }, ['get', 'list'], '0a03676574' + '0a046c697374'],
    [{ type: 'string', format: 'byte' }, 'AAEC/w==', '000102ff'],
    [{ type: 'any', format: 'schema-or-bool', items: object(field('x', 1, string)) }, true, '0801'],
    [{ type: 'any', format: 'schema-or-bool', items: object(field('x', 1, string)) }, { x: 'y' }, '0801' + '12030a0179'],
    [{ type: 'any', format: 'schema-or-array', items: object(field('x', 1, string)) }, [{ x: 'y' }], '12030a0179'],
    [{ type: 'any', format: 'schema-or-strings', items: object(field('x', 1, string)) }, ['k'], '12016b'],
  ];
  for (const [type, value, body] of cases) {
    const schema = object(field('v', 1, type, { pointer: true }));
    const bytes = encodeMessage(schema, { v: value });
    if (type.format !== 'duration') assert.equal(hex(bytes), `0a${(body.length / 2).toString(16).padStart(2, '0')}${body}`, JSON.stringify(value));
    assert.deepEqual(decodeMessage(schema, bytes), { v: value });
  }
});

test('decodeMessage shows durations as Go prints them', () => {
  const schema = object(field('v', 1, special('duration'), { pointer: true }));
  for (const v of ['0s', '1ns', '1.5µs', '2.25ms', '1s', '1m0s', '1h0m0s', '1h2m3.5s', '-1.5s', '2540400h10m10s']) {
    assert.deepEqual(decodeMessage(schema, encodeMessage(schema, { v })), { v });
  }
});

test('decodeMessage shows zero values where Go does and omits them where Go does', () => {
  const inner = object(field('x', 1, string, { omitEmpty: false }), field('l', 2, { type: 'array', items: string }, { omitEmpty: false }),
    field('t', 3, special('time'), { omitEmpty: false }));
  const schema = object(field('s', 1, string), field('i', 2, inner, { omitEmpty: false }), field('t', 3, special('time')));
  assert.deepEqual(decodeMessage(schema, Uint8Array.of()), { i: { x: '', l: null, t: null } });
  assert.deepEqual(decodeMessage(schema, fromHex('0a00' + '1200' + '1a00')), { i: { x: '', l: null, t: null } });
});

test('decodeMessage passes over unknown fields, groups among them, and reads packed lists', () => {
  const schema = object(field('a', 1, string), field('l', 2, { type: 'array', items: int32 }));
  const unknown = '9a0601ff' + 'a10600112233' + '44556677' + 'ad0601020304' + 'b00601' + 'bb06' + '0801' + 'c306c406' + 'bc06';
  assert.deepEqual(decodeMessage(schema, fromHex(`${unknown}0a0178${unknown}1001${'12020203'}`)), { a: 'x', l: [1, 2, 3] });
});

const failure = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ProtobufError, String((error as Error).stack));
    return error.message;
  }
  return 'no error';
};

test('decodeMessage answers hostile bytes with ProtobufError', () => {
  const recursive: Schema & { fields: Map<string, Field> } = { type: 'object', fields: new Map() };
  recursive.fields.set('r', field('r', 1, recursive, { pointer: true }));
  recursive.fields.set('s', field('s', 2, string));
  recursive.fields.set('raw', field('raw', 3, special('raw'), { pointer: true }));
  const decode = (text: string): string => failure(() => decodeMessage(recursive, fromHex(text)));
  assert.equal(decode('0a05'), 'unexpected EOF');
  assert.equal(decode('12ffffffff0f'), 'unexpected EOF');
  assert.equal(decode('12ffffffffffffffffff01'), 'proto: negative length found during unmarshaling');
  assert.equal(decode('12ffffffffffffffffffff01'), 'proto: integer overflow');
  assert.equal(decode('1001'), 'proto: wrong wireType = 0 for field S');
  assert.equal(decode('0001'), 'proto: illegal tag 0 (wire type 0)');
  assert.equal(decode('3f'), 'proto: illegal wireType 7');
  assert.equal(decode('1a030a017b'), 'unexpected end of JSON input');
  let deep = new Uint8Array(0);
  for (let i = 0; i < 5000; i++) deep = Uint8Array.from([...Buffer.concat([Uint8Array.of(0x0a), varint(deep.length), deep])]);
  assert.equal(failure(() => decodeMessage(recursive, deep)), 'proto: exceeded max depth');
  fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void failure(() => decodeMessage(recursive, bytes))), { numRuns: 2000 });
});

function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) out.push((rest & 127) | 128);
  return Uint8Array.from([...out, rest]);
}

test('encodeEnvelope and decodeEnvelope carry the type and the message', () => {
  const type = { apiVersion: 'apps/v1', kind: 'Deployment' };
  for (const size of [0, 1, 200, 20_000]) {
    const raw = new Uint8Array(size).fill(9);
    const bytes = encodeEnvelope(type, raw);
    assert.equal(hex(bytes), `6b387300${'0a15' + '0a07' + hex(Buffer.from('apps/v1')) + '120a' + hex(Buffer.from('Deployment'))}12${hex(varint(size)) + hex(raw)}1a002200`);
    const { raw: message, ...rest } = decodeEnvelope(bytes);
    assert.deepEqual(rest, { ...type, contentEncoding: '', contentType: '' });
    assert.deepEqual(Uint8Array.from(message), raw);
  }
});

test('decodeEnvelope fails with the texts of the reference', () => {
  const prefix = 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]';
  const cases: [string, string][] = [
    ['', 'empty data'], ['6b3873', prefix], ['7b7d', prefix], ['6b387300', 'empty body'],
    ['6b3873000a0f0a0276311209436f6e6669674d6170120d0a030a01611206', 'unexpected EOF'],
  ];
  for (const [bytes, message] of cases) assert.equal(failure(() => decodeEnvelope(fromHex(bytes))), message);
});
