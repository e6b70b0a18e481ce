// Flags of the connection, seen by clients: versions and suites of TLS, Strict-Transport-Security, the end of HTTP/2 connections; and the times of
// default tolerations and of Events.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { systemRandom } from '../base/index.ts';
import { type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

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
