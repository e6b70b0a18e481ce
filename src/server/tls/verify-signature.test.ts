// Signatures of each algorithm that is known, and what is none.
import assert from 'node:assert/strict';
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { canVerify, verifySignature } from './verify-signature.ts';

test('verifySignature takes the signatures of the algorithms that it knows, and nothing else', () => {
  const signed = Buffer.from('what is signed');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const edwards = generateKeyPairSync('ed25519');
  const pss = { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const rows = [
    ['1.2.840.113549.1.1.12', rsa.publicKey, sign('sha384', signed, rsa.privateKey)], ['1.2.840.113549.1.1.10', rsa.publicKey, sign('sha256', signed, pss)],
    ['1.2.840.10045.4.3.2', curve.publicKey, sign('sha256', signed, curve.privateKey)],
    ['1.3.101.112', edwards.publicKey, sign(null, signed, edwards.privateKey)],
  ] as const;
  for (const [algorithm, key, signature] of rows) {
    const claim = { publicKey: key.export({ type: 'spki', format: 'der' }), algorithm, signed, signature };
    assert.equal(verifySignature(claim), true, algorithm);
    assert.equal(verifySignature({ ...claim, signed: Buffer.from('another') }), false, algorithm);
    assert.equal(verifySignature({ ...claim, algorithm: '1.2.3' }), false);
    assert.deepEqual([canVerify(algorithm), canVerify('1.2.3')], [true, false]);
    assert.equal(verifySignature({ ...claim, publicKey: new Uint8Array(3) }), false);
  }
});
