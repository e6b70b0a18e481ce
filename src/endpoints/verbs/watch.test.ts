// Watch streams without sockets: order, back-pressure, timeouts, bookmarks, tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApi, type TestApi, TestSink } from '../testing.ts';

const CM = '/api/v1/namespaces/ns/configmaps';
const headers = { 'content-type': 'application/json' };
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

async function create(api: TestApi, name: string): Promise<void> {
  const { status } = await api.send({ method: 'POST', path: CM, body: { metadata: { name } }, headers });
  assert.equal(status, 201);
}

async function openWatch(api: TestApi, query: string, sink = new TestSink(), more: Record<string, string> = {}) {
  const { response } = await api.send({ path: `${CM}?watch=1${query}`, headers: more });
  assert.equal(response.status, 200);
  assert.ok(typeof response.body === 'function');
  return { sink, ended: response.body(sink), response };
}

test('handleWatch sends the state, then changes, and ends when the receiver is gone', async () => {
  const api = createTestApi();
  await create(api, 'a');
  const { sink, ended } = await openWatch(api, '');
  await settle();
  await create(api, 'b');
  await api.send({ method: 'DELETE', path: `${CM}/a` });
  await settle();
  assert.deepEqual(sink.lines.map(({ type, object }) => `${type} ${object.metadata.name}`), ['ADDED a', 'ADDED b', 'DELETED a']);
  sink.controller.abort();
  await ended;
  api.close();
});

test('handleWatch writes nothing while the receiver is behind, and everything afterwards', async () => {
  const api = createTestApi();
  const sink = new TestSink();
  const { ended } = await openWatch(api, '', sink);
  await settle();
  sink.behind = true;
  for (const name of ['a', 'b', 'c']) {
    await create(api, name);
    await settle();
  }
  assert.equal(sink.lines.length, 1);
  sink.catchUp();
  await settle();
  assert.deepEqual(sink.lines.map(({ object }) => object.metadata.name), ['a', 'b', 'c']);
  assert.equal(sink.chunks.length, 2);
  sink.controller.abort();
  await ended;
  api.close();
});

test('handleWatch ends at its timeout, after a last bookmark', async () => {
  const api = createTestApi();
  await create(api, 'a');
  const { sink, ended } = await openWatch(api, '&timeoutSeconds=10&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da');
  await settle();
  api.clock.advance(8_500);
  await settle();
  assert.deepEqual(sink.lines.map(({ type }) => type), ['ADDED', 'BOOKMARK', 'BOOKMARK']);
  assert.deepEqual(sink.lines[1].object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  assert.equal(sink.lines[2].object.metadata.annotations, undefined);
  api.clock.advance(2_000);
  await ended;
  api.close();
});

test('handleWatch sends columns of tables once', async () => {
  const api = createTestApi();
  await create(api, 'a');
  await create(api, 'b');
  const { sink, ended } = await openWatch(api, '', new TestSink(), { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  await settle();
  assert.deepEqual(sink.lines.map(({ object }) => [object.columnDefinitions?.length ?? null, object.rows[0].cells]), [[1, ['a']], [null, ['b']]]);
  sink.controller.abort();
  await ended;
  api.close();
});

test('handleWatch refuses contradicting options before the stream', async () => {
  const api = createTestApi();
  const { status, json } = await api.send({ path: `${CM}?watch=1&sendInitialEvents=true` });
  assert.equal(status, 422);
  assert.match(json.message, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan$/);
  api.close();
});

test('handleWatch reports grammar of selectors before rules between options, and those before fields that cannot be selected by', async () => {
  const api = createTestApi();
  const told = async (query: string): Promise<string> => (await api.send({ path: `${CM}?watch=1&${query}` })).json.message;
  assert.match(await told('sendInitialEvents=true&labelSelector=()&fieldSelector=x'), /^found '\('/);
  assert.match(await told('sendInitialEvents=true&fieldSelector=x=y=z'), /unescaped character in value: 61$/);
  assert.match(await told('sendInitialEvents=true&fieldSelector=x=y'), /sendInitialEvents requires/);
  assert.match(await told('fieldSelector=x=y'), /^"x" is not a known field selector/);
  const { json } = await api.send({ path: '/api/v1/watch/namespaces/ns/configmaps/b?fieldSelector=x=y' });
  assert.match(json.message, /^"x" is not a known field selector/);
  api.close();
});

test('handleWatch marks the end of the state only where the query itself asks for a watch', async () => {
  const api = createTestApi();
  await create(api, 'a');
  for (const [path, types] of [[`${CM}?watch=1&`, ['ADDED', 'BOOKMARK']], ['/api/v1/watch/namespaces/ns/configmaps?', ['ADDED']]] as const) {
    for (const version of ['', '0', '00']) {
      const { response } = await api.send({ path: `${path}allowWatchBookmarks=1&resourceVersion=${version}` });
      const sink = new TestSink();
      assert.ok(typeof response.body === 'function');
      const ended = response.body(sink);
      await settle();
      assert.deepEqual(sink.lines.map(({ type }) => type), version === '00' ? ['ADDED'] : types, `${path} ${version}`);
      sink.controller.abort();
      await ended;
    }
  }
  api.close();
});

test('handleWatch serves the old watch paths whatever the query says', async () => {
  const api = createTestApi();
  await create(api, 'a');
  await create(api, 'b');
  const { response } = await api.send({ path: '/api/v1/watch/namespaces/ns/configmaps/b?watch=false' });
  const sink = new TestSink();
  assert.ok(typeof response.body === 'function');
  const ended = response.body(sink);
  await settle();
  assert.deepEqual(sink.lines.map(({ object }) => object.metadata.name), ['b']);
  sink.controller.abort();
  await ended;
  api.close();
});
