// An old backup is restored under clients that have seen newer versions: after `pintle storage bump` no version is used twice, and a watch
// from any of them gets 410 and lists.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestServer, startTestServer } from '../../src/test-support/index.ts';

const root = mkdtempSync(join(tmpdir(), 'pintle-restore-'));
after(() => rmSync(root, { recursive: true }));
const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const [dataDir, backup] = [join(root, 'data'), join(root, 'backup')];
const configMaps = '/api/v1/namespaces/default/configmaps';

async function create(server: TestServer, name: string): Promise<number> {
  const { status, body } = await server.request({ method: 'POST', path: configMaps, body: { metadata: { name } } });
  assert.equal(status, 201);
  return Number(body.metadata.resourceVersion);
}

test('after storage bump a restored backup uses no version again, and watches of older ones are 410', async () => {
  const first = await startTestServer({ dataDir });
  const kept = await create(first, 'kept');
  await first.close();
  cpSync(dataDir, backup, { recursive: true });
  const second = await startTestServer({ dataDir });
  const lost = await create(second, 'lost');
  await second.close();

  rmSync(dataDir, { recursive: true });
  cpSync(backup, dataDir, { recursive: true });
  const bump = spawnSync(process.execPath, [main, 'storage', 'bump', '--data-dir', dataDir], { encoding: 'utf8' });
  assert.equal(bump.status, 0, bump.stderr);
  assert.match(bump.stdout, /^the revision is 10000\d+; clients with an older one list again$/m);

  const third = await startTestServer({ dataDir });
  for (const resourceVersion of [kept, lost]) {
    const { text } = await third.request({ path: `${configMaps}?watch=1&timeoutSeconds=5&resourceVersion=${resourceVersion}` });
    assert.match(text, /"code":410/, `from ${resourceVersion}: ${text}`);
  }
  assert.equal((await third.request({ path: `${configMaps}/kept` })).body.metadata.resourceVersion, String(kept));
  assert.ok((await create(third, 'new')) > 1_000_000_000);
  assert.ok(Number((await third.request({ path: configMaps })).body.metadata.resourceVersion) > 1_000_000_000);
  await third.close();
});
