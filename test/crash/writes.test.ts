// Kills a whole server with SIGKILL while clients patch, apply, delete and finalize over HTTP, and proves after each restart: every write
// that was acknowledged is there, whole, and what was removed stays away. PINTLE_CRASH_CYCLES sets the number of kills.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClientResponse, type TestClient, createTestClient } from '../../src/test-support/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-crash-writes-'));
after(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'tokens'), 'token,admin,uid,"system:masters"\n');

const cycles = Math.max(2, Math.floor(Number(process.env['PINTLE_CRASH_CYCLES'] ?? 8) / 4));
const clients = 8;
const collection = '/api/v1/namespaces/default/configmaps';

/** What a client knows of its object: the last number that was acknowledged, and the one that may have been written. */
interface Knowledge {
  acknowledged: number | 'absent';
  attempted: number | 'absent';
}

async function startServer(): Promise<{ child: ChildProcess; client: TestClient }> {
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
  const flags = ['--data-dir', join(root, 'data'), '--secure-port', '0', '--token-auth-file', join(root, 'tokens')];
  const child = spawn(process.execPath, [main, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the server ended')));
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /https:\/\/[\d.]+:\d+/.exec(chunk.toString())?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, client: createTestClient(url, 'token') };
}

/** One write, by the number of the round: applies and merge patches that change two keys, then a deletion in two phases. */
function write(client: TestClient, name: string, round: number): Promise<ClientResponse> {
  const path = `${collection}/${name}`;
  const data = { a: String(round), b: String(round) };
  const finalizers = ['example.com/hold'];
  if (round % 5 === 3) return client.request({ method: 'DELETE', path });
  if (round % 5 === 4) return client.request({ method: 'PATCH', path, body: { metadata: { finalizers: null } } });
  if (round % 5 === 1) return client.request({ method: 'PATCH', path, body: { data } });
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, finalizers }, data });
  return client.request({ method: 'PATCH', path: `${path}?fieldManager=crash&force=true`, body, headers: { 'content-type': 'application/apply-patch+yaml' } });
}

async function drive(client: TestClient, name: string, { known, first }: { known: Knowledge; first: number }): Promise<void> {
  // A round begins with an apply, which makes the object if it has to.
  for (let round = first; ; round += 1) {
    const kind = round % 5;
    known.attempted = kind === 4 ? 'absent' : kind === 3 ? known.acknowledged : round;
    const { status, text } = await write(client, name, round);
    assert.ok(status === 200 || status === 201, `${name} ${round}: ${status} ${text}`);
    known.acknowledged = known.attempted;
  }
}

function checkAnswer(name: string, known: Knowledge, { status, body }: ClientResponse): void {
  const { acknowledged, attempted } = known;
  const found = status === 404 ? 'absent' : Number(body.data.a);
  assert.ok(found === acknowledged || found === attempted, `${name} is ${found}; ${acknowledged} was acknowledged, ${attempted} attempted`);
  // Whether the last attempt came to be is known from here on, also when no write of this life is acknowledged.
  known.acknowledged = found;
  known.attempted = found;
  if (found === 'absent') return;
  assert.equal(body.data.a, body.data.b, `${name} is half-written`);
  assert.ok(body.metadata.managedFields.length > 0);
}

/** One life of the server: the store that the last one left is checked, then clients write until the server is killed. */
async function live(known: readonly Knowledge[], cycle: number): Promise<void> {
  const { child, client } = await startServer();
  const drivers: Promise<unknown>[] = [];
  try {
    for (const [index, knowledge] of known.entries()) checkAnswer(`c${index}`, knowledge, await client.request({ path: `${collection}/c${index}` }));
    for (const [index, knowledge] of known.entries()) {
      drivers.push(drive(client, `c${index}`, { known: knowledge, first: (cycle + 1) * 100_000 }).catch((error: unknown) => error));
    }
    await sleep(300 + cycle * 37);
  } finally {
    child.kill('SIGKILL');
  }
  for (const failure of await Promise.all(drivers)) assert.ok(!(failure instanceof assert.AssertionError), String(failure));
  client.close();
}

test('no acknowledged patch, apply or delete is lost, none is half-done', async () => {
  const known = Array.from({ length: clients }, (): Knowledge => ({ acknowledged: 'absent', attempted: 'absent' }));
  for (let cycle = 0; cycle < cycles; cycle += 1) await live(known, cycle);
});
