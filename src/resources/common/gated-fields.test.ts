// Fields whose feature is off are dropped on writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeObject, prepareNew } from '../kinds.suite.ts';

test('dropGatedFields drops the strategy and the preferred holder of leases, and the topology of endpoints', () => {
  assert.deepEqual(prepareNew('coordination.k8s.io/Lease', { spec: { strategy: 's', preferredHolder: 'h', holderIdentity: 'i' } }),
    makeObject({ spec: { holderIdentity: 'i' } }));
  assert.deepEqual(prepareNew('discovery.k8s.io/EndpointSlice', { endpoints: [{ addresses: ['a'], deprecatedTopology: { a: 'b' } }] }),
    makeObject({ endpoints: [{ addresses: ['a'] }] }));
});
