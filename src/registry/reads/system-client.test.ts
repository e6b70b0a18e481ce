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

test('objects without number are made one by one, with a pause before each', async () => {
  const seen: string[] = [];
  const registry = {
    list: () => Promise.resolve({
      items: (function* () {
        for (const name of ['a', 'b', 'c']) {
          seen.push(`made ${name}`);
          yield { name };
        }
      })(),
    }),
  } as unknown as Registry;
  const pause = (): Promise<void> => Promise.resolve(void seen.push('pause'));
  for await (const { name } of createClientOf(registry, rows.pods, 'test').each('', pause)) {
    seen.push(`given ${name}`);
    if (name === 'b') break;
  }
  assert.deepEqual(seen, ['made a', 'pause', 'given a', 'made b', 'pause', 'given b']);
});
