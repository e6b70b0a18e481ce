// Logins in a browser: by a client certificate, and at a provider, there and back, to the place where the user was;
// what the provider refuses, and links that another site prepared.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { type TestProvider, startTestProvider, testClient } from '../../src/server/console/testing.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import type { TestServer } from '../../src/test-support/index.ts';
import {
  type ShopAndBrowser, checkAccess, checkNarrow, missingBrowser, openPage, startCertificateDoor,
  startShop, stopShop, takePicture, visit, waitForList,
} from './browser.ts';

const HOUR_MS = 3_600_000;

describe('logins of the console', { skip: missingBrowser() }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-login-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  let [server, browser]: ShopAndBrowser<TestServer> = [] as never;
  let provider: TestProvider;
  const context = { clock: systemClock, random: systemRandom };
  const issuer = createCertificate({ commonName: 'people', lifetimeMs: HOUR_MS }, context);
  before(async () => {
    provider = await startTestProvider();
    [server, browser] = await startShop({
      clientCaFile: write('people.crt', issuer.certificate),
      oidcIssuerUrl: provider.url, oidcClientId: testClient.id, oidcCaFile: write('ca.crt', provider.authority), oidcSigningAlgs: ['ES256'],
      // The user of the shop that may read ConfigMaps.
      oidcUsernamePrefix: '-', consoleOidcClientId: testClient.id, consoleOidcClientSecretFile: write('secret', testClient.secret),
    });
    provider.claims = { sub: 'alice' };
    provider.redirectUris.push(`${server.url}/console/`);
  });
  after(async () => {
    await stopShop([server, browser]);
    await provider.close();
    rmSync(directory, { recursive: true });
  });

  test('a user is sent to the provider and comes back to the same place; no token and no code reach the page', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${server.url}/console/#/list/core/v1/configmaps?namespace=shop`);
    const button = page.getByRole('button', { name: `Log in at ${new URL(provider.url).host}` });
    await button.waitFor();
    await checkAccess(page, 'the login with a provider');
    await takePicture(page, 'login');
    await checkNarrow(page, 'the login with a provider');
    await button.click();
    await waitForList(page, 3);
    assert.equal(page.url(), `${server.url}/console/#/list/core/v1/configmaps?namespace=shop`);
    await page.locator('.user summary').click();
    await page.getByText('alice').first().waitFor();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    assert.doesNotMatch(kept, /eyJ|login|=/);
    await page.getByRole('button', { name: 'Log out' }).click();
    await button.waitFor();
    assert.deepEqual(complaints, []);
    await close();
  });

  test('a client certificate that the browser shows needs no login: the page is that of its user', async () => {
    const { certificate, key } = createCertificate({ commonName: 'alice', organizations: ['devs'], issuer, lifetimeMs: HOUR_MS }, context);
    const door = await startCertificateDoor(server.url, { cert: certificate, key });
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${door.url}/console/#/list/core/v1/configmaps?namespace=shop`);
    await waitForList(page, 3);
    assert.match(await page.locator('.user summary').getAttribute('aria-label') ?? '', /^User alice$/);
    await visit(page, '#/list/core/v1/secrets?namespace=shop');
    await page.getByRole('alert').filter({ hasText: 'User "alice" cannot list resource "secrets"' }).waitFor();
    assert.deepEqual(complaints, []);
    await close();
    const stranger = createCertificate({ commonName: 'admin', organizations: ['system:masters'], lifetimeMs: HOUR_MS }, context);
    const otherDoor = await startCertificateDoor(server.url, { cert: stranger.certificate, key: stranger.key });
    const other = await openPage(browser);
    await other.page.goto(`${otherDoor.url}/console/`);
    await other.page.getByLabel('Bearer token').waitFor();
    await other.close();
    await Promise.all([door.close(), otherDoor.close()]);
  });

  test('what the provider refuses is said as text, and answers that this page did not ask for begin nothing', async () => {
    const { page, complaints, close } = await openPage(browser);
    await page.route(`${provider.url}/authorize**`, (route) => {
      const { searchParams } = new URL(route.request().url());
      const state = searchParams.get('state') ?? '';
      const answer = new URLSearchParams({ error: 'access_denied', error_description: '<img src=x onerror=attacked=1>', state });
      return route.fulfill({ status: 302, headers: { location: `${searchParams.get('redirect_uri')}?${answer.toString()}` } });
    });
    await page.goto(`${server.url}/console/`);
    await page.getByRole('button', { name: /Log in at/ }).click();
    await page.getByRole('alert').filter({ hasText: 'the provider says: <img src=x onerror=attacked=1>' }).waitFor();
    assert.equal(page.url(), `${server.url}/console/`);
    await page.goto(`${server.url}/console/?code=stolen&state=prepared`);
    await page.getByRole('alert').filter({ hasText: 'this login was not begun here' }).waitFor();
    assert.equal(await page.evaluate('typeof attacked'), 'undefined');
    assert.deepEqual(complaints, []);
    await close();
  });
});
