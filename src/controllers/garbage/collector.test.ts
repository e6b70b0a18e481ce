// The garbage collector on a whole server: dependents that are collected, set free or waited for, and that many of them do not hold the event loop.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, createTurnClock, eventually, startTestServer } from '../../test-support/index.ts';

const space = '/api/v1/namespaces/default';

describe('createGarbageCollector', () => {
  const clock = createTurnClock(0.05);
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ clock });
  });
  after(() => server.close());

  const call = (method: string, path: string, body?: unknown) => server.client.request({ method, path, body });
  const create = async (plural: string, name: string, metadata: object = {}) =>
    (await call('POST', `${space}/${plural}`, { metadata: { name, ...metadata } })).body;
  const ownedBy = ({ metadata: { name, uid } }: { metadata: { name: string; uid: string } }, more: object = {}) =>
    ({ ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }] });
  const remove = (path: string, propagationPolicy: string) =>
    call('DELETE', `${space}/${path}`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy });
  const gone = (path: string, within = space) => eventually(async () => assert.equal((await call('GET', `${within}/${path}`)).status, 404, `${path} is gone`));

  it('removes dependents of dependents', async () => {
    const top = await create('configmaps', 'top');
    const middle = await create('configmaps', 'middle', ownedBy(top));
    await create('secrets', 'low', ownedBy(middle));
    await remove('configmaps/top', 'Background');
    await gone('configmaps/middle');
    await gone('secrets/low');
  });

  it('breaks circles that wait in the foreground', async () => {
    const one = await create('configmaps', 'one');
    const two = await create('configmaps', 'two', ownedBy(one, { blockOwnerDeletion: true }));
    await call('PATCH', `${space}/configmaps/one`, { metadata: ownedBy(two, { blockOwnerDeletion: true }) });
    await remove('configmaps/one', 'Foreground');
    await gone('configmaps/one');
    await gone('configmaps/two');
  });

  it('sets dependents free that are to be orphans', async () => {
    const owner = await create('configmaps', 'parent');
    await create('secrets', 'orphan', ownedBy(owner));
    await remove('configmaps/parent', 'Orphan');
    await gone('configmaps/parent');
    assert.equal((await call('GET', `${space}/secrets/orphan`)).body.metadata.ownerReferences, undefined);
  });

  it('attack 46: reports owners in other namespaces, and counts them as absent', async () => {
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
    const far = (await call('POST', '/api/v1/namespaces/elsewhere/configmaps', { metadata: { name: 'far' } })).body;
    await create('secrets', 'near', ownedBy(far));
    await gone('secrets/near');
    const { items } = (await call('GET', `${space}/events`)).body;
    assert.match(items[0].message, /^ownerRef \[v1\/ConfigMap, namespace: default, name: far, uid: .*\] does not exist in namespace "default"$/);
    assert.equal(items[0].reason, 'OwnerRefInvalidNamespace');
  });

  it('attack 46: the deletion of an owner takes nothing along in other namespaces, nor waits for it', async () => {
    const far = (await call('POST', '/api/v1/namespaces/elsewhere/configmaps', { metadata: { name: 'distant' } })).body;
    const real = await create('configmaps', 'real');
    const both = [...ownedBy(far, { blockOwnerDeletion: true }).ownerReferences, ...ownedBy(real).ownerReferences];
    await create('secrets', 'claimed', { ownerReferences: both });
    const elsewhere = '/api/v1/namespaces/elsewhere';
    await call('DELETE', `${elsewhere}/configmaps/distant`, { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' });
    await gone('configmaps/distant', elsewhere);
    assert.equal((await call('GET', `${space}/secrets/claimed`)).status, 200);
    await remove('configmaps/real', 'Background');
    await gone('secrets/claimed');
  });

  it('leaves objects alone whose owner is of a kind that no server serves', async () => {
    await create('secrets', 'foreign', { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'w' }] });
    // The object that comes after it is gone: it has had its turn.
    await create('secrets', 'later', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: 'never' }] });
    await gone('secrets/later');
    assert.equal((await call('GET', `${space}/secrets/foreign`)).status, 200);
  });

  it('works thousands of dependents off without holding up the event loop', async () => {
    const owner = await create('configmaps', 'crowd');
    const metadata = ownedBy(owner, { blockOwnerDeletion: true });
    for (let start = 0; start < 2000; start += 50) await Promise.all(Array.from({ length: 50 },
      (_, i) => create('configmaps', `crowd-${start + i}`, metadata)));
    const before = clock.turns;
    await remove('configmaps/crowd', 'Foreground');
    await gone('configmaps/crowd');
    const turns = clock.turns - before;
    assert.ok(turns > 50, `${turns} turns`);
  });
});
