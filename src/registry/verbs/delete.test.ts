// Deletes of single objects and of collections: grace, warnings, and the state that a collection is listed at.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdmissionAttributes, DeleteOptions } from '../contract.ts';
import { everything } from '../reads/predicate.ts';
import type { Resource } from '../resource.ts';
import { createBench, makeContext, rows, show } from '../testing.ts';

const configMap = (name: string): Record<string, unknown> => ({ metadata: { name } });

test('delete takes negative grace for a second, and gives one where the shorter grace is over', async () => {
  const { create, remove, clock } = createBench();
  for (const name of ['p', 'q']) await create(rows.pods, { metadata: { name }, spec: { nodeName: 'n' } });
  const grace = async (name: string, gracePeriodSeconds: number): Promise<unknown[]> => {
    const { type, object } = await remove(rows.pods, name, { gracePeriodSeconds });
    return [type, show(object).metadata.deletionGracePeriodSeconds, show(object).metadata.deletionTimestamp];
  };
  assert.deepEqual(await grace('p', 30), ['pending', 30, '2026-01-02T03:04:35Z']);
  assert.deepEqual(await grace('q', 30), ['pending', 30, '2026-01-02T03:04:35Z']);
  assert.deepEqual(await grace('q', -2), ['pending', 1, '2026-01-02T03:04:06Z']);
  clock.advance(10_000);
  assert.deepEqual(await grace('p', 5), ['pending', 1, '2026-01-02T03:04:15Z']);
});

test('deleteCollection of a revision deletes what there was at that one', async () => {
  const { create, registry, at, names } = createBench();
  const { object: { revision } } = await create(rows.configMaps, configMap('old'));
  await create(rows.configMaps, configMap('new'));
  await registry.deleteCollection(at(rows.configMaps), { predicate: everything, resourceVersion: String(revision) }, {}, makeContext());
  assert.deepEqual(await names(rows.configMaps), ['new']);
});

test('a delete that says nothing of dependents warns where they stay, one of a collection also where it finds nothing', async () => {
  const { registry, at } = createBench();
  const row = { ...rows.configMaps, strategy: { ...rows.configMaps.strategy, deletionWarning: 'they stay' } };
  const warningsOf = async (options: DeleteOptions): Promise<readonly string[]> => {
    const context = makeContext();
    await registry.deleteCollection({ ...at(rows.configMaps), resource: row }, { predicate: everything }, options, context);
    return context.warnings;
  };
  assert.deepEqual([await warningsOf({}), await warningsOf({ orphanDependents: true })], [['they stay'], []]);
});

test('a list of any state keeps to its limit only where objects expire, as events do', async () => {
  const { create, registry, at } = createBench();
  for (const name of ['a', 'b']) await create(rows.configMaps, configMap(name));
  const count = async (resource: Resource): Promise<number> =>
    (await registry.list({ ...at(rows.configMaps), resource }, { predicate: everything, resourceVersion: '0', limit: 1 })).count;
  assert.deepEqual([await count(rows.configMaps), await count({ ...rows.configMaps, ttlSeconds: 3600 })], [2, 1]);
});

test('a delete at a resourceVersion is done where its options take the finalizers away that held the object', async () => {
  const { create, remove, names } = createBench();
  const { object } = await create(rows.configMaps, { metadata: { name: 'a', finalizers: ['foregroundDeletion'] } });
  const preconditions = { resourceVersion: String(object.revision) };
  assert.equal((await remove(rows.configMaps, 'a', { propagationPolicy: 'Background', preconditions })).type, 'gone');
  assert.deepEqual(await names(rows.configMaps), []);
});

test('a delete reads the object for admission where a plugin looks at it, as it was found and as it was marked', async () => {
  const seen: unknown[] = [];
  const look = ({ operation, oldObject }: AdmissionAttributes): void => {
    if (operation === 'DELETE') seen.push([oldObject?.metadata.name, oldObject?.metadata.deletionGracePeriodSeconds, oldObject?.metadata.resourceVersion]);
  };
  const { create, remove } = createBench({ admission: { mutate: () => undefined, validate: look } });
  const map = await create(rows.configMaps, configMap('a'));
  const pod = await create(rows.pods, { metadata: { name: 'p' }, spec: {} });
  await remove(rows.configMaps, 'a', {});
  await remove(rows.pods, 'p', {});
  const [first, second] = [map, pod].map(({ object }) => object.revision);
  assert.deepEqual(seen, [['a', undefined, String(first)], ['p', undefined, String(second)], ['p', 0, String(Number(second) + 2)]]);
});

test('a delete converts the object for admission only where a plugin looks at it', async () => {
  let conversions = 0;
  let isLookedAt = false;
  const [v1] = rows.widgets.versions;
  const widgets: Resource = { ...rows.widgets, versions: [v1!, { ...v1!, name: 'v2' }], convert(object) {
    conversions += 1;
    return object;
  } };
  const look = (attributes: AdmissionAttributes): void => void (isLookedAt && attributes.operation === 'DELETE' && attributes.oldObject?.metadata);
  const { create, at, registry } = createBench({ rows: [widgets], admission: { mutate: look, validate: look } });
  for (const name of ['a', 'b']) await create(widgets, { metadata: { name } });
  const remove = (name: string): Promise<unknown> => registry.delete({ ...at(widgets), version: 'v2', name, options: {}, context: makeContext() });
  conversions = 0;
  await remove('a');
  assert.equal(conversions, 0);
  isLookedAt = true;
  await remove('b');
  assert.equal(conversions, 1);
});

test('large objects are deleted as small ones are', async () => {
  const { create, get, patch, remove, names } = createBench();
  const data = { text: 'x'.repeat(600_000) };
  await create(rows.configMaps, { metadata: { name: 'plain' }, data });
  assert.equal((await remove(rows.configMaps, 'plain', {})).type, 'gone');
  assert.deepEqual(await names(rows.configMaps), []);
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'y'.repeat(300_000) }] };
  await create(rows.pods, { metadata: { name: 'held', finalizers: ['example.com/held'] }, spec });
  await patch(rows.pods, 'held', (object) => Object.assign(object, { status: { phase: 'Running', message: 'z'.repeat(300_000) } }), { subresource: 'status' });
  const before = await get(rows.pods, 'held');
  const { type, object } = await remove(rows.pods, 'held', {});
  const { metadata, ...parts } = show(object);
  const { metadata: metadataBefore, ...partsBefore } = before;
  assert.deepEqual([type, metadata.finalizers, metadata.deletionGracePeriodSeconds], ['pending', ['example.com/held'], 30]);
  assert.deepEqual(parts, partsBefore);
  assert.equal(metadata.uid, metadataBefore.uid);
});
