// A server behind an APIService: what reaches it, what comes back, and what becomes of it when it cannot be reached.
import assert from 'node:assert/strict';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { createCertificate } from '../tls/certificates.ts';

const GROUP = 'behind.example.com';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const authority = createCertificate({ commonName: 'authority', lifetimeMs }, context);
const serving = createCertificate({ commonName: 'behind', hosts: ['behind.default.svc'], issuer: authority, lifetimeMs }, context);
const client = createCertificate({ commonName: 'front-proxy', issuer: authority, lifetimeMs }, context);

/** Answers as an aggregated server; requests and their streams are kept for the tests. */
class Backend {
  readonly server: Server;
  readonly seen: IncomingMessage[] = [];
  stream: ServerResponse | undefined;
  upgraded: Duplex | undefined;
  /** How often the Swagger document has been asked for: one that is nested deeper than any stack. */
  swaggerCount = 0;

  constructor() {
    this.server = createServer({ cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false });
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response));
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      this.upgraded = socket;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nhello`);
      socket.on('data', (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
      socket.on('error', () => {});
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (path.includes('/things')) this.seen.push(request);
    if (path.includes('watch=')) {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      this.stream = response;
    } else if (path.includes('/redirects')) response.writeHead(302, { location: '/other' }).end();
    else if (request.method === 'POST') {
      response.writeHead(201, { 'content-type': 'application/json' });
      request.pipe(response);
    } else if (path === `/apis/${GROUP}/v1`) {
      response.setHeader('content-type', 'application/json');
      const resources = [{ name: 'things', namespaced: true, kind: 'Thing', verbs: ['get'] }];
      response.end(JSON.stringify({ kind: 'APIResourceList', groupVersion: `${GROUP}/v1`, resources }));
    } else if (path === '/openapi/v2') {
      this.swaggerCount += 1;
      response.end(`{"paths":{"/apis/${GROUP}/v1/deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`);
    } else if (path.includes('/things')) response.writeHead(200, { 'content-type': 'text/html' }).end('<html>things</html>');
    else response.writeHead(404).end();
  }

  listen(): Promise<number> {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => resolve((this.server.address() as { port: number }).port)));
  }

  close(): void {
    this.upgraded?.destroy();
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('an aggregated API', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-aggregator-'));
  const backend = new Backend();
  let server: TestServer;
  const things = `/apis/${GROUP}/v1/namespaces/default/things`;
  const forget = (): void => void backend.seen.splice(0);
  const service = (externalName: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'behind' }, spec: { type: 'ExternalName', externalName } });
  before(async () => {
    writeFileSync(join(directory, 'proxy.crt'), client.certificate);
    writeFileSync(join(directory, 'proxy.key'), client.key, { mode: 0o600 });
    const port = await backend.listen();
    server = await startTestServer({ proxyClientCertFile: join(directory, 'proxy.crt'), proxyClientKeyFile: join(directory, 'proxy.key') });
    await server.request({ method: 'POST', path: '/api/v1/namespaces/default/services', body: service('127.0.0.1') });
    await server.request({ method: 'POST', path: apiServices, body: {
      apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `v1.${GROUP}` },
      spec: { group: GROUP, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, caBundle: Buffer.from(authority.certificate).toString('base64'),
        service: { namespace: 'default', name: 'behind', port } },
    } });
    await requestUntil(server, { path: things }, { until: ({ status }) => status === 200 });
    forget();
  });
  after(async () => {
    await server.close();
    backend.close();
    rmSync(directory, { recursive: true });
  });

  it('gets requests with the identity of their user, shown by the proxy certificate', async () => {
    await server.request({ path: `${things}/a?z=1&a=2`, headers: { 'x-remote-user': 'root', 'x-remote-extra-scope': 'all' } });
    const [request] = backend.seen.splice(0);
    assert.equal(request?.url, `${things}/a?a=2&z=1`);
    assert.equal(request.headers['x-remote-user'], 'admin');
    assert.equal(request.headers['x-remote-group'], 'system:masters, system:authenticated');
    assert.equal(request.headers.authorization, undefined);
    assert.equal(request.headers['x-remote-extra-scope'], undefined);
    assert.equal((request.socket as TLSSocket).authorized, true);
    assert.equal((request.socket as TLSSocket).getPeerCertificate().subject.CN, 'front-proxy');
  });

  it('does not hear of requests that are not allowed', async () => {
    assert.equal((await server.request({ path: things, token: 'alice-token' })).status, 403);
    assert.deepEqual(backend.seen, []);
  });

  it('is sent bodies, and sends answers back as they are', async () => {
    const answer = await server.request({ method: 'POST', path: things, body: { own: 'words' } });
    assert.deepEqual([answer.status, answer.body], [201, { own: 'words' }]);
    const page = await server.request({ path: things });
    assert.deepEqual([page.text, page.headers['content-length']], ['<html>things</html>', '19']);
    const refused = await server.request({ path: `/apis/${GROUP}/v1/redirects` });
    assert.deepEqual([refused.status, refused.text], [502, 'the backend attempted to redirect this request, which is not permitted']);
  });

  it('streams watches, and learns that a client has left', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.write(`GET ${things}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`);
    await eventually(async () => assert.match(received, /200 OK/));
    backend.stream?.write('{"type":"ADDED"}\n');
    await eventually(async () => assert.match(received, /ADDED/));
    const closed = new Promise<void>((resolve) => backend.stream?.on('close', () => resolve()));
    socket.destroy();
    await closed;
  });

  it('joins connections that change their protocol without a seat, and parts them together', async () => {
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ghost' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'ghost' }, roleRef, subjects };
    await server.request({ method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', body: binding });
    await requestUntil(server, { path: '/api/v1/nodes', headers: { 'impersonate-user': 'ghost' } }, { until: ({ status }) => status === 200 });
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    const identity = 'Authorization: Bearer admin-token\r\nImpersonate-User: ghost';
    socket.write(`GET ${things}/a/console HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${identity}\r\n\r\n`);
    await eventually(async () => assert.match(received, /^HTTP\/1.1 101[^]*upgrade: SPDY\/3.1\r\n[^]*hello$/i));
    socket.write('echo');
    await eventually(async () => assert.match(received, /helloECHO$/));
    const metrics = await server.request({ path: '/metrics' });
    assert.ok(metrics.text.includes('executing_seats'));
    // The request for metrics itself runs in an exempt level.
    assert.deepEqual((metrics.text.match(/executing_seats\{.*\} [1-9]\d*$/gm) ?? []).filter((line) => !line.includes('"exempt"')), []);
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    backend.upgraded?.end('bye');
    await closed;
    assert.match(received, /bye$/);
  });

  it('is part of discovery', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const find = ({ items }: any) => items.find(({ metadata }: any) => metadata.name === GROUP);
    const { body } = await requestUntil(server, { path: '/apis', headers: { accept } }, { until: (answer) => find(answer.body)?.versions[0].freshness === 'Current' });
    assert.deepEqual(find(body).versions[0].resources[0].resource, 'things');
    assert.equal((await server.request({ path: `/apis/${GROUP}` })).body.preferredVersion.version, 'v1');
  });

  it('does no harm with documents that are nested too deep', async () => {
    await eventually(async () => assert.ok(backend.swaggerCount > 0));
    await setTimeout(100);
    const { status, body } = await server.request({ path: '/openapi/v2' });
    assert.deepEqual([status, body.paths[`/apis/${GROUP}/v1/deep`]], [200, undefined]);
  });

  it('holds namespaces up while it cannot be reached', async () => {
    await server.request({ method: 'DELETE', path: '/api/v1/namespaces/default/services/behind' });
    const unavailable = await requestUntil(server, { path: things }, { until: ({ status }) => status === 503 });
    assert.equal(unavailable.text, 'service unavailable\n');
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'held' } } });
    const metrics = await server.request({ path: '/metrics' });
    assert.match(metrics.text, /aggregator_unavailable_apiservice\{name="v1\.behind\.example\.com"\} 1/);
    await server.request({ method: 'DELETE', path: '/api/v1/namespaces/held' });
    const found = await requestUntil(server, { path: '/api/v1/namespaces/held' }, {
      until: ({ body }) => body.status?.conditions?.[0]?.reason === 'DiscoveryFailed',
    });
    const version = `${GROUP}/v1`;
    assert.equal(found.body.status.conditions[0].message, 'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: '
      + `${version}: stale GroupVersion discovery: ${version}`);
    await server.request({ method: 'DELETE', path: `${apiServices}/v1.${GROUP}` });
    await requestUntil(server, { path: '/api/v1/namespaces/held' }, { until: ({ status }) => status === 404 });
  });
});
