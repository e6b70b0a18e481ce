// The history of objects and the explorer of RBAC in the console, as an administrator and as a user of few rights.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ShopAndBrowser, type StartShop, checkAccess, checkNarrow, login, openPage, stopShop, takePicture, visit, waitForList } from './browser.ts';
import { eventually } from '../../src/test-support/index.ts';
import { startConverter } from './converter.ts';
import { create } from './objects.ts';

const PRICES = '/api/v1/namespaces/shop/configmaps/prices';

/** The flows, in a browser that `start` gives. */
export function testExploration(start: StartShop): void {
  let [server, browser]: ShopAndBrowser = [] as never;
  before(async () => {
    [server, browser] = await start();
    for (const vat of ['20', '21']) {
      const answer = await server.request({ method: 'PATCH', path: `${PRICES}?fieldManager=taxes`, body: { data: { vat } } });
      assert.equal(answer.status, 200);
    }
    await server.request({ method: 'DELETE', path: '/api/v1/namespaces/shop/configmaps/feature-flags' });
  });
  after(() => stopShop([server, browser]));

  test('the versions of an object, differences of any two, the list of then, and a restored version', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/core/v1/configmaps/shop/prices?tab=history');
    const versions = page.getByRole('list', { name: 'Versions' }).getByRole('button');
    await versions.nth(2).waitFor();
    assert.equal(await versions.count(), 3);
    assert.match(await versions.first().innerText(), /taxes/);
    await page.locator('.editor .cm-deletedChunk', { hasText: '20' }).waitFor();
    await checkAccess(page, 'the history');
    await takePicture(page, 'history');
    await checkNarrow(page, 'the history');
    await page.getByLabel('Compared with').selectOption({ index: 2 });
    await page.locator('.editor .cm-deletedChunk', { hasText: '19' }).waitFor();
    await versions.nth(2).click();
    await page.getByRole('link', { name: 'All as they were then' }).click();
    await page.getByText('As it was at revision').waitFor();
    await page.getByRole('row', { name: /prices/ }).waitFor();
    await page.goBack();
    await versions.nth(2).click();
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByLabel('Way').selectOption('replace');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByRole('region', { name: 'Review' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    await page.locator('.editor .cm-content', { hasText: 'vat: "19"' }).waitFor();
    assert.equal((await server.request({ path: PRICES })).body.data.vat, '19');
    await visit(page, '#/list/core/v1/configmaps?namespace=shop&at=1');
    await waitForList(page, 0);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('the past of a namespace: its objects at a time and a revision, and an object that was deleted comes back', async () => {
    const path = '/api/v1/namespaces/shop/configmaps';
    await create(server, path, { metadata: { name: 'lost' }, data: { found: 'no' } });
    const { body: { metadata: { resourceVersion } } } = await server.request({ path: `${path}/lost` });
    assert.equal((await server.request({ method: 'DELETE', path: `${path}/lost` })).status, 200);
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=shop');
    await waitForList(page);
    await page.getByRole('link', { name: 'Past' }).click();
    const objects = page.getByRole('region', { name: 'Objects' });
    await objects.getByText('ConfigMap prices').waitFor();
    assert.equal(await objects.getByText('ConfigMap lost').count(), 0);
    await page.getByRole('button', { name: resourceVersion, exact: true }).click();
    await objects.getByText('ConfigMap lost').waitFor();
    await checkAccess(page, 'the past');
    await takePicture(page, 'past');
    await checkNarrow(page, 'the past');
    await page.getByLabel('At', { exact: true }).fill('2020-01-01T00:00:00');
    await objects.getByText('There were none').waitFor();
    await page.getByRole('region', { name: 'Changes', exact: true }).getByRole('row', { name: /deleted ConfigMap lost/ }).getByRole('link').click();
    await page.getByRole('list', { name: 'Versions' }).getByRole('button').nth(1).click();
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.locator('.editor .cm-content', { hasText: 'found: "no"' }).waitFor();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('would be accepted').waitFor();
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('is written').waitFor();
    assert.deepEqual((await server.request({ path: `${path}/lost` })).body.data, { found: 'no' });
    assert.deepEqual(complaints, []);
    await close();
    const other = await openPage(browser, { width: 380, dark: true });
    await login(other.page, server, 'alice-token', '#/list/core/v1/configmaps?namespace=shop');
    await waitForList(other.page);
    await other.page.getByRole('button', { name: 'Kinds', exact: true }).click();
    await other.page.getByRole('link', { name: 'Past' }).click();
    await other.page.getByRole('region', { name: 'Objects' }).getByText('ConfigMap prices').waitFor();
    assert.equal(await other.page.getByRole('region', { name: 'Objects' }).getByText('Deployment').count(), 0);
    await checkAccess(other.page, 'the past of a user of few rights');
    await other.close();
  });

  test('the rights of a user with their reasons, the subjects of an action, and the answer of the server', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=shop');
    await page.getByRole('link', { name: 'Who can' }).click();
    await page.getByLabel('User', { exact: true }).fill('alice');
    await page.getByLabel('Groups').fill('devs');
    const rights = page.getByRole('region', { name: 'Rights' });
    assert.match(await rights.getByRole('row', { name: /ConfigMap/ }).innerText(), /yes\s+yes\s+yes\s+–\s+–/);
    await page.getByRole('region', { name: 'Rules' }).getByRole('link', { name: 'config-reader-alice' }).waitFor();
    await checkAccess(page, 'the rights of a user');
    await takePicture(page, 'access');
    await checkNarrow(page, 'the rights of a user');
    await page.getByRole('button', { name: 'Which subjects' }).click();
    await page.getByLabel('Verb').selectOption('list');
    await page.getByLabel('Resource').fill('configmaps');
    await page.getByRole('row', { name: /User alice.*config-reader/ }).waitFor();
    await page.getByLabel('Ask the server about').fill('alice');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'alice may: RBAC: allowed by RoleBinding "config-reader-alice/shop"' }).waitFor();
    await checkAccess(page, 'the subjects of an action');
    await checkNarrow(page, 'the subjects of an action');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a definition shows its schema and rules, and a sample object tries them', async () => {
    const rules = [{ rule: 'self.replicas <= 3', message: 'three are enough' }];
    const spec = {
      type: 'object', required: ['replicas'], 'x-kubernetes-validations': rules, description: 'Wanted by people.',
      properties: { replicas: { type: 'integer', minimum: 1, description: 'How many there are.' }, mode: { type: 'string', enum: ['slow', 'fast'] } },
    };
    await create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'stalls.shop.example' },
      spec: {
        group: 'shop.example', scope: 'Namespaced', names: { plural: 'stalls', kind: 'Stall' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
      },
    });
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/apiextensions.k8s.io/v1/customresourcedefinitions/-/stalls.shop.example');
    await page.getByRole('link', { name: 'Schema', exact: true }).click();
    await page.getByRole('region', { name: 'Rules' }).getByText('self.replicas <= 3').waitFor();
    const schema = page.getByRole('region', { name: 'Schema' });
    await schema.getByText('spec').first().click();
    await schema.getByText('How many there are.').waitFor();
    await schema.getByText('at least 1').waitFor();
    await checkAccess(page, 'a definition');
    await takePicture(page, 'definition');
    await checkNarrow(page, 'a definition');
    const trial = page.getByRole('region', { name: 'Try expressions' });
    const result = trial.getByRole('status', { name: 'Result' });
    await trial.getByLabel('Rule').selectOption({ label: 'self.spec: self.replicas <= 3' });
    await trial.getByRole('button', { name: 'Evaluate' }).click();
    await result.getByText('true').waitFor();
    await trial.getByLabel('Object', { exact: true }).fill('spec: {replicas: 7, mode: "<img src=x onerror=attacked=1>"}');
    await trial.getByRole('button', { name: 'Run all rules' }).click();
    await result.getByText('three are enough').waitFor();
    await trial.getByLabel('Expression').fill("self.replicas > 5 ? 'many, ' + self.mode : 'few'");
    await trial.getByRole('button', { name: 'Evaluate' }).click();
    await result.getByText('many, <img').waitFor();
    await trial.scrollIntoViewIfNeeded();
    await checkAccess(page, 'expressions');
    await takePicture(page, 'expressions');
    await checkNarrow(page, 'expressions');
    await trial.getByLabel('Expression').fill('self.replicas * 6 > 40 ? [self.mode] : []');
    await trial.getByRole('button', { name: 'Evaluate' }).click();
    await result.getByText('<img src=x onerror=attacked=1>').waitFor();
    await trial.getByLabel('Expression').fill('self.replicaz');
    await page.keyboard.press('Tab');
    await trial.getByRole('button', { name: 'Evaluate' }).click();
    await result.getByText("undefined field 'replicaz'").waitFor();
    assert.equal(await page.evaluate('typeof attacked'), 'undefined');
    await page.reload();
    await page.getByRole('button', { name: 'Try a sample object' }).click();
    const editor = page.locator('.editor .cm-content');
    await editor.getByText('replicas: 1').waitFor();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('would be accepted').waitFor();
    await page.locator('.editor .cm-line', { hasText: 'replicas: 1' }).click();
    await page.keyboard.press('End');
    await page.keyboard.type('2');
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('three are enough').waitFor();
    assert.equal((await server.request({ path: '/apis/shop.example/v1/stalls' })).body.items.length, 0);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a definition of several versions shows how they are served, stored and converted, and objects in each of them', async () => {
    const [old, current] = ['width', 'size'] as const;
    const webhook = await startConverter((object, version) => {
      const { [old]: before, [current]: after } = object.spec as Record<string, number>;
      return { ...object, apiVersion: version, spec: { [version.endsWith('/v1') ? old : current]: before ?? after } };
    });
    const version = (name: string, field: string, more: object) => ({
      name, served: true, storage: false, ...more,
      schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: { type: 'integer' } } } } } },
    });
    try {
      await create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        metadata: { name: 'boxes.shop.example' },
        spec: {
          group: 'shop.example', scope: 'Namespaced', names: { plural: 'boxes', singular: 'box', kind: 'Box' },
          versions: [
            version('v2', current, { storage: true }), version('v1', old, { deprecated: true, deprecationWarning: 'v1 of Box ends soon' }),
            version('v0', old, { served: false }),
          ],
          conversion: {
            strategy: 'Webhook',
            webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `${webhook.url}/convert`, caBundle: btoa(webhook.authority) } },
          },
        },
      });
      const list = '/apis/shop.example/v1/namespaces/shop/boxes';
      await eventually(async () => assert.equal((await server.request({ path: list })).status, 200));
      const { page, complaints, close } = await openPage(browser);
      await create(server, list, { apiVersion: 'shop.example/v1', kind: 'Box', metadata: { name: 'small' }, spec: { width: 7 } });
      await login(page, server, 'admin-token', '#/object/apiextensions.k8s.io/v1/customresourcedefinitions/-/boxes.shop.example?tab=schema');
      const versions = page.getByRole('region', { name: 'Versions' });
      await versions.getByRole('row', { name: 'v2 yes new objects no' }).waitFor();
      await versions.getByRole('row', { name: 'v1 yes no v1 of Box ends soon' }).waitFor();
      await versions.getByRole('row', { name: 'v0 no no no' }).waitFor();
      await versions.getByText(`Webhook: ${webhook.url}/convert, asked by ConversionReview v1.`).waitFor();
      await page.getByRole('combobox', { name: /^Version/ }).selectOption('v1');
      await page.getByText('v1 of Box ends soon').first().waitFor();
      await page.getByRole('region', { name: 'Schema' }).getByText('spec').first().click();
      await page.getByRole('region', { name: 'Schema' }).getByText('width').waitFor();
      await checkAccess(page, 'versions');
      await checkNarrow(page, 'versions');
      const trial = page.getByRole('region', { name: 'Try expressions' });
      for (const [name, field] of [['v1', old], ['v2', current]] as const) {
        await page.getByRole('combobox', { name: /^Version/ }).selectOption(name);
        await trial.getByLabel('Stored object').fill('shop/small');
        await trial.getByRole('button', { name: 'Take it' }).click();
        const taken = trial.getByLabel('Object', { exact: true });
        await eventually(async () => assert.match(await taken.inputValue(), new RegExp(`apiVersion: shop.example/${name}`)));
        await trial.getByLabel('Expression').fill(`self.spec.${field} + 1`);
        await trial.getByRole('button', { name: 'Evaluate' }).click();
        await trial.getByRole('status', { name: 'Result' }).getByText('8', { exact: true }).waitFor();
      }
      assert.deepEqual(complaints, []);
      await close();
    } finally {
      await webhook.close();
    }
  });

  test('another user is tried, by impersonation, until the page is itself again', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/access');
    await page.getByLabel('User', { exact: true }).fill('alice');
    await page.getByLabel('Groups').fill('devs');
    await page.getByRole('button', { name: 'Try as this user' }).click();
    await page.getByText('Requests are made as alice').waitFor();
    await page.getByRole('alert').filter({ hasText: 'User "alice" cannot list resource' }).waitFor();
    await visit(page, '#/list/core/v1/secrets');
    await page.getByRole('alert').filter({ hasText: 'User "alice" cannot list resource "secrets"' }).waitFor();
    await page.getByRole('button', { name: 'Be admin again' }).click();
    await waitForList(page);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a user of few rights sees the history of its objects, and no policy', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'alice-token', '#/object/core/v1/configmaps/shop/prices?tab=history');
    await page.getByRole('list', { name: 'Versions' }).getByRole('button').first().waitFor();
    await visit(page, '#/access');
    await page.getByRole('alert').filter({ hasText: 'cannot list resource "roles"' }).waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });
}
