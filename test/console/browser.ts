// A browser for tests of the console: chromium of PINTLE_CHROMIUM or of PATH, headless. Violations of the policy, errors and dialogs of a page fail it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { type TLSSocket, connect, createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type Browser, type Page, chromium } from 'playwright-core';
import { type TestServer, startTestServer } from '../../src/test-support/index.ts';
import { type Shop, fillShop } from './objects.ts';

/** A page whose complaints are collected. */
export interface WatchedPage {
  readonly page: Page;
  /** What the page should not have said: errors, violations of the policy, dialogs. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

/** Path of the browser; undefined where there is none. */
function findChromium(): string | undefined {
  const given = process.env['PINTLE_CHROMIUM'];
  if (given !== undefined) return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Why tests of the console are skipped; false where they can run. */
export const missingBrowser = (): string | false => (findChromium() === undefined ? 'chromium is not on PATH, and PINTLE_CHROMIUM does not name one' : false);

/** Starts it. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() as string, args: ['--no-sandbox', '--disable-gpu'] });
}

/** A server with the shop, and a browser. */
export type ShopAndBrowser<One extends Shop = Shop> = [server: One, browser: Browser];

/** Starts both. */
export type StartShop = () => Promise<ShopAndBrowser>;

/** Starts both. */
export async function startShop(options: Parameters<typeof startTestServer>[0] = {}): Promise<ShopAndBrowser<TestServer>> {
  const started = await Promise.all([startTestServer({ console: true, kubeletPreferredAddressTypes: ['InternalIP'], ...options }), startBrowser()]);
  await fillShop(started[0]);
  return started;
}

/** Ends both, as far as they have begun. */
export async function stopShop([server, browser]: Partial<ShopAndBrowser>): Promise<void> {
  await browser?.close();
  await server?.close();
}

interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

/** A door that runs: its address, and its end. */
export interface CertificateDoor {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts a door to the server at `url`: connections through it show the certificate (PEM) of a client, as a browser with that certificate does.
 * playwright's own proxy for certificates runs TLS over streams of JavaScript in the process of the test, which has ended that process.
 */
export async function startCertificateDoor(url: string, identity: { readonly cert: string; readonly key: string }): Promise<CertificateDoor> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<TLSSocket>();
  const forward = (browser: TLSSocket): void => {
    const server = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...identity });
    for (const [from, to] of [[browser, server], [server, browser]] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  };
  const door = createServer({ ...identity, ALPNProtocols: ['http/1.1'] }, forward);
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> => new Promise((resolve) => {
    door.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
  return { url: `https://127.0.0.1:${(door.address() as AddressInfo).port}`, close };
}

/** Opens a page of its own, without cookies of others. */
export async function openPage(browser: Browser, { width = 1280, height = 800, dark = false }: PageOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce', locale: 'en',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser reports every answer of 4xx itself: refusals are what tests ask for.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  return { page, complaints, close: () => context.close() };
}

/** Waits until the list shows so many rows and follows the server. */
export async function waitForList(page: Page, count?: number): Promise<void> {
  await page.locator('.live', { hasText: 'live' }).waitFor();
  if (count !== undefined) await page.locator(`.count[data-count="${count}"]`).waitFor();
}

/** Opens another place of the console that the page shows. */
export async function visit(page: Page, place: string): Promise<void> {
  await page.goto(new URL(place, page.url()).href);
}

/** Logs in with a token, from any place of the console. */
export async function login(page: Page, { url, makeLink }: Pick<Shop, 'url' | 'makeLink'>, token: string, place = ''): Promise<void> {
  if (makeLink !== undefined) {
    await page.goto(await makeLink(token));
    await page.locator('.top').waitFor();
    return place === '' ? undefined : visit(page, place);
  }
  await page.goto(`${url}/console/${place}`);
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.top').waitFor();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Fails for anything that axe finds on the page as it is. */
export async function checkAccess(page: Page, where: string): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run();
    const describe = ({ html, any }: any): string => `${html.slice(0, 200)} ${any[0]?.message ?? ''}`;
    return violations.map(({ id, help, nodes }: any) => `${id}: ${help}: ${nodes.slice(0, 3).map(describe).join(' | ')}`);
  }) as string[];
  assert.deepEqual(found, [], where);
}

/** Fails where the page is wider than a narrow screen, and for anything that axe finds there in dark colours; then it is as it was. */
export async function checkNarrow(page: Page, where: string): Promise<void> {
  const size = page.viewportSize() as { width: number; height: number };
  await page.setViewportSize({ width: 380, height: 740 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  const overflow = await page.evaluate<number>('Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth');
  assert.ok(overflow <= 0, `${where}: ${overflow} pixels too wide`);
  await checkAccess(page, `${where}, narrow and dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(size);
}

const pictures = fileURLToPath(new URL('../../../docs/console/', import.meta.url));

/** Takes a picture for the documents where PINTLE_PICTURES asks for them; else only that it can be taken is tried. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const keeps = process.env['PINTLE_PICTURES'] !== undefined;
  if (keeps) mkdirSync(pictures, { recursive: true });
  const bytes = await page.screenshot({ ...(keeps && { path: join(pictures, `${name}.png`) }), animations: 'disabled' });
  assert.ok(bytes.length > 10_000, `${name} is empty`);
}
