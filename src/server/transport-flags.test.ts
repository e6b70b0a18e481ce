// Flags of the connection, seen by clients: versions and suites of TLS, Strict-Transport-Security, the end of HTTP/2 connections; and the times of
// default tolerations and of Events.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { systemRandom } from '../base/index.ts';
import { type TestClient, type TestServer, createTestClient, exchangeRaw, requestUntil, startTestServer } from '../test-support/index.ts';
import { parseCommandLine } from './cli/command-line.ts';
import type { ServerOptions } from './options/options.ts';

/** The version and suite of a handshake, or the code of its failure. */
function shakeHands(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.on('error', () => resolve('refused'));
  });
}

describe('flags of the connection', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
      strictTransportSecurityDirectives: ['max-age=31536000', 'includeSubDomains'], goawayChance: 0.02, random: { ...systemRandom, below: () => 0 },
      defaultNotReadyTolerationSeconds: 30, defaultUnreachableTolerationSeconds: 60, eventTtlMs: 1000,
    });
  });
  after(() => server.close());

  it('--tls-cipher-suites chooses the suites of TLS 1.2 and leaves those of 1.3', async () => {
    assert.match(await shakeHands(server.port, { maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-(?:ECDSA|RSA)-AES256-GCM-SHA384$/);
    assert.equal(await shakeHands(server.port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256' }), 'refused');
    assert.match(await shakeHands(server.port, {}), /^TLSv1\.3 /);
  });

  it('--tls-min-version refuses older versions', async () => {
    const strict = await startTestServer({ tlsMinVersion: 'VersionTLS13' });
    try {
      assert.equal(await shakeHands(strict.port, { maxVersion: 'TLSv1.2' }), 'refused');
      assert.match(await shakeHands(strict.port, {}), /^TLSv1\.3 /);
    } finally {
      await strict.close();
    }
  });

  it('--strict-transport-security-directives is a header of all answers', async () => {
    for (const path of ['/version', '/api/v1/pods', '/none']) {
      assert.equal((await server.request({ path })).headers['strict-transport-security'], 'max-age=31536000; includeSubDomains', path);
    }
  });

  it('--goaway-chance ends an HTTP/2 connection behind its answer', async () => {
    const session = connectHttp2(server.url, { rejectUnauthorized: false });
    const stream = session.request({ ':path': '/version' });
    const [[headers]] = await Promise.all([once(stream, 'response'), once(session, 'goaway'), once(stream.resume(), 'end')]);
    assert.equal((headers as Record<string, unknown>)[':status'], 200);
    session.destroy();
  });

  it('--event-ttl is the time that Events are kept', async () => {
    const body = { metadata: { name: 'e', namespace: 'default' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Test' };
    const path = '/api/v1/namespaces/default/events';
    assert.equal((await server.request({ method: 'POST', path, body })).status, 201);
    assert.equal((await requestUntil(server, { path: `${path}/e` }, { until: ({ status }) => status === 404 })).status, 404);
  });

  it('--default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds are the times of pods', async () => {
    const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { body: pod } = await server.request({ method: 'POST', path: '/api/v1/namespaces/default/pods?dryRun=All', body });
    assert.deepEqual(pod.spec.tolerations.map((toleration: Record<string, unknown>) => [toleration['key'], toleration['tolerationSeconds']]),
      [['node.kubernetes.io/not-ready', 30], ['node.kubernetes.io/unreachable', 60]]);
  });
});

describe('--cors-allowed-origins', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ corsAllowedOrigins: ['^https://(?:a|b)\\.example\\.com(:|$)'] });
  });
  after(() => server.close());

  it('answers the question before a request, without credentials', async () => {
    const asked = await server.request({ method: 'OPTIONS', path: '/api/v1/pods', token: null, headers: { origin: 'https://a.example.com:8443' } });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers['access-control-allow-origin'], 'https://a.example.com:8443');
    assert.equal(asked.headers['access-control-allow-methods'], 'POST, GET, OPTIONS, PUT, DELETE, PATCH');
  });

  it('lets pages of these origins read every answer, refusals too', async () => {
    for (const [path, token] of [['/api/v1/pods', 'admin-token'], ['/api/v1/pods', 'wrong'], ['/none', 'admin-token']] as const) {
      const { headers } = await server.request({ path, token, headers: { origin: 'https://b.example.com' } });
      assert.equal(headers['access-control-allow-origin'], 'https://b.example.com', path);
      assert.equal(headers['access-control-expose-headers'], 'Date');
      assert.equal(headers['access-control-allow-credentials'], 'true');
    }
  });

  it('says nothing to other origins', async () => {
    for (const origin of ['https://c.example.com', 'https://a.example.com.evil.org', `https://a.example.com:${'8'.repeat(500)}`]) {
      const { headers } = await server.request({ path: '/version', headers: { origin } });
      assert.equal(headers['access-control-allow-origin'], undefined, origin);
    }
  });

  it('takes the first of several origins', async () => {
    const [known, other] = ['https://a.example.com', 'https://c.example.com'];
    for (const [origins, isAllowed] of [[[known, other], true], [[other, known], false], [[`${known}, ${other}`], false], [['', known], false]] as const) {
      const head = ['OPTIONS /version HTTP/1.1', 'Host: a', 'Connection: close', ...origins.map((origin) => `Origin: ${origin}`), '', ''];
      const answer = await exchangeRaw(server.url, head.join('\r\n'));
      assert.equal(answer.startsWith('HTTP/1.1 204 ') && answer.toLowerCase().includes(`access-control-allow-origin: ${known}\r\n`), isAllowed, origins.join());
    }
  });

  it('takes no pattern of a part of a host, and none that is no pattern', async () => {
    await assert.rejects(startTestServer({ corsAllowedOrigins: ['example\\.com'] }), /does not pin to start\/end of host/);
    await assert.rejects(startTestServer({ corsAllowedOrigins: ['^a$', ''] }), /empty value in --cors-allowed-origins/);
    await assert.rejects(startTestServer({ corsAllowedOrigins: ['^(a$'] }), /invalid regular expression: .*missing closing \)/);
  });
});

describe('flags of the stop', () => {
  /** A server, and a client that outlives its own. */
  async function start(options: Partial<ServerOptions>): Promise<{ readonly server: TestServer; readonly client: TestClient }> {
    const server = await startTestServer(options);
    return { server, client: createTestClient(server.url, 'admin-token') };
  }

  it('--shutdown-send-retry-after answers new requests with 429 while one is in progress', async () => {
    const hold: { release?: () => void } = {};
    const held = new Promise<void>((resolve) => {
      hold.release = resolve;
    });
    const { server, client } = await start({
      shutdownSendRetryAfter: true,
      admission: [{ name: 'slow', match: { resources: ['configmaps'] }, validate: ({ name }) => (name === 'slow' ? held : undefined) }],
    });
    const path = '/api/v1/namespaces/default/configmaps';
    const writing = client.request({ method: 'POST', path, body: { metadata: { name: 'slow' } } });
    await requestUntil(client, { path: '/metrics' }, { until: ({ text }) => /request_kind="mutating"\} 1/.test(text) });
    const closed = server.close();
    const away = await requestUntil(client, { path }, { until: ({ status }) => status === 429 });
    assert.equal(away.headers['retry-after'], '5');
    assert.equal(away.headers['connection'], 'close');
    assert.equal(away.text, 'The apiserver is shutting down, please try again later.\n');
    assert.equal((await client.request({ path: '/livez' })).status, 200);
    hold.release?.();
    assert.equal((await writing).status, 201);
    await closed;
    client.close();
  });

  it('--shutdown-watch-termination-grace-period ends watches before the port closes', async () => {
    const { server, client } = await start({ shutdownWatchGraceMs: 50 });
    const watching = client.request({ path: '/api/v1/configmaps?watch=1' });
    await requestUntil(client, { path: '/metrics' }, { until: ({ text }) => /longrunning_requests\S* 1/.test(text) });
    await server.close();
    assert.equal((await watching).status, 200);
    client.close();
  });
});

describe('--allow-privileged=false', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ allowPrivileged: false });
  });
  after(() => server.close());
  const spec = { containers: [{ name: 'c', image: 'i' }, { name: 'd', image: 'i', securityContext: { privileged: true } }] };
  const refused = /spec\.containers\[1\]\.securityContext\.privileged: Forbidden: disallowed by cluster policy$/;

  it('refuses privileged containers of pods and of what makes pods', async () => {
    const pod = await server.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: { metadata: { name: 'p' }, spec } });
    assert.equal(pod.status, 422);
    assert.match(pod.body.message, refused);
    const template = { metadata: { labels: { a: 'b' } }, spec };
    const body = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const deployment = await server.request({ method: 'POST', path: '/apis/apps/v1/namespaces/default/deployments', body });
    assert.equal(deployment.status, 422);
    assert.match(deployment.body.message, /spec\.template\.spec\.containers\[1\]\.securityContext\.privileged: Forbidden: disallowed/);
  });

  it('is the default of the command, and not of the library', async () => {
    const invocation = parseCommandLine([]);
    assert.ok(invocation.type === 'run' && invocation.flags.settings['allowPrivileged'] === false);
    const open = await startTestServer();
    const { status } = await open.request({ method: 'POST', path: '/api/v1/namespaces/default/pods?dryRun=All', body: { metadata: { name: 'p' }, spec } });
    assert.equal(status, 201);
    await open.close();
  });
});

describe('--authorization-mode=ABAC', () => {
  it('decides by the policies of a file, and lists them', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pintle-abac-'));
    const authorizationPolicyFile = join(directory, 'policies.jsonl');
    writeFileSync(authorizationPolicyFile, '{"user":"alice","namespace":"default","resource":"configmaps","readonly":true}\n');
    const server = await startTestServer({ authorizationMode: ['ABAC'], authorizationPolicyFile });
    const ask = async (namespace: string) => (await server.request({ path: `/api/v1/namespaces/${namespace}/configmaps`, token: 'alice-token' })).status;
    assert.deepEqual([await ask('default'), await ask('other')], [200, 403]);
    const review = await server.request({
      method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', token: 'alice-token', body: { spec: { namespace: 'default' } },
    });
    assert.equal(review.status, 403, 'ABAC alone gives no right to ask');
    await server.close();
    writeFileSync(authorizationPolicyFile, 'nonsense');
    await assert.rejects(startTestServer({ authorizationMode: ['ABAC'], authorizationPolicyFile }), /--authorization-policy-file: error reading policy file/);
    await assert.rejects(startTestServer({ authorizationMode: ['ABAC'] }), /authorization-mode ABAC's authorization policy file not passed/);
    rmSync(directory, { recursive: true });
  });
});
