// Time and chance in the hands of a test.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { createTestServer } from '../index.ts';
import { createSeededRandom } from './random.ts';

/** What a small script gets to see. */
async function runScript(seed: number): Promise<string> {
  const manifests = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
  await using server = await createTestServer({ seed, tls: false, namespaces: ['team'], manifests });
  const ask = async (method: string, path: string, body?: unknown): Promise<string> => (await server.request({ method, path, body })).text;
  const answers = [
    await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'made-' } }),
    await ask('POST', '/api/v1/namespaces/team/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a-' } }),
    await ask('DELETE', '/api/v1/namespaces/team'),
  ];
  await server.waitFor('ns/team', 'deleted');
  await server.advance(60_000);
  answers.push(await ask('POST', '/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'p-' }, spec: { containers: [
    { name: 'c', image: 'i' }] } }));
  answers.push(await ask('GET', '/api/v1/namespaces'), await ask('GET', '/api/v1/serviceaccounts'), await ask('GET', '/api/v1/configmaps'));
  return answers.join('\n');
}

describe('a seed', () => {
  it('makes two runs of a script get the same answers, and another seed different ones', async () => {
    const [first, second, other] = [await runScript(1), await runScript(1), await runScript(2)];
    assert.equal(first, second);
    assert.notEqual(first, other);
    assert.match(first, /"creationTimestamp":"2026-01-01T00:00:00Z"/);
    assert.match(first, /"creationTimestamp":"2026-01-01T00:01:00Z"/);
  });

  it('makes random numbers that fit their bounds', () => {
    const [one, two] = [createSeededRandom('a'), createSeededRandom('a')];
    assert.match(one.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    two.uuid();
    assert.deepEqual(Array.from({ length: 50 }, () => one.below(7)), Array.from({ length: 50 }, () => two.below(7)));
    assert.ok(Array.from({ length: 500 }, () => one.below(7)).every((number) => number >= 0 && number < 7));
  });
});

describe('a manual clock', () => {
  it('moves ages and expiry, and leaves TLS alone', async () => {
    await using server = await createTestServer({ clock: '2000-01-01T00:00:00Z', server: { eventTtlMs: 60_000 } });
    const core = await server.client(CoreV1Api);
    const event = await core.createNamespacedEvent({ namespace: 'default', body: {
      metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', apiVersion: 'v1' }, reason: 'Test', type: 'Normal' } });
    assert.equal(event.metadata.creationTimestamp?.toISOString(), '2000-01-01T00:00:00.000Z');
    assert.deepEqual((await server.events('pods/p')).map(({ reason }) => reason), ['Test']);
    await server.advance(59_000);
    assert.equal((await server.events()).length, 1);
    await server.advance(2_000);
    assert.equal((await server.events()).length, 0);
    server.clockSkewMs = 3_600_000;
    await server.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'later' } });
    assert.equal((await server.get('cm/later'))?.metadata?.creationTimestamp, '2000-01-01T01:01:01Z');
    await using fork = await server.fork();
    await fork.advance(1000);
    assert.equal(fork.now() - server.now(), 1000);
  });

  it('moves the life of tokens', async () => {
    await using server = await createTestServer({ clock: 'manual' });
    const { status: { token } } = (await server.request({ method: 'POST', path: '/api/v1/namespaces/default/serviceaccounts/default/token',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } } })).body;
    const review = async (): Promise<boolean | undefined> => (await server.request({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } } })).body.status.authenticated;
    assert.equal(await review(), true);
    await server.advance(700_000);
    assert.notEqual(await review(), true);
  });

  it('is refused to be moved where time passes by itself', async () => {
    await using server = await createTestServer();
    await assert.rejects(server.advance(1), /passes by itself/);
    assert.ok(Math.abs(server.now() - new Date(String((await server.get('ns/default'))?.metadata?.creationTimestamp)).getTime()) < 600_000);
  });
});

describe('a clock that stands', () => {
  it('holds no definition up: it is established while the time stays', async () => {
    await using server = await createTestServer({ clock: 'manual' });
    const startMs = server.now();
    const [definition] = await server.apply({
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] },
    });
    const { conditions } = definition?.['status'] as { conditions: { type: string; status: string }[] };
    assert.deepEqual(conditions.filter(({ type }) => type === 'Established').map(({ status }) => status), ['True']);
    assert.equal(server.now(), startMs);
  });
});
