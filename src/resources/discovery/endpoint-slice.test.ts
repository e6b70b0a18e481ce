// EndpointSlices, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, update } from '../kinds.suite.ts';

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
