// Base64 against Node's own encoder, and Go's places of errors.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalizeBase64 } from './base64.ts';

test('canonicalizeBase64 keeps canonical base64 of any bytes', () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    const text = Buffer.from(bytes).toString('base64');
    assert.equal(canonicalizeBase64(text), text);
  }));
});

test('canonicalizeBase64 reads over line breaks and clears the bits beyond the last byte', () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), (bytes, where) => {
    const text = Buffer.from(bytes).toString('base64');
    const at = where % (text.length + 1);
    assert.equal(canonicalizeBase64(`${text.slice(0, at)}\r\n${text.slice(at)}`), text);
  }));
  assert.equal(canonicalizeBase64('YR=='), 'YQ==');
  assert.equal(canonicalizeBase64('YWJ='), 'YWI=');
});

test('canonicalizeBase64 reports the byte at which Go stops', () => {
  const places = { '!': 0, 'not base64': 3, YQ: 0, 'YQ=': 3, 'YWJj=': 4, 'YQ==x': 4, 'YQ=x': 2, YWJjZA: 4, '=': 0 };
  for (const [text, at] of Object.entries(places)) assert.throws(() => canonicalizeBase64(text), { message: `illegal base64 data at input byte ${at}` }, text);
});
