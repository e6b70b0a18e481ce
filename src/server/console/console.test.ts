// The console over HTTP: its files and their headers, logins, requests of sessions, and nothing of it where it is off.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import WebSocket from 'ws';
import { type ClientResponse, type TestServer, createTestClient, startTestServer } from '../../test-support/index.ts';

const FIRST_VIEW_LIMIT_BYTES = 350 * 1024;
const REVIEW = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}';

let server: TestServer;
before(async () => {
  server = await startTestServer({ console: true });
});
after(() => server.close());

const get = (path: string, headers = {}) => server.request({ path: `/console/${path}`, token: null, headers });
const post = (path: string, body: unknown, more: { token?: string | null; headers?: Record<string, string> } = {}) =>
  server.request({ method: 'POST', path: `/console/${path}`, body, token: null, ...more });

const cookieOf = ({ headers }: ClientResponse): string => (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';

const showing = (answer: ClientResponse) => ({ 'x-pintle-console': answer.body.key as string, cookie: cookieOf(answer) });

function ask(headers: Record<string, string>) {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  return server.request({ method: 'POST', path, body: REVIEW, token: null, headers: { 'content-type': 'application/json', ...headers } });
}

describe('the files of the console', () => {
  test('the page is answered without credentials, with a policy that allows nothing inline and nothing of other sites', async () => {
    const page = await get('');
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(page.headers['x-content-type-options'], 'nosniff');
    assert.equal(page.headers['referrer-policy'], 'no-referrer');
    assert.doesNotMatch(page.text, /<script(?! type="module" src="console-\w+\.js"><\/script>)|<style|\son\w+=|https?:/);
  });

  test('files are compressed once, cached by name, and 304 for those that have them', async () => {
    const { headers } = await get('');
    assert.equal((await get('', { 'if-none-match': String(headers['etag']) })).status, 304);
    const name = /src="(console-\w+\.js)"/.exec((await get('')).text)?.[1] as string;
    const plain = await get(name);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    const raw = async (encoding: string): Promise<Buffer> => {
      const response = await fetchRaw(`${server.url}/console/${name}`, encoding);
      assert.equal(response.encoding, encoding);
      return response.bytes;
    };
    assert.equal(brotliDecompressSync(await raw('br')).toString(), plain.text);
    assert.equal(gunzipSync(await raw('gzip')).toString(), plain.text);
  });

  test('the first view has at most 350 KB', async () => {
    const page = await get('');
    const waiting = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name as string);
    const names = new Set<string>();
    let total = 0;
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (names.has(name)) continue;
      names.add(name);
      total += (await fetchRaw(`${server.url}/console/${name}`, 'gzip')).bytes.length;
      if (!name.endsWith('.js')) continue;
      const { text } = await get(name);
      waiting.push(...[...text.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)].map(([, chunk]) => chunk as string));
    }
    assert.ok(names.size >= 3, [...names].join());
    assert.ok(total > 5000 && total <= FIRST_VIEW_LIMIT_BYTES, `${total} bytes`);
  });

  test('names that are no files, paths above and other methods find nothing', async () => {
    for (const name of ['nothing.js', 'manifest.json', '../package.json', '..%2f..%2fpackage.json', 'index.html.br', 'codes', 'session']) {
      const { status } = await get(name);
      assert.ok([404, 405, 403].includes(status), `${name}: ${status}`);
    }
    assert.equal((await post('', '')).status, 405);
    assert.equal((await server.request({ path: '/console', token: null })).headers['location'], '/console/');
  });

  test('browsers that open the address of the server are led to the console; programs get the list of paths', async () => {
    const browser = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*' };
    const led = await server.request({ path: '/', token: null, headers: browser });
    assert.deepEqual([led.status, led.headers['location']], [302, '/console/']);
    assert.ok(Array.isArray((await server.request({ path: '/' })).body.paths));
  });
});

/** Bytes as they are sent: the client of tests reads text. */
async function fetchRaw(url: string, encoding: string): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  const { get: getSecure } = await import('node:https');
  return new Promise((resolve, reject) => {
    getSecure(url, { rejectUnauthorized: false, headers: { 'accept-encoding': encoding } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] }));
    }).on('error', reject);
  });
}

describe('sessions of the console', () => {
  test('a token begins a session, whose requests are those of its user', async () => {
    const session = await post('session', '', { token: 'alice-token' });
    assert.equal(session.status, 201);
    assert.equal(session.body.user, 'alice');
    const self = await ask(showing(session));
    assert.equal(self.body.status.userInfo.username, 'alice');
    const refused = await server.request({ path: '/api/v1/secrets', token: null, headers: showing(session) });
    assert.deepEqual([refused.status, refused.body.reason], [403, 'Forbidden']);
  });

  test('wrong, missing and anonymous credentials begin none', async () => {
    for (const token of ['wrong', null]) assert.equal((await post('session', '', { token })).status, 401);
    assert.equal((await post('session', '{"code":"guess"}')).status, 401);
    assert.equal((await post('session', '{"code":"guess"}', { token: 'admin-token' })).status, 401);
    assert.equal((await post('codes', '')).status, 401);
    assert.equal((await post('session', `{"code":"${'x'.repeat(5000)}"}`)).status, 413);
  });

  test('a code begins one session, as the user that asked for it', async () => {
    const { body: { code, user } } = await post('codes', '', { token: 'admin-token' });
    assert.equal(user, 'admin');
    const session = await post('session', JSON.stringify({ code }));
    assert.equal((await ask(showing(session))).body.status.userInfo.username, 'admin');
    assert.equal((await post('session', JSON.stringify({ code }))).status, 401);
  });

  test('the cookie alone is no credential, and a header without its cookie is refused', async () => {
    const { cookie, ...key } = showing(await post('session', '', { token: 'admin-token' }));
    assert.equal((await ask({ cookie })).status, 403);
    assert.equal((await ask(key)).status, 401);
    assert.equal((await ask({ cookie, 'x-pintle-console': 'a.b' })).status, 401);
    assert.equal((await ask({ cookie, ...key, 'sec-fetch-site': 'cross-site' })).status, 401);
    assert.equal((await ask({ cookie, ...key, origin: 'https://example.com' })).status, 401);
    assert.equal((await ask({ cookie, ...key })).status, 201);
  });

  test('a WebSocket shows its session among its protocols, from a page of this origin alone', async () => {
    const { cookie, 'x-pintle-console': key } = showing(await post('session', '', { token: 'admin-token' }));
    const shown = ['binary.k8s.io', `session.console.pintle.${key}`];
    const open = (headers: Record<string, string>, protocols = shown): Promise<string> => new Promise((resolve) => {
      const url = `${server.url.replace('https', 'wss')}/api/v1/namespaces?watch=1&timeoutSeconds=9`;
      const socket = new WebSocket(url, protocols, { rejectUnauthorized: false, headers });
      socket.on('error', () => {});
      socket.on('unexpected-response', (_request, response) => {
        resolve(String(response.statusCode));
        socket.terminate();
      });
      socket.on('message', () => {
        resolve(`open by ${socket.protocol}`);
        socket.terminate();
      });
    });
    const origin = server.url;
    assert.equal(await open({ cookie, origin }), 'open by binary.k8s.io');
    assert.equal(await open({ cookie }), '401');
    assert.equal(await open({ cookie, origin: 'https://example.com' }), '401');
    assert.equal(await open({ origin }), '401');
    assert.equal(await open({ cookie, origin }, ['binary.k8s.io']), '403');
    assert.equal(await open({ cookie, origin }, ['binary.k8s.io', 'session.console.pintle.a.b']), '401');
  });

  test('pages of other sites begin no session and get no code', async () => {
    for (const path of ['session', 'codes']) {
      assert.equal((await post(path, '', { token: 'admin-token', headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
    }
  });

  test('a session that is ended is refused, and its cookie is taken back', async () => {
    const headers = showing(await post('session', '', { token: 'admin-token' }));
    const ended = await server.request({ method: 'DELETE', path: '/console/session', token: null, headers });
    assert.match(String(ended.headers['set-cookie']), /Max-Age=0/);
    assert.equal((await ask(headers)).status, 401);
  });
});

test('a session ends with the credentials behind it', async () => {
  let isGood = true;
  const seams = { tokens: (token: string) => (token === 'passing' && isGood ? { type: 'user', user: { name: 'guest', groups: [] } } as const : undefined) };
  const { startServer } = await import('../server.ts');
  const passing = await startServer({ console: true }, seams);
  const client = createTestClient(passing.url, 'passing');
  const session = await client.request({ method: 'POST', path: '/console/session', body: '' });
  const look = () => client.request({ path: '/api', token: null, headers: showing(session) });
  assert.equal((await look()).status, 200);
  isGood = false;
  assert.equal((await look()).status, 401);
  client.close();
  await passing.close();
});

test('where the console is off its paths are those of the API', async () => {
  const off = await startTestServer();
  assert.equal((await off.request({ path: '/console/', token: null })).status, 403);
  assert.equal((await off.request({ path: '/console/' })).status, 404);
  assert.equal((await off.request({ path: '/api', token: null, headers: { 'x-pintle-console': 'a.b' } })).status, 403);
  await off.close();
});
