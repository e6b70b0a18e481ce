// Server-side apply over objects that do not fit their schema any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestServer } from '../../testing/index.ts';

const define = (listType: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'lists.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'lists', kind: 'Lists' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
      items: { type: 'array', 'x-kubernetes-list-type': listType, ...(listType === 'map' && { 'x-kubernetes-list-map-keys': ['name'] }),
        items: { type: 'object', ...(listType === 'map' && { required: ['name'] }), properties: { name: { type: 'string' }, text: { type: 'string' } } } },
    } } } }],
  },
});

test('an apply over an object whose list has no keys any more names the object and the field', async () => {
  await using server = await createTestServer({ crds: [define('atomic')], namespaces: ['ns'] });
  await server.apply({ apiVersion: 'example.com/v1', kind: 'Lists', metadata: { name: 'one', namespace: 'ns' }, items: [{ text: 'a' }] });
  await server.apply(define('map'));
  const applied = { apiVersion: 'example.com/v1', kind: 'Lists', metadata: { name: 'one', namespace: 'ns' }, items: [{ name: 'b' }] };
  const expected = 'failed to create typed live object (ns/one; example.com/v1, Kind=Lists): .items: element 0: associative list with keys has an element ';
  await server.eventually(() => assert.rejects(server.apply(applied), ({ message }: Error) => message.includes(expected)));
});
