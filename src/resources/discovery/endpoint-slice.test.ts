// EndpointSlices, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, prepareChanged, prepareNew, update } from '../kinds.suite.ts';

test('checkHints wants each node once', () => {
  const endpoints = [{ addresses: [''], hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }, { name: 'n' }] } }];
  assert.deepEqual(create('discovery.k8s.io/EndpointSlice', { addressType: 'FQDN', endpoints }), [
    'endpoints[0].addresses[0]: Required value', 'endpoints[0].hints.forNodes[1].name: Duplicate value: "n"',
  ]);
});

test('validateEndpointSlice accepts canonical addresses only, and others that are stored already', () => {
  const slice = (address: string): object => ({ addressType: 'IPv4', endpoints: [{ addresses: [address] }] });
  const errors = ['endpoints[0].addresses[0]: Invalid value: "010.1.1.1": must not have leading 0s'];
  assert.deepEqual(create('discovery.k8s.io/EndpointSlice', slice('010.1.1.1')), errors);
  assert.deepEqual(update('discovery.k8s.io/EndpointSlice', slice('010.1.1.1'), { old: slice('010.1.1.1') }), []);
  assert.deepEqual(create('discovery.k8s.io/EndpointSlice', slice('2001:db8::1')),
    ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address']);
});

test('addresses of IPv6 are canonical, those of FQDN are domains of two labels or more', () => {
  const found = (addressType: string, address: string) => create('discovery.k8s.io/EndpointSlice', { addressType, endpoints: [{ addresses: [address] }] })
    .map((text) => text.replace('endpoints[0].addresses[0]: Invalid value: ', ''));
  assert.deepEqual(found('IPv6', 'fd00::0001'), ['"fd00::0001": must be in canonical form ("fd00::1")']);
  assert.deepEqual(found('IPv6', '::'), ['"::": may not be unspecified (::)']);
  assert.deepEqual([found('FQDN', 'a.b'), found('FQDN', 'a.b.')], [[], []]);
  assert.deepEqual(found('FQDN', 'a'), ['"a": should be a domain with at least two segments separated by dots']);
  assert.match(found('FQDN', `${'a'.repeat(64)}.b`).join(), /must be no more than 63 (?:bytes|characters)/);
});

test('prepareForUpdate keeps the topology of v1beta1 while endpoints stay, and the node that it named when they change', () => {
  const [KEY, HOST] = ['discovery.k8s.io/EndpointSlice', 'kubernetes.io/hostname'];
  const endpoint = (address: string, host: string): object => ({ addresses: [address], deprecatedTopology: { [HOST]: host } });
  const old = { endpoints: [endpoint('1.1.1.1', 'n')] };
  assert.deepEqual(prepareChanged(KEY, { object: old, old })['endpoints'], old.endpoints);
  const changed = prepareChanged(KEY, { object: { endpoints: [endpoint('1.1.1.2', 'n'), endpoint('1.1.1.3', 'other')] }, old });
  assert.deepEqual(changed['endpoints'], [{ addresses: ['1.1.1.2'], nodeName: 'n' }, { addresses: ['1.1.1.3'] }]);
  assert.deepEqual(prepareNew(KEY, old)['endpoints'], [{ addresses: ['1.1.1.1'] }]);
});
