// CertificateSigningRequests: requester, decisions and certificates.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareChanged, prepareNew, specOfKind } from '../kinds.suite.ts';

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

test('names of certificatesigningrequests follow no rule of their own, as kubelets make them', () => {
  assert.equal(specOfKind('certificates.k8s.io/CertificateSigningRequest').nameRule, 'any');
});
