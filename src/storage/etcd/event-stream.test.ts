// A watch of all keys that compaction overtakes, on a connection that answers what the test says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdConnection } from './grpc/connection.ts';
import { EventStream } from './event-stream.ts';
import { eventually } from '../../test-support/wait.ts';

/** A field of a message whose number and length, or value, are below 128. */
const field = (number: number, value: number | readonly number[]): number[] =>
  (typeof value === 'number' ? [number << 3, value] : [(number << 3) | 2, value.length, ...value]);

const created = field(3, 1);
const compactedAt = (revision: number): number[] => [...field(4, 1), ...field(5, revision)];
/** The second version of a key, without the first one: etcd has compacted that before it was read. */
const torn = field(11, field(2, [...field(1, [97]), ...field(2, 2), ...field(3, 21), ...field(4, 2), ...field(5, [118])]));

/** What a stream from revision 21 on reports when each of its connections answers in turn what is given. */
async function follow(...answers: readonly (readonly number[])[]): Promise<{ readonly compacted: number; readonly opened: number }> {
  let opened = 0;
  const openWatch = async ({ message }: { readonly message: (bytes: Buffer) => void }) => {
    const answer = answers[Math.min(opened, answers.length - 1)] as readonly number[];
    opened += 1;
    setImmediate(() => [created, answer].forEach((bytes) => message(Buffer.from(bytes))));
    return { write: () => undefined, cancel: () => undefined };
  };
  let compacted = 0;
  const sink = { events: () => assert.fail('nothing can be delivered'), compacted: (revision: number) => void (compacted = revision) };
  const connection = { openWatch, moveOn: () => undefined } as unknown as EtcdConnection;
  const stream = new EventStream({ connection, from: 21, sink, report: () => undefined });
  await eventually(() => assert.notEqual(compacted, 0));
  stream.close();
  return { compacted, opened };
}

test('a watch that compaction has overtaken asks etcd again, which names its compaction', async () => {
  assert.deepEqual(await follow(torn, compactedAt(30)), { compacted: 30, opened: 2 });
});

test('a watch whose change stays without what it replaced ends there', async () => {
  assert.deepEqual(await follow(torn), { compacted: 21, opened: 2 });
});
