// Proxies to nodes, pods and services: where they lead, what arrives there, and how answers come back. Addresses of this machine itself are not
// proxied to, so the servers behind listen on one of its addresses in a network; without any these tests are skipped.
import assert from 'node:assert/strict';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { connect } from 'node:http2';
import { networkInterfaces } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type TestServer, eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { FakeKubelet, createNode, createPod } from './testing.ts';

const core = '/api/v1/namespaces/default';
const address = Object.values(networkInterfaces()).flat().find((each) => each?.internal === false && each.family === 'IPv4')?.address;

describe('proxies', { skip: address === undefined ? 'this machine is in no network' : false }, () => {
  const kubelet = new FakeKubelet();
  const host = address ?? '';
  let behind: Server;
  let port: number;
  let server: TestServer;
  let answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => void response.end('pod');
  const seen: IncomingMessage[] = [];
  const get = (path: string, headers: Record<string, string> = {}) => server.request({ path, headers });
  const messageOf = async (path: string): Promise<[number, string]> => {
    const { status, body } = await get(path);
    return [status, body.message];
  };
  before(async () => {
    server = await startTestServer({ kubeletPreferredAddressTypes: ['InternalIP'] });
    behind = createServer((request, response) => {
      seen.push(request);
      answer(request, response);
    });
    behind.on('upgrade', (request, socket) => {
      seen.push(request);
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
    });
    port = await new Promise((resolve) => behind.listen(0, host, () => resolve((behind.address() as { port: number }).port)));
    const containers = [{ name: 'a', image: 'x' }, { name: 'b', image: 'x', ports: [{ containerPort: port }] }];
    await createPod(server, { name: 'web', ip: host, spec: { containers } });
    await createPod(server, { name: 'local', ip: '127.0.0.1' });
    await createNode(server, { name: 'near', address: host, port: await kubelet.listen(host) });
    await createNode(server, { name: 'self', address: '127.0.0.1', port: 1 });
    const create = (plural: string, body: object) => server.request({ method: 'POST', path: `${core}/${plural}`, body });
    await create('services', { metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } });
    const target = { kind: 'Pod', namespace: 'default', name: 'web' };
    const addresses = [{ ip: '10.1.1.1' }, { ip: '10.1.1.2', targetRef: target }, { ip: host, targetRef: target }];
    const unready = { notReadyAddresses: [{ ip: '10.1.1.3' }], ports: [{ name: 'http', port: 1 }] };
    const subsets = [unready, { addresses, ports: [{ name: 'http', port }, { name: 'other', port: 1 }] }];
    await create('endpoints', { metadata: { name: 'web' }, subsets });
    await create('endpoints', { metadata: { name: 'empty' } });
  });
  after(async () => {
    await server.close();
    kubelet.close();
    behind.closeAllConnections();
    behind.close();
  });

  it('lead to the kubelet of a node, and to no address of this machine', async () => {
    kubelet.answer = (_request, response) => void response.end('ok');
    assert.equal((await get('/api/v1/nodes/near/proxy/healthz?verbose')).text, 'ok');
    assert.equal(kubelet.requests.at(-1)?.url, '/healthz?verbose');
    assert.deepEqual(await messageOf('/api/v1/nodes/self/proxy/healthz'), [400, 'address not allowed']);
    assert.deepEqual(await messageOf('/api/v1/nodes/none/proxy/'), [404, 'nodes "none" not found']);
    assert.deepEqual(await messageOf('/api/v1/nodes/ftp:near:1/proxy/'), [400, 'invalid node request "ftp:near:1"']);
    assert.equal((await get(`/api/v1/nodes/near:${port}/proxy/`)).text, 'pod');
    assert.deepEqual(await messageOf(`/api/v1/nodes/https:near:${port}/proxy/`),
      [503, 'error trying to reach service: tls: first record does not look like a TLS handshake']);
  });

  it('lead to the first port of a pod, or the one that is named', async () => {
    for (const name of ['web', `web:${port}`, `http:web:${port}`]) assert.equal((await get(`${core}/pods/${name}/proxy/`)).text, 'pod');
    assert.deepEqual(await messageOf(`${core}/pods/local/proxy/`), [400, 'address not allowed']);
    assert.deepEqual(await messageOf(`${core}/pods/web:1/proxy/`), [503, `error trying to reach service: dial tcp ${host}:1: connect: connection refused`]);
  });

  it('lead to an address of a service that is a pod\'s, by number and by name of its port', async () => {
    for (const name of ['web:80', 'web:http', 'http:web:80']) assert.equal((await get(`${core}/services/${name}/proxy/`)).text, 'pod');
    assert.deepEqual(await messageOf(`${core}/services/web/proxy/`), [503, 'no endpoints available for service "web"']);
    assert.deepEqual(await messageOf(`${core}/services/web:81/proxy/`), [503, 'no service port 81 found for service "web"']);
    assert.deepEqual(await messageOf(`${core}/services/https:empty:x/proxy/`), [503, 'no endpoints available for service "empty"']);
  });

  it('send method, path, query, body and headers on, without the client\'s credentials', async () => {
    answer = (request, response) => void request.pipe(response.writeHead(201, { 'access-control-allow-origin': '*', 'x-own': 'yes' }));
    const path = `${core}/pods/web/proxy/a%20b/c?x=1&y=%2F`;
    const answered = await server.request({ method: 'PUT', path, body: 'text', headers: { 'x-mine': 'm', 'x-forwarded-for': '192.0.2.1' } });
    assert.deepEqual([answered.status, answered.text, answered.headers['x-own']], [201, 'text', 'yes']);
    assert.equal(answered.headers['access-control-allow-origin'], undefined);
    const request = seen.at(-1);
    assert.deepEqual([request?.method, request?.url, request?.headers['x-mine']], ['PUT', '/a%20b/c?x=1&y=%2F', 'm']);
    assert.equal(request?.headers.authorization, undefined);
    assert.equal(request?.headers['x-forwarded-for'], '192.0.2.1, 127.0.0.1');
    assert.equal(request?.headers['x-forwarded-uri'], `${core}/pods/web/proxy/a%20b/c`);
    assert.equal(request?.headers.host, new URL(server.url).host);
    await get(`${core}/pods/web/proxy/a//./b/../c/`);
    assert.equal(seen.at(-1)?.url, '/a/c/');
  });

  it('have a root with a slash', async () => {
    const { status, headers } = await get(`${core}/pods/web/proxy?x=1`);
    assert.deepEqual([status, headers['location']], [301, `${core}/pods/web/proxy/?x=1`]);
  });

  it('lead links of answers through themselves', async () => {
    const prefix = `${core}/pods/web/proxy`;
    const locations = [['/there/', `${prefix}/there/`], [`http://${host}:${port}/x?y#z`, `${prefix}/x?y#z`], ['near', 'near'],
      ['http://example.com/x', 'http://example.com/x'], [`${prefix}/x`, `${prefix}/x`]] as const;
    for (const [sent, expected] of locations) {
      answer = (_request, response) => void response.writeHead(302, { location: sent }).end();
      assert.equal((await get(`${prefix}/page`)).headers['location'], expected);
    }
  });

  it('rewrite links of pages, and nothing else of them', async () => {
    const prefix = `${core}/pods/web/proxy`;
    const page = '<!doctype html>\n<A HREF="/a?b=1&amp;c" class=x>ä</A><img src=/i.png><img data-src="/n"><script>"<a href=\'/s\'>"</script><a href="b">';
    const rewritten = page.replace('HREF="/a?b=1&amp;c"', `href="${prefix}/a?b=1&amp;c"`).replace('src=/i.png', `src="${prefix}/i.png"`);
    const type = { 'content-type': 'text/html; charset=utf-8', 'content-length': Buffer.byteLength(page) };
    answer = (_request, response) => void response.writeHead(200, type).end(page);
    assert.equal((await get(`${prefix}/`)).text, rewritten);
    answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(page));
    const { port: own } = new URL(server.url);
    const { socket, text, closed } = await openRawConnection(`https://127.0.0.1:${own}`);
    socket.write(`GET ${prefix}/ HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`);
    await closed;
    const bytes = Buffer.from(text(), 'latin1');
    assert.equal(gunzipSync(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)).toString(), rewritten);
  });

  it('say the length of a page that is small', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<a href="/x">');
      setImmediate(() => response.end('</a>'));
    };
    const page = await get(`${core}/pods/web/proxy/`);
    assert.deepEqual([page.text, page.headers['content-length']], [`<a href="${core}/pods/web/proxy/x"></a>`, String(page.text.length)]);
    const size = 200_000;
    answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html', 'transfer-encoding': 'chunked' }).end('y'.repeat(size));
    const large = await get(`${core}/pods/web/proxy/`);
    assert.deepEqual([large.text.length, large.headers['content-length']], [size, undefined]);
  });

  it('cut a page off that would have to be held', async () => {
    let start = `<a href="${'x'.repeat(1000)}">`;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write(start);
      const fill = (): void => void (response.destroyed || response.write('x'.repeat(65_536), () => setImmediate(fill)));
      response.write('<!--');
      fill();
    };
    const refused = await get(`${core}/pods/web/proxy/`);
    assert.deepEqual([refused.status, refused.body.message], [503, 'error trying to reach service: a page with too long a piece cannot be rewritten']);
    start = '<p>y</p>'.repeat(10_000);
    await assert.rejects(get(`${core}/pods/web/proxy/`), { code: 'ECONNRESET' });
  });

  it('join connections that change their protocol', async () => {
    const { socket, closed } = await openRawConnection(server.url);
    socket.write(`GET ${core}/pods/web/proxy/ws?q=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: echo\r\n`
      + 'Sec-WebSocket-Protocol: a, base64url.bearer.authorization.k8s.io.YWRtaW4tdG9rZW4, b\r\n\r\n');
    assert.match(await closed, /^HTTP\/1.1 101 [^]*upgrade: echo\r\n\r\nhello$/);
    assert.deepEqual([seen.at(-1)?.url, seen.at(-1)?.headers['sec-websocket-protocol']], ['/ws?q=1', 'a, b']);
  });

  it('refuse a change of the protocol that the client has not asked for', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello';
    let closed: Promise<unknown> | undefined;
    answer = ({ socket }) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      socket.write(head);
    };
    assert.deepEqual(await messageOf(`${core}/pods/web/proxy/`), [500, 'backend tried to switch protocol "echo" when "" was requested']);
    await closed;
  });

  it('name the host that a client of HTTP/2 has asked', async () => {
    answer = (_request, response) => void response.end('pod');
    const session = connect(server.url, { rejectUnauthorized: false });
    const stream = session.request({ ':path': `${core}/pods/web/proxy/`, authorization: 'Bearer admin-token' });
    const text = await new Promise((resolve, reject) => stream.setEncoding('utf8').on('data', resolve).on('error', reject));
    session.destroy();
    assert.deepEqual([text, seen.at(-1)?.headers.host], ['pod', new URL(server.url).host]);
  });

  it('give connections back when the client leaves', async () => {
    let stream: ServerResponse | undefined;
    answer = (_request, response) => {
      stream = response;
      response.writeHead(200).write('begin');
    };
    const { socket, text } = await openRawConnection(server.url);
    socket.write(`GET ${core}/pods/web/proxy/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`);
    await eventually(async () => assert.match(text(), /begin/));
    const closed = new Promise<void>((resolve) => stream?.on('close', () => resolve()));
    socket.destroy();
    await closed;
  });
});
