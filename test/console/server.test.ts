// The page about the server itself: plots of its metrics, the busiest requests, and a user that may not read them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ShopAndBrowser, checkAccess, login, missingBrowser, openPage, startShop, stopShop, takePicture } from './browser.ts';

describe('the server in the console', { skip: missingBrowser() }, () => {
  let [server, browser]: ShopAndBrowser = [] as never;
  before(async () => {
    [server, browser] = await startShop();
  });
  after(() => stopShop([server, browser]));

  test('plots and tables say what happens at the server', async () => {
    const { page, complaints, close } = await openPage(browser);
    await login(page, server.url, 'admin-token');
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
    assert.equal(await page.locator('canvas').count(), 8);
    await checkAccess(page, 'the server');
    if (process.env['PINTLE_PICTURES'] !== undefined) await page.waitForTimeout(14_000);
    await takePicture(page, 'server');
    isDone = true;
    await traffic;
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a user that may not read metrics is refused', async () => {
    const { page, complaints, close } = await openPage(browser, { width: 380, dark: true });
    await login(page, server.url, 'alice-token', '#/server');
    await page.getByRole('alert').filter({ hasText: 'cannot get path "/metrics"' }).waitFor();
    await checkAccess(page, 'the refusal of metrics');
    assert.deepEqual(complaints, []);
    await close();
  });
});
