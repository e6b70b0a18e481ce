// The listener over real sockets: both protocols on one port, bodies both ways, failures that stay with their request, graceful stop.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect } from 'node:http2';
import { type RequestOptions, Agent, request as requestHttps } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { type Clock, createManualClock, systemClock, systemRandom } from '../../base/index.ts';
import type { Exchange, Handler, Response } from '../../endpoints/index.ts';
import { type KeyPair, createCertificate } from '../tls/certificates.ts';
import type { ServerExchange } from './exchange.ts';
import { type Listener, createListener } from './listener.ts';
import { silentLogger } from '../observability/logger.ts';

const context = { clock: systemClock, random: systemRandom };
const encoder = new TextEncoder();
const answer = (body: Response['body'], status = 200): Response => ({ status, headers: { 'content-type': 'text/plain' }, body });

async function handle(exchange: Exchange): Promise<Response> {
  switch (exchange.path) {
    case '/echo': return answer(await exchange.readBody(1000));
    case '/who': return answer(encoder.encode(`${exchange.clientCertificate?.commonName} ${exchange.clientCertificate?.authorized}`));
    case '/large': return answer(Array.from({ length: 4000 }, () => new Uint8Array(1024).fill(97)));
    case '/query': return answer(encoder.encode(`${exchange.path} ${exchange.query.get('a')}`));
    case '/watch':
      (exchange as ServerExchange).longRunning = true;
      return answer(async (sink) => {
        sink.write(encoder.encode('first'));
        await new Promise((resolve) => sink.signal.addEventListener('abort', resolve));
      });
    case '/late':
      await new Promise((resolve) => setTimeout(resolve, 500));
      return answer(encoder.encode('late'));
    case '/breaks': return answer(async (sink) => {
      sink.write(encoder.encode('some'));
      throw new Error('in the middle');
    });
    case '/throws': throw new Error('before the head');
    default: return answer(encoder.encode('a b' === exchange.path.slice(1) ? 'decoded' : 'ok'));
  }
}

const warnings: string[] = [];

interface Reply {
  readonly status: number;
  readonly text: string;
}

function ask(options: RequestOptions & { readonly body?: Uint8Array }): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = requestHttps({ host: '127.0.0.1', rejectUnauthorized: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(options.body);
  });
}

function askHttp2(session: ClientHttp2Session, path: string, body?: Uint8Array): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':method': body === undefined ? 'GET' : 'POST' });
    const chunks: Buffer[] = [];
    let status = 0;
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('close', () => {
      if (stream.rstCode === 0) resolve({ status, text: Buffer.concat(chunks).toString() });
      else reject(new Error(`reset with code ${stream.rstCode}`));
    });
    stream.on('error', reject);
    stream.end(body);
  });
}

async function openListener(
  authority: KeyPair, more: { readonly clock?: Clock; readonly handler?: Handler } = {},
): Promise<{ listener: Listener; port: number }> {
  const serving = createCertificate({ commonName: 's', hosts: ['localhost', '127.0.0.1', '::1'], issuer: authority, lifetimeMs: 1e8 }, context);
  const listener = createListener({
    ...context, logger: { ...silentLogger, warn: (message) => warnings.push(message) }, maxStreamsPerConnection: 100, maxResets: 200, handler: handle,
    ...more,
    tls: { certificate: serving.certificate, key: serving.key, clientAuthorities: [authority.certificate] },
  });
  return { listener, port: await listener.listen(0, '127.0.0.1') };
}

describe('createListener', () => {
  const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, context);
  let listener: Listener;
  let port = 0;
  let session: ClientHttp2Session;
  before(async () => {
    ({ listener, port } = await openListener(authority));
    session = connect(`https://127.0.0.1:${port}`, { ca: authority.certificate });
  });
  after(async () => {
    session.close();
    await listener.close(1000);
  });

  it('serves HTTP/1.1 with a certificate that its authority vouches for', async () => {
    assert.deepEqual(await ask({ port, path: '/x', ca: authority.certificate, rejectUnauthorized: true }), { status: 200, text: 'ok' });
  });

  it('serves HTTP/2 on the same port', async () => {
    assert.deepEqual(await askHttp2(session, '/x'), { status: 200, text: 'ok' });
  });

  it('reads bodies up to the limit of the handler in both protocols', async () => {
    const body = encoder.encode('hello');
    assert.equal((await ask({ port, path: '/echo', method: 'POST', body })).text, 'hello');
    assert.equal((await askHttp2(session, '/echo', body)).text, 'hello');
  });

  it('decodes paths and queries', async () => {
    assert.equal((await ask({ port, path: '/%71uery?a=%20b' })).text, '/query  b');
    assert.equal((await ask({ port, path: '/a%20b' })).text, 'decoded');
  });

  it('answers 400 to a path that cannot be decoded', async () => {
    assert.equal((await ask({ port, path: '/%zz' })).status, 400);
    assert.equal((await askHttp2(session, '/%ff')).status, 400);
  });

  it('writes pieces in batches, all of them and in order', async () => {
    assert.equal((await ask({ port, path: '/large' })).text.length, 4_096_000);
    assert.equal((await askHttp2(session, '/large')).text.length, 4_096_000);
  });

  it('answers in full to a client that offers another protocol', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'other' };
    const { status, text } = await ask({ port, path: '/large', headers, agent: false });
    assert.deepEqual([status, text.length], [200, 4000 * 1024]);
  });

  it('gives the handler the client certificate that was shown and whether it is vouched for', async () => {
    const client = createCertificate({ commonName: 'someone', organizations: ['a', 'b'], issuer: authority, lifetimeMs: 1e8 }, context);
    const stranger = createCertificate({ commonName: 'ca', lifetimeMs: 1e8 }, context);
    const forged = createCertificate({ commonName: 'someone', issuer: stranger, lifetimeMs: 1e8 }, context);
    const agent = () => new Agent({ keepAlive: false });
    assert.equal((await ask({ port, path: '/who', agent: agent(), cert: client.certificate, key: client.key })).text, 'someone true');
    assert.equal((await ask({ port, path: '/who', agent: agent(), cert: forged.certificate, key: forged.key })).text, 'someone false');
    assert.equal((await ask({ port, path: '/who', agent: agent() })).text, 'undefined undefined');
  });

  it('refuses a serving certificate as a client certificate', async () => {
    const serving = createCertificate({ commonName: 'server', hosts: ['localhost'], issuer: authority, lifetimeMs: 1e8 }, context);
    assert.equal((await ask({ port, path: '/who', agent: new Agent(), cert: serving.certificate, key: serving.key })).text, 'server false');
  });

  it('cuts off a response that breaks, and serves the next request', async () => {
    await assert.rejects(ask({ port, path: '/breaks' }));
    await assert.rejects(ask({ port, path: '/throws' }));
    await assert.rejects(askHttp2(session, '/breaks'));
    assert.equal((await askHttp2(session, '/x')).text, 'ok');
    assert.equal((await ask({ port, path: '/x' })).text, 'ok');
  });

  it('aborts the signal of a request whose client disconnects', async () => {
    const stream = session.request({ ':path': '/watch' });
    stream.on('error', () => {});
    await new Promise((resolve) => stream.once('data', resolve));
    const [exchange] = [...listener.active].filter(({ path }) => path === '/watch');
    assert.equal(exchange?.signal.aborted, false);
    stream.close(8);
    await new Promise((resolve) => exchange?.onClosed(() => resolve(undefined)));
    assert.equal(exchange?.signal.aborted, true);
  });

  it('keeps a connection whose client cancels what it has read, again and again', async () => {
    const reader = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    let answered = 0;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 60 }, () => new Promise<void>((resolve) => {
        const stream = reader.request({ ':path': '/x' });
        stream.on('error', () => resolve());
        stream.on('data', () => {
          answered += 1;
          stream.close(8);
        });
        stream.on('close', resolve);
      })));
    }
    assert.equal(answered, 600);
    reader.close();
  });

  it('closes a connection that resets streams by the thousand', async () => {
    const attacker = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    attacker.on('error', () => {});
    await new Promise((resolve) => attacker.once('connect', resolve));
    // Node's own client does not notice the end of a connection that it floods; that it gets no answer any more, shows it.
    for (let round = 0; round < 60; round += 1) {
      for (let count = 0; count < 90 && !attacker.destroyed && !attacker.closed; count += 1) {
        const stream = attacker.request({ ':path': '/watch' });
        stream.on('error', () => {});
        setImmediate(() => stream.close(8));
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const silence = new Promise((resolve) => setTimeout(() => resolve('silence'), 1000));
    const refused = Promise.resolve().then(() => askHttp2(attacker, '/x')).then((reply) => `answer ${reply.text}`, () => 'refusal');
    assert.notEqual(await Promise.race([refused, silence]), 'answer ok');
    attacker.destroy();
    assert.equal((await askHttp2(session, '/x')).text, 'ok');
    assert.equal([...listener.active].length, 0);
  });
});

describe('a connection of HTTP/2', () => {
  /** Opens so many streams of a path and gives each up after a while; comes to whether the connection is still there. */
  async function giveUp(path: string, { streams, afterMs }: { readonly streams: number; readonly afterMs: number }): Promise<boolean> {
    const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, context);
    const { listener, port } = await openListener(authority);
    const client = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    client.on('error', () => {});
    await new Promise((resolve) => client.once('connect', resolve));
    for (let opened = 0; opened < streams && !client.destroyed && !client.closed; opened += 50) {
      const some = Array.from({ length: 50 }, () => client.request({ ':path': path }));
      for (const stream of some) stream.on('error', () => {});
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      for (const stream of some) stream.close(8);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const isThere = await askHttp2(client, '/x').then(() => true, () => false);
    client.destroy();
    await listener.close(1000);
    return isThere;
  }

  it('is closed by requests that are given up before they are answered, and not by those that are given up later', async () => {
    assert.equal(await giveUp('/late', { streams: 400, afterMs: 20 }), false);
    assert.equal(await giveUp('/late', { streams: 150, afterMs: 20 }), true);
    assert.equal(await giveUp('/watch', { streams: 400, afterMs: 150 }), true);
  });
});

describe('closing a listener', () => {
  it('resolves when the last request is over, also one that came after the stop had begun', async () => {
    const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, context);
    const ends = new Map<string, () => void>();
    const ended = (path: string) => new Promise<void>((resolve) => ends.set(path, resolve));
    // The clock stands still: nothing but the end of the requests ends the wait.
    const { listener, port } = await openListener(authority, {
      clock: createManualClock(),
      handler: async ({ path }) => {
        if (path !== '/streams') await ended(path);
        return answer(async (sink) => {
          sink.write(encoder.encode(path));
          if (path === '/streams') await ended(path);
        });
      },
    });
    const until = async (path: string) => {
      while (!ends.has(path)) await new Promise((resolve) => setImmediate(resolve));
    };
    const first = ask({ port, path: '/first', agent: new Agent() });
    // One connection, whose second request leaves as soon as the first is answered; its head was sent before the stop.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const streams = ask({ port, path: '/streams', agent });
    const late = ask({ port, path: '/late', agent });
    await Promise.all([until('/first'), until('/streams')]);
    const closed = listener.close(60_000);
    ends.get('/streams')?.();
    assert.equal((await streams).text, '/streams');
    await until('/late');
    ends.get('/first')?.();
    assert.equal((await first).text, '/first');
    ends.get('/late')?.();
    assert.equal((await late).text, '/late');
    await closed;
  });

  it('ends watches cleanly in both protocols and resolves', async () => {
    const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, context);
    const { listener, port } = await openListener(authority);
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const watches = [ask({ port, path: '/watch' }), askHttp2(session, '/watch')];
    while (listener.active.size < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await listener.close(2000);
    for (const watch of watches) assert.deepEqual(await watch, { status: 200, text: 'first' });
    session.close();
  });
});
