// The flows of logs and commands in the console, against this server and kube-apiserver; the kubelet is the test's.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type FakeKubelet, createNode } from '../../src/server/proxy/testing.ts';
import { SpdyKubelet } from '../../src/server/streaming/testing.ts';
import { eventually } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, checkNarrow, login, openPage } from './browser.ts';
import { type Shop, attacks, create } from './objects.ts';

/** The place of the pod. */
export const POD = '#/object/core/v1/pods/shop/till';

/** A pod of two containers on a node whose kubelet is the test's. */
export async function createTill(server: Pick<Shop, 'request'>, kubelet: FakeKubelet): Promise<void> {
  await createNode(server, { name: 'near', address: '127.0.0.1', port: await kubelet.listen() });
  const containers = ['main', 'side'].map((name) => ({ name, image: 'x' }));
  const spec = { nodeName: 'near', automountServiceAccountToken: false, containers };
  await create(server, '/api/v1/namespaces/shop/pods', { metadata: { name: 'till' }, spec });
}

/** Opens its logs, follows them, and leaves one container for the other. */
export async function followTill([server, browser]: ShopAndBrowser, kubelet: FakeKubelet): Promise<void> {
  let stream: ServerResponse | undefined;
  kubelet.answer = (_request, response) => {
    stream = response;
    response.writeHead(200).write(`first line\n${attacks.markup}\n`);
  };
  const { page, complaints, close } = await openPage(browser);
  await login(page, server, 'admin-token', POD);
  await page.getByRole('link', { name: 'Logs' }).click();
  const log = page.getByRole('log');
  await log.getByText('first line').waitFor();
  await log.getByText(attacks.markup).waitFor();
  stream?.write('\u001b[31msecond line\u001b[0m\n');
  await log.getByText('second line').waitFor();
  assert.match(kubelet.requests.at(-1)?.url ?? '', /^\/containerLogs\/shop\/till\/main\?follow=true&tailLines=2000$/);
  await checkAccess(page, 'logs');
  await checkNarrow(page, 'logs');
  await page.getByLabel('Lines that hold').fill('second');
  await eventually(async () => assert.equal(await log.innerText(), 'second line'));
  const ended = new Promise<void>((resolve) => stream?.on('close', () => resolve()));
  await page.getByLabel('Container').selectOption('side');
  await ended;
  await eventually(async () => assert.match(kubelet.requests.at(-1)?.url ?? '', /till\/side/));
  stream?.end();
  await page.getByText('this is its end').waitFor();
  assert.equal(await page.evaluate('typeof attacked'), 'undefined');
  assert.deepEqual(complaints, []);
  await close();
}

/** Runs a command in a container of the pod: its input, its output and errors, and how it ended. */
export async function runCommand([server, browser]: ShopAndBrowser, kubelet: FakeKubelet): Promise<void> {
  let session: SpdyKubelet | undefined;
  kubelet.upgrade = (_request, socket) => {
    session = new SpdyKubelet(socket, 'v4.channel.k8s.io');
  };
  const { page, complaints, close } = await openPage(browser);
  await login(page, server, 'admin-token', `${POD}?tab=exec`);
  await page.getByLabel('Terminal').uncheck();
  await page.getByLabel('Command', { exact: true }).fill('sh -e');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.locator('input.line:enabled').fill('echo hello');
  await page.keyboard.press('Enter');
  await eventually(async () => assert.equal(session?.written.get('stdin'), 'echo hello\n'));
  const request = kubelet.requests.at(-1);
  assert.equal(request?.url, '/exec/shop/till/main?command=sh&command=-e&error=1&input=1&output=1');
  assert.doesNotMatch(JSON.stringify(request?.headers), /pintle/);
  session?.write('stdout', 'hello\n');
  session?.write('stderr', `${attacks.script}\n`);
  await page.getByRole('log').getByText('hello', { exact: false }).first().waitFor();
  await page.getByRole('log').getByText(attacks.script).waitFor();
  await checkAccess(page, 'a command');
  await checkNarrow(page, 'a command');
  const details = { causes: [{ reason: 'ExitCode', message: '3' }] };
  session?.write('error', JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', message: 'x', details }), true);
  for (const name of ['stdout', 'stderr']) session?.write(name, '', true);
  await page.getByRole('alert').filter({ hasText: 'exit code 3' }).waitFor();
  assert.deepEqual(complaints.filter((text) => !text.includes('WebSocket')), []);
  await close();
}
