// The graph against a naive twin: whatever is put in and taken out, dependents and blocks are those of the items that are in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GarbageGraph, type GarbageItem } from './graph.ts';

const uids = ['a', 'b', 'c', 'd'] as const;
const owner = fc.record({ uid: fc.constantFrom(...uids), blockOwnerDeletion: fc.boolean() }, { noNullPrototype: true });
const item = fc.record({ uid: fc.constantFrom(...uids), owners: fc.uniqueArray(owner, { selector: ({ uid }) => uid, maxLength: 3 }) },
  { noNullPrototype: true });

function makeItem({ uid, owners }: { uid: string; owners: readonly { uid: string; blockOwnerDeletion: boolean }[] }): GarbageItem {
  return {
    key: `/configmaps ns ${uid}`, group: '', plural: 'configmaps', namespace: 'ns', name: uid, uid, deleting: false, waits: undefined,
    owners: owners.map((reference) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: reference.uid, ...reference })),
  };
}

test('put and remove keep dependents and blocks of every owner', () => {
  fc.assert(fc.property(fc.array(fc.record({ item, removes: fc.boolean() })), (steps) => {
    const graph = new GarbageGraph();
    const twin = new Map<string, GarbageItem>();
    for (const { item: parts, removes } of steps) {
      const made = makeItem(parts);
      const before = removes ? graph.remove(made.key) : graph.put(made);
      assert.equal(before, twin.get(made.key));
      if (removes) twin.delete(made.key);
      else twin.set(made.key, made);
    }
    for (const uid of uids) {
      const dependents = [...twin.values()].filter(({ owners }) => owners.some((reference) => reference.uid === uid));
      assert.deepEqual(new Set(graph.dependentsOf(uid)), new Set(dependents));
      const blocks = dependents.some(({ owners }) => owners.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true));
      assert.equal(graph.isBlocked(uid), blocks);
      assert.equal(graph.withUid(uid), twin.get(`/configmaps ns ${uid}`));
    }
  }));
});
