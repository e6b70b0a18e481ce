// ShardedListAndWatch: lists and watches of a part of a collection, by the hash of uids or namespaces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseShardSelector } from '../apimachinery/index.ts';
import { type TestServer, startTestServer } from '../test-support/index.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const shards = [['0x0000000000000000', '0x8000000000000000'], ['0x8000000000000000', '0x10000000000000000']]
  .map(([start, end]) => `shardRange(object.metadata.uid, '${start}', '${end}')`);

const ask = (server: TestServer, query: Readonly<Record<string, string>>) => server.request({ path: `${configMaps}?${new URLSearchParams(query)}` });

test('shards are disjoint, complete, and named by the lists of them', async () => {
  const server = await startTestServer({ featureGates: ['ShardedListAndWatch=true'] });
  try {
    for (let i = 0; i < 12; i++) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${i}`, labels: { l: 'm' } } };
      assert.equal((await server.request({ method: 'POST', path: configMaps, body })).status, 201);
    }
    const found: string[] = [];
    for (const shardSelector of shards) {
      const { body } = await ask(server, { shardSelector, labelSelector: 'l=m' });
      assert.equal(body.metadata.shardInfo.selector, shardSelector);
      const uids = body.items.map(({ metadata }: any) => metadata.uid);
      assert.ok(uids.every((uid: string) => parseShardSelector(shardSelector).matches({ uid, namespace: '' })));
      found.push(...uids);
      const { text } = await ask(server, { shardSelector, labelSelector: 'l=m', watch: 'true', timeoutSeconds: '1' });
      const watched = text.trim().split('\n').map((line) => JSON.parse(line).object.metadata.uid);
      assert.deepEqual(watched.sort(), uids.sort());
    }
    assert.equal(new Set(found).size, 12);
    const refused = await ask(server, { shardSelector: 'true' });
    const message = 'invalid shard selector: unexpected expression kind 5; expected shardRange() call or || operator';
    assert.deepEqual([refused.status, refused.body.message], [500, message]);
  } finally {
    await server.close();
  }
});

test('without the gate a shard selector is ignored', async () => {
  const server = await startTestServer();
  try {
    const all = (await ask(server, {})).body;
    const { body } = await ask(server, { shardSelector: shards[0] as string });
    assert.deepEqual([body.items.length, body.metadata.shardInfo], [all.items.length, undefined]);
  } finally {
    await server.close();
  }
});
