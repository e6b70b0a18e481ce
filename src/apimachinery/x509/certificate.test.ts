// Certificates and keys made by others, and bytes that are none.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseCertificate } from './certificate.ts';
import { countCertificates } from './certificate-problem.ts';
import { parsePem } from './pem.ts';
import { parsePublicKey } from './public-key.ts';

/** CN=x of the authority CN=ca, P-256, for the names .a and b..c and the address x, of 2024; made with openssl. */
const pem = readFileSync(new URL('../../../../test/data/certificate-with-names.pem', import.meta.url), 'utf8');
const bytes = parsePem(pem)[0]?.bytes ?? new Uint8Array();

describe('parseCertificate', () => {
  it('reads key, times and names', () => {
    const { publicKey, subject, ...rest } = parseCertificate(bytes)!;
    assert.equal(Buffer.from(subject).toString('hex'), '300c310a300806035504030c0178');
    assert.deepEqual(rest, {
      notBeforeMs: Date.parse('2024-01-01T00:00:00Z'), notAfterMs: Date.parse('2024-01-01T02:00:00Z'), dnsNames: ['.a', 'b..c'], emailAddresses: ['x'],
      isAuthority: false, extensions: ['2.5.29.17', '2.5.29.14', '2.5.29.35'],
    });
    assert.deepEqual(parsePublicKey(publicKey), { type: 'ECDSA', curve: 'P-256' });
  });

  it('answers undefined to anything else, whatever it is', () => {
    for (let length = 0; length < bytes.length; length += 1) assert.equal(parseCertificate(bytes.subarray(0, length)), undefined);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => parseCertificate(any) === undefined));
  });
});

describe('parsePublicKey', () => {
  it('knows kinds, curves and sizes', () => {
    const pairs = [
      generateKeyPairSync('ed25519'), generateKeyPairSync('x25519'), generateKeyPairSync('ed448'), generateKeyPairSync('ec', { namedCurve: 'P-384' }),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), generateKeyPairSync('rsa', { modulusLength: 1024 }),
    ];
    const keys = pairs.map(({ publicKey }) => publicKey.export({ type: 'spki', format: 'der' }));
    assert.deepEqual(keys.map((key) => parsePublicKey(key)), [
      { type: 'Ed25519' }, { type: 'other' }, { type: 'unknown' }, { type: 'ECDSA', curve: 'P-384' }, undefined, { type: 'RSA', bits: 1024 },
    ]);
    const rsa = keys.at(-1)!;
    for (let length = 0; length < rsa.length; length += 1) assert.equal(parsePublicKey(rsa.subarray(0, length)), undefined);
  });
});

describe('countCertificates', () => {
  it('counts what stands one after the other, and says why it cannot', () => {
    assert.equal(countCertificates(new Uint8Array()), 0);
    assert.equal(countCertificates(Buffer.concat([bytes, bytes])), 2);
    assert.equal(countCertificates(Buffer.concat([bytes, Buffer.from('x')])), 'x509: malformed certificate');
    const issuer = Buffer.from(bytes).indexOf(Buffer.from('300d310b300906035504030c026361', 'hex'));
    const change = (offset: number): number | string => {
      const changed = Buffer.from(bytes);
      changed[issuer + offset] = 0x04;
      return countCertificates(changed);
    };
    const why = 'x509: invalid RDNSequence';
    assert.deepEqual([0, 2, 4, 6].map(change), ['x509: malformed issuer', why, `${why}: invalid attribute`, `${why}: invalid attribute type`]);
  });

  it('answers to any bytes', () => {
    for (let length = 1; length < bytes.length; length += 1) assert.equal(typeof countCertificates(bytes.subarray(0, length)), 'string');
    fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (any) => typeof countCertificates(any) === 'string'));
  });
});
