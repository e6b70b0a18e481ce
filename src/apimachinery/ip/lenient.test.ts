// Addresses in forms of older releases: which texts are read, as what, and for which servers they are problems.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectProblems } from '../field-error.ts';
import type { FieldError } from '../status.ts';
import { formatIpAddress, parseIpRange } from './ip-address.ts';
import { behindStrict, checkLenientIp, isMapped, parseLenientIp, parseLenientRange, strictProblem } from './lenient.ts';

test('parseLenientIp leaves leading zeros out and unwraps IPv4 inside IPv6', () => {
  const forms = [['010.02.003.4', '10.2.3.4'], ['::ffff:1.2.3.4', '1.2.3.4'], ['0:0:0:0:0:ffff:0102:0304', '1.2.3.4'], ['::ffff:01.2.3.4', '1.2.3.4'],
    ['02001:db8::00001', '2001:db8::1'], ['1.2.3.4', '1.2.3.4'], ['::', '::']];
  for (const [text = '', form] of forms) assert.equal(formatIpAddress(parseLenientIp(text)!), form, text);
  for (const text of ['', '1.2.3', '0256.1.1.1', 'a', '00', '12345::', `${'0'.repeat(2000)}1.2.3.4`]) assert.equal(parseLenientIp(text), undefined, text);
  assert.deepEqual(['::ffff:1.2.3.4', '::fffe:1.2.3.4', '1.2.3.4', 'x'].map(isMapped), [true, false, false, false]);
});

test('parseLenientRange leaves leading zeros out of the length too', () => {
  assert.deepEqual(parseLenientRange('010.0.0.0/008'), parseIpRange('10.0.0.0/8'));
  for (const text of ['10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '/8', '']) assert.equal(parseLenientRange(text), undefined, text);
});

test('checkLenientIp has problems with what older releases accepted on strict servers alone', () => {
  const found = (text: string) => checkLenientIp('f', text).map(({ message, when }) => [message, when]);
  assert.deepEqual([found('1.2.3.4'), found('::1')], [[], []]);
  assert.deepEqual(found('01.2.3.4'), [['Invalid value: "01.2.3.4": must not have leading 0s', 'strict']]);
  assert.deepEqual(found('::ffff:1.2.3.4'), [['Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address', 'strict']]);
  const invalid = (text: string) => [[`Invalid value: "${text}": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`, undefined]];
  for (const text of ['a', '01.2.3']) assert.deepEqual(found(text), invalid(text));
});

test('behindStrict looks further where lenient servers let a value pass', () => {
  const problem: FieldError = { reason: 'FieldValueInvalid', field: 'f', message: 'm' };
  assert.deepEqual(behindStrict([], () => [problem]), [problem]);
  assert.deepEqual(behindStrict([problem], () => [problem]), []);
  assert.deepEqual(behindStrict([strictProblem(problem)], () => [problem]), [{ ...problem, when: '!strict' }]);
});

test('selectProblems has the problems of strict or of lenient servers, and those of all', () => {
  const problem: FieldError = { reason: 'FieldValueInvalid', field: 'f', message: 'm' };
  const [strict, lenient, other] = [{ ...problem, field: 's' }, { ...problem, field: 'l' }, { ...problem, field: 'o' }];
  const all = [problem, strictProblem(strict), { ...lenient, when: '!strict' }, { ...other, when: 'Feature' }];
  assert.deepEqual(selectProblems(all, (condition) => condition === 'strict'), [problem, strict]);
  assert.deepEqual(selectProblems(all, () => false), [problem, lenient]);
  assert.deepEqual(selectProblems(all, (condition) => condition === 'Feature'), [problem, lenient, other]);
});
