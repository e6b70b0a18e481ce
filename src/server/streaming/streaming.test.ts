// Exec, attach and port-forward: what a client that speaks SPDY or WebSocket and a kubelet that speaks either get from each other.
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import WebSocket from 'ws';
import { type TestServer, eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { FakeKubelet, createNode, createPod } from '../proxy/testing.ts';
import { SpdyKubelet } from './testing.ts';

const pods = '/api/v1/namespaces/default/pods';
const V5 = 'v5.channel.k8s.io';
const FORWARD = 'SPDY/3.1+portforward.k8s.io';

/** A WebSocket of a client, with what it has been sent by channel. */
interface Client {
  readonly socket: WebSocket;
  readonly text: (channel: number) => string;
  readonly closed: Promise<number>;
}

describe('streams of containers', () => {
  const kubelet = new FakeKubelet();
  let server: TestServer;
  let session: SpdyKubelet | undefined;

  const open = (path: string, protocols: readonly string[], token = 'admin-token'): Promise<Client> => {
    const url = `${server.url.replace('https', 'wss')}${pods}/${path}`;
    const socket = new WebSocket(url, [...protocols], { rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } });
    const chunks: Buffer[] = [];
    socket.on('message', (data) => chunks.push(data as Buffer));
    const closed = new Promise<number>((resolve) => socket.on('close', (code) => resolve(code)));
    const text = (channel: number): string => Buffer.concat(chunks.filter((chunk) => chunk[0] === channel).map((chunk) => chunk.subarray(1))).toString();
    return new Promise((resolve, reject) => {
      socket.on('open', () => resolve({ socket, text, closed }));
      socket.on('error', reject);
      socket.on('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.on('end', () => reject(new Error(`${response.statusCode} ${body}`)));
      });
    });
  };
  const exec = async (query: string): Promise<{ readonly client: Client; readonly session: SpdyKubelet }> => {
    const client = await open(`old/exec?command=sh&${query}`, [V5]);
    await eventually(async () => assert.ok(session !== undefined && session.types.includes('stdout')));
    return { client, session: session as SpdyKubelet };
  };
  const send = (client: Client, channel: number, text: string): void => client.socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));

  before(async () => {
    server = await startTestServer({ kubeletPreferredAddressTypes: ['InternalIP'] });
    const port = await kubelet.listen();
    await createNode(server, { name: 'old', address: '127.0.0.1', port });
    await createNode(server, { name: 'new', address: '127.0.0.1', port, features: ['ExtendWebSocketsToKubelet'] });
    await createNode(server, { name: 'closed', address: '127.0.0.1', port: 1 });
    for (const node of ['old', 'new', 'closed']) await createPod(server, { name: node, node });
  });
  beforeEach(() => {
    session = undefined;
    kubelet.upgrade = (_request, socket) => {
      session = new SpdyKubelet(socket, 'v4.channel.k8s.io');
    };
  });
  after(async () => {
    await server.close();
    kubelet.close();
  });

  it('are opened with the options of the client, output and exit code come back', async () => {
    const { client, session: streams } = await exec('command=-c&command=a+b&stdin=true&stdout=1&stderr=true');
    const request = kubelet.requests.at(-1);
    assert.deepEqual([request?.method, request?.url], ['POST', '/exec/default/old/main?command=sh&command=-c&command=a+b&error=1&input=1&output=1']);
    assert.deepEqual(streams.types, ['error', 'stdin', 'stdout', 'stderr']);
    streams.write('stdout', 'out');
    streams.write('stderr', 'err', true);
    send(client, 0, 'first ');
    send(client, 0, 'second');
    client.socket.send(Buffer.from([255, 0]));
    await eventually(async () => assert.deepEqual([streams.written.get('stdin'), streams.ended], ['first second', ['stdin']]));
    streams.write('stdout', '', true);
    const details = { causes: [{ reason: 'ExitCode', message: '3' }] };
    streams.write('error', JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', message: 'x', details }), true);
    assert.equal(await client.closed, 1000);
    assert.deepEqual([client.text(1), client.text(2)], ['out', 'err']);
    assert.deepEqual(JSON.parse(client.text(3)), {
      metadata: {}, status: 'Failure', message: 'command terminated with non-zero exit code: command terminated with exit code 3',
      reason: 'NonZeroExitCode', details,
    });
  });

  it('have a terminal whose size the client says', async () => {
    const { client, session: streams } = await exec('stdout=1&stderr=1&tty=1');
    assert.deepEqual(streams.types, ['error', 'stdout', 'resize']);
    send(client, 4, '{"Width":80,"Height":24}\n');
    await eventually(async () => assert.equal(streams.written.get('resize'), '{"Width":80,"Height":24}\n'));
    streams.write('stdout', '', true);
    streams.write('error', '', true);
    await client.closed;
    assert.deepEqual(JSON.parse(client.text(3)), { metadata: {}, status: 'Success' });
  });

  it('report on the error channel what the kubelet refuses, and what breaks', async () => {
    const message = async (client: Client): Promise<string> => {
      await client.closed;
      return JSON.parse(client.text(3)).message;
    };
    kubelet.upgrade = (_request, socket) => void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 14\r\n\r\nno such thing\n');
    assert.equal(await message(await open('old/attach?stdout=1', [V5])), 'Internal error occurred: unable to upgrade connection: no such thing');
    assert.equal(await message(await open('closed/exec?stdout=1', [V5])),
      'Internal error occurred: dial tcp 127.0.0.1:1: connect: connection refused');
    kubelet.upgrade = (_request, socket) => {
      session = new SpdyKubelet(socket, 'v4.channel.k8s.io');
    };
    const { client, session: streams } = await exec('stdout=1');
    streams.socket.destroy();
    assert.equal(await message(client), 'Internal error occurred: error reading from error stream: unexpected EOF');
  });

  it('end for the kubelet when the client leaves, and hold neither back for the other', async () => {
    const { client, session: streams } = await exec('stdout=1');
    const closed = new Promise<void>((resolve) => streams.socket.on('close', () => resolve()));
    client.socket.terminate();
    await closed;
    await eventually(async () => assert.equal(kubelet.connectionCount, 0));
  });

  it('are read no faster than the client reads', async () => {
    const { client, session: streams } = await exec('stdout=1');
    client.socket.pause();
    const piece = Buffer.alloc(65_536);
    let written = 0;
    while (written < 100_000_000 && streams.write('stdout', piece)) written += piece.length;
    await eventually(async () => {
      const before = written;
      if (!streams.socket.writableNeedDrain) while (written < 100_000_000 && streams.write('stdout', piece)) written += piece.length;
      assert.equal(written, before);
      assert.ok(streams.socket.writableNeedDrain);
    });
    assert.ok(written < 50_000_000, String(written));
    client.socket.terminate();
  });

  it('go through as they are where the kubelet speaks the protocol of the client', async () => {
    kubelet.upgrade = (_request, socket: Duplex) => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes');
    const ask = async (path: string, head: string, method = 'GET'): Promise<string> => {
      const { socket, closed } = await openRawConnection(server.url);
      socket.write(`${method} ${pods}/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\n${head}\r\n\r\n`);
      return closed;
    };
    const spdy = 'Upgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io';
    assert.match(await ask('old/exec?command=ls&stdout=1', spdy, 'POST'), /^HTTP\/1.1 101 [^]*bytes$/);
    const { headers, method, url } = kubelet.requests.at(-1) ?? {};
    assert.deepEqual([method, url, headers?.['upgrade'], headers?.['x-stream-protocol-version'], headers?.authorization],
      ['POST', '/exec/default/old/main?command=ls&output=1', 'SPDY/3.1', 'v4.channel.k8s.io', undefined]);
    assert.match(await ask('old/exec?stdout=1', 'Upgrade: websocket\r\nSec-WebSocket-Protocol: v4.channel.k8s.io'), /bytes$/);
    assert.match(await ask('new/exec?stdout=1', 'Upgrade: websocket\r\nSec-WebSocket-Protocol: v5.channel.k8s.io'), /bytes$/);
    assert.equal(kubelet.requests.at(-1)?.headers['sec-websocket-protocol'], V5);
    assert.match(await ask('old/portforward', 'Upgrade: SPDY/3.1', 'POST'), /bytes$/);
    assert.equal(kubelet.requests.at(-1)?.url, '/portForward/default/old');
    kubelet.upgrade = (_request, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    assert.match(await ask('old/exec', 'Upgrade: SPDY/3.1', 'POST'), /^HTTP\/1.1 403 [^]*no$/);
  });

  it('need an upgrade, a right to create, and a complete handshake', async () => {
    const plain = await server.request({ method: 'POST', path: `${pods}/old/exec` });
    assert.deepEqual([plain.status, plain.body.message], [400, 'Upgrade request required']);
    const closed = await openRawConnection(server.url);
    closed.socket.write(`POST ${pods}/closed/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
    assert.match(await closed.closed, /^HTTP\/1.1 500 [^]*"message":"error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused","code":500/);
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
    await server.request({ method: 'POST', path: `${rbac}/roles`, body: { metadata: { name: 'reader' }, rules } });
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }];
    await server.request({ method: 'POST', path: `${rbac}/rolebindings`, body: { metadata: { name: 'reader' }, roleRef, subjects } });
    await eventually(async () => {
      await assert.rejects(open('old/exec?stdout=1', [V5], 'alice-token'), /^Error: 403 .*"message":"pods \\"old\\" is forbidden: "/);
    });
    const bad = await openRawConnection(server.url);
    bad.socket.write(`GET ${pods}/old/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`
      + 'Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n');
    assert.match(await bad.closed, /^HTTP\/1.1 400 /);
  });

  it('carry forwarded ports inside a WebSocket', async () => {
    const received: Buffer[] = [];
    let other: Duplex | undefined;
    kubelet.upgrade = (request, socket) => {
      other = socket;
      const protocol = request.headers['x-stream-protocol-version'];
      socket.on('data', (chunk: Buffer) => received.push(chunk));
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\nfirst`);
    };
    const { socket, text, closed } = await openRawConnection(server.url);
    const path = `${pods}/old/portforward?ports=80&ports=81`;
    const handshake = (protocols: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n`
      + `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`
      + `Sec-WebSocket-Protocol: ${protocols}\r\n\r\n`;
    socket.write(handshake(`other, ${FORWARD}`));
    await eventually(async () => assert.match(text(), /^HTTP\/1.1 101 [^]*Sec-WebSocket-Protocol: SPDY\/3.1\+portforward.k8s.io\r\n[^]*first$/));
    const { method, url, headers } = kubelet.requests.at(-1) ?? {};
    assert.deepEqual([method, url, headers?.['upgrade'], headers?.['x-stream-protocol-version'], headers?.['sec-websocket-key']],
      ['POST', '/portForward/default/old?port=80%2C81', 'SPDY/3.1', 'portforward.k8s.io', undefined]);
    socket.write(Buffer.from([0x82, 0x84, 0, 0, 0, 0, ...Buffer.from('ping')]));
    await eventually(async () => assert.equal(Buffer.concat(received).toString(), 'ping'));
    other?.write('second');
    await eventually(async () => assert.match(text(), /second$/));
    other?.destroy();
    await closed;
    kubelet.upgrade = (_request, refused) => void refused.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno');
    const second = await openRawConnection(server.url);
    second.socket.write(handshake(FORWARD));
    assert.match(await second.closed, /^HTTP\/1.1 404 [^]*no$/);
  });

  it('give the connection to the kubelet back where the handshake of the client is refused', async () => {
    kubelet.upgrade = (_request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
    const { socket, closed } = await openRawConnection(server.url);
    // The key lacks its padding.
    socket.write(`GET ${pods}/old/portforward?ports=80 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\n`
      + `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\nSec-WebSocket-Protocol: ${FORWARD}\r\n\r\n`);
    assert.match(await closed, /^HTTP\/1.1 400 /);
    await eventually(() => assert.equal(kubelet.connectionCount, 0));
  });
});
