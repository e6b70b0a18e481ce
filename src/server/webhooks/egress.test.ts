// Proxies before the cluster and before what serves the control plane: which connections are led through which, and what becomes of a proxy's answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, type Socket, connect, createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Server as TlsServer, createServer as createTls } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { createManualClock, systemClock, systemRandom } from '../../base/index.ts';
import { startTestServer } from '../../test-support/index.ts';
import { readEgress } from '../config-files/egress-config.ts';
import { FakeKubelet, authority, createNode, createPod } from '../proxy/testing.ts';
import { createCertificate } from '../tls/certificates.ts';
import { dialThrough } from './egress.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-egress-'));
const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const serving = createCertificate({ commonName: 'proxy', hosts: ['proxy.example.com'], issuer: authority, lifetimeMs }, context);
const client = createCertificate({ commonName: 'apiserver', issuer: authority, lifetimeMs }, context);
const file = (name: string): string => join(directory, name);
after(() => rmSync(directory, { recursive: true }));

/** A proxy that asks to be spoken to by CONNECT and notes for which address. */
class Proxy {
  readonly asked: string[] = [];
  /** Said in place of a way to the address. */
  refusal = '';

  readonly accept = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.once('data', (bytes: Buffer) => {
      const address = /^CONNECT (\S+) HTTP\/1\.1\r\nHost: 127\.0\.0\.1\r\n\r\n$/.exec(bytes.toString())?.[1] ?? bytes.toString();
      this.asked.push(address);
      if (this.refusal !== '') return void socket.end(this.refusal);
      const far = connect(Number(address.split(':').at(-1)), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(far).pipe(socket);
      });
      far.on('error', () => socket.destroy());
    });
  };
}

const listen = (server: Server | TlsServer, at: number | string): Promise<number> =>
  new Promise((resolve) => server.listen(at, () => resolve((server.address() as { port: number }).port)));

const writeConfig = (egressSelections: unknown, version = 'v1beta1'): string => {
  const path = file(`egress-${systemRandom.below(1e9)}.yaml`);
  writeFileSync(path, JSON.stringify({ apiVersion: `apiserver.k8s.io/${version}`, kind: 'EgressSelectorConfiguration', egressSelections }));
  return path;
};
const readSelections = (selections: unknown) => readEgress({ egressSelectorConfigFile: writeConfig(selections), clock: systemClock });
const proxied = (name: string, transport: unknown) => ({ name, connection: { proxyProtocol: 'HTTPConnect', transport } });

describe('a server with --egress-selector-config-file', () => {
  const [cluster, controlplane] = [new Proxy(), new Proxy()];
  const kubelet = new FakeKubelet();
  const [secure, local] = [
    createTls({ cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true }, cluster.accept), createTcp(controlplane.accept),
  ];
  let server: Awaited<ReturnType<typeof startTestServer>>;
  let port = 0;
  before(async () => {
    for (const [name, text] of [['ca', authority.certificate], ['crt', client.certificate], ['key', client.key]] as const) writeFileSync(file(name), text);
    const url = `https://127.0.0.1:${await listen(secure, 0)}`;
    await listen(local, file('proxy.sock'));
    const tlsConfig = { caBundle: file('ca'), clientCert: file('crt'), clientKey: file('key'), tlsServerName: 'proxy.example.com' };
    port = await kubelet.listen();
    server = await startTestServer({ egressSelectorConfigFile: writeConfig([
      proxied('Cluster', { tcp: { url, tlsConfig } }),
      proxied('controlplane', { uds: { udsName: file('proxy.sock') } }), { name: 'etcd', connection: { proxyProtocol: 'Direct' } },
    ]) });
  });
  after(async () => {
    await server.close();
    kubelet.close();
    secure.close();
    local.close();
  });

  it('reaches kubelets and pods through the proxy of the cluster', async () => {
    await createNode(server, { name: 'n', address: '127.0.0.1', port });
    await createPod(server, { name: 'p', node: 'n' });
    kubelet.answer = (_request, response) => void response.end('a line\n');
    const read = () => server.request({ path: '/api/v1/namespaces/default/pods/p/log' });
    assert.equal((await read()).text, 'a line\n');
    assert.equal((await read()).text, 'a line\n');
    assert.deepEqual(cluster.asked, [`127.0.0.1:${port}`]);
    cluster.refusal = 'HTTP/1.1 403 Forbidden\r\n\r\n';
    kubelet.close();
    const { status, body } = await read();
    assert.equal(status, 500);
    assert.match(body.message, /: proxy error from 127\.0\.0\.1:\d+ while dialing 127\.0\.0\.1:\d+, code 403: 403 Forbidden$/);
  });

  it('reaches webhooks at URLs through the proxy of the control plane', async () => {
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    await server.request({ method: 'POST', path, body: { metadata: { name: 'w' }, webhooks: [{
      name: 'w.example.com', clientConfig: { url: 'https://webhook.invalid:1/' }, sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Fail',
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
    }] } });
    controlplane.refusal = 'HTTP/1.1 502 Bad Gateway\r\n\r\n';
    const { body } = await server.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: 'c' } } });
    assert.match(body.message, /proxy error from .*proxy\.sock while dialing webhook\.invalid:1, code 502: 502 Bad Gateway/);
    assert.deepEqual(controlplane.asked, ['webhook.invalid:1']);
  });
});

describe('dialThrough', () => {
  const proxy = new Proxy();
  const server = createTcp(proxy.accept);
  let target: { readonly host: string; readonly port: number; readonly tls: undefined; readonly shown: string };
  before(async () => {
    target = { host: '127.0.0.1', port: await listen(server, 0), tls: undefined, shown: 'proxy' };
  });
  after(() => server.close());

  it('says what is wrong with the answer', async () => {
    const dial = dialThrough(target, systemClock);
    for (const [refusal, message] of [
      ['no HTTP\r\n\r\n', /^reading HTTP response from CONNECT to \[::1\]:1 via proxy proxy failed: malformed HTTP response "no HTTP"$/],
      ['HTTP/1.1 200 OK\r\n', /failed: unexpected EOF$/], ['HTTP/1.1 200 OK\r\n\r\nmore', /^unexpected 4 bytes of buffered data from CONNECT proxy "proxy"$/],
      [`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(2 ** 20)}`, /malformed HTTP response/],
    ] as const) {
      proxy.refusal = refusal;
      await assert.rejects(dial({ host: '::1', port: 1 }), { message });
    }
  });

  it('waits thirty seconds', async () => {
    const silent = createTcp((socket) => socket.on('error', () => {}));
    const clock = createManualClock();
    const dial = dialThrough({ ...target, port: await listen(silent, 0) }, clock);
    const failed = assert.rejects(dial({ host: 'a', port: 1 }), { message: 'dial tcp: i/o timeout' });
    clock.advance(30_000);
    await failed;
    assert.equal(clock.pendingTimers, 0);
    silent.close();
  });
});

describe('readEgress', () => {
  it('knows the control plane by its former name in the first version', async () => {
    const selections = [{ name: 'master', connection: { proxyProtocol: 'Direct' } }];
    const read = (version: string) => readEgress({ egressSelectorConfigFile: writeConfig(selections, version), clock: systemClock });
    assert.equal((await read('v1alpha1')).isConfigured('controlplane'), true);
    await assert.rejects(read('v1beta1'), /Unsupported value: "master"/);
  });

  it('refuses what cannot be used, and what is not built', async () => {
    const uds = { uds: { udsName: '/s' } };
    const tcp = (url: string, tlsConfig?: object) => ({ tcp: { url, ...(tlsConfig && { tlsConfig }) } });
    for (const [selections, message] of [
      [[proxied('pods', uds)], /service\.connection: Unsupported value: "pods": supported values: "cluster", "controlplane", "etcd"/],
      [[proxied('cluster', uds), proxied('Cluster', uds)], /service\.connection\[1\]: Duplicate value: "cluster"/],
      [[proxied('etcd', uds)], /etcd must be Direct/], [[proxied('cluster', null)], /transport must be set for HTTPConnect/],
      [[proxied('cluster', { ...uds, ...tcp('http://a') })], /TCP and UDS cannot both be set/], [[proxied('cluster', {})], /One of TCP or UDS must be set/],
      [[proxied('cluster', tcp('ftp://a'))], /supported connection protocols are http:\/\/ and https:\/\//],
      [[proxied('cluster', tcp('https://a'))], /TLSConfig must be present when using HTTPS/],
      [[proxied('cluster', tcp('http://a', {}))], /config must not be present when using HTTP/],
      [[proxied('cluster', tcp('https://a', { clientCert: '/none' }))], /"\/none": TLS client cert does not exist, .*requires clientKey/],
      [[{ name: 'cluster', connection: { proxyProtocol: 'GRPC', transport: uds } }], /GRPC is not supported: use HTTPConnect/],
      [[{ name: 'cluster', connection: { proxyProtocol: 'Direct', transport: uds } }], /config must be absent for direct connect/],
      [[{ name: 'cluster', connection: { proxyProtocol: 'Socks' } }], /service\.connection\.protocol: Unsupported value: "Socks"/],
    ] as const) await assert.rejects(readSelections(selections), { name: 'StartError', message });
    await assert.rejects(readEgress({ egressSelectorConfigFile: file('none'), clock: systemClock }), { name: 'StartError' });
    const { cluster, controlplane, isConfigured } = await readSelections([{ name: 'cluster', connection: { proxyProtocol: 'Direct' } }]);
    assert.deepEqual([cluster, controlplane, isConfigured('cluster'), isConfigured('controlplane')], [undefined, undefined, true, false]);
  });

  it('names no server in the handshake with a proxy at an address, whose certificate is held against the address', async () => {
    const named: string[] = [];
    const here = createCertificate({ commonName: 'proxy', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs }, context);
    const proxy = new Proxy();
    proxy.refusal = 'HTTP/1.1 403 Forbidden\r\n\r\n';
    const server = createTls({ cert: here.certificate, key: here.key, SNICallback: (name, done) => {
      named.push(name);
      done(null);
    } }, proxy.accept);
    const url = `https://127.0.0.1:${await listen(server, 0)}`;
    const dial = async (tlsServerName?: string) => {
      const tlsConfig = { caBundle: file('ca'), clientCert: file('crt'), clientKey: file('key'), ...(tlsServerName && { tlsServerName }) };
      const { cluster } = await readSelections([proxied('cluster', { tcp: { url, tlsConfig } })]);
      return cluster?.({ host: 'a', port: 1 });
    };
    await assert.rejects(dial(), /code 403: 403 Forbidden$/);
    assert.deepEqual(named, []);
    await assert.rejects(dial('proxy.example.com'), /certificate/);
    assert.deepEqual(named, ['proxy.example.com']);
    server.close();
  });
});
