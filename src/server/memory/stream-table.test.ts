// The tables of streams of Node's sessions.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ServerHttp2Session, connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { PassingMap } from '../../base/index.ts';
import { replaceStreamTables } from './stream-table.ts';

const stateOf = (session: ServerHttp2Session): Record<string, unknown> => {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state');
  return (session as unknown as Record<symbol, Record<string, unknown>>)[symbol as symbol] as Record<string, unknown>;
};

test('replaceStreamTables gives a session of this Node tables that streams enter and leave', async (context) => {
  const server = createServer();
  const sizes: number[] = [];
  let state: Record<string, unknown> | undefined;
  server.on('session', (session) => {
    replaceStreamTables(session);
    state = stateOf(session);
    session.on('stream', (stream) => {
      sizes.push((state?.streams as PassingMap<unknown, unknown>).size);
      stream.respond();
      setImmediate(() => stream.end());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const ask = async (): Promise<void> => {
    await once(client.request().resume(), 'close');
  };
  await Promise.all([ask(), ask(), ask()]);
  await ask();
  assert.ok(state?.streams instanceof PassingMap && state.pendingStreams instanceof PassingMap);
  assert.equal(Math.max(...sizes), 3);
  client.close();
  await once(client, 'close');
  assert.deepEqual([state.streams.size, state.pendingStreams.size], [0, 0]);
});

test('replaceStreamTables leaves a session alone that has streams, or keeps them otherwise', () => {
  const symbol = Symbol('state');
  const states = [{ streams: new Map([[1, {}]]), pendingStreams: new Set() }, { streams: new Map(), pendingStreams: new Set([{}]) }, { list: [] }, undefined];
  for (const state of states) {
    const before = { ...state };
    replaceStreamTables({ [symbol]: state } as unknown as ServerHttp2Session);
    assert.deepEqual({ ...state }, before);
  }
  replaceStreamTables({} as unknown as ServerHttp2Session);
});
