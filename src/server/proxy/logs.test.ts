// Logs of containers: which kubelet is asked for what, and what becomes of its answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import WebSocket from 'ws';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { createCertificate } from '../tls/certificates.ts';
import { FakeKubelet, authority, createNode, createPod } from './testing.ts';

const pods = '/api/v1/namespaces/default/pods';
const client = createCertificate({ commonName: 'apiserver', issuer: authority, lifetimeMs: 86_400_000 }, { clock: systemClock, random: systemRandom });

describe('logs', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-logs-'));
  const kubelet = new FakeKubelet();
  let server: TestServer;
  const get = (path: string) => server.request({ path: `${pods}/${path}` });
  const messageOf = async (path: string): Promise<[number, string]> => {
    const { status, body } = await get(path);
    return [status, body.message];
  };
  before(async () => {
    const files = { 'client.crt': client.certificate, 'client.key': client.key, 'ca.crt': authority.certificate };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text, { mode: 0o600 });
    server = await startTestServer({
      kubeletClientCertificate: join(directory, 'client.crt'), kubeletClientKey: join(directory, 'client.key'),
      kubeletCertificateAuthority: join(directory, 'ca.crt'), kubeletPreferredAddressTypes: ['Hostname', 'InternalIP'],
    });
    const port = await kubelet.listen();
    await createNode(server, { name: 'near', address: '127.0.0.1', port });
    await createNode(server, { name: 'unnamed', address: 'localhost', port });
    await createNode(server, { name: 'closed', address: '127.0.0.1', port: 1 });
    await server.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: 'nowhere' } } });
    for (const node of ['near', 'unnamed', 'closed', 'nowhere', 'gone']) await createPod(server, { name: `on-${node}`, node });
    await createPod(server, { name: 'waiting' });
    const containers = [{ name: 'a', image: 'x' }, { name: 'b', image: 'x' }];
    await createPod(server, { name: 'two', node: 'near', spec: { containers, initContainers: [{ name: 'first', image: 'x' }] } });
  });
  after(async () => {
    await server.close();
    kubelet.close();
    rmSync(directory, { recursive: true });
  });

  it('are asked for with the options that the kubelet knows, by the client certificate', async () => {
    kubelet.answer = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('one\ntwo\n');
    const query = 'container=main&follow=true&previous=false&timestamps=1&tailLines=5&limitBytes=7&sinceSeconds=9&pretty=1';
    const { status, text, headers } = await get(`on-near/log?${query}`);
    assert.deepEqual([status, text, headers['content-type']], [200, 'one\ntwo\n', 'text/plain']);
    const request = kubelet.requests.at(-1);
    assert.equal(request?.url, '/containerLogs/default/on-near/main?follow=true&limitBytes=7&sinceSeconds=9&tailLines=5&timestamps=true');
    assert.deepEqual([request.method, request.headers.authorization], ['GET', undefined]);
    assert.equal((request.socket as TLSSocket).getPeerCertificate().subject.CN, 'apiserver');
    await get('two/log?container=first&sinceTime=2030-01-01T00:00:00Z');
    assert.equal(kubelet.requests.at(-1)?.url, '/containerLogs/default/two/first?sinceTime=2030-01-01T00%3A00%3A00Z');
  });

  it('stream as they are written, and end for the kubelet when the client leaves', async () => {
    let stream: ServerResponse | undefined;
    kubelet.answer = (_request, response) => {
      stream = response;
      response.writeHead(200).flushHeaders();
    };
    const { socket, text } = await openRawConnection(server.url);
    socket.write(`GET ${pods}/on-near/log?follow=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`);
    await eventually(async () => assert.match(text(), /200 OK/));
    stream?.write('now\n');
    await eventually(async () => assert.match(text(), /now\n/));
    const closed = new Promise<void>((resolve) => stream?.on('close', () => resolve()));
    socket.destroy();
    await closed;
  });

  it('come as messages of a WebSocket', async () => {
    kubelet.answer = (_request, response) => void response.end('one\ntwo\n');
    const ask = (protocols: readonly string[]): Promise<string> => new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, headers: { authorization: 'Bearer admin-token' } };
      const socket = new WebSocket(`${server.url.replace('https', 'wss')}${pods}/on-near/log`, [...protocols], options);
      let text = '';
      socket.on('message', (data) => {
        text += String(data);
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    assert.equal(await ask(['binary.k8s.io']), 'one\ntwo\n');
    assert.equal(await ask(['base64.binary.k8s.io']), Buffer.from('one\ntwo\n').toString('base64'));
  });

  it('hold the kubelet back while the client does not read', async () => {
    let written = 0;
    let waits = false;
    kubelet.answer = (_request, response) => {
      response.writeHead(200);
      const fill = (): void => {
        while (written < 200_000_000) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536))) {
            waits = true;
            return;
          }
        }
      };
      response.on('drain', () => {
        waits = false;
        fill();
      });
      fill();
    };
    const { socket, reset } = await openRawConnection(server.url);
    socket.pause();
    socket.write(`GET ${pods}/on-near/log HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`);
    let before = -1;
    await eventually(async () => {
      const isStill = waits && before === written;
      before = written;
      assert.ok(isStill);
    });
    assert.ok(written < 50_000_000, String(written));
    reset();
  });

  it('say what the kubelet says instead of a log', async () => {
    const answers: [number, string, [number, string]][] = [
      [400, 'container is waiting', [400, 'container is waiting']], [500, 'no disk', [500, 'Internal error occurred: no disk']],
      [404, 'gone', [404, 'the server could not find the requested resource ( pods/log on-near)']],
      [503, 'later', [503, 'the server is currently unable to handle the request ( pods/log on-near)']],
    ];
    for (const [status, text, expected] of answers) {
      kubelet.answer = (_request, response) => void response.writeHead(status).end(text);
      assert.deepEqual(await messageOf('on-near/log'), expected);
    }
    kubelet.answer = (_request, response) => void response.writeHead(302, { location: '/other' }).end();
    assert.deepEqual(await messageOf('on-near/log'), [500, 'Get "/other": redirects forbidden']);
  });

  it('say why no kubelet answers', async () => {
    assert.equal((await get('waiting/log')).status, 204);
    assert.deepEqual(await messageOf('on-gone/log'), [404, 'pods "gone" not found']);
    assert.deepEqual(await messageOf('on-nowhere/log'), [500, 'no preferred addresses found; known addresses: []']);
    assert.deepEqual(await messageOf('on-closed/log'),
      [500, 'Get "https://127.0.0.1:1/containerLogs/default/on-closed/main": dial tcp 127.0.0.1:1: connect: connection refused']);
  });

  it('verify the kubelet, unless they are asked not to', async () => {
    kubelet.answer = (_request, response) => void response.end('log');
    const [status, message] = await messageOf('on-unnamed/log');
    assert.equal(status, 500);
    assert.match(message, /tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match localhost$/);
    assert.equal((await get('on-unnamed/log?insecureSkipTLSVerifyBackend=true')).text, 'log');
  });

  it('have options that are checked before the pod is looked at', async () => {
    const problems: [string, string][] = [
      ['tailLines=-1', 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
      ['limitBytes=0', 'limitBytes: Invalid value: 0: must be greater than 0'], ['sinceSeconds=0', 'sinceSeconds: Invalid value: 0: must be greater than 0'],
      ['sinceSeconds=1&sinceTime=', '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'],
      ['stream=Stdout', 'stream: Forbidden: may not be specified'],
    ];
    for (const [query, problem] of problems) {
      assert.deepEqual(await messageOf(`absent/log?${query}`), [422, `PodLogOptions "absent" is invalid: ${problem}`]);
    }
    assert.deepEqual(await messageOf('absent/log?tailLines=x'), [400, 'strconv.ParseInt: parsing "x": invalid syntax']);
    assert.deepEqual(await messageOf('absent/log?sinceTime=now'),
      [400, 'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"']);
    assert.deepEqual(await messageOf('two/log'), [400, 'a container name must be specified for pod two, choose one of: [first a b]']);
    assert.deepEqual(await messageOf('two/log?container=c'), [400, 'container c is not valid for pod two']);
  });
});
