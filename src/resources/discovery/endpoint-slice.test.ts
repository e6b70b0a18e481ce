// EndpointSlices, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '../kinds.suite.ts';

test('checkHints wants each node once', () => {
  const endpoints = [{ addresses: [''], hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }, { name: 'n' }] } }];
  assert.deepEqual(create('discovery.k8s.io/EndpointSlice', { addressType: 'FQDN', endpoints }), [
    'endpoints[0].addresses[0]: Required value', 'endpoints[0].hints.forNodes[1].name: Duplicate value: "n"',
  ]);
});
