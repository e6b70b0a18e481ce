// The page about the server itself: plots of its metrics, the busiest requests, and a user that may not read them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type TestServer, eventually } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, checkNarrow, login, missingBrowser, openPage, startShop, stopShop, takePicture } from './browser.ts';
import { create } from './objects.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1';

/** A policy that refuses Secrets, and one Secret that is refused. */
async function refuseSecrets(server: TestServer): Promise<void> {
  await create(server, `${POLICIES}/validatingadmissionpolicies`, {
    metadata: { name: 'no-secrets' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }] },
      validations: [{ expression: 'false' }],
    },
  });
  await create(server, `${POLICIES}/validatingadmissionpolicybindings`, {
    metadata: { name: 'no-secrets' }, spec: { policyName: 'no-secrets', validationActions: ['Deny'] },
  });
  await eventually(async () => {
    const { status } = await server.request({ method: 'POST', path: '/api/v1/namespaces/shop/secrets', body: { metadata: { generateName: 'x' } } });
    assert.equal(status, 422);
  });
}

/** Two definitions want the same kind: the second one gets no names. */
const defineClash = (server: TestServer, plural: string): Promise<unknown> => create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
  metadata: { name: `${plural}.shop.example` },
  spec: {
    group: 'shop.example', scope: 'Namespaced', names: { plural, kind: 'Same' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

describe('the server in the console', { skip: missingBrowser() }, () => {
  let [server, browser]: ShopAndBrowser<TestServer> = [] as never;
  before(async () => {
    [server, browser] = await startShop();
  });
  after(() => stopShop([server, browser]));

  test('plots and tables say what happens at the server', async () => {
    await refuseSecrets(server);
    for (const name of ['right', 'wrong']) await defineClash(server, name);
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token');
    await page.getByRole('link', { name: 'Server', exact: true }).click();
    let isDone = false;
    const traffic = (async () => {
      while (!isDone) await server.request({ path: '/api/v1/namespaces/shop/configmaps' });
    })();
    const busiest = page.getByRole('region', { name: 'Busiest requests' });
    await busiest.getByRole('row', { name: /^LIST configmaps/ }).waitFor();
    await page.getByRole('figure').filter({ hasText: /Latency.*p99 [\d.]+ ms/ }).locator('canvas').waitFor();
    await page.getByRole('figure').filter({ hasText: /Requests.*all [\d.]+\/s/ }).waitFor();
    await page.getByRole('region', { name: 'Most objects' }).getByRole('row', { name: /^configmaps/ }).waitFor();
    assert.equal(await page.locator('canvas').count(), 10);
    await page.getByRole('figure').filter({ hasText: /Revision.*latest [1-9]/ }).waitFor();
    await page.getByRole('region', { name: 'Slowest requests' }).getByRole('row', { name: /^LIST configmaps [\d\s]+ [\d.]+ ms/ }).waitFor();
    await page.getByRole('region', { name: 'Top talkers' }).getByRole('row', { name: /^user admin/ }).waitFor();
    const admission = page.getByRole('region', { name: 'Webhooks and policies' });
    await admission.getByRole('row', { name: /^validating policy no-secrets 1 [\d.]+ ms 1/ }).waitFor();
    await page.getByRole('region', { name: 'Definitions', exact: true }).getByRole('row', { name: /wrong.shop.example Failed.*NamesAccepted/ }).waitFor();
    await page.getByRole('region', { name: 'API services', exact: true }).getByRole('row', { name: /v1.apps Healthy/ }).waitFor();
    await checkAccess(page, 'the server');
    if (process.env['PINTLE_PICTURES'] !== undefined) await page.waitForTimeout(14_000);
    await takePicture(page, 'server');
    await checkNarrow(page, 'the server');
    isDone = true;
    await traffic;
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a user that may not read metrics is refused', async () => {
    const { page, complaints, close } = await openPage(browser, { width: 380, dark: true });
    await login(page, server, 'alice-token', '#/server');
    await page.getByRole('alert').filter({ hasText: 'cannot get path "/metrics"' }).waitFor();
    await checkAccess(page, 'the refusal of metrics');
    assert.deepEqual(complaints, []);
    await close();
  });
});
