// JSON of other servers: kept connections, and each way in which an answer fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { JsonClient } from './json-client.ts';

/** A server, a client of it, and the connections that were made. */
async function withService(answer: RequestListener, run: (parts: {
  readonly client: JsonClient; readonly url: string; readonly sockets: Socket[]; readonly clock: ReturnType<typeof createManualClock>;
}) => Promise<void>): Promise<void> {
  const sockets: Socket[] = [];
  const service = createServer(answer).on('connection', (socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const clock = createManualClock();
  const client = new JsonClient(clock, { headers: { authorization: 'Bearer a' } });
  try {
    await run({ client, url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/path?a=b`, sockets, clock });
  } finally {
    client.close();
    service.closeAllConnections();
    service.close();
  }
}

describe('JsonClient', () => {
  it('asks over one connection, and over another when that one was closed', async () => {
    const seen: string[] = [];
    await withService((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
      request.on('end', () => response.end(JSON.stringify([request.method, request.url, request.headers.authorization])));
    }, async ({ client, url, sockets }) => {
      assert.deepEqual(JSON.parse(await client.getText(url)), ['GET', '/path?a=b', 'Bearer a']);
      assert.deepEqual(await client.post(url, { b: 1 }), ['POST', '/path?a=b', 'Bearer a']);
      await client.send(url, '{"c":2}', 1000);
      assert.deepEqual(seen, ['{"b":1}', '{"c":2}']);
      assert.equal(sockets.length, 1);
      // The next request finds the connection reset at the moment when it is written.
      sockets[0]?.resetAndDestroy();
      assert.deepEqual(JSON.parse(await client.getText(url)), ['GET', '/path?a=b', 'Bearer a']);
      assert.equal(sockets.length, 2);
    });
  });

  it('fails for answers that are no success, no JSON or too large', async () => {
    const bodies: Readonly<Record<string, string>> = { '/text': 'text', '/large': `"${'x'.repeat(1024 * 1024)}"` };
    await withService(({ url = '' }, response) => {
      response.statusCode = url === '/missing' ? 404 : 200;
      response.end(bodies[url]);
    }, async ({ client, url }) => {
      const at = (path: string): string => new URL(path, url).href;
      await assert.rejects(client.getText(at('/missing')), { message: 'the server could not find the requested resource' });
      await assert.rejects(client.post(at('/text'), {}), { message: 'the answer is not JSON' });
      await assert.rejects(client.ask(at('/text'), {}), { message: 'the answer is not JSON' });
      const closed = 'http://127.0.0.1:1/a';
      await assert.rejects(client.ask(closed, {}), { message: `Post "${closed}": dial tcp 127.0.0.1:1: connect: connection refused` });
      await assert.rejects(client.getText(at('/large')), { message: 'the answer is larger than 1048576 bytes' });
      await client.send(at('/text'), '{}', 1000);
    });
  });

  it('ends a call when its time is up', async () => {
    let requests = 0;
    await withService(() => void (requests += 1), async ({ client, url, clock }) => {
      const call = client.post(url, {}, 5000);
      await eventually(async () => assert.equal(requests, 1));
      clock.advance(5000);
      await assert.rejects(call, { name: 'TimeoutError' });
    });
  });
});
