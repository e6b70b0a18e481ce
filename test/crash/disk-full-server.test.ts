// A server whose disk is full: writes are refused with the cause, reads and watches go on, readiness says it, and all is well again by itself
// once there is room. A limit on the size of files stands for the disk: the kernel refuses writes with EFBIG instead of ENOSPC.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTestClient, eventually } from '../../src/test-support/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-full-server-'));
after(() => rmSync(root, { recursive: true }));

const child = fileURLToPath(new URL('./disk-full-server.child.js', import.meta.url));
const noLimits = spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not on PATH';
const configMaps = '/api/v1/namespaces/default/configmaps';

test('a full disk refuses writes with its name, keeps reads and watches, and takes writes again without a restart', { skip: noLimits }, async () => {
  const script = 'ulimit -S -f 12288; exec "$0" "$1" "$2"';
  const server = spawn('sh', ['-c', script, process.execPath, child, join(root, 'data')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const over = new Promise((resolve) => server.once('close', resolve));
  try {
    const url = await new Promise<string>((resolve) => server.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())));
    const client = createTestClient(url, 'admin-token');
    let written = 0;
    const write = (): ReturnType<typeof client.request> => client.request({
      method: 'POST', path: configMaps, body: { metadata: { name: `c${(written += 1)}` }, data: { text: 'full '.repeat(40_000) } },
    });
    let refused = await write();
    for (let count = 0; refused.status === 201 && count < 200; count += 1) refused = await write();
    const kept = written - 1;
    assert.equal(refused.status, 500);
    assert.match(refused.body.message, /^the write could not be made durable in \S+: .*file too large/i);
    const failed = await client.request({ path: '/readyz/etcd-readiness' });
    assert.equal(failed.status, 500);
    assert.match(failed.text, /could not be made durable in \S+: .*file too large/i);
    assert.equal((await client.request({ path: '/livez' })).status, 200);
    assert.equal((await client.request({ path: `${configMaps}/c${kept}` })).status, 200);
    const list = await client.request({ path: `${configMaps}?limit=500` });
    assert.equal(list.body.items.filter(({ metadata }: { metadata: { name: string } }) => /^c\d/.test(metadata.name)).length, kept);
    const watch = await client.request({ path: `${configMaps}?watch=1&timeoutSeconds=1&resourceVersion=${list.body.metadata.resourceVersion}` });
    assert.equal(watch.status, 200);

    assert.equal(spawnSync('prlimit', ['--pid', String(server.pid), '--fsize=unlimited:unlimited']).status, 0);
    // Readiness comes back by itself, without a write of a client.
    await eventually(async () => assert.equal((await client.request({ path: '/readyz' })).status, 200));
    assert.equal((await write()).status, 201);
    assert.equal((await client.request({ path: `${configMaps}/c${written}` })).status, 200);
    client.close();
  } finally {
    server.stdin.end();
    await over;
  }
});
