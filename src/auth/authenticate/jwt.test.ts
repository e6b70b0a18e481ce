// Tokens that are what they say, and tokens that pretend: every way around a signature that is known by name.
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type SigningKey, algorithmOf, keyIdOf, parseJwt, signJwt, verifyJwt } from './jwt.ts';

const make = (pair: { privateKey: SigningKey['privateKey']; publicKey: SigningKey['publicKey'] }): SigningKey => ({ ...pair, keyId: keyIdOf(pair.publicKey) });
const rsa = make(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const ec = make(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const other = make(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const check = (token: string, keys = [rsa, ec]): boolean => {
  const jwt = parseJwt(token);
  return jwt !== undefined && verifyJwt(jwt, keys);
};

describe('verifyJwt', () => {
  it('accepts what signJwt signs, with RSA and ECDSA keys', async () => {
    for (const key of [rsa, ec]) {
      const token = await signJwt({ sub: 'x' }, key);
      assert.equal(check(token), true);
      assert.deepEqual(parseJwt(token)?.claims, { sub: 'x' });
    }
    assert.deepEqual([rsa, ec].map((key) => algorithmOf(key.publicKey)), ['RS256', 'ES256']);
  });

  it('asks the key that the header names, and all where it names none', async () => {
    assert.equal(check(await signJwt({ sub: 'x' }, { ...ec, keyId: 'none' })), false);
    assert.equal(check(await signJwt({ sub: 'x' }, { ...ec, keyId: '' })), true);
  });

  it('attack 42: refuses alg none, in every spelling', () => {
    for (const alg of ['none', 'None', 'NONE', '']) assert.equal(check(`${encode({ alg })}.${encode({ sub: 'x' })}.AA`), false, alg);
    assert.equal(parseJwt(`${encode({ alg: 'none' })}.${encode({})}.`), undefined);
  });

  it('attack 42: refuses an HMAC whose secret is the public key', () => {
    const text = `${encode({ alg: 'HS256', kid: rsa.keyId })}.${encode({ sub: 'x' })}`;
    const secrets = [rsa.publicKey.export({ type: 'spki', format: 'pem' }), rsa.publicKey.export({ type: 'spki', format: 'der' })];
    for (const secret of secrets) assert.equal(check(`${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`), false);
  });

  it('attack 42: refuses a signature of another key, another claim set, and an algorithm that is not the key\'s', async () => {
    const token = await signJwt({ sub: 'x' }, ec);
    const [head = '', body = '', signature = ''] = token.split('.');
    assert.equal(check(token, [rsa, other]), false);
    assert.equal(check(`${head}.${encode({ sub: 'root' })}.${signature}`), false);
    assert.equal(check(`${encode({ alg: 'RS256', kid: ec.keyId })}.${body}.${signature}`), false);
    assert.equal(check(`${encode({ alg: 'ES384', kid: ec.keyId })}.${body}.${signature}`), false);
    assert.equal(check(`${head}.${body}.${Buffer.alloc(64).toString('base64url')}`), false);
  });

  it('attack 42: takes key names and embedded keys for what they are: text that is compared', async () => {
    const forged = await signJwt({ sub: 'x' }, { ...other, keyId: rsa.keyId });
    assert.equal(check(forged), false);
    const [, body = ''] = forged.split('.');
    const jwk = other.publicKey.export({ format: 'jwk' });
    const headers = [{ jwk }, { jku: 'https://evil.example' }, { kid: '../../dev/null' }, { kid: '__proto__' }];
    for (const header of headers) {
      assert.equal(check(`${encode({ alg: 'ES256', ...header })}.${body}.${forged.split('.')[2] ?? ''}`), false);
    }
    assert.equal(parseJwt(`${encode({ alg: 'ES256', crit: ['exp'] })}.${body}.AA`), undefined);
  });

  it('survives any text', () => {
    const texts = fc.oneof(fc.string(), fc.array(fc.base64String(), { maxLength: 4 }).map((parts) => parts.join('.')));
    fc.assert(fc.property(texts, (text) => check(text) === false));
  });
});
