// The stream of changes of PostgreSQL over connections that fail in a way that a real database seldom shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../test-support/wait.ts';
import { LiveStream } from './changes.ts';
import type { Database } from './database.ts';

test('LiveStream gives a connection back on which it cannot listen, before it opens another', async () => {
  let [opened, given] = [0, 0];
  const session = { runText: () => Promise.reject(new Error('out of memory')), drop: () => void (given += 1) };
  const connect = async () => {
    opened += 1;
    return session;
  };
  const database = { connect, report: () => undefined } as unknown as Database;
  const sink = { events: () => undefined, compacted: () => undefined };
  const stream = new LiveStream({ database, from: 2, sink, channel: 'pintle', sender: 'this' });
  await eventually(() => assert.ok(opened >= 3 && given === opened, `${opened} were opened, ${given} given back`), 5_000);
  stream.close();
});
