// Certificate requests that were damaged, and what Go says about them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findRequestFault, findSubjectFault } from './request-faults.ts';

/** O=team, CN=user-one, P-256. */
const der = Buffer.from(`MIHcMIGEAgEAMCIxETAPBgNVBAMMCHVzZXItb25lMQ0wCwYDVQQKDAR0ZWFtMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKCt0QlZBU8zga7mwJoMB97mtvmCH27uc
wS3+EGUwAW6/JlnN/2TyWT0klOeyLxhmWEcmZ7RleXXGugp+RoeTPqAAMAoGCCqGSM49BAMCA0cAMEQCIG3Xd3/MasXsz8HotVe8oGTEr1N4edILV9Zj1GYQE2cdAiBK
7u0OaIdi99Igj2hMEMM46Yoxds1bmjea82NRAbGCbg==`, 'base64');

const withByte = (at: number, byte: number): Buffer => {
  const changed = Buffer.from(der);
  changed[at] = byte;
  return changed;
};

test('findRequestFault finds none in a request', () => assert.equal(findRequestFault(der), undefined));

test('findRequestFault says where a request is cut off, and what follows it', () => {
  const [syntax, structure] = ['asn1: syntax error: ', 'asn1: structure error: '];
  const faults: readonly (readonly [bytes: Buffer, fault: string])[] = [
    [der.subarray(0, 0), `${syntax}sequence truncated`], [der.subarray(0, 1), `${syntax}truncated tag or length`],
    [der.subarray(0, 2), `${syntax}truncated tag or length`], [der.subarray(0, 100), `${syntax}data truncated`],
    [Buffer.concat([der, Buffer.from([0])]), `${syntax}trailing data`], [withByte(1, 0x80), `${syntax}indefinite length found (not DER)`],
    [withByte(1, 0x84), `${structure}length too large`], [withByte(2, 0), `${structure}superfluous leading zeros in length`],
    [withByte(2, 0x10), `${structure}non-minimal length`],
    [
      withByte(0, 0), `${structure}tags don't match (16 vs {class:0 tag:0 length:220 isCompound:false}) {optional:false explicit:false application:false `
        + 'private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false} certificateRequest @3',
    ],
    [Buffer.from([0x3f, 0x80]), `${syntax}integer is not minimally encoded`], [Buffer.from([0x3f, 1, 0]), `${syntax}non-minimal tag`],
  ];
  for (const [bytes, fault] of faults) assert.equal(findRequestFault(bytes), fault, fault);
});

test('findSubjectFault wants a name of sets of pairs', () => {
  const subject = der.indexOf(Buffer.from([0x30, 0x22, 0x31, 0x11, 0x30]));
  const findIn = (at: number, byte: number): string | undefined => findSubjectFault(withByte(subject + at, byte));
  assert.deepEqual([findSubjectFault(der), findIn(2, 0x30)], [undefined, 'asn1: structure error: sequence tag mismatch']);
  assert.match(findIn(6, 0x04) ?? '', /^asn1: structure error: tags don't match \(6 vs \{class:0 tag:4 .* ObjectIdentifier @2$/);
});

test('findRequestFault answers whatever it is given', () => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { maxLength: 3 }), fc.nat(der.length), (changes, end) => {
    const bytes = Buffer.from(der);
    for (const [at, byte] of changes) bytes[at] = byte;
    const fault = findRequestFault(bytes.subarray(0, end));
    assert.ok(fault === undefined || /^asn1: (syntax|structure) error: ./.test(fault));
  }));
});
