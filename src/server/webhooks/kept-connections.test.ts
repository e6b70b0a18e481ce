// Connections that are kept: how many are opened, which are used again, and how calls fail.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createManualClock, systemClock, systemRandom } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { createCertificate } from '../tls/certificates.ts';
import { CallEnd, type HttpRequest, callBefore } from './http-call.ts';
import { KeptConnections } from './kept-connections.ts';

const LIMIT_BYTES = 1000;
const TIMEOUT_MS = 5000;

interface Parts {
  readonly call: (path?: string, body?: string | Buffer, headers?: Readonly<Record<string, string>>) =>
  Promise<{ readonly status: number; readonly body: string }>;
  readonly sockets: Socket[];
  readonly clock: ReturnType<typeof createManualClock>;
}

async function withService(answer: RequestListener, run: (parts: Parts) => Promise<void>): Promise<void> {
  const context = { clock: systemClock, random: systemRandom };
  const { certificate, key } = createCertificate({ commonName: 'service', hosts: ['127.0.0.1'], lifetimeMs: 3_600_000 }, context);
  const sockets: Socket[] = [];
  const service = createServer({ cert: certificate, key }, answer).on('connection', (socket) => sockets.push(socket as Socket))
    .listen(0, '127.0.0.1');
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  const clock = createManualClock();
  const connections = new KeptConnections({ ca: certificate, allowPartialTrustChain: true }, { clock });
  const call: Parts['call'] = async (path = '/', body = '{}', headers = {}) => {
    const request: HttpRequest = { host: '127.0.0.1', port, method: 'POST', path, headers: { host: 'service', 'x-many': ['1', '2'], ...headers }, body };
    const end = new CallEnd(clock, { timeoutMs: TIMEOUT_MS });
    try {
      const sent = await callBefore(end, { ...request, agent: connections }, LIMIT_BYTES);
      return { status: sent.status, body: sent.body.toString() };
    } finally {
      end.dispose();
    }
  };
  try {
    await run({ call, sockets, clock });
  } finally {
    connections.destroy();
    service.closeAllConnections();
    service.close();
  }
}

const echo: RequestListener = (request, response) => {
  request.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end(String(request.headers['x-many'])));
};

describe('KeptConnections', () => {
  it('send nothing for a path or a header that would be more than that', async () => {
    await withService(echo, async ({ call, sockets }) => {
      for (const path of ['/a b', '/a\r\nx-other: 1', '/é']) await assert.rejects(call(path), /has characters that are not escaped/);
      await assert.rejects(call('/', '{}', { 'x-text': 'a\r\nx-other: 1' }), /Invalid character in header content/);
      assert.equal(sockets.length, 0);
    });
  });

  it('carry one request after the other, and as many at a time as are asked', async () => {
    await withService(echo, async ({ call, sockets }) => {
      for (const body of ['{"a":"é"}', Buffer.from('{"b":1}')]) assert.deepEqual(await call('/', body), { status: 200, body: `${body.toString()}1, 2` });
      assert.equal(sockets.length, 1);
      await Promise.all([call(), call(), call()]);
      assert.equal(sockets.length, 3);
      await Promise.all([call(), call(), call()]);
      assert.equal(sockets.length, 3);
    });
  });

  it('are replaced when the server has closed them', async () => {
    await withService(echo, async ({ call, sockets }) => {
      await call();
      // The next request finds the connection reset at the moment when it is written.
      sockets[0]?.resetAndDestroy();
      assert.equal((await call()).status, 200);
      assert.equal(sockets.length, 2);
    });
  });

  it('are closed when they are idle for as long as the server says', async () => {
    await withService((request, response) => void response.setHeader('keep-alive', 'timeout=20').end('x'), async ({ call, sockets, clock }) => {
      await call();
      clock.advance(15_000);
      await call();
      assert.equal(sockets.length, 1);
      clock.advance(19_000);
      await eventually(async () => assert.equal(sockets[0]?.destroyed, true));
      await call();
      assert.equal(sockets.length, 2);
    });
  });

  it('are not kept when the server says that it closes them', async () => {
    await withService((request, response) => void response.setHeader('connection', 'close').end('x'), async ({ call, sockets }) => {
      assert.equal((await call()).body, 'x');
      assert.equal((await call()).body, 'x');
      assert.equal(sockets.length, 2);
    });
  });

  it('fail for answers that are cut short, too large, late or none', async () => {
    let requests = 0;
    await withService((request, response) => {
      requests += 1;
      if (request.url === '/cut') response.writeHead(200, { 'content-length': 5 }).write('abc', () => request.socket.destroy());
      if (request.url === '/large') response.end('x'.repeat(LIMIT_BYTES + 1));
      if (request.url === '/closed') request.socket.destroy();
    }, async ({ call, clock }) => {
      await assert.rejects(call('/cut'), { code: 'ECONNRESET' });
      await assert.rejects(call('/large'), { message: `the answer is larger than ${LIMIT_BYTES} bytes` });
      await assert.rejects(call('/closed'), { code: 'ECONNRESET' });
      // None of them is asked again: their connections were new.
      assert.equal(requests, 3);
      const late = call('/late');
      await eventually(async () => assert.equal(requests, 4));
      clock.advance(TIMEOUT_MS);
      await assert.rejects(late, { name: 'TimeoutError' });
    });
  });

  it('are given up when the time of a call ends before they are open', async () => {
    const clock = createManualClock();
    const connections = new KeptConnections({}, { clock, dial: () => new Promise(() => {}) });
    const end = new CallEnd(clock, { timeoutMs: TIMEOUT_MS });
    const call = connections.send({ host: 'service', port: 1, method: 'GET', path: '/', headers: {}, body: undefined }, end, LIMIT_BYTES);
    clock.advance(TIMEOUT_MS);
    await assert.rejects(call, { name: 'TimeoutError' });
  });

  it('refuse headers that would be more than one', async () => {
    await withService(echo, async ({ call }) => {
      await assert.rejects(call('/', '{}', { authorization: 'a\r\nb: c' }), { code: 'ERR_INVALID_CHAR' });
    });
  });
});
