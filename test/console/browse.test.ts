// The console in a browser: logins, lists that are live, long and filtered, the palette, keys, narrow and dark pages, a user of few rights, and
// objects whose texts are attacks.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type TestServer, eventually } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, login, missingBrowser, openPage, startShop, stopShop, takePicture, waitForList } from './browser.ts';
import { attackDefinition, attacks, makeMany } from './objects.ts';

const MANY = 10_000;
const CHANGES = 4000;
const CHANGES_PER_SECOND = 1000;

/** What a page notes of its own work. */
interface FrameCounts {
  readonly frames: number;
  readonly draws: number;
  /** Of 50 ms and more. */
  readonly longTasks: number;
  readonly longestMs: number;
  readonly seconds: number;
}

/** In the page: its watches of ConfigMaps are those of the server, and what `feed` adds to them. */
const feedWatches = `(() => {
  const ask = globalThis.fetch;
  globalThis.fetch = async (url, init) => {
    const response = await ask(url, init);
    if (!/configmaps\\?.*watch=1/.test(String(url))) return response;
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    globalThis.feed = (text) => void writer.write(encoder.encode(text));
    const reader = response.body.getReader();
    const pass = ({ done, value }) => done ? writer.close() : writer.write(value).then(() => reader.read()).then(pass);
    reader.read().then(pass);
    return new Response(readable, { status: response.status, headers: response.headers });
  };
})()`;

/** In the page: so many changes of the objects, evenly over the time, while its frames, the times that rows were drawn, and its long tasks are counted. */
const changeAndCount = (uids: readonly string[]): string => `(async (uids) => {
  const counts = { frames: 0, draws: 0, longTasks: 0, longestMs: 0, seconds: 0 };
  const step = () => { counts.frames += 1; requestAnimationFrame(step); };
  requestAnimationFrame(step);
  new MutationObserver(() => { counts.draws += 1; }).observe(document.querySelector('.grid-window'), { subtree: true, childList: true, characterData: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) { counts.longTasks += 1; counts.longestMs = Math.max(counts.longestMs, duration); }
  }).observe({ entryTypes: ['longtask'] });
  const change = (index) => {
    // Every fiftieth is the last one, which is in sight.
    const at = index % 50 === 0 ? uids.length - 1 : (index * 37) % uids.length;
    const metadata = { name: 'many-' + String(at).padStart(4, '0'), namespace: 'many', uid: uids[at], creationTimestamp: '2026-01-01T00:00:00Z' };
    const rows = [{ cells: [metadata.name, index, '1d'], object: { metadata } }];
    return JSON.stringify({ type: 'MODIFIED', object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: {}, rows } });
  };
  const begun = performance.now();
  for (let sent = 0; sent < ${CHANGES};) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const due = Math.min(${CHANGES}, Math.floor((performance.now() - begun) * ${CHANGES_PER_SECOND} / 1000));
    if (due > sent) feed(Array.from({ length: due - sent }, (_, more) => change(sent + more + 1) + '\\n').join(''));
    sent = due;
  }
  counts.seconds = (performance.now() - begun) / 1000;
  return counts;
})(${JSON.stringify(uids)})`;

describe('the console', { skip: missingBrowser() }, () => {
  let [server, browser]: ShopAndBrowser<TestServer> = [] as never;
  before(async () => {
    [server, browser] = await startShop();
  });
  after(() => stopShop([server, browser]));

  test('a wrong token is refused, a right one shows the lists of its user, and a logout ends the session', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${server.url}/console/`);
    await page.getByLabel('Bearer token').waitFor();
    await checkAccess(page, 'the login');
    await page.getByLabel('Bearer token').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').filter({ hasText: 'the token is missing or wrong' }).waitFor();
    await login(page, server, 'admin-token');
    await waitForList(page, 5);
    await page.getByRole('row', { name: /shop/ }).waitFor();
    await page.reload();
    await waitForList(page, 5);
    await page.locator('.user summary').click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Bearer token').waitFor();
    await page.reload();
    await page.getByLabel('Bearer token').waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a link logs in once, and its code leaves the address', async () => {
    const { body: { code } } = await server.request({ method: 'POST', path: '/console/codes', body: '' });
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${server.url}/console/#code=${code}`);
    await waitForList(page);
    assert.doesNotMatch(page.url(), /code/);
    await close();
    const second = await openPage(browser);
    await second.page.goto(`${server.url}/console/#code=${code}`);
    await second.page.getByRole('alert').filter({ hasText: 'the link was used before' }).waitFor();
    await second.close();
    assert.deepEqual(complaints, []);
  });

  test('a list has the columns of the server, follows changes, and is filtered by text, labels and fields', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/apps/v1/deployments?namespace=shop');
    await waitForList(page, 4);
    assert.deepEqual(await page.getByRole('columnheader').allTextContents(), ['Name', 'Ready', 'Up-to-date', 'Available', 'Age']);
    await takePicture(page, 'list');
    await checkAccess(page, 'a list');
    const scale = { spec: { replicas: 7 } };
    await server.request({ method: 'PATCH', path: '/apis/apps/v1/namespaces/shop/deployments/web', body: scale });
    await page.getByRole('row', { name: /web.*0\/7/ }).waitFor();
    await server.request({ method: 'DELETE', path: '/apis/apps/v1/namespaces/shop/deployments/worker' });
    await waitForList(page, 3);
    await page.keyboard.press('/');
    await page.keyboard.type('ca');
    await waitForList(page, 2);
    await page.getByLabel('Filter by text').fill('');
    await page.getByLabel('Label selector').fill('tier=front');
    await page.keyboard.press('Enter');
    await waitForList(page, 2);
    await page.getByLabel('Field selector').fill('metadata.name=cart');
    await page.keyboard.press('Enter');
    await waitForList(page, 1);
    await page.reload();
    await waitForList(page, 1);
    await page.getByLabel('Label selector').fill('=');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: /unable to parse|found '='/ }).waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a list says that its connection failed, and that it is there again without a change of an object', async () => {
    const { page, complaints, close } = await openPage(browser);
    let isCut = true;
    await page.route(/\/configmaps\?.*watch=1/, (route) => (isCut ? route.abort() : route.continue()));
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=shop');
    await page.getByText('the server does not answer — trying again').waitFor();
    isCut = false;
    await waitForList(page, 3);
    assert.equal(await page.getByText('the server does not answer').count(), 0);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('keys move in a list, open an object and find kinds and names', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=shop');
    await waitForList(page);
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    for (const key of ['j', 'ArrowDown']) await page.keyboard.press(key);
    assert.match(await page.getByRole('row', { selected: true }).innerText(), /^prices/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'ConfigMap prices' }).waitFor();
    await page.locator('.editor .cm-content', { hasText: 'currency: EUR' }).waitFor();
    await checkAccess(page, 'an object');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').waitFor();
    await page.keyboard.type('deploy car');
    await page.getByRole('option', { name: /cart.*Deployment in shop/ }).waitFor();
    await checkAccess(page, 'the palette');
    await takePicture(page, 'palette');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Deployment cart' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('ten thousand objects are listed in chunks, and a few rows of them are drawn while thousands change', async (context) => {
    await makeMany(server, MANY);
    const { page, complaints, close } = await openPage(browser);
    await page.addInitScript(feedWatches);
    await login(page, server, 'admin-token', '#/list/core/v1/configmaps?namespace=many');
    // With the ConfigMap that every namespace has.
    await waitForList(page, MANY + 1);
    const grid = page.getByRole('grid');
    assert.equal(await grid.getAttribute('aria-rowcount'), String(MANY + 2));
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('row', { name: /^many-9999/ }).waitFor();
    assert.ok(await page.locator('.grid-row').count() < 80);
    const changes = Array.from({ length: 1000 }, (_, index) => `/api/v1/namespaces/many/configmaps/many-${9999 - index}`);
    await Promise.all(changes.map((path) => server.request({ method: 'PATCH', path, body: { data: { more: '1' } } })));
    await page.getByRole('row', { name: /^many-9999 ?2/ }).waitFor();
    const { body: list } = await server.request({ path: '/api/v1/namespaces/many/configmaps' });
    const many = (list.items as { metadata: { name: string; uid: string } }[]).filter(({ metadata }) => metadata.name.startsWith('many-'));
    const uids = many.map(({ metadata }) => metadata.uid);
    const counting = page.evaluate<FrameCounts>(changeAndCount(uids));
    // The page is used meanwhile.
    await page.keyboard.press('Home');
    await page.getByRole('row', { name: /^many-0000/ }).waitFor();
    await page.keyboard.press('End');
    const { frames, draws, longTasks, longestMs, seconds } = await counting;
    await page.getByRole('row', { name: new RegExp(`^many-9999 ?${CHANGES}`) }).waitFor();
    const work = `${frames} frames, ${draws} draws, ${longTasks} long tasks, up to ${Math.round(longestMs)} ms`;
    context.diagnostic(`${CHANGES} changes in ${seconds.toFixed(1)} s: ${work}`);
    // Rows are drawn once a frame at most, not once a change.
    assert.ok(draws > 0 && draws <= frames, `${draws} draws in ${frames} frames`);
    assert.ok(longTasks < CHANGES / 100, `${longTasks} long tasks`);
    await page.getByLabel('Filter by text').fill('many-00');
    await waitForList(page, 100);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a user of few rights sees what it may, and why it sees no more', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'alice-token');
    await page.getByRole('alert').filter({ hasText: 'namespaces is forbidden: User "alice" cannot list resource "namespaces"' }).waitFor();
    await checkAccess(page, 'a refusal');
    await page.goto(`${server.url}/console/#/list/core/v1/configmaps`);
    await page.getByRole('alert').filter({ hasText: 'configmaps is forbidden' }).waitFor();
    await page.getByRole('textbox', { name: 'Namespace' }).fill('shop');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /prices/ }).waitFor();
    await page.goto(`${server.url}/console/#/list/core/v1/secrets?namespace=shop`);
    await page.getByRole('alert').filter({ hasText: 'secrets is forbidden' }).waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a narrow and dark page fits and is as accessible', async () => {
    const { page, complaints, close } = await openPage(browser, { width: 380, height: 740, dark: true });
    await login(page, server, 'admin-token', '#/list/apps/v1/deployments?namespace=shop');
    await waitForList(page);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    await checkAccess(page, 'a narrow list');
    await takePicture(page, 'narrow');
    await page.getByRole('button', { name: 'Kinds', exact: true }).click();
    await page.getByRole('link', { name: 'ConfigMap' }).click();
    await page.getByRole('heading', { name: 'ConfigMap' }).waitFor();
    await page.getByRole('link', { name: 'prices' }).click();
    await page.locator('.editor .cm-content').waitFor();
    await checkAccess(page, 'a narrow object');
    assert.deepEqual(complaints, []);
    await close();
  });

  test('texts of objects are texts: names, labels, annotations, columns and descriptions run nothing', async () => {
    await attackDefinition(server);
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', '#/list/rbac.authorization.k8s.io/v1/clusterroles');
    await waitForList(page);
    await page.getByRole('link', { name: attacks.markup, exact: true }).first().click();
    await page.getByRole('heading', { name: attacks.markup }).waitFor();
    await page.locator('.editor .cm-content').waitFor();
    await eventually(async () => assert.match(await page.goto(`${server.url}/console/#/`).then(() => page.locator('nav').innerText()), /Evil/i), 40_000);
    await page.goto(`${server.url}/console/#/list/evil.example/v1/evils`);
    await page.reload();
    await waitForList(page, 1);
    assert.equal(await page.getByRole('columnheader').nth(1).innerText(), attacks.markup);
    await page.locator('.grid-row').click();
    await page.locator('.editor .cm-content', { hasText: attacks.markup }).waitFor();
    assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'attacked')), undefined);
    assert.equal(await page.locator('img[src="x"], main script').count(), 0);
    assert.deepEqual(complaints, []);
    await close();
  });
});
