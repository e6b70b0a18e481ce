// The registry against what the reference answers (recorded in the oracle): texts, codes, revisions, states.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, StatusError } from '../apimachinery/index.ts';
import { createBench, drain, makeContext, openAdmission, rows, select, settle, show } from './testing.ts';
import { everything } from './reads/predicate.ts';

const hold = 'example.com/hold';
const cm = (name: string, meta: object = {}, data: object = { k: 'v' }): Record<string, unknown> =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });

async function refusal(promise: Promise<unknown>): Promise<StatusError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

test('create answers the stored object with system metadata and its revision', async () => {
  const { create, get, clock } = createBench();
  const { object, created } = await create(rows.configMaps, cm('a', { uid: 'mine', selfLink: '/x', deletionTimestamp: '2001-01-01T00:00:00Z' }));
  const made = show(object);
  assert.equal(created, true);
  assert.deepEqual(Object.keys(made.metadata), ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp']);
  assert.equal(made.metadata.creationTimestamp, '2026-01-02T03:04:05Z');
  assert.notEqual(made.metadata.uid, 'mine');
  assert.equal(made.metadata.resourceVersion, String(object.revision));
  assert.deepEqual(await get(rows.configMaps, 'a'), made);
  assert.ok(clock.pendingTimers >= 0);
});

test('update that creates keeps the mark of a deletion that it brings, as upstream does', async () => {
  const { put } = createBench();
  const made = await put(rows.leases, { metadata: { name: 'l', uid: '', deletionTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' }, spec: {} },
    { createIfAbsent: true });
  const { deletionTimestamp, selfLink } = show(made.object).metadata;
  assert.deepEqual([deletionTimestamp, selfLink], ['2001-01-01T00:00:00Z', undefined]);
});

test('create refuses a taken name, and says when the holder is being deleted', async () => {
  const { create, remove } = createBench();
  await create(rows.configMaps, cm('a', { finalizers: [hold] }));
  assert.equal((await refusal(create(rows.configMaps, cm('a')))).message, 'configmaps "a" already exists');
  await remove(rows.configMaps, 'a');
  const error = await refusal(create(rows.configMaps, cm('a', { generateName: 'x-' })));
  assert.equal(error.message, 'object is being deleted: configmaps "a" already exists, the server was not able to generate a unique name for the object');
  assert.deepEqual(error.status.details, { name: 'a', kind: 'configmaps', retryAfterSeconds: 1 });
});

test('create generates names of at most 63 characters', async () => {
  const { create } = createBench();
  const { object } = await create(rows.configMaps, cm('', { generateName: 'abcdefghij'.repeat(7) }));
  assert.match(object.name, /^(abcdefghij){5}abcdefgh[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('create refuses a resourceVersion, another namespace, and no name', async () => {
  const { create } = createBench();
  const version = await refusal(create(rows.configMaps, cm('a', { resourceVersion: '5' })));
  assert.deepEqual([version.code, version.reason, version.message], [500, '', 'resourceVersion should not be set on objects to be created']);
  assert.equal((await create(rows.configMaps, cm('a', { resourceVersion: '5' }), { dryRun: true })).object.revision, 5);
  for (const resourceVersion of ['abc', '0', '007']) {
    const dry = await create(rows.configMaps, cm('a', { resourceVersion }), { dryRun: true });
    assert.deepEqual(Object.entries(show(dry.object).metadata).slice(3, 4), [['resourceVersion', resourceVersion]]);
    assert.match(new TextDecoder().decode(dry.object.bytes('v1', 'json-single')), new RegExp(`"uid":"[^"]*","resourceVersion":"${resourceVersion}"`));
  }
  assert.equal((await create(rows.configMaps, cm('z', { resourceVersion: 'abc' }))).created, true);
  const namespace = await refusal(create(rows.configMaps, cm('a', { namespace: 'other' })));
  assert.equal(namespace.message, 'the namespace of the provided object does not match the namespace sent on the request');
  assert.equal((await refusal(create(rows.configMaps, cm('')))).message,
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required');
});

test('update in dry run shows the selfLink that was sent, which is not stored', async () => {
  const { create, put } = createBench();
  await create(rows.configMaps, cm('a'));
  const linked = cm('a', { selfLink: '/x' }) as unknown as KubeObject;
  assert.equal(show((await put(rows.configMaps, linked, { context: makeContext({ dryRun: true }) })).object).metadata.selfLink, '/x');
  assert.equal(show((await put(rows.configMaps, linked)).object).metadata.selfLink, undefined);
});

test('create in dry run stores nothing and answers without resourceVersion', async () => {
  const { create, names } = createBench();
  const { object } = await create(rows.configMaps, cm('a'), { dryRun: true });
  assert.equal(show(object).metadata.resourceVersion, undefined);
  assert.deepEqual(await names(rows.configMaps), []);
});

test('create wipes the status of kinds with a status path and starts generation at one', async () => {
  const { create } = createBench();
  const { object } = await create(rows.budgets, { metadata: { name: 'b', generation: 7 }, spec: { minAvailable: 1 }, status: { currentHealthy: 3 } });
  assert.deepEqual(show(object)['status'], { currentHealthy: 0 });
  assert.equal(show(object).metadata.generation, 1);
  const widget = await create(rows.widgets, { metadata: { name: 'w' }, spec: { size: 1 }, status: { ready: true } });
  assert.equal(show(widget.object)['status'], undefined);
});

test('update with a stale or missing resourceVersion is refused as the kind wants it', async () => {
  const { create, put } = createBench();
  const first = show((await create(rows.configMaps, cm('a'))).object);
  await put(rows.configMaps, { ...first, data: { k: 'w' } });
  const stale = await refusal(put(rows.configMaps, { ...first, data: { k: 'x' } }));
  assert.equal(stale.message,
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again');
  const bad = await refusal(put(rows.configMaps, { ...first, metadata: { ...first.metadata, resourceVersion: 'abc' } }));
  assert.deepEqual([bad.code, bad.message], [500, 'strconv.ParseUint: parsing "abc": invalid syntax']);
  await create(rows.widgets, { metadata: { name: 'w' } });
  const missing = await refusal(put(rows.widgets, { metadata: { name: 'w' } }));
  assert.equal(missing.message, 'widgets.example.com "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update');
  assert.deepEqual(missing.status.details?.kind, 'widgets');
});

test('update that changes nothing writes nothing', async () => {
  const { create, put, patch } = createBench();
  const { object } = await create(rows.configMaps, cm('a'));
  const same = await put(rows.configMaps, cm('a', { labels: {}, finalizers: [] }) as unknown as KubeObject);
  assert.equal(same.object.revision, object.revision);
  const changed = await patch(rows.configMaps, 'a', (o) => (o['data'] = { k: 'w' }));
  assert.ok(changed.object.revision > object.revision);
});

test('update begins another round when another writer was faster', async () => {
  const { create, patch, get } = createBench();
  await create(rows.configMaps, cm('a', {}, { n: '0' }));
  const bump = (o: KubeObject): void => {
    const data = o['data'] as Record<string, string>;
    data['n'] = String(Number(data['n']) + 1);
    delete o.metadata.resourceVersion;
  };
  await Promise.all(Array.from({ length: 20 }, () => patch(rows.configMaps, 'a', bump)));
  assert.deepEqual((await get(rows.configMaps, 'a'))['data'], { n: '20' });
});

test('update checks identity and the uid precondition in the words of the reference', async () => {
  const { create, patch, put } = createBench();
  await create(rows.configMaps, cm('a'));
  assert.equal((await refusal(patch(rows.configMaps, 'a', (o) => (o.metadata.name = 'b')))).message,
    'the name of the object (b) does not match the name on the URL (a)');
  const uid = await refusal(patch(rows.configMaps, 'a', (o) => (o.metadata.uid = 'other')));
  assert.equal(uid.message, 'ConfigMap "a" is invalid: metadata.uid: Invalid value: "other": field is immutable');
  assert.equal(uid.status.details?.causes?.length, 2);
  const precondition = await refusal(put(rows.configMaps, cm('a') as unknown as KubeObject, { preconditions: { uid: 'x' } }));
  assert.match(precondition.message,
    /: StorageError: invalid object, Code: 4, Key: \/registry\/configmaps\/ns\/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in .*$/);
  const label = await refusal(patch(rows.configMaps, 'a', (o) => (o.metadata.labels = { m: 'not ok!' })));
  assert.equal(label.status.details?.causes?.length, 4);
});

test('update of an absent object creates where the row allows it', async () => {
  const { put } = createBench();
  const made = await put(rows.leases, { metadata: { name: 'l', resourceVersion: '3' }, spec: { holderIdentity: 'me' } }, { createIfAbsent: true });
  assert.equal(made.created, true);
  const dry = await put(rows.leases, { metadata: { name: 'dry', resourceVersion: '3' }, spec: {} },
    { createIfAbsent: true, context: makeContext({ dryRun: true }) });
  assert.equal(dry.object.revision, 3);
  const absent = await refusal(put(rows.configMaps, cm('none') as unknown as KubeObject));
  assert.equal(absent.message, 'configmaps "none" not found');
  const other = await refusal(put(rows.configMaps, cm('none') as unknown as KubeObject, { preconditions: { uid: 'x' } }));
  assert.equal(other.message, 'configmaps "none" not found');
  const uid = await refusal(put(rows.leases, { metadata: { name: 'm', uid: 'x' }, spec: {} }, { createIfAbsent: true, preconditions: { uid: 'x' } }));
  assert.match(uid.message, /Precondition failed: UID in precondition: x, UID in object meta: $/);
});

test('update of the status path takes the status, of the main path everything else', async () => {
  const { create, patch } = createBench();
  await create(rows.budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1 } });
  const main = await patch(rows.budgets, 'b', (o) => Object.assign(o, { spec: { minAvailable: 2 }, status: { currentHealthy: 4 } }));
  assert.deepEqual([show(main.object)['spec'], show(main.object)['status'], show(main.object).metadata.generation],
    [{ minAvailable: 2 }, { currentHealthy: 0 }, 2]);
  const change = (o: KubeObject): void => {
    o.metadata.labels = { x: 'y' };
    Object.assign(o, { spec: { minAvailable: 7 }, status: { currentHealthy: 5 } });
  };
  const status = show((await patch(rows.budgets, 'b', change, { subresource: 'status' })).object);
  assert.deepEqual([status['spec'], status['status'], status.metadata.generation, status.metadata.labels],
    [{ minAvailable: 2 }, { currentHealthy: 5 }, 2, { x: 'y' }]);
  assert.deepEqual(Object.keys(status).slice(-2), ['spec', 'status']);
  await create(rows.widgets, { metadata: { name: 'w' }, spec: { size: 1 } });
  const widget = show((await patch(rows.widgets, 'w',
    (o) => Object.assign(o, { metadata: { ...o.metadata, labels: { x: 'z' } }, spec: 9, status: { ready: true } }), { subresource: 'status' })).object);
  assert.deepEqual([widget['spec'], widget['status'], widget.metadata.labels, widget.metadata.generation], [{ size: 1 }, { ready: true }, undefined, 1]);
});

test('delete removes at once what nothing holds, at the revision of the deletion', async () => {
  const { create, remove, names } = createBench();
  const { object } = await create(rows.configMaps, cm('a'));
  const result = await remove(rows.configMaps, 'a');
  assert.equal(result.type, 'gone');
  assert.ok(result.object.revision > object.revision);
  assert.deepEqual(await names(rows.configMaps), []);
  assert.equal((await refusal(remove(rows.configMaps, 'a'))).message, 'configmaps "a" not found');
});

test('delete of an object with finalizers waits until an update takes the last one away', async () => {
  const { create, remove, patch, names, get } = createBench();
  await create(rows.budgets, { metadata: { name: 'b', finalizers: [hold] } });
  const first = await remove(rows.budgets, 'b');
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = show(first.object).metadata;
  assert.deepEqual([first.type, deletionTimestamp, deletionGracePeriodSeconds, generation], ['pending', '2026-01-02T03:04:05Z', 0, 2]);
  assert.equal((await remove(rows.budgets, 'b')).object.revision, first.object.revision);
  const late = await refusal(patch(rows.budgets, 'b', (o) => (o.metadata.finalizers = [hold, 'example.com/late'])));
  assert.match(late.message,
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example.com\/late"\}$/);
  const kept = await patch(rows.budgets, 'b', (o) => Object.assign(o.metadata, { deletionTimestamp: '2001-01-01T00:00:00Z' }));
  assert.equal(show(kept.object).metadata.deletionTimestamp, deletionTimestamp);
  const dry = await patch(rows.budgets, 'b', (o) => (o.metadata.finalizers = []), { context: makeContext({ dryRun: true }) });
  assert.equal(show(dry.object).metadata.finalizers, undefined);
  assert.deepEqual((await get(rows.budgets, 'b')).metadata.finalizers, [hold]);
  const last = await patch(rows.budgets, 'b', (o) => (o.metadata.finalizers = []));
  assert.equal(show(last.object).metadata.finalizers, undefined);
  assert.deepEqual(await names(rows.budgets), []);
});

test('delete sets and clears the finalizers of its propagation policy', async () => {
  const { create, remove } = createBench();
  const check = async (name: string, finalizers: string[], options: object, expected: string[] | undefined, type: string): Promise<void> => {
    await create(rows.configMaps, cm(name, { finalizers }));
    const result = await remove(rows.configMaps, name, options);
    assert.deepEqual([show(result.object).metadata.finalizers, result.type], [expected, type], name);
  };
  await check('a', [hold], { propagationPolicy: 'Foreground' }, [hold, 'foregroundDeletion'], 'pending');
  await check('b', [hold], { orphanDependents: true }, [hold, 'orphan'], 'pending');
  await check('c', ['foregroundDeletion', hold], { propagationPolicy: 'Background' }, [hold], 'pending');
  await check('d', [hold, 'orphan'], { propagationPolicy: 'Foreground' }, [hold, 'foregroundDeletion'], 'pending');
  await check('e', ['orphan'], { propagationPolicy: 'Background' }, ['orphan'], 'gone');
  await check('f', [], { propagationPolicy: 'Orphan' }, ['orphan'], 'pending');
});

test('delete refuses what its options contradict', async () => {
  const { create, remove } = createBench();
  await create(rows.configMaps, cm('a'));
  await create(rows.namespaces, { metadata: { name: 'n' } });
  const policy = await refusal(remove(rows.configMaps, 'a', { propagationPolicy: 'Sideways' }));
  assert.equal(policy.message,
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"');
  const uid = await refusal(remove(rows.configMaps, 'a', { preconditions: { uid: 'x' } }));
  assert.match(uid.message,
    /^Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition \(x\) does not match the UID in record \(.{36}\). The object might/);
  const empty = await refusal(remove(rows.configMaps, 'a', { preconditions: { uid: '' } }));
  assert.match(empty.message, /the UID in the precondition \(\) does not match the UID in record/);
  const phased = await refusal(remove(rows.namespaces, 'n', { preconditions: { uid: 'x' } }));
  assert.match(phased.message, /^Operation cannot be fulfilled on namespaces "n": Precondition failed: UID in precondition: x, UID in object meta: .{36}$/);
});

test('delete gives pods on a node grace that can only be shortened', async () => {
  const { create, remove, names } = createBench();
  await create(rows.pods, { metadata: { name: 'free' } });
  const free = await remove(rows.pods, 'free');
  assert.deepEqual([free.type, show(free.object).metadata.generation, show(free.object).metadata.deletionGracePeriodSeconds], ['gone', 2, 0]);
  await create(rows.pods, { metadata: { name: 'p' }, spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } });
  const grace = async (seconds?: number): Promise<unknown[]> => {
    const { type, object } = await remove(rows.pods, 'p', seconds === undefined ? {} : { gracePeriodSeconds: seconds });
    const { deletionGracePeriodSeconds, deletionTimestamp } = show(object).metadata;
    return [type, deletionGracePeriodSeconds, deletionTimestamp];
  };
  assert.deepEqual(await grace(), ['pending', 30, '2026-01-02T03:04:35Z']);
  assert.deepEqual(await grace(60), ['pending', 30, '2026-01-02T03:04:35Z']);
  assert.deepEqual(await grace(5), ['pending', 5, '2026-01-02T03:04:10Z']);
  assert.deepEqual(await grace(), ['pending', 5, '2026-01-02T03:04:10Z']);
  assert.deepEqual(await grace(0), ['gone', 0, '2026-01-02T03:04:05Z']);
  assert.deepEqual(await names(rows.pods), []);
});

test('delete is done when the pod that it has marked is removed by a write of the kubelet', async () => {
  let isFirst = true;
  const validate = async ({ operation, oldObject }: { readonly operation: string; readonly oldObject?: KubeObject | undefined }): Promise<void> => {
    if (operation !== 'DELETE' || oldObject?.metadata.deletionTimestamp === undefined || !isFirst) return;
    isFirst = false;
    await patch(rows.pods, 'p', (pod) => void Object.assign(pod, { status: { phase: 'Failed' } }), { subresource: 'status' });
    assert.deepEqual(await names(rows.pods), []);
  };
  const { create, patch, remove, names } = createBench({ admission: { ...openAdmission, validate } });
  await create(rows.pods, { metadata: { name: 'p' }, spec: { nodeName: 'n' } });
  const { type, object } = await remove(rows.pods, 'p', { gracePeriodSeconds: 0 });
  assert.deepEqual([type, object.name, isFirst], ['gone', 'p', false]);
  assert.equal((await refusal(remove(rows.pods, 'p'))).code, 404);
});

test('delete puts a namespace into its dying phase, finalize ends it', async () => {
  const { create, remove, patch, names } = createBench();
  await create(rows.namespaces, { metadata: { name: 'n' } });
  const { type, object } = await remove(rows.namespaces, 'n');
  const { deletionTimestamp, deletionGracePeriodSeconds } = show(object).metadata;
  assert.deepEqual([type, deletionTimestamp !== undefined, deletionGracePeriodSeconds, show(object)['status']],
    ['pending', true, undefined, { phase: 'Terminating' }]);
  assert.equal((await remove(rows.namespaces, 'n')).object.revision, object.revision);
  await patch(rows.namespaces, 'n', (o) => (o['spec'] = {}));
  assert.deepEqual(await names(rows.namespaces), ['n']);
  const final = await patch(rows.namespaces, 'n', (o) => (o['spec'] = {}), { subresource: 'finalize' });
  assert.deepEqual(show(final.object)['status'], { phase: 'Terminating' });
  assert.deepEqual(await names(rows.namespaces), []);
});

test('deleteCollection deletes what the selectors find and answers the list as it was', async () => {
  const { create, registry, at, names } = createBench();
  for (const [name, drop] of [['a', 'yes'], ['b', 'no'], ['c', 'yes']] as const) await create(rows.configMaps, cm(name, { labels: { drop } }));
  const predicate = select(rows.configMaps, { labelSelector: 'drop=yes' });
  const dry = await registry.deleteCollection(at(rows.configMaps), { predicate }, {}, makeContext({ dryRun: true }));
  assert.deepEqual([...dry.items].map((o) => o.name), ['a', 'c']);
  assert.deepEqual(await names(rows.configMaps), ['a', 'b', 'c']);
  await registry.deleteCollection(at(rows.configMaps), { predicate }, {}, makeContext());
  assert.deepEqual(await names(rows.configMaps), ['b']);
});

test('list pages keep one revision, count what remains and end without a token', async () => {
  const { create, remove, registry, at } = createBench();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(rows.configMaps, cm(name));
  const page = async (token?: string): Promise<{ names: string; revision: number; rest: number | undefined; next: string | undefined }> => {
    const list = await registry.list(at(rows.configMaps), { predicate: everything, limit: 2, ...(token !== undefined && { continue: token }) });
    return { names: [...list.items].map((o) => o.name).join(''), revision: list.revision, rest: list.remainingItemCount, next: list.continue };
  };
  const first = await page();
  await remove(rows.configMaps, 'd');
  await create(rows.configMaps, cm('bb'));
  const second = await page(first.next);
  const third = await page(second.next);
  assert.deepEqual([first.names, second.names, third.names], ['ab', 'cd', 'e']);
  assert.deepEqual([first.rest, second.rest, third.rest, third.next], [3, 1, undefined, undefined]);
  assert.ok(first.revision === second.revision && second.revision === third.revision);
  const listed = await registry.list(at(rows.configMaps), { predicate: everything });
  assert.equal([...(listed.runs ?? [])].reduce((n, run) => n + run.to - run.from, 0), listed.count);
});

test('list reads any, not older than, and exactly a version', async () => {
  const { create, remove, registry, at } = createBench();
  const { object } = await create(rows.configMaps, cm('a'));
  await create(rows.configMaps, cm('b'));
  await remove(rows.configMaps, 'a');
  const revision = String(object.revision);
  const list = async (options: object): Promise<string> =>
    [...(await registry.list(at(rows.configMaps), { predicate: everything, ...options })).items].map((o) => o.name).join('');
  assert.equal(await list({}), 'b');
  assert.equal(await list({ resourceVersion: revision }), 'b');
  assert.equal(await list({ resourceVersion: revision, limit: 5 }), 'a');
  assert.equal(await list({ resourceVersion: revision, limit: 5, predicate: { ...everything, everything: false, name: 'b' } }), 'b');
  assert.equal(await list({ resourceVersion: revision, resourceVersionMatch: 'Exact' }), 'a');
  assert.equal(await list({ resourceVersion: revision, resourceVersionMatch: 'NotOlderThan', limit: 5 }), 'b');
  assert.equal(await list({ resourceVersion: '0', limit: 1 }), 'b');
  assert.equal(await list({ resourceVersion: String(object.revision - 1), resourceVersionMatch: 'Exact' }), '');
});

test('list refuses malformed, contradictory, future and compacted versions', async () => {
  const { create, registry, at, clock, store } = createBench();
  const { object } = await create(rows.configMaps, cm('a'));
  for (const name of ['b', 'c', 'd']) await create(rows.configMaps, cm(name));
  const list = (options: object): Promise<unknown> => registry.list(at(rows.configMaps), { predicate: everything, ...options });
  assert.equal((await refusal(list({ resourceVersion: 'abc' }))).message,
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax');
  assert.equal((await refusal(list({ continue: 'a', resourceVersion: '5' }))).code, 400);
  const match = await refusal(list({ resourceVersionMatch: 'Fresh' }));
  assert.equal(match.message,
    'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Unsupported value: "Fresh": supported values: "Exact", "NotOlderThan", ""]');
  const future = refusal(list({ resourceVersion: '99999999999' }));
  await settle();
  clock.advance(3000);
  const late = await future;
  assert.match(late.message, /^Timeout: Too large resource version: 99999999999, current: \d+$/);
  assert.equal(late.code, 504);

  const first = (await registry.list(at(rows.configMaps), { predicate: everything, limit: 1 })).continue as string;
  await create(rows.configMaps, cm('e'));
  await settle();
  await store.compact(await store.revision());
  const other = createBench({ store });
  const expired = await refusal(other.registry.list(at(rows.configMaps), { predicate: everything, limit: 1, continue: first }));
  assert.deepEqual([expired.code, expired.reason], [410, 'Expired']);
  const next = expired.status.metadata.continue as string;
  const rest = await other.registry.list(at(rows.configMaps), { predicate: everything, continue: next });
  assert.deepEqual([...rest.items].map((o) => o.name), ['b', 'c', 'd', 'e']);
  const exact = await refusal(other.registry.list(at(rows.configMaps),
    { predicate: everything, resourceVersion: String(object.revision), resourceVersionMatch: 'Exact' }));
  assert.equal(exact.message, 'The resourceVersion for the provided list is too old.');
});

test('list filters by labels and by the fields that the row declares', async () => {
  const { create, names } = createBench();
  await create(rows.pods, { metadata: { name: 'a', labels: { app: 'x' } }, spec: { nodeName: 'n1' } });
  await create(rows.pods, { metadata: { name: 'b', labels: { app: 'y' } }, spec: { nodeName: 'n2' } });
  await create(rows.pods, { metadata: { name: 'c' } });
  assert.deepEqual(await names(rows.pods, { labelSelector: 'app in (x,y)' }), ['a', 'b']);
  assert.deepEqual(await names(rows.pods, { fieldSelector: 'spec.nodeName=n2' }), ['b']);
  assert.deepEqual(await names(rows.pods, { fieldSelector: 'spec.nodeName!=n2,metadata.name!=a' }), ['c']);
  assert.deepEqual(await names(rows.pods, { fieldSelector: 'metadata.name=b' }), ['b']);
  assert.throws(() => select(rows.pods, { fieldSelector: 'spec.x=y' }), { message: 'field label not supported: spec.x' });
  assert.throws(() => select(rows.leases, { fieldSelector: 'spec.x=y' }),
    { message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"' });
});

test('watch begins with the state, then sends changes; bookmarks end the state', async () => {
  const { create, remove, registry, at } = createBench();
  await create(rows.configMaps, cm('b'));
  await create(rows.configMaps, cm('a'));
  const watch = await registry.watch(at(rows.configMaps), { predicate: everything, sendInitialEvents: true, allowWatchBookmarks: true });
  assert.equal(watch.revision, 0);
  assert.deepEqual(drain(watch), ['ADDED a', 'ADDED b', 'BOOKMARK end']);
  let woken = 0;
  watch.onReadable(() => woken++);
  await create(rows.configMaps, cm('c'));
  const { object } = await remove(rows.configMaps, 'a');
  await settle();
  assert.equal(woken, 1);
  const events = watch.take(10);
  assert.deepEqual(events.map((e) => [e.type, e.revision]), [['ADDED', object.revision - 1], ['DELETED', object.revision]]);
  const last = events[1] as { object: { object(v: string): KubeObject } };
  assert.equal(last.object.object('v1').metadata.resourceVersion, String(object.revision));
  watch.close();
});

test('watch from a version replays what came after it, and shows crossings of a selector', async () => {
  const { create, patch, remove, registry, at } = createBench();
  const { object } = await create(rows.configMaps, cm('a', { labels: { app: 'x' } }));
  const label = (app: string, n: string): Promise<unknown> => patch(rows.configMaps, 'a', (o) => (o.metadata.labels = { app, n }));
  await label('x', '1');
  await label('y', '2');
  await label('y', '3');
  await label('x', '4');
  await remove(rows.configMaps, 'a');
  await settle();
  const predicate = select(rows.configMaps, { labelSelector: 'app=x' });
  const watch = await registry.watch(at(rows.configMaps), { predicate, resourceVersion: String(object.revision) });
  const seen = watch.take(10).map((e) => (e.type === 'BOOKMARK' ? '' : `${e.type} ${e.object.labels?.['n'] ?? ''}`));
  assert.deepEqual(seen, ['MODIFIED 1', 'DELETED 1', 'ADDED 4', 'DELETED 4']);
});

test('watch of one name, of another namespace, and of the future stay silent', async () => {
  const { create, registry, at } = createBench();
  const predicate = select(rows.configMaps, { fieldSelector: 'metadata.name=later' });
  const one = await registry.watch(at(rows.configMaps), { predicate });
  const other = await registry.watch(at(rows.configMaps, 'other'), { predicate: everything });
  const future = await registry.watch(at(rows.configMaps), { predicate: everything, resourceVersion: '99999999999' });
  await create(rows.configMaps, cm('sooner'));
  await create(rows.configMaps, cm('later'));
  await settle();
  assert.deepEqual([drain(one), drain(other), drain(future)], [['ADDED later'], [], []]);
});

test('watch whose state is in the future ends with an error', async () => {
  const { registry, at, clock } = createBench();
  const options = { predicate: everything, sendInitialEvents: true, resourceVersion: '99999999999' };
  const pending = registry.watch(at(rows.configMaps), options);
  await settle();
  clock.advance(3000);
  const watch = await pending;
  assert.equal(watch.end, 'expired');
  assert.match(watch.error?.message ?? '', /^Timeout: Too large resource version: 99999999999/);
});

test('get answers 500 for a malformed version and 404 for absent names, and no name escapes its prefix', async () => {
  const { registry, at } = createBench();
  const get = async (name: string, resourceVersion = ''): Promise<unknown> => registry.get({ ...at(rows.configMaps), name }, { resourceVersion });
  const malformed = await refusal(get('a', 'abc'));
  assert.deepEqual([malformed.code, malformed.message, malformed.status.details],
    [500, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax', undefined]);
  assert.equal((await refusal(get('a', '0'))).code, 404);
  for (const name of ['..', '.', 'a/b', '', '%2e', 'a\u0000']) assert.equal((await refusal(get(name))).code, 400, name);
});

test('release ends the watches of a row', async () => {
  const { registry, at } = createBench();
  const watch = await registry.watch(at(rows.widgets), { predicate: everything });
  assert.deepEqual(drain(watch), []);
  registry.release(rows.widgets);
  assert.equal(watch.end, 'closed');
});

test('admission sees every write and may refuse it', async () => {
  const seen: string[] = [];
  const admission = {
    ...openAdmission,
    validate: (a: { operation: string; name: string; oldObject: unknown; object: unknown }): Promise<void> => {
      seen.push(`${a.operation} ${a.name} ${a.oldObject !== undefined} ${a.object !== undefined}`);
      return Promise.resolve();
    },
  };
  const { create, patch, remove } = createBench({ admission });
  await create(rows.configMaps, cm('a'));
  await patch(rows.configMaps, 'a', (o) => (o['data'] = {}));
  await remove(rows.configMaps, 'a');
  assert.deepEqual(seen, ['CREATE a false true', 'UPDATE a true true', 'DELETE a true false']);
});

test('finalizers of custom resources without a domain or a path are warned of, once', async () => {
  const { create, patch } = createBench();
  const warnings: string[] = [];
  const finalizers = ['plain', 'dotted.example.com', 'example.com/full'];
  await create(rows.widgets, { metadata: { name: 'w', finalizers }, spec: { size: 1 } }, { warnings });
  const why = 'to avoid accidental conflicts with other finalizer writers';
  assert.deepEqual(warnings, [
    `metadata.finalizers: "plain": prefer a domain-qualified finalizer name ${why}`,
    `metadata.finalizers: "dotted.example.com": prefer a domain-qualified finalizer name including a path (/) ${why}`,
  ]);
  await patch(rows.widgets, 'w', ({ metadata }) => void (metadata.labels = { a: 'b' }), { context: makeContext({ warnings }) });
  assert.equal(warnings.length, 2);
});
