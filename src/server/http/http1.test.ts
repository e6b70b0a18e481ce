// HTTP/1.1 as bytes: the order of answers, what is refused before it is a request, and bodies on connections that are used again.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, request as requestHttps } from 'node:https';
import { type TestContext, after, before, describe, it } from 'node:test';
import { Socket, connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, eventually, exchangeRaw, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { createHttp1 } from './http1.ts';
import { createListener } from './listener.ts';
import type { ListenerState } from './listener-state.ts';
import { Callers, ConnectionEnds, RequestIntake } from './turns.ts';

const GET_VERSION = 'GET /version HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_VERSION = 'GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const configMaps = '/api/v1/namespaces/default/configmaps';
const makeText = (fault: string, text = fault): string =>
  `HTTP/1.1 ${fault}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;
const statusesIn = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status as string);

/**
 * A thread of its own. Its connections pass through a relay, which holds back what they send once they are known to the server, or with `withHandshake`
 * once only the last part of their handshake is missing there. It lets all of it go at once.
 */
const SENDER = `
  const net = require('node:net');
  const tls = require('node:tls');
  const { parentPort, workerData: { port, flag, sockets, requests, text, withHandshake } } = require('node:worker_threads');
  const burst = text.repeat(requests);
  const held = new Map();
  let [full, answered] = [0, 0];
  const relay = net.createServer((client) => {
    const server = net.connect(port, '127.0.0.1');
    server.pipe(client);
    client.on('data', (part) => {
      const parts = held.get(client.remotePort);
      if (parts === undefined) return void server.write(part);
      const before = Buffer.concat(parts).length;
      parts.push(part);
      parts.server = server;
      if (before <= burst.length && before + part.length > burst.length && ++full === sockets) parentPort.postMessage('ready');
    });
  });
  relay.listen(0, '127.0.0.1', () => {
    for (let at = 0; at < sockets; at++) {
      const socket = tls.connect({ host: '127.0.0.1', port: relay.address().port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
      const hold = () => {
        held.set(socket.localPort, []);
        socket.write(burst);
      };
      socket.on('secureConnect', () => withHandshake ? hold() : socket.write(text));
      socket.on('data', (part) => {
        if (!held.has(socket.localPort)) return hold();
        answered += part.toString('latin1').split('HTTP/1.1 200').length - 1;
        if (answered === sockets * requests) parentPort.postMessage('answered');
      });
    }
  });
  parentPort.once('message', async () => {
    await Promise.all([...held.values()].map((parts) => new Promise((resolve) => parts.server.write(Buffer.concat(parts), resolve))));
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });`;

/** Has many connections send many requests while the thread of the server does not look at them; resolves with the most that came in one turn. */
async function sendAtOnce(server: TestServer, { context, ...burst }: {
  readonly context: TestContext; readonly sockets: number; readonly requests: number; readonly withHandshake: boolean;
}): Promise<number> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(SENDER, { eval: true, workerData: { ...burst, port: new URL(server.url).port, flag, text: GET_VERSION } });
  let [begun, most] = [0, 0];
  const count = (): void => void begun++;
  const look = (): void => {
    most = Math.max(most, begun);
    begun = 0;
    turn = setImmediate(look);
  };
  context.after(async () => {
    clearImmediate(turn);
    unsubscribe('http.server.request.start', count);
    await client.terminate();
  });
  let turn = setImmediate(look);
  assert.deepEqual(await once(client, 'message'), ['ready']);
  subscribe('http.server.request.start', count);
  client.postMessage('go');
  assert.notEqual(Atomics.wait(flag, 0, 0, 10_000), 'timed-out');
  assert.deepEqual(await once(client, 'message'), ['answered']);
  return most;
}

/** A listener without TLS whose requests never end. */
async function openPlainListener() {
  const listener = createListener({
    clock: systemClock, random: systemRandom, logger: silentLogger, maxStreamsPerConnection: 100, handler: () => new Promise(() => {}) });
  return { listener, port: await listener.listen(0, '127.0.0.1') };
}

it('connections whose time is over end in turns', () => {
  const begun: object[] = [];
  const state = {
    options: { clock: systemClock, logger: silentLogger }, intake: new RequestIntake(), ends: new ConnectionEnds(), callers: new Callers(),
    turns: { begin: (connection: object) => void begun.push(connection) },
  } as unknown as ListenerState;
  const http1 = createHttp1(state);
  const sockets = [new Socket(), new Socket()];
  for (const socket of sockets) http1.emit('clientError', Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  assert.deepEqual(begun, sockets);
  http1.emit('clientError', Object.assign(new Error('broken'), { code: 'HPE_INVALID_METHOD' }), sockets[0]);
  assert.deepEqual(begun, sockets);
});

describe('an HTTP/1.1 connection', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('answers 3,000 pipelined requests, in their order', async () => {
    const requests = Array.from({ length: 3000 }, (_, at) => `GET /version HTTP/1.1\r\nHost: x\r\nAudit-Id: seq-${at}\r\n\r\n`);
    const text = await exchangeRaw(server.url, requests.join('') + LAST_VERSION);
    assert.equal(statusesIn(text).filter((status) => status === '200').length, 3001);
    assert.deepEqual([...text.matchAll(/audit-id: seq-(\d+)/g)].map(([, at]) => Number(at)), requests.map((_, at) => at));
  });

  it('takes pipelined requests of many connections in several turns, and answers all of them', async (context) => {
    const most = await sendAtOnce(server, { context, sockets: 20, requests: 150, withHandshake: false });
    assert.ok(most >= 150 && most <= 350, `${most} in one turn`);
  });

  it('takes requests that come with the last part of many handshakes in several turns', async (context) => {
    const most = await sendAtOnce(server, { context, sockets: 20, requests: 150, withHandshake: true });
    assert.ok(most >= 150 && most <= 450, `${most} in one turn`);
  });

  it('answers a request for another protocol after those before it', async () => {
    const upgrade = 'GET /version HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
    assert.deepEqual(statusesIn(await exchangeRaw(server.url, GET_VERSION + GET_VERSION + upgrade)), ['200', '200', '200']);
    const watch = `GET ${configMaps}?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n`;
    assert.deepEqual(statusesIn(await exchangeRaw(server.url, watch + upgrade)), ['200', '200']);
  });

  it('serves a request for another protocol that has a body as an ordinary one, and those behind it', async () => {
    const head = (more: string): string => `POST ${configMaps}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n`
      + `Content-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${more}\r\n`;
    const body = JSON.stringify({ metadata: { name: 'upgraded' }, data: { text: 'x'.repeat(100_000) } });
    const whole = head(`Content-Length: ${body.length}\r\n`) + body;
    const chunked = `${head('Transfer-Encoding: chunked\r\n')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const request of [whole, chunked]) {
      const text = await exchangeRaw(server.url, GET_VERSION + request + GET_VERSION + request + LAST_VERSION);
      assert.deepEqual(statusesIn(text), ['200', '201', '200', '201', '200']);
      assert.equal(text.split('"name":"upgraded"').length, 3);
    }
    const many = head(`${'a: b\r\n'.repeat(4000)}Impersonate-User: alice\r\nContent-Length: ${body.length}\r\n`) + body;
    assert.deepEqual(statusesIn(await exchangeRaw(server.url, many)), ['431']);
  });

  it('answers what it cannot read as Go does, after the requests before it', async () => {
    const bad = '400 Bad Request';
    const rows: readonly (readonly [request: string, answer: string])[] = [
      ['hello\r\n\r\n', makeText(bad)],
      ['GET /version HTTP/1.1\r\n\r\n', makeText(`${bad}: missing required Host header`)],
      ['GET /version HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', makeText(`${bad}: too many Host headers`)],
      ['GET /version HTTP/1.1\r\nHost: x y\r\n\r\n', makeText(`${bad}: malformed Host header`)],
      ['GET /version HTTP/3.0\r\nHost: x\r\n\r\n', makeText('505 HTTP Version Not Supported: unsupported protocol version')],
      ['GET /version HTTP/1.1\nHost: x\n\n', makeText(bad)],
      ['GET /version HTTP/12.1\r\nHost: x\r\n\r\n', makeText(bad)],
      ['GET /version HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n', makeText(bad)],
      ['GET /version HTTP/1.1\r\nHost: x\r\na: c\x01d\r\n\r\n', makeText(bad)],
      ['GET /version HTTP/1.1\r\nHost: x\r\na: b\r\n c\r\n\r\n', makeText(bad)],
      ['POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', makeText(bad)],
      ['POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na', makeText(bad)],
      ['POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na', makeText(bad)],
      ['POST /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n', makeText('501 Not Implemented', 'Unsupported transfer encoding')],
      [`GET /version HTTP/1.1\r\nHost: x\r\na: ${'b'.repeat(1_060_000)}\r\n\r\n`, makeText('431 Request Header Fields Too Large')],
    ];
    for (const [request, answer] of rows) {
      assert.equal(await exchangeRaw(server.url, request), answer, request.slice(0, 100));
      const behind = await exchangeRaw(server.url, GET_VERSION + request);
      assert.equal(behind.slice(behind.lastIndexOf('HTTP/1.1')), answer, request.slice(0, 100));
      assert.equal(statusesIn(behind)[0], '200', request.slice(0, 100));
    }
  });

  it('answers a body that breaks its framing, and a chunk with an endless extension', async () => {
    const head = `POST ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const body of ['5\r\n{"a":\r\nzz\r\n', `5;${'e'.repeat(20_000)}\r\n{"a":\r\n0\r\n\r\n`]) {
      assert.equal(await exchangeRaw(server.url, head + body), makeText('400 Bad Request'));
    }
  });

  it('takes all headers of a request or none: up to 4,000 lines and 1 MiB', async () => {
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
    const ask = async (junk: string): Promise<string> => {
      const text = await exchangeRaw(server.url, `POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n`
        + `${junk}Impersonate-User: alice\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
      return /"username":\s*"([^"]*)"/.exec(text)?.[1] ?? statusesIn(text).join();
    };
    const lines = (count: number): string => Array.from({ length: count }, (_, at) => `x${at}: 1\r\n`).join('');
    for (const count of [10, 1000, 1900, 2000, 2100, 3900]) assert.equal(await ask(lines(count)), 'alice', `${count} headers`);
    for (const count of [4001, 5000, 20_000]) assert.equal(await ask(lines(count)), '431', `${count} headers`);
    assert.equal(await ask(`junk: ${'x'.repeat(900_000)}\r\n`), 'alice');
  });

  it('takes targets of most of a mebibyte', async () => {
    const text = await exchangeRaw(server.url, `GET /version?x=${'y'.repeat(900_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    assert.deepEqual(statusesIn(text), ['200']);
  });

  it('loses no answer to large bodies on one connection', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const send = (bytes: number): Promise<number> => new Promise((resolve, reject) => {
      const body = Buffer.from(JSON.stringify({ metadata: { name: 'big' }, data: { x: 'y'.repeat(bytes) } }));
      const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json', 'content-length': body.length };
      const request = requestHttps(`${server.url}${configMaps}?dryRun=All`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode as number)).on('error', reject);
      });
      request.on('error', reject);
      request.end(body);
    });
    for (let at = 0; at < 500; at += 1) assert.equal(await send([26, 26, 60, 26, 200][at % 5] as number * 1024), 201, `request ${at}`);
    agent.destroy();
  });

  it('loses no body that comes in several TLS records while the last answer is not drained', async () => {
    const { socket, text, closed } = await openRawConnection(server.url);
    // More than the buffers of both sockets hold.
    socket.pause().write('GET /openapi/v2 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n\r\n'.repeat(8));
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const body = JSON.stringify({ metadata: { name: 'big' }, data: { x: 'y'.repeat(60_000) } });
    socket.write(`POST ${configMaps}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nContent-Type: application/json\r\n`
      + `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    socket.resume();
    await closed;
    assert.deepEqual(statusesIn(text()), [...Array.from({ length: 8 }, () => '200'), '201']);
  });

  it('delivers an answer that comes before the body was read, and closes or keeps the connection', async () => {
    for (const [bytes, kept] of [[100_000, true], [2_000_000, false]] as const) {
      const { socket, text, closed } = await openRawConnection(server.url);
      socket.write(`POST ${configMaps} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer unknown\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`);
      while (!text().includes('Unauthorized')) await new Promise((resolve) => setImmediate(resolve));
      socket.write('x'.repeat(bytes));
      if (kept) socket.write(LAST_VERSION);
      assert.deepEqual(statusesIn(await closed), kept ? ['401', '200'] : ['401']);
    }
  });
});

it('connections of many pipelined requests are closed when too many wait in all, and those with few are kept', async (context) => {
  const { listener, port } = await openPlainListener();
  context.after(() => listener.close(0));
  const open = (requests: number) => new Promise<{ isClosed: boolean }>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(GET_VERSION.repeat(requests), () => resolve(state)));
    const state = { isClosed: false };
    socket.on('error', () => {}).on('close', () => {
      state.isClosed = true;
    });
    context.after(() => socket.destroy());
  });
  const few = await open(60);
  const many: { isClosed: boolean }[] = [];
  for (let count = 0; count < 12; count++) many.push(await open(1000));
  await eventually(() => assert.ok(many.filter(({ isClosed }) => isClosed).length >= 4));
  assert.equal(few.isClosed, false);
  assert.ok(many.some(({ isClosed }) => !isClosed));
});
