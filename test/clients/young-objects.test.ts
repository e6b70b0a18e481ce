// What the reads of a server leave to full collections of V8, as V8 itself reports it, and how often there is one.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../src/test-support/index.ts';

const program = fileURLToPath(new URL('young-objects.child.js', import.meta.url));
const OBJECTS = 10_000;
const READS = 45_000;
const CLIENTS = 64;
/** It is 200 to 1,200; without the flag of V8 that the command sets, or with Node's tables of streams, 4,000 to 5,000. */
const MOST_BYTES_EACH = 2000;

/** The status of an answer that is read to its end. */
function ask(session: ClientHttp2Session, method: string, path: string, body?: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': method, ':path': path, authorization: 'Bearer admin-token', 'content-type': 'application/json' });
    let status = 0;
    stream.on('response', (headers) => {
      status = Number(headers[':status']);
    });
    stream.on('error', reject).on('end', () => resolve(status)).resume();
    stream.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Asks so many times, by several clients at once, and expects the same status each time. */
async function askMany(count: number, expected: number, askOnce: (at: number) => Promise<number>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    while (next < count) assert.equal(await askOnce(next++), expected);
  }));
}

test('reads leave little to full collections, and what they do leave is given back meanwhile', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-young-'));
  writeFileSync(join(folder, 'tokens'), 'admin-token,admin,admin,system:masters\n');
  const child = fork(program, ['--data-dir', join(folder, 'data'), '--secure-port', '0', '--token-auth-file', join(folder, 'tokens')], { silent: true });
  context.after(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const take = async (): Promise<{ readonly grownBytes: number; readonly collections: number }> => {
    child.send('take');
    return (await once(child, 'message'))[0];
  };
  let url: string | undefined;
  for await (const line of createInterface(child.stdout as Readable)) if ((url = /^Serving on (\S+),/.exec(line)?.[1]) !== undefined) break;
  assert.ok(url);
  const session = connect(url, { rejectUnauthorized: false });
  context.after(() => session.destroy());
  await eventually(async () => assert.equal(await ask(session, 'GET', '/api/v1/namespaces/default'), 200));
  const configMaps = '/api/v1/namespaces/default/configmaps';
  await askMany(OBJECTS, 201, (at) => ask(session, 'POST', configMaps, { metadata: { name: `one-${at}` }, data: { key: 'value' } }));
  await take();
  await askMany(READS, 200, (at) => ask(session, 'GET', `${configMaps}/one-${at % OBJECTS}`));
  const { grownBytes, collections } = await take();
  assert.ok(grownBytes / READS < MOST_BYTES_EACH, `${(grownBytes / READS).toFixed(0)} bytes each`);
  assert.ok(collections > 0, 'the strings and handles of HTTP/2, which are old from the start, are given back meanwhile');
});
