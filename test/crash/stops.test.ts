// Stops the program with SIGTERM under writers, again and again on one directory: each stop ends with exit code 0, and the next start has every write
// that was acknowledged. PINTLE_STOP_CYCLES sets the number of stops, PINTLE_NODE the Node.js that runs the program.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type TestClient, createTestClient, eventually } from '../../src/test-support/index.ts';

const cycles = Number(process.env['PINTLE_STOP_CYCLES'] ?? 4);
const node = process.env['PINTLE_NODE'] ?? process.execPath;
const program = fileURLToPath(new URL('../../bin/pintle.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'pintle-stops-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const tokens = join(directory, 'tokens.csv');
writeFileSync(tokens, 'admin-token,admin,u,"system:masters"\n');

const WRITERS = 16;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** The number that each writer had acknowledged last. */
const acknowledged = new Array<number>(WRITERS).fill(0);

async function start(): Promise<{ readonly child: ChildProcess; readonly url: string; output(): string }> {
  const child = spawn(node, [program, '--data-dir', join(directory, 'data'), '--secure-port', '0', '--token-auth-file', tokens],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      output += String(part);
    });
  }
  const findUrl = (): string | undefined => /https:\/\/[^\s"]*:\d+/.exec(output)?.[0];
  await eventually(() => assert.ok(findUrl() !== undefined, output), 30_000);
  return { child, url: findUrl() as string, output: () => output };
}

/** Writes one number after the other until the server is gone. */
async function write(client: TestClient, writer: number): Promise<void> {
  for (let number = (acknowledged[writer] as number) + 1; ; number++) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `writer${writer}` }, data: { number: String(number) } };
    const path = `${CONFIG_MAPS}/writer${writer}?fieldManager=writer`;
    const answer = await client.request({ method: 'PATCH', path, body, headers: { 'content-type': 'application/apply-patch+yaml' } }).catch(() => undefined);
    if (answer === undefined) return;
    if (answer.status === 200 || answer.status === 201) acknowledged[writer] = number;
  }
}

async function checkNumbers(client: TestClient): Promise<void> {
  await eventually(async () => assert.equal((await client.request({ path: '/readyz' })).status, 200), 30_000);
  const { body } = await client.request({ path: CONFIG_MAPS });
  const stored = new Map(body.items.map(({ metadata, data }: any) => [metadata.name, Number(data?.number)]));
  acknowledged.forEach((number, writer) => {
    const found = stored.get(`writer${writer}`) as number;
    if (number > 0) assert.ok(found >= number, `writer ${writer}: ${number} is lost, ${found} is there`);
  });
}

test(`SIGTERM under ${WRITERS} writers: ${cycles} times exit code 0 and no acknowledged write lost`, async () => {
  for (let cycle = 0; cycle < cycles; cycle++) {
    const { child, url, output } = await start();
    const clients = Array.from({ length: WRITERS }, () => createTestClient(url, 'admin-token'));
    await checkNumbers(clients[0] as TestClient);
    const before = acknowledged.reduce((sum, number) => sum + number, 0);
    const writing = clients.map(write);
    await eventually(() => assert.ok(acknowledged.reduce((sum, number) => sum + number, 0) > before + WRITERS), 30_000);
    await sleep(Math.random() * 200);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null], `stop ${cycle}: ${output().slice(-2000)}`);
    await Promise.all(writing);
    for (const client of clients) client.close();
  }
  console.log(`${cycles} stops on ${node}, ${acknowledged.reduce((sum, number) => sum + number, 0)} acknowledged writes`);
});
