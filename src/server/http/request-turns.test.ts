// Requests begin at once while a turn is short, and then in turns of connections; nothing else waits for all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestTurns } from './request-turns.ts';

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests begin at once until a turn is long, and then one of each connection at a time', async () => {
  let nowMs = 1000;
  const begun: string[] = [];
  const turns = new RequestTurns({ monotonicMs: () => nowMs });
  const connections = { many: {}, single: {} };
  const begin = (connection: object, name: string): void => turns.begin(connection, nowMs, () => {
    begun.push(name);
    nowMs += 4;
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
