// Certificate requests made by others, and bytes that are none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseCertificateRequest } from './certificate-request.ts';
import { parsePem } from './pem.ts';

/** O=team, CN=user-one, P-256, made with openssl. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHcMIGEAgEAMCIxETAPBgNVBAMMCHVzZXItb25lMQ0wCwYDVQQKDAR0ZWFtMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKCt0QlZBU8zga7mwJoMB97mtvmCH27uc
wS3+EGUwAW6/JlnN/2TyWT0klOeyLxhmWEcmZ7RleXXGugp+RoeTPqAAMAoGCCqG
SM49BAMCA0cAMEQCIG3Xd3/MasXsz8HotVe8oGTEr1N4edILV9Zj1GYQE2cdAiBK
7u0OaIdi99Igj2hMEMM46Yoxds1bmjea82NRAbGCbg==
-----END CERTIFICATE REQUEST-----
`;

describe('parseCertificateRequest', () => {
  it('reads subject, key and signature', () => {
    const [block] = parsePem(`before\n${pem}after`);
    const request = parseCertificateRequest(block?.bytes ?? new Uint8Array());
    assert.deepEqual([request?.commonName, request?.organizations, request?.signatureAlgorithm], ['user-one', ['team'], '1.2.840.10045.4.3.2']);
    assert.equal(request?.publicKey.length, 91);
  });

  it('knows which kinds of alternative names are asked for', () => {
    const named = `-----BEGIN CERTIFICATE REQUEST-----
MIIBEDCBtgIBADAvMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxFjAUBgNVBAMMDXN5
c3RlbTpub2RlOmEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATk6JEqjT0mdwIv
yrtjqYbdyKC70r25Q6abAzMZWhRnznP9TVy8t73LOtmE7tBlU4+2sJx+rkfoa/Ba
2xtlzokyoCUwIwYJKoZIhvcNAQkOMRYwFDASBgNVHREECzAJggFhhwQBAgMEMAoG
CCqGSM49BAMCA0kAMEYCIQDEbet71ZwpGj2jWuBbnqtzES7+73DmvTIbApJqmpO2
8QIhAKLGeP69UjJlA+HuNk/DruLYxA8TJ+ueCcLb/OOvs4iN
-----END CERTIFICATE REQUEST-----
`;
    const kinds = [named, pem].map((text) => [...parseCertificateRequest(parsePem(text)[0]!.bytes)!.nameKinds]);
    assert.deepEqual(kinds, [['dns', 'ip'], []]);
  });

  it('answers undefined to anything else, whatever it is', () => {
    const whole = parsePem(pem)[0]?.bytes ?? new Uint8Array();
    for (let length = 0; length < whole.length; length += 1) assert.equal(parseCertificateRequest(whole.subarray(0, length)), undefined);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => parseCertificateRequest(bytes) === undefined));
  });
});

describe('parsePem', () => {
  it('knows types and headers, and leaves out what is not base64', () => {
    const block = (type: string, body: string): string => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
    const found = parsePem(block('A', 'AAAA') + block('B', 'Proc-Type: 4\nAAAA') + block('C', '!') + block('D', ''));
    assert.deepEqual(found.map(({ type, hasHeaders }) => [type, hasHeaders]), [['A', false], ['B', true], ['D', false]]);
  });

  it('takes time in proportion to the text', () => {
    assert.deepEqual(parsePem('-----BEGIN A-----\n'.repeat(50_000)), []);
  });
});
