// Certificates and authorities that change while a server runs, and certificates by the name that a client asks for, seen by clients.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../base/index.ts';
import { type TestServer, eventually, startTestServer } from '../test-support/index.ts';
import { type KeyPair, createCertificate } from './tls/certificates.ts';
import { recordWarnings } from './testing.ts';

const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 86_400_000;
const authority = (commonName: string): KeyPair => createCertificate({ commonName, lifetimeMs }, context);
const serving = (commonName: string, hosts: readonly string[]): KeyPair => createCertificate({ commonName, hosts, issuer: roots, lifetimeMs }, context);
const roots = authority('roots');

const directory = mkdtempSync(join(tmpdir(), 'pintle-certificates-'));
after(() => rmSync(directory, { recursive: true }));
const path = (name: string): string => join(directory, name);
function write(name: string, { certificate, key }: KeyPair): void {
  writeFileSync(path(`${name}.crt`), certificate);
  writeFileSync(path(`${name}.key`), key);
}

/** The common name of the certificate that a client is shown. */
function showName(port: number, servername = '', host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, servername, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

describe('certificates of the port', () => {
  const { logger, warnings } = recordWarnings();
  let server: TestServer;
  before(async () => {
    write('main', serving('main', ['127.0.0.1']));
    write('one', serving('one.example.com', ['one.example.com', '*.wild.example.com', 'two.example.com']));
    write('two', serving('two', ['other.example.com']));
    server = await startTestServer({
      logger, tlsCertFile: path('main.crt'), tlsPrivateKeyFile: path('main.key'),
      tlsSniCertKeys: [`${path('one.crt')},${path('one.key')}`, `${path('two.crt')},${path('two.key')}:two.example.com,127.0.0.9`], bindAddress: '0.0.0.0',
    });
  });
  after(() => server.close());

  it('--tls-sni-cert-key: by name and pattern; names of the flag win over those of a certificate, which count where no flag has them', async () => {
    const asked = ['', 'one.example.com', 'ONE.example.com', 'a.wild.example.com', 'a.b.wild.example.com', 'two.example.com', 'other.example.com'];
    const shown = ['main', 'one.example.com', 'one.example.com', 'one.example.com', 'main', 'two', 'two'];
    assert.deepEqual(await Promise.all(asked.map((name) => showName(server.port, name))), shown);
  });

  it('--tls-sni-cert-key: by the address that a client without a name has reached', async () => {
    assert.equal(await showName(server.port, '', '127.0.0.9'), 'two');
  });

  it('--tls-sni-cert-key: a certificate with an RSA key beside one without', async () => {
    const rsa = fileURLToPath(new URL('../../../test/data/rsa-server.pem', import.meta.url));
    const mixed = await startTestServer({ tlsCertFile: path('main.crt'), tlsPrivateKeyFile: path('main.key'), tlsSniCertKeys: [`${rsa},${rsa}`] });
    try {
      assert.deepEqual([await showName(mixed.port, 'rsa.example.com'), await showName(mixed.port, 'other.example.com'), await showName(mixed.port)],
        ['rsa', 'main', 'main']);
    } finally {
      await mixed.close();
    }
  });

  it('are read again when both files of a pair have changed', async () => {
    const next = serving('next', ['127.0.0.1']);
    writeFileSync(path('main.crt'), next.certificate);
    await eventually(async () => assert.match(warnings.join(), /^the serving certificate cannot be used/));
    assert.equal(await showName(server.port), 'main');
    write('main', next);
    write('one', serving('one.example.com', ['three.example.com']));
    await eventually(async () => {
      assert.deepEqual(await Promise.all(['', 'three.example.com', 'a.wild.example.com'].map((name) => showName(server.port, name))),
        ['next', 'one.example.com', 'next']);
    });
    const { body } = await server.request({ path: '/version' });
    assert.equal(body.major, '1');
  });

  it('must be there and fit each other at the start', async () => {
    writeFileSync(path('wrong.key'), serving('wrong', []).key);
    const wrong = startTestServer({ tlsCertFile: path('two.crt'), tlsPrivateKeyFile: path('wrong.key') });
    await assert.rejects(wrong, /--tls-cert-file: .*two\.crt: .*(?:mismatch|do not match)/i);
    await assert.rejects(startTestServer({ tlsSniCertKeys: [path('two.crt')] }), /--tls-sni-cert-key must be certificate,key/);
  });
});

describe('authorities of clients', () => {
  const [first, second] = [authority('first'), authority('second')];
  const certify = (issuer: KeyPair): KeyPair => createCertificate({ commonName: 'carol', organizations: ['system:masters'], issuer, lifetimeMs }, context);
  let server: TestServer;
  before(async () => {
    writeFileSync(path('clients.crt'), first.certificate);
    server = await startTestServer({ clientCaFile: path('clients.crt'), console: true });
  });
  after(() => server.close());

  /** The status of a request by an agent that keeps its one connection. */
  const ask = (agent: Agent, headers = {}, to = server): Promise<number> => new Promise((resolve, reject) => {
    request(`${to.url}/api/v1/namespaces`, { agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject).end();
  });
  /** The headers of a session of the console that begins with the certificate of an agent. */
  const beginSession = (agent: Agent): Promise<Record<string, string>> => new Promise((resolve, reject) => {
    request(`${server.url}/console/session`, { agent, method: 'POST' }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => resolve({ 'x-pintle-console': JSON.parse(body).key, cookie: response.headers['set-cookie']?.[0]?.split(';')[0] ?? '' }));
    }).on('error', reject).end();
  });
  const open = ({ certificate, key }: KeyPair): Agent => new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false, cert: certificate, key });

  it('are read again: open connections of an authority that is gone are refused, those of a new one come in', async () => {
    const [before, after] = [open(certify(first)), open(certify(second))];
    assert.deepEqual([await ask(before), await ask(after)], [200, 401]);
    after.destroy();
    const session = await beginSession(before);
    const visitor = new Agent({ rejectUnauthorized: false });
    assert.equal(await ask(visitor, session), 200);
    writeFileSync(path('clients.crt'), second.certificate);
    await eventually(async () => assert.equal(await ask(before), 401));
    assert.equal(await ask(visitor, session), 401);
    const later = open(certify(second));
    assert.equal(await ask(later), 200);
    for (const agent of [before, later, visitor]) agent.destroy();
    await eventually(async () => {
      const map = await server.request({ path: '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication' });
      const authorities: string = map.body.data['client-ca-file'];
      assert.equal(authorities.split('BEGIN CERTIFICATE').length - 1, 3, 'both, and the one that the server made');
      for (const { certificate } of [first, second]) assert.ok(authorities.includes(certificate.trim()));
    });
  });

  it('a certificate that the clock of TLS finds not yet valid counts from the moment when it is', async () => {
    const later = (ms: number) => ({ ...systemClock, now: () => systemClock.now() + ms });
    // Certificates are made with a time five minutes earlier.
    const certifyLater = (issuer: KeyPair, more = {}): KeyPair =>
      createCertificate({ commonName: 'carol', organizations: ['system:masters'], issuer, lifetimeMs, ...more }, { ...context, clock: later(360_000) });
    writeFileSync(path('issuers.crt'), first.certificate);
    const [present, ahead] = await Promise.all([0, 70_000].map((ms) => startTestServer({ clientCaFile: path('issuers.crt'), clock: later(ms) })));
    const askWith = async (to: TestServer | undefined, pair: KeyPair): Promise<number> => {
      const agent = open(pair);
      try {
        return await ask(agent, {}, to);
      } finally {
        agent.destroy();
      }
    };
    const own = certifyLater(first);
    try {
      assert.deepEqual([await askWith(present, own), await askWith(ahead, own)], [401, 200]);
      assert.equal(await askWith(ahead, certifyLater(second)), 401, 'of another authority');
      assert.equal(await askWith(ahead, { ...own, certificate: own.certificate + second.certificate }), 200);
      assert.equal(await askWith(ahead, certifyLater(first, { hosts: ['server.example.com'] })), 401, 'for servers');
      assert.equal(await askWith(ahead, certifyLater(first, { lifetimeMs: 5_000 })), 401, 'valid no more');
      assert.equal(await askWith(ahead, certifyLater({ ...own, certificate: first.certificate, key: second.key })), 401, 'signed by another');
    } finally {
      await Promise.all([present?.close(), ahead?.close()]);
    }
  });
});
