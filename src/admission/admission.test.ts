// The chain, and what NamespaceLifecycle lets pass, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionAttributes, Resource } from '../registry/index.ts';
import { createAdmissionChain } from './chain.ts';
import { createNamespaceLifecycle } from './plugins/namespaces/lifecycle.ts';

const row = (kind: string, plural: string, namespaced: boolean): Resource => ({ group: '', kind, plural, namespaced }) as Resource;
const configMaps = row('ConfigMap', 'configmaps', true);
const namespaces = row('Namespace', 'namespaces', false);

function attributes(more: Partial<AdmissionAttributes>): AdmissionAttributes {
  return { resource: configMaps, version: 'v1', namespace: 'ns', operation: 'CREATE', subresource: '', name: 'a', object: { metadata: {} },
    oldObject: undefined, ...more } as AdmissionAttributes;
}

test('createAdmissionChain asks the plugins in order and stops at the first refusal', async () => {
  const seen: string[] = [];
  const plugin = (name: string, handles: boolean) => ({ name, handles: () => handles, mutate: () => void seen.push(name),
    validate: () => void seen.push(`${name}!`) });
  const refusing = { name: 'no', handles: () => true, validate: () => Promise.reject(new Error('no')) };
  const chain = createAdmissionChain([plugin('a', true), plugin('b', false), refusing, plugin('c', true)]);
  await chain.mutate(attributes({}));
  await assert.rejects(async () => chain.validate(attributes({})), { message: 'no' });
  assert.deepEqual(seen, ['a', 'c', 'a!']);
});

test('createNamespaceLifecycle refuses missing, terminating and immortal namespaces', async () => {
  const states = new Map([['ns', { terminating: false }], ['end', { terminating: true }]]);
  const chain = createAdmissionChain([createNamespaceLifecycle((name) => Promise.resolve(states.get(name)))]);
  await chain.mutate(attributes({}));
  await chain.mutate(attributes({ namespace: 'end', operation: 'UPDATE' }));
  await chain.mutate(attributes({ namespace: 'none', operation: 'DELETE' }));
  await assert.rejects(async () => chain.mutate(attributes({ namespace: 'none' })), { message: 'namespaces "none" not found' });
  await assert.rejects(async () => chain.mutate(attributes({ namespace: 'end', name: '', object: { metadata: { generateName: 'late-' } } })),
    (error: { status: unknown }) => {
    assert.deepEqual(error.status, {
      kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason: 'Forbidden', code: 403,
      message: 'configmaps "late-" is forbidden: unable to create new content in namespace end because it is being terminated',
      details: { name: 'late-', kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', message: 'namespace end is being terminated', field: 'metadata.namespace' }] },
    });
    return true;
  });
  const immortal = attributes({ resource: namespaces, namespace: '', operation: 'DELETE', name: 'kube-system', object: undefined });
  await assert.rejects(async () => chain.mutate(immortal), { message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted' });
});
