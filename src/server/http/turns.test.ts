// Requests begin at once while a turn is short, and then in turns of connections; nothing else waits for all of them. Connections end by the
// number of their streams.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ConnectionEnds, RequestTurns } from './turns.ts';

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests begin at once until a turn is long, and then one of each connection at a time', async () => {
  let nowMs = 1000;
  const begun: string[] = [];
  const turns = new RequestTurns({ monotonicMs: () => nowMs });
  const connections = { many: {}, single: {} };
  const begin = (connection: object, name: string): void => turns.begin(connection, nowMs, () => {
    begun.push(name);
    nowMs += 1;
  });
  for (const name of ['m1', 'm2', 'm3', 'm4', 'm5']) begin(connections.many, name);
  begin(connections.single, 's1');
  assert.deepEqual(begun.splice(0), ['m1', 'm2']);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m3', 's1']);
  begin(connections.single, 's2');
  assert.deepEqual(begun, []);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m4', 's2']);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m5']);
  await endOfTurn();
  nowMs += 500;
  begin(connections.single, 's3');
  assert.deepEqual(begun.splice(0), ['s3']);
});

test('connections with many streams end one a turn, those with few together', async () => {
  const ends = new ConnectionEnds();
  const ended: string[] = [];
  const sockets = Object.entries({ a: 100, b: 100, c: 100, d: 1000, e: 0, f: 250, g: 0 }).map(([name, streams]) => {
    const socket = new Socket();
    ends.pace(socket, () => streams);
    socket.once('close', () => ended.push(name));
    return socket;
  });
  for (const socket of sockets) socket.destroy();
  assert.deepEqual(ended, []);
  const turns: string[] = [];
  while (ended.length < sockets.length) {
    await endOfTurn();
    turns.push(ended.join(''));
  }
  assert.deepEqual([...new Set(turns)].filter((text) => text !== ''), ['ab', 'abc', 'abcd', 'abcdefg']);
});

test('an error reaches its connection, and a connection that ends later has a turn of its own', async () => {
  const ends = new ConnectionEnds();
  const socket = new Socket();
  ends.pace(socket, () => 1);
  const seen: unknown[] = [];
  socket.on('error', (error) => seen.push(error.message)).on('close', () => seen.push('closed'));
  socket.destroy(new Error('reset'));
  await endOfTurn();
  await endOfTurn();
  assert.deepEqual(seen, ['reset', 'closed']);
  const later = new Socket();
  ends.pace(later, () => 1);
  later.once('close', () => seen.push('later'));
  later.destroy();
  await endOfTurn();
  await endOfTurn();
  assert.equal(seen.at(-1), 'later');
});
