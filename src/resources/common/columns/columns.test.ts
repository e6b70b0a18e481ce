// Cells that distinguish absent fields from empty ones, and names of other objects.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../apimachinery/index.ts';
import { printCell } from '../../kinds.suite.ts';
import { defaultColumns } from './columns.ts';

test('columns distinguish fields that are absent from empty ones', () => {
  assert.equal(printCell('/Service', 'Cluster-IP', { spec: { clusterIPs: [''] } }), '');
  assert.equal(printCell('/Service', 'Cluster-IP', { spec: {} }), '<none>');
  assert.equal(printCell('/Endpoints', 'Endpoints', { subsets: [{}] }), '');
  assert.equal(printCell('/Endpoints', 'Endpoints', {}), '<none>');
  assert.equal(printCell('batch/CronJob', 'Timezone', { spec: { timeZone: '' } }), '');
  assert.equal(printCell('discovery.k8s.io/EndpointSlice', 'Ports', { ports: [{ name: '', port: 5 }, { name: '' }, {}] }), '5,,*');
  assert.equal(printCell('discovery.k8s.io/EndpointSlice', 'Ports', { ports: [{ name: '' }] }), '<unset>');
  assert.equal(printCell('policy/PodDisruptionBudget', 'Min Available', { spec: { minAvailable: '' } }), '');
  assert.equal(defaultColumns[1]?.cell({ metadata: {} } as KubeObject, 0), '0001-01-01T00:00:00Z');
});

test('columns name what addresses and revisions belong to', () => {
  const print = (parentRef: object): unknown => printCell('networking.k8s.io/IPAddress', 'ParentRef', { spec: { parentRef } });
  assert.deepEqual([print({ resource: 'Widgets', group: 'G', namespace: 'N', name: 'X' }), print({ name: 'X' })], ['widgets.g/N/X', '/X']);
  const metadata = { ownerReferences: [{ apiVersion: 'v1', kind: '', name: 'o', uid: 'u', controller: true }] };
  assert.equal(printCell('apps/ControllerRevision', 'Controller', { metadata }), 'o');
});
