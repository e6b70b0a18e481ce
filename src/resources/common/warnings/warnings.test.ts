// The paths that warnings come with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warn } from '../../kinds.suite.ts';

test('warnings of other kinds come on their paths only', () => {
  assert.deepEqual(warn('networking.k8s.io/Ingress', { metadata: { name: 'x', annotations: { 'kubernetes.io/ingress.class': 'a' } }, spec: {} }), [
    'annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead',
  ]);
  assert.deepEqual(warn('/ResourceQuota', { spec: { hard: { cpu: '2', 'limits.cpu': '1' } } }), ['ResourceQuota cpu (2) should be less than limits.cpu (1)']);
  assert.deepEqual(warn('/Secret', { type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==', 'tls.key': 'eA==' } }), [
    'tls: failed to find any PEM data in certificate input',
  ]);
  assert.deepEqual(warn('/Pod', { spec: { imagePullSecrets: [{ name: '' }] } }, { old: { metadata: {} } }), []);
});

test('warnings of addresses name forms that are accepted no more, and those that are not canonical', () => {
  const balanced = (loadBalancerIP: string): readonly string[] => warn('/Service', { spec: { type: 'LoadBalancer', loadBalancerIP } });
  assert.deepEqual(['01.2.3.4', '::ffff:1.2.3.4'].flatMap(balanced), ['01.2.3.4', '::ffff:1.2.3.4'].map((text) =>
    `spec.loadBalancerIP: non-standard IP address "${text}" is invalid: use "1.2.3.4"`));
  assert.deepEqual(balanced('2001:DB8::1'), ['spec.loadBalancerIP: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']);
  assert.deepEqual(['1.2.3.4', '2001:db8::1', 'none'].flatMap(balanced), []);
});

test('warnings of ranges name bits beyond the prefix and forms that are accepted no more', () => {
  const ranged = (range: string): readonly string[] => warn('/Service', { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: [range] } })
    .map((text) => text.replace('spec.loadBalancerSourceRanges[0]: ', ''));
  assert.deepEqual(ranged('010.0.0.1/024'), [
    'CIDR value "010.0.0.1/024" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
    'non-standard CIDR value "010.0.0.1/024" is invalid: use "10.0.0.0/24"',
  ]);
  assert.deepEqual(ranged('::ffff:10.0.0.0/120'), ['non-standard CIDR value "::ffff:10.0.0.0/120" is invalid: use "10.0.0.0/24"']);
  assert.deepEqual(ranged('FD00::/64'), ['IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")']);
  assert.deepEqual(['10.0.0.0/8', 'fd00::/64', 'x'].flatMap(ranged), []);
});
