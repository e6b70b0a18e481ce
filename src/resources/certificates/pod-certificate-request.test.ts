// PodCertificateRequests: what is asked, how it is answered once, and signatures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSchemas } from '../../apimachinery/index.ts';
import { contextOf, create, makeObject, printCell, strategyOf, update, updateStatus } from '../kinds.suite.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources } from '../table.ts';
import { withSignatures } from './signatures.ts';
import { CERTIFICATE, CERTIFICATE_REQUEST, NAMED_CERTIFICATE, PUBLIC_KEY } from './pod-keys.suite.ts';

const KEY = 'certificates.k8s.io/PodCertificateRequest';
const spec = (more: object = {}): object => ({
  signerName: 'example.com/s', podName: 'p', podUID: 'a', serviceAccountName: 'sa', serviceAccountUID: 'b', nodeName: 'n', nodeUID: 'c',
  maxExpirationSeconds: 7200, stubPKCS10Request: CERTIFICATE_REQUEST, ...more,
});
const errors = (more: object): readonly string[] => create(KEY, { spec: spec(more) });

test('validateRequest wants a pod, its account and its node, with their UIDs, and a lifetime that the signer may give', () => {
  assert.deepEqual(errors({}), []);
  assert.deepEqual(errors({ podUID: '', nodeUID: 'x'.repeat(129), maxExpirationSeconds: 3599 }), [
    'spec.podUID: Invalid value: "": must not be empty', 'spec.nodeUID: Too long: may not be more than 128 bytes',
    'spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]',
  ]);
  const ofDay = errors({ signerName: 'a.kubernetes.io/x', maxExpirationSeconds: 86_401 });
  assert.deepEqual(ofDay, ['spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]']);
  assert.deepEqual(errors({ unverifiedUserAnnotations: { 'Acme.io/Foo': 'x', Foo: '' } }), [
    'spec.unverifiedUserAnnotations: Invalid value: "foo": must be a domain-prefixed key (such as "acme.io/foo")',
  ]);
});

test('checkProof wants one of two forms of a key, and one that pods may have', () => {
  const choice = ['spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'];
  const older = { stubPKCS10Request: undefined, pkixPublicKey: PUBLIC_KEY, proofOfPossession: 'eA==' };
  assert.deepEqual(errors(older), []);
  for (const wrong of [{ pkixPublicKey: PUBLIC_KEY }, { ...older, proofOfPossession: undefined }, { ...older, pkixPublicKey: undefined }]) {
    assert.deepEqual(errors(wrong), choice);
  }
  assert.deepEqual(errors({ stubPKCS10Request: 'eA==' }), ['spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR']);
  assert.deepEqual(errors({ ...older, pkixPublicKey: 'eA==' }), ['spec.pkixPublicKey: Invalid value: "eA==": must be a valid PKIX-serialized public key']);
  const long = Buffer.alloc(10_241).toString('base64');
  assert.deepEqual(errors({ stubPKCS10Request: long }), ['spec.stubPKCS10Request: Too long: may not be more than 10240 bytes']);
});

test('withSignatures adds the error of a signature that is not that of the key, behind all others', () => {
  const row = createBuiltinResources(loadSchemas(schemaData)).find(({ plural }) => plural === 'podcertificaterequests')!;
  const validate = (isRight: boolean, more: object): readonly string[] => {
    const { strategy } = withSignatures(row, {
      canVerify: () => true, verify: ({ publicKey }) => Buffer.from(publicKey).toString('base64') === PUBLIC_KEY && isRight,
    });
    return strategy.validate!(makeObject({ spec: spec(more) }), contextOf()).map(({ field, message }) => `${field}: ${message}`);
  };
  assert.deepEqual(validate(true, {}), []);
  assert.deepEqual(validate(false, { podUID: '' }), [
    'spec.podUID: Invalid value: "": must not be empty', 'spec.stubPKCS10Request: Invalid value: invalid signature',
  ]);
  assert.deepEqual(validate(false, { stubPKCS10Request: undefined, pkixPublicKey: PUBLIC_KEY, proofOfPossession: 'eA==' }), [
    'spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature',
  ]);
});

const condition = (type: string, more: object = {}): object =>
  ({ type, status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z', ...more });
const old = { spec: spec() };
const answer = (status: object, before: object = old): readonly string[] => updateStatus(KEY, { ...old, status }, before);

test('validateRequestStatus takes one answer, once', () => {
  const denied = { conditions: [condition('Denied')] };
  assert.deepEqual(answer(denied), []);
  assert.deepEqual(answer({ certificateChain: 'x' }), [
    'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
  ]);
  assert.deepEqual(answer({ ...denied, certificateChain: 'x' }), [
    'status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest',
  ]);
  assert.deepEqual(answer({ conditions: [condition('Other'), condition('Denied'), condition('Failed', { status: 'False' })] }), [
    'status.conditions.[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed"',
    'status.conditions.[2].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"',
    'status.conditions.[2].status: Unsupported value: "False": supported values: "True"',
  ]);
  const stored = { ...old, status: denied };
  assert.deepEqual(answer(denied, stored), []);
  assert.deepEqual(answer({}, stored), ['status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed']);
  assert.deepEqual(['Denied', 'Pending'], [printCell(KEY, 'State', stored), printCell(KEY, 'State', old)]);
});

test('checkIssued wants a chain for the key that was asked for, and its times', () => {
  const times = { notBefore: '2024-01-01T00:00:00Z', notAfter: '2024-01-01T02:00:00Z', beginRefreshAt: '2024-01-01T01:00:00Z' };
  const issued = (more: object, before?: object) => answer({ conditions: [condition('Issued')], certificateChain: CERTIFICATE, ...times, ...more }, before);
  assert.deepEqual(issued({}), []);
  assert.deepEqual(issued({ certificateChain: CERTIFICATE + CERTIFICATE }), []);
  assert.deepEqual(issued({}, { spec: spec({ stubPKCS10Request: undefined, pkixPublicKey: PUBLIC_KEY }) }), []);
  const first = (more: object): string => (issued(more)[0] ?? '').replace(/^.*: /, '');
  assert.equal(first({ certificateChain: '' }), 'issued certificate chain must contain at least one certificate');
  assert.equal(first({ certificateChain: `${CERTIFICATE}-----BEGIN KEY-----\neA==\n-----END KEY-----\n` }),
    'issued certificate chain must consist entirely of CERTFICATE PEM blocks');
  assert.equal(first({ certificateChain: `${CERTIFICATE}-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n` }),
    'intermediate certificate does not parse as valid X.509');
  assert.equal(first({ notAfter: times.notBefore }), 'must be set to the NotAfter time encoded in the leaf certificate');
  assert.equal(first({ beginRefreshAt: '2024-01-01T00:09:59Z' }), 'must be at least 10 minutes after status.notBefore');
  assert.deepEqual(issued({ notBefore: undefined }), [
    'status.notBefore: Required value: must be present and consistent with the issued certificate',
  ]);
  assert.deepEqual(issued({ certificateChain: NAMED_CERTIFICATE }).map((error) => error.replace(/^.*Invalid value: /, '')), [
    '".a": leaf certificate\'s DNSName should not start or end with \'.\'', '"b..c": leaf certificate\'s DNSName should not contain \'..\'',
    '"x": leaf certificate should not contain invalid EmailAddress',
  ]);
  const hour = { spec: spec({ maxExpirationSeconds: 3600 }) };
  const status = { conditions: [condition('Issued')], certificateChain: CERTIFICATE, ...times };
  assert.deepEqual(updateStatus(KEY, { ...hour, status }, hour), [
    'status.certificateChain: Invalid value: 7200000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (3600)',
  ]);
});

test('checkIssued takes certificates that begin about now', () => {
  const status = {
    conditions: [condition('Issued')], certificateChain: CERTIFICATE, notBefore: '2024-01-01T00:00:00Z', notAfter: '2024-01-01T02:00:00Z',
    beginRefreshAt: '2024-01-01T01:00:00Z',
  };
  const later = { ...contextOf('status'), nowMs: Date.parse('2024-01-01T00:05:00Z') };
  const [error] = strategyOf(KEY).validateUpdate!(makeObject({ ...old, status }), makeObject(old), later);
  assert.equal(error?.message, 'Invalid value: "2024-01-01T00:00:00Z": must be set to within 5 minutes of kube-apiserver\'s current time');
});

test('checkSameSpec shows the spec as the reference does', () => {
  const [error = ''] = update(KEY, { spec: spec({ podName: 'q' }) }, { old });
  assert.match(error, /immutable$/);
  assert.match(error, /^spec: Invalid value: \{"SignerName":"example.com\/s","PodName":"q","PodUID":"a",.*"UnverifiedUserAnnotations":null\}: field is/);
});
