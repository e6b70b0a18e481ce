// What the server itself writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Registry, UpdateRequest } from '../contract.ts';
import { rows } from '../testing.ts';
import { createClientOf } from './system-client.ts';

test('a status is completed alone: the rest of the object is what was read', async () => {
  const current = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [] }, status: { phase: 'Pending' } } as unknown as KubeObject;
  const written: KubeObject[] = [];
  const registry = {
    get: () => Promise.resolve({ object: () => current }),
    update: async (request: UpdateRequest) => {
      written.push(await request.transform(current));
      return {};
    },
  } as unknown as Registry;
  const client = createClientOf(registry, rows.pods, 'test');
  const change = (object: KubeObject): KubeObject => ({ ...object, status: { message: 'm', phase: 'Running' } });
  for (const subresource of ['status', '']) await client.update({ namespace: 'b', name: 'a' }, subresource, change);
  const [status, whole] = written as [KubeObject, KubeObject];
  assert.equal(status['spec'], current['spec']);
  assert.notEqual(whole['spec'], current['spec']);
  assert.equal(JSON.stringify(status['status']), JSON.stringify(whole['status']));
});
