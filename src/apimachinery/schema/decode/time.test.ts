// Times against Date, and the texts of Go's time.Parse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecodeError } from './error.ts';
import { decodeObject } from './decode.ts';
import { canonicalizeMicroTime, canonicalizeTime, isZeroTime } from './time.ts';
import type { Schema } from '../schema.ts';

const failures: readonly [string, string][] = [
  ['yesterday', 'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
  ['2020', 'parsing time "2020" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "-"'],
  ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
  ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
  ['2020-01-01T24:00:00Z', 'parsing time "2020-01-01T24:00:00Z": hour out of range'],
  ['2020-01-01 00:00:00Z', 'parsing time "2020-01-01 00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T"'],
  ['2020-01-01T00:00:00', 'parsing time "2020-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'],
  ['2020-01-01T00:00:00Zx', 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'],
];

test('canonicalizeTime keeps what is canonical and turns zones and fractions into UTC seconds', () => {
  assert.equal(canonicalizeTime('2020-02-29T23:59:59Z'), '2020-02-29T23:59:59Z');
  assert.equal(canonicalizeTime('2020-01-01T00:30:00+01:00'), '2019-12-31T23:30:00Z');
  assert.equal(canonicalizeTime('2020-01-01T00:00:00.987654321Z'), '2020-01-01T00:00:00Z');
  assert.equal(canonicalizeTime('0044-03-15T12:00:00Z'), '0044-03-15T12:00:00Z');
});

test('canonicalizeTime takes the zero time of Go for no time', () => {
  assert.equal(canonicalizeTime('0001-01-01T00:00:00Z'), undefined);
  assert.equal(canonicalizeMicroTime('0001-01-01T00:00:00.000000Z'), undefined);
});

test('canonicalizeTime fails with the words of time.Parse', () => {
  for (const [text, message] of failures) assert.throws(() => canonicalizeTime(text), { name: 'DecodeError', message });
});

test('canonicalizeMicroTime wants exactly six digits of fraction', () => {
  assert.equal(canonicalizeMicroTime('2020-01-01T00:00:00.100000Z'), '2020-01-01T00:00:00.100000Z');
  assert.equal(canonicalizeMicroTime('2020-02-29T23:59:59.123456Z'), '2020-02-29T23:59:59.123456Z');
  assert.equal(canonicalizeMicroTime('2020-01-01T01:00:00.000001+01:00'), '2020-01-01T00:00:00.000001Z');
  for (const text of ['2020-13-01T00:00:00.000000Z', '2021-02-29T00:00:00.000000Z', '2020-01-01T24:00:00.000000Z', '2020-01-01T00:00:00.00000aZ']) {
    assert.throws(() => canonicalizeMicroTime(text), DecodeError);
  }
  assert.throws(() => canonicalizeMicroTime('2030-01-01T00:00:05Z'), {
    message: 'parsing time "2030-01-01T00:00:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  });
});

test('canonicalizeTime agrees with Date on any instant and never fails otherwise than with DecodeError', () => {
  fc.assert(fc.property(fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
    assert.equal(canonicalizeTime(date.toISOString()), `${date.toISOString().slice(0, 19)}Z`);
  }));
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'0129-T:Z.+ x') }), (text) => {
    try {
      canonicalizeTime(text);
    } catch (error) {
      assert.ok(error instanceof DecodeError);
    }
  }));
});

test('isZeroTime says which fields of a decoded object were set to the zero time, of copies as well', () => {
  const time: Schema = { type: 'string', format: 'time' };
  const field = { required: false, omitEmpty: false, pointer: false, number: 0, schema: time };
  const schema: Schema = { type: 'object', fields: new Map(['stated', 'null', 'absent', 'set'].map((name) => [name, { ...field, name }])) };
  const { object } = decodeObject(schema, { stated: '0001-01-01T01:00:00+01:00', null: null, set: '2020-01-01T00:00:00Z' });
  assert.equal(JSON.stringify(object), '{"stated":null,"null":null,"absent":null,"set":"2020-01-01T00:00:00Z"}');
  for (const one of [object, { ...object }]) assert.deepEqual(Object.keys(one).filter((name) => isZeroTime(one, name)), ['stated']);
  assert.equal(isZeroTime(undefined, 'stated'), false);
});
