// One flipped bit in the store of a server: the object's own answer names it, every other object is served, readiness holds and names the
// key on its own path, and `storage check --repair` takes the record out.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '../../src/test-support/index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'pintle-damage-server-'));
after(() => rmSync(dataDir, { recursive: true }));
const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const configMaps = '/api/v1/namespaces/default/configmaps';
const key = '/registry/configmaps/default/damaged';
const text = 'a text that only one object holds';

function check(...flags: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [main, 'storage', 'check', '--data-dir', dataDir, ...flags], { encoding: 'utf8' });
}

function damage(): void {
  const file = join(dataDir, 'store', 'store.mdb');
  const data = readFileSync(file);
  const handle = openSync(file, 'r+');
  let flips = 0;
  for (let at = data.indexOf(text); at >= 0; at = data.indexOf(text, at + 1)) flips += writeSync(handle, Buffer.from('A'), 0, 1, at);
  closeSync(handle);
  assert.ok(flips > 0);
}

test('a damaged record is answered with its cause and repaired by storage check, and nothing else is lost', async () => {
  const first = await startTestServer({ dataDir });
  for (const [name, value] of [['damaged', text], ['sound', 'another text']]) {
    assert.equal((await first.request({ method: 'POST', path: configMaps, body: { metadata: { name }, data: { text: value } } })).status, 201);
  }
  await first.close();
  damage();
  const found = check();
  assert.equal(found.status, 1);
  assert.match(found.stderr, /does not match its checksum/);

  const server = await startTestServer({ dataDir });
  const broken = await server.request({ path: `${configMaps}/damaged` });
  assert.equal(broken.status, 500);
  assert.match(broken.body.message, /^Internal error occurred: the record of revision \d+ does not match its checksum$/);
  assert.equal((await server.request({ path: `${configMaps}/sound` })).body.data.text, 'another text');
  assert.equal((await server.request({ method: 'POST', path: configMaps, body: { metadata: { name: 'new' } } })).status, 201);
  const list = await server.request({ path: configMaps });
  assert.equal(list.status, 429);
  assert.match(list.body.message, new RegExp(`unable to transform key "${key}": the record of revision \\d+ does not match its checksum`));
  assert.equal((await server.request({ path: '/api/v1/namespaces/default/services' })).status, 200);
  const ready = await server.request({ path: '/readyz?verbose' });
  assert.equal(ready.status, 200);
  assert.match(ready.text, /^\[\+\]etcd-readiness ok, warnings: 1, see \/readyz\/etcd-readiness$/m);
  const named = await server.request({ path: '/readyz/etcd-readiness' });
  assert.match(named.text, new RegExp(`^ok\nwarning: ${key} cannot be read: the record of revision \\d+ does not`));
  await server.close();

  const repaired = check('--repair');
  assert.equal(repaired.status, 0, repaired.stderr);
  assert.match(repaired.stdout, new RegExp(`^moved ${key}: the record of revision \\d+ does not match its checksum$`, 'm'));
  assert.match(repaired.stdout, /kubectl create -f object\.json/);
  const file = /^(\S+damaged-\S+\.jsonl) holds 1 records/m.exec(repaired.stdout)?.[1] ?? '';
  const { value } = JSON.parse(readFileSync(file, 'utf8')) as { value: string };
  assert.equal((JSON.parse(Buffer.from(value, 'base64').toString()) as { data: { text: string } }).data.text, `A${text.slice(1)}`);

  const last = await startTestServer({ dataDir });
  assert.equal((await last.request({ path: `${configMaps}/damaged` })).status, 404);
  const names = (await last.request({ path: configMaps })).body.items.map((item: { metadata: { name: string } }) => item.metadata.name) as string[];
  assert.deepEqual(names.filter((name) => name !== 'kube-root-ca.crt'), ['new', 'sound']);
  assert.equal((await last.request({ path: '/readyz/etcd-readiness' })).text, 'ok');
  await last.close();
});
