// The history of an object with the users that the audit names: for a user that may read it, and for one that may not.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TestServer } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, checkNarrow, login, missingBrowser, openPage, startShop, stopShop, takePicture } from './browser.ts';
import { attacks, create } from './objects.ts';

const PRICES = '/api/v1/namespaces/shop/configmaps/prices';
const HISTORY = '#/object/core/v1/configmaps/shop/prices?tab=history';

describe('the audit in the console', { skip: missingBrowser() }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-audit-'));
  let [server, browser]: ShopAndBrowser<TestServer> = [] as never;
  before(async () => {
    const auditPolicyFile = join(directory, 'policy.yaml');
    writeFileSync(auditPolicyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
    [server, browser] = await startShop({ auditPolicyFile, auditLogPath: join(directory, 'audit.log') });
    const headers = { 'impersonate-user': 'erin', 'impersonate-group': 'system:masters', 'user-agent': attacks.markup };
    assert.equal((await server.request({ method: 'PATCH', path: PRICES, body: { data: { vat: '20' } }, headers })).status, 200);
  });
  after(async () => {
    await stopShop([server, browser]);
    rmSync(directory, { recursive: true });
  });

  test('each version names its user, the user that was spoken as, the place and the program', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', HISTORY);
    const versions = page.getByRole('list', { name: 'Versions' }).getByRole('button');
    await versions.nth(1).waitFor();
    assert.match(await versions.first().innerText(), /by erin/);
    assert.match(await versions.nth(1).innerText(), /by admin/);
    const request = page.getByRole('region', { name: 'The request that made this version' });
    const text = await request.innerText();
    for (const part of [/User\s+admin/, /Speaks as\s+erin/, /Verb\s+patch/, /From\s+127\.0\.0\.1/, /Program\s+<img src=x/]) assert.match(text, part);
    await page.locator('.editor .cm-deletedChunk', { hasText: '19' }).waitFor();
    await checkAccess(page, 'a version with its request');
    await takePicture(page, 'audit');
    await checkNarrow(page, 'a version with its request');
    assert.equal(await page.evaluate('typeof attacked'), 'undefined');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a user learns of others only with the right to', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'alice-token', HISTORY);
    const versions = page.getByRole('list', { name: 'Versions' });
    await versions.getByRole('button').nth(1).waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /erin|admin|127\.0\.0\.1/);
    const rules = [{ nonResourceURLs: ['/audit/writes'], verbs: ['get'] }];
    await create(server, '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: 'audit-reader' }, rules });
    await create(server, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'audit-reader-alice' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'audit-reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
    await page.reload();
    await versions.getByText('by erin').waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });
});
