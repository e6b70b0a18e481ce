// CertificateSigningRequests: requester, decisions and certificates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSchemas } from '../../apimachinery/index.ts';
import { contextOf, create, makeObject, prepareChanged, prepareNew, specOfKind, update, updateFrom } from '../kinds.suite.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources } from '../table.ts';
import { CERTIFICATE_REQUEST } from './pod-keys.suite.ts';
import { withSignatures } from './signatures.ts';

test('prepareForCreate of a certificatesigningrequest records the user that asks', () => {
  const request = prepareNew('certificates.k8s.io/CertificateSigningRequest', { spec: { request: 'x', username: 'root', extra: { a: ['b'] } } });
  assert.deepEqual(request['spec'], { request: 'x', username: 'alice', uid: 'u', groups: ['devs'] });
});

test('prepareForUpdate of a certificatesigningrequest decides through approval only', () => {
  const key = 'certificates.k8s.io/CertificateSigningRequest';
  const old = { spec: { a: 1 } };
  const object = { spec: { a: 2 }, status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: 'eA==' } };
  const approved = prepareChanged(key, { object, old, subresource: 'approval' });
  const time = '2024-01-01T00:00:00Z';
  assert.deepEqual([approved['spec'], approved['status']], [
    old.spec, { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: time, lastTransitionTime: time }] },
  ]);
  assert.deepEqual((prepareChanged(key, { object, old, subresource: 'status' })['status'] as { certificate: string }).certificate, 'eA==');
});

test('the status of a certificatesigningrequest keeps the decisions that there are, and is refused with others', () => {
  const key = 'certificates.k8s.io/CertificateSigningRequest';
  const status = (...conditions: object[]): object => ({ status: { conditions } });
  const [approved, failed] = [{ type: 'Approved', status: 'True', reason: 'old' }, { type: 'Failed', status: 'True', reason: 'f' }];
  const kept = prepareChanged(key, { object: status(failed, { ...approved, reason: 'new' }), old: status(approved), subresource: 'status' });
  assert.deepEqual((kept['status'] as { conditions: { reason: string }[] }).conditions.map(({ reason }) => reason), ['f', 'old']);
  const refuse = (change: string): readonly string[] => [`status.conditions: Forbidden: updates may not ${change} a condition of type "Approved"`];
  assert.deepEqual(updateFrom(key, status(approved), {}, 'status'), refuse('add'));
  assert.deepEqual(updateFrom(key, status(approved), {}, 'approval'), []);
  assert.deepEqual(updateFrom(key, {}, status(approved), 'status'), refuse('remove'));
});

test('validate says that an empty request of a certificatesigningrequest is cut short', () => {
  const request = btoa('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n');
  const spec = { request, signerName: 'a.b/c', usages: ['any'] };
  assert.deepEqual(create('certificates.k8s.io/CertificateSigningRequest', { spec }), [
    `spec.request: Invalid value: "${request}": asn1: syntax error: sequence truncated`,
  ]);
});

test('withSignatures adds the error of a signature that is not that of the key of a certificatesigningrequest, before all others', () => {
  const row = createBuiltinResources(loadSchemas(schemaData)).find(({ plural }) => plural === 'certificatesigningrequests')!;
  const request = btoa(`-----BEGIN CERTIFICATE REQUEST-----\n${CERTIFICATE_REQUEST}\n-----END CERTIFICATE REQUEST-----\n`);
  const validate = (given: { readonly isRight: boolean; readonly canVerify?: boolean }): readonly string[] => {
    const { strategy } = withSignatures(row, { canVerify: () => given.canVerify !== false, verify: () => given.isRight });
    return strategy.validate!(makeObject({ spec: { request, signerName: 'a.b/c', usages: [] } }), contextOf()).map(({ message }) => message.slice(-60));
  };
  const [first, ...others] = validate({ isRight: false });
  assert.match(first ?? '', /verification (?:error|failure)$/);
  assert.deepEqual(validate({ isRight: true }), others);
  assert.match(validate({ isRight: true, canVerify: false })[0] ?? '', /x509: cannot verify signature: algorithm unimplemented$/);
});

test('names of certificatesigningrequests follow no rule of their own, as kubelets make them', () => {
  assert.equal(specOfKind('certificates.k8s.io/CertificateSigningRequest').nameRule, 'any');
});

const KEY = 'certificates.k8s.io/CertificateSigningRequest';

test('checkCertificate reads the blocks of an issued certificate one by one', () => {
  const block = (type: string, base64 = ''): string => `-----BEGIN ${type}-----\n${base64}\n-----END ${type}-----\n`;
  const withCertificate = (...blocks: string[]): object => ({ status: { certificate: btoa(blocks.join('')) } });
  const issue = (...blocks: string[]): readonly string[] => update(KEY, withCertificate(...blocks), { old: {}, subresource: 'status' });
  const refusal = (why: string): readonly string[] => [`status.certificate: Invalid value: "<certificate data>": ${why}`];
  assert.deepEqual(issue(block('CERTIFICATE'), block('OTHER')), refusal('found CERTIFICATE PEM block containing 0 certificates'));
  assert.deepEqual(issue(block('CERTIFICATE', 'eA==')), refusal('x509: malformed certificate'));
  assert.deepEqual(issue(block('OTHER'), block('CERTIFICATE')), refusal('only CERTIFICATE PEM blocks are allowed, found "OTHER"'));
  const stored = withCertificate(block('CERTIFICATE'));
  assert.deepEqual(update(KEY, stored, { old: stored, subresource: 'status' }), []);
});
