// Objects in the console: owners of fields, edits with a dry run, conflicts and warnings, events, what belongs to what, deletion, new objects from files.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, type StartShop, checkAccess, checkNarrow, login, openPage, stopShop, takePicture, visit, waitForList } from './browser.ts';
import { create, deployment } from './objects.ts';

const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';

/** Pastes a text over that of the editor. */
async function write(page: Page, text: string): Promise<void> {
  await page.locator('.editor .cm-content').click();
  await page.keyboard.press('Control+a');
  await page.locator('.editor .cm-content').evaluate((element, pasted) => {
    const { ClipboardEvent: Pasted, DataTransfer: Transfer } = globalThis as any;
    const clipboardData = new Transfer();
    clipboardData.setData('text/plain', pasted);
    element.dispatchEvent(new Pasted('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

const drop = (page: Page, name: string, text: string): Promise<void> => page.evaluate(([file, content]) => {
  const { DataTransfer: Transfer, DragEvent: Drag, File: Made, document: here } = globalThis as any;
  const dataTransfer = new Transfer();
  dataTransfer.items.add(new Made([content], file));
  here.body.dispatchEvent(new Drag('drop', { dataTransfer, bubbles: true, cancelable: true }));
}, [name, text]);

/** The flows, in a browser that `start` gives. */
export function testObjects(start: StartShop): void {
  let [server, browser]: ShopAndBrowser = [] as never;
  before(async () => {
    [server, browser] = await start();
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const scaled = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 3 } };
    const answer = await server.request({ method: 'PATCH', path: `${WEB}?fieldManager=scaler`, body: scaled, headers });
    assert.equal(answer.status, 200, answer.text);
  });
  after(() => stopShop([server, browser]));

  test('the owners of fields stand beside their lines', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/apps/v1/deployments/shop/web?tab=fields');
    await page.getByRole('list', { name: 'Managers' }).getByText('scaler').waitFor();
    const line = page.locator('.editor .cm-line', { hasText: 'replicas: 3' }).first();
    await line.waitFor();
    assert.match(await line.getAttribute('class') ?? '', /owner-\d/);
    await checkAccess(page, 'owners of fields');
    await takePicture(page, 'field-owners');
    await checkNarrow(page, 'owners of fields');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('an edit is tried first: changes, warnings, a conflict that is forced, and the object that is stored', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/apps/v1/deployments/shop/web');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.locator('.editor .cm-content', { hasText: 'replicas: 3' }).waitFor();
    await checkAccess(page, 'the editor');
    await page.locator('.editor .cm-line', { hasText: 'replicas: 3' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.type('1');
    await page.locator('.cm-lintRange-info', { hasText: 'replicas: 31' }).hover();
    await page.locator('.cm-tooltip-lint', { hasText: /scaler.* set this: to apply another value is a conflict/ }).waitFor();
    await checkAccess(page, 'a conflict before it happens');
    await page.getByLabel('Way').selectOption('replace');
    await page.locator('.editor .cm-line', { hasText: 'replicas: 31' }).first().waitFor();
    await page.getByLabel('Way').selectOption('apply');
    const edited = deployment('web', 'front', 5);
    Object.assign(edited.spec.template.metadata, { annotations: { 'scheduler.alpha.kubernetes.io/critical-pod': '' } });
    await write(page, JSON.stringify(edited, null, 2));
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('conflict with "scaler"').waitFor();
    await page.getByLabel('Take the fields from these managers').check();
    await page.getByText('non-functional in v1.16+').waitFor();
    await page.locator('.editor .cm-content', { hasText: 'replicas: 5' }).waitFor();
    await checkAccess(page, 'the review');
    await takePicture(page, 'review');
    await checkNarrow(page, 'the review');
    assert.equal((await server.request({ path: WEB })).body.spec.replicas, 3);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('region', { name: 'Review' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    await page.locator('.editor .cm-content', { hasText: 'replicas: 5' }).waitFor();
    const { body } = await server.request({ path: WEB });
    assert.equal(body.spec.replicas, 5);
    const own = body.metadata.managedFields.find((entry: { manager: string }) => entry.manager === 'pintle-console');
    assert.equal(own.operation, 'Apply');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('the editor completes fields and values by the schema, says what a field is, and marks what is wrong', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/apps/v1/deployments/shop/web?tab=edit');
    const editor = page.locator('.editor .cm-content');
    await editor.getByText('replicas').first().waitFor();
    await write(page, 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  ');
    await page.keyboard.type('pau');
    await page.getByRole('option', { name: /paused/ }).waitFor();
    await page.locator('.cm-completionInfo').waitFor();
    await checkAccess(page, 'completion');
    await page.keyboard.press('Enter');
    await editor.getByText('paused: ').waitFor();
    await page.keyboard.type('t');
    await page.getByRole('option', { name: 'true' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.keyboard.type('replicas: many\nwrong: 1');
    await page.locator('.cm-lintRange-error', { hasText: 'many' }).waitFor();
    await page.locator('.cm-lintRange-warning', { hasText: 'wrong' }).waitFor();
    await editor.getByText('paused').hover();
    await page.locator('.cm-tooltip-hover .field-help', { hasText: 'boolean' }).waitFor();
    await checkAccess(page, 'the help of a field');
    await takePicture(page, 'editor');
    await checkNarrow(page, 'the help of a field');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a text that is refused, or is no YAML, says why, and a replacement removes fields', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/core/v1/configmaps/shop/prices?tab=edit');
    await page.locator('.editor .cm-content', { hasText: 'currency' }).waitFor();
    await write(page, 'a: [');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Back to the text' }).click();
    await page.getByLabel('Way').selectOption('replace');
    await write(page, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prices, namespace: shop}\ndata: {currency: CHF}\n');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.locator('.editor .cm-deletedChunk', { hasText: 'vat' }).waitFor();
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByRole('region', { name: 'Review' }).waitFor({ state: 'detached' });
    await page.locator('.editor .cm-content', { hasText: 'CHF' }).waitFor();
    assert.deepEqual((await server.request({ path: '/api/v1/namespaces/shop/configmaps/prices' })).body.data, { currency: 'CHF' });
    assert.deepEqual(complaints, []);
    await close();
  });

  test('events, dependents, and a deletion that says what it takes along', async () => {
    const { body: { metadata: { uid } } } = await server.request({ path: '/apis/apps/v1/namespaces/shop/deployments/cart' });
    const owned = (kind: string, name: string, ownerUid: string) =>
      ({ ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: ownerUid, controller: true }] });
    const { spec } = deployment('cart', 'front', 2);
    const set = await create(server, '/apis/apps/v1/namespaces/shop/replicasets', { metadata: { name: 'cart-1', ...owned('Deployment', 'cart', uid) }, spec });
    const metadata = { name: 'cart-1-a', ...owned('ReplicaSet', 'cart-1', set.metadata.uid) };
    await create(server, '/api/v1/namespaces/shop/pods', { metadata, spec: spec.template.spec });
    await create(server, '/api/v1/namespaces/shop/events', {
      metadata: { name: 'cart.1' }, involvedObject: { kind: 'Deployment', namespace: 'shop', name: 'cart', uid, apiVersion: 'apps/v1' },
      type: 'Warning', reason: 'TooSmall', message: 'the cart is too small', count: 3, lastTimestamp: '2026-01-01T00:00:00Z',
    });
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/object/apps/v1/deployments/shop/cart?tab=events');
    await page.getByRole('row', { name: /TooSmall.*the cart is too small/ }).waitFor();
    await checkAccess(page, 'events');
    await checkNarrow(page, 'events');
    await page.getByRole('link', { name: 'Related' }).click();
    await page.getByRole('region', { name: 'Dependents' }).getByRole('link', { name: 'Pod cart-1-a' }).waitFor();
    await checkAccess(page, 'dependents');
    await checkNarrow(page, 'dependents');
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete cart' });
    await dialog.getByText('2 dependents: ReplicaSet cart-1').waitFor();
    await checkAccess(page, 'the deletion');
    await checkNarrow(page, 'the deletion');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await waitForList(page, 3);
    // Dependents of objects at kube-apiserver are for kube-controller-manager.
    const isGone = async () => assert.equal((await server.request({ path: '/api/v1/namespaces/shop/pods/cart-1-a' })).status, 404);
    if (server.makeLink === undefined) await eventually(isGone);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a form that the schema makes becomes text, and the object is created; what is refused says why', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/batch/v1/cronjobs?namespace=shop');
    await page.getByRole('link', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Form' }).click();
    const form = page.getByRole('group', { name: 'Form' });
    await form.getByLabel(/^name string/).first().fill('nightly');
    await form.getByLabel(/^schedule string, required/).fill('0 3 * * *');
    await form.getByLabel('Add a field of spec', { exact: true }).first().selectOption('suspend');
    await form.getByLabel(/^suspend boolean/).check();
    await form.getByLabel('Add a field of spec', { exact: true }).first().selectOption('concurrencyPolicy');
    await form.getByLabel('Add a field of metadata', { exact: true }).first().selectOption('labels');
    await form.getByLabel('New name in labels').fill('team');
    await form.getByRole('button', { name: 'Add to labels' }).click();
    await form.getByLabel(/^team string/).fill('sales');
    await checkAccess(page, 'the form');
    await takePicture(page, 'form');
    await checkNarrow(page, 'the form');
    await page.getByRole('button', { name: 'Text' }).click();
    await page.locator('.editor .cm-content', { hasText: 'schedule: 0 3 * * *' }).waitFor();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('spec.jobTemplate').first().waitFor();
    await visit(page, '#/create/core/v1/configmaps');
    await page.getByRole('button', { name: 'Form' }).click();
    await form.getByLabel(/^name string/).fill('by-form');
    await form.getByLabel('New name in data').fill('colour');
    await form.getByRole('button', { name: 'Add to data' }).click();
    await form.getByLabel(/^colour string/).fill('red');
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('would be accepted').waitFor();
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('is written').waitFor();
    const { body } = await server.request({ path: '/api/v1/namespaces/shop/configmaps/by-form' });
    assert.deepEqual(body.data, { colour: 'red' });
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a file dropped on the page is tried, then written; a user without the right is refused at the trial', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dropped}\ndata: {a: "1"}\n---\napiVersion: v1\nkind: Nothing\nmetadata: {name: x}\n';
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=shop');
    await waitForList(page);
    await drop(page, 'some.yaml', text);
    await page.locator('.editor .cm-content', { hasText: 'dropped' }).waitFor();
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('the server serves no Nothing of v1').waitFor();
    await checkAccess(page, 'new objects');
    await checkNarrow(page, 'new objects');
    assert.ok(await page.getByRole('button', { name: 'Write' }).isDisabled());
    await write(page, text.split('---')[0] as string);
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('would be accepted').waitFor();
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByText('is written').waitFor();
    assert.equal((await server.request({ path: '/api/v1/namespaces/shop/configmaps/dropped' })).status, 200);
    await close();
    const other = await openPage(browser);
    await login(other.page, server, 'alice-token', '#/create/core/v1/configmaps');
    await write(other.page, text.split('---')[0] as string);
    await other.page.getByRole('button', { name: 'Try' }).click();
    await other.page.getByText('configmaps "dropped" is forbidden').waitFor();
    assert.deepEqual([...complaints, ...other.complaints], []);
    await other.close();
  });
}
