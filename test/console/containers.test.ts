// Logs of containers and commands in them, by the console, as an administrator and as a user without the right; the kubelet is the test's.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { FakeKubelet } from '../../src/server/proxy/testing.ts';
import { SpdyKubelet } from '../../src/server/streaming/testing.ts';
import { type TestServer, eventually } from '../../src/test-support/index.ts';
import { type ShopAndBrowser, checkAccess, checkNarrow, login, missingBrowser, openPage, startShop, stopShop, takePicture } from './browser.ts';
import { POD, createTill, followTill, runCommand } from './pods.ts';
import { attacks, create } from './objects.ts';


describe('containers in the console', { skip: missingBrowser() }, () => {
  let [server, browser]: ShopAndBrowser<TestServer> = [] as never;
  const kubelet = new FakeKubelet();
  before(async () => {
    [server, browser] = await startShop();
    await createTill(server, kubelet);
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }];
    await create(server, '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/roles', { metadata: { name: 'pod-reader' }, rules });
    await create(server, '/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings', {
      metadata: { name: 'pod-reader-alice' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'pod-reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
  });
  after(async () => {
    await stopShop([server, browser]);
    kubelet.close();
  });

  test('logs are followed as they are written, for each container, and what they hold is text', () => followTill([server, browser], kubelet));

  test('a command runs in a container: its input, its output and errors, and how it ended', () => runCommand([server, browser], kubelet));

  test('a terminal: keys are input, colours and cursors are drawn, its size follows the page, and what a program writes does nothing', async () => {
    let session: SpdyKubelet | undefined;
    kubelet.upgrade = (_request, socket) => {
      session = new SpdyKubelet(socket, 'v4.channel.k8s.io');
    };
    const { page, complaints, close } = await openPage(browser);
    await login(page, server, 'admin-token', `${POD}?tab=exec`);
    await page.getByRole('button', { name: 'Run' }).click();
    const terminal = page.locator('.terminal-pane');
    await eventually(async () => assert.deepEqual([...session?.types ?? []].sort(), ['error', 'resize', 'stdin', 'stdout']));
    assert.equal(kubelet.requests.at(-1)?.url, '/exec/shop/till/main?command=sh&input=1&output=1&tty=1');
    const sizes = (): { Width: number; Height: number }[] => (session?.written.get('resize') ?? '').split(/(?<=\})\s*/).filter((text) => text !== '')
      .map((text) => JSON.parse(text));
    await eventually(async () => assert.ok((sizes()[0]?.Width ?? 0) > 80, JSON.stringify(sizes())));
    session?.write('stdout', '\u001b[1;32mtill\u001b[0m:/# ');
    await terminal.getByText('till:/#').first().waitFor();
    await page.keyboard.type('ls -l');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+c');
    await eventually(async () => assert.equal(session?.written.get('stdin'), 'ls -l\t\u0003'));
    const files = ['cart', 'prices.json', 'till.log'].map((name, at) => `-rw-r--r-- 1 till till ${at}204 Nov 23 10:0${at} \u001b[1;34m${name}\u001b[0m`);
    session?.write('stdout', `ls -l\r\n${files.join('\r\n')}\r\n\u001b[1;32mtill\u001b[0m:/# `);
    await terminal.getByText('till.log').first().waitFor();
    await takePicture(page, 'terminal');
    const harm = '\u001b]8;;javascript:attacked=1\u0007link\u001b]8;;\u0007 \u001b]0;title\u0007\u001b]52;c;YQ==\u0007';
    session?.write('stdout', `\r\nfirst\r\u001b[Ksecond ${attacks.markup}\r\n${harm}\u001b[31mred\u001b[0m\r\n`);
    await terminal.getByText(`second ${attacks.markup}`).first().waitFor();
    await terminal.getByText('red').first().waitFor();
    await checkAccess(page, 'a terminal');
    await checkNarrow(page, 'a terminal');
    const before = sizes().length;
    await page.setViewportSize({ width: 600, height: 800 });
    await eventually(async () => assert.ok(sizes().length > before && (sizes().at(-1)?.Width ?? 99) < 80, JSON.stringify(sizes())));
    await page.keyboard.press('F6');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Stop');
    session?.write('error', JSON.stringify({ status: 'Success' }), true);
    session?.write('stdout', '', true);
    await terminal.getByText('it ended').first().waitFor();
    assert.equal(await page.evaluate('typeof attacked'), 'undefined');
    assert.notEqual(await page.title(), 'title');
    assert.deepEqual(complaints.filter((text) => !text.includes('WebSocket')), []);
    await close();
  });

  test('a user without the rights is refused both, with the reason, and kinds without them have no such parts', async () => {
    const { page, complaints, close } = await openPage(browser, { width: 380, dark: true });
    await login(page, server, 'alice-token', `${POD}?tab=logs`);
    await page.getByRole('alert').filter({ hasText: 'cannot get resource "pods/log"' }).waitFor();
    await checkAccess(page, 'the refusal of logs');
    await page.goto(`${server.url}/console/${POD}?tab=exec`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('alert').filter({ hasText: 'cannot get resource "pods/exec"' }).waitFor();
    await checkAccess(page, 'the refusal of commands');
    await page.goto(`${server.url}/console/#/object/core/v1/configmaps/shop/prices`);
    await page.getByRole('link', { name: 'History' }).waitFor();
    assert.equal(await page.getByRole('link', { name: /Logs|Exec/ }).count(), 0);
    assert.deepEqual(complaints.filter((text) => !text.includes('WebSocket')), []);
    await close();
  });
});
