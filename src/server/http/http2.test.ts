// HTTP/2 sessions and the TLS below them: what a client without credentials, an idle one and an attacker get.
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { createManualClock, systemClock, systemRandom } from '../../base/index.ts';
import type { Handler } from '../../endpoints/index.ts';
import { type TestServer, eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { createCertificate } from '../tls/certificates.ts';
import { createListener } from './listener.ts';

const ignore = (): void => {};

async function openSession(url: string): Promise<ClientHttp2Session> {
  const session = connect(url, { rejectUnauthorized: false });
  session.on('error', ignore);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

function ask(session: ClientHttp2Session, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    stream.on('error', reject);
    stream.on('response', (response) => {
      stream.resume().on('end', () => resolve(response[':status'] as number));
    });
  });
}

const isClosed = (session: ClientHttp2Session): Promise<void> => eventually(() => assert.ok(session.closed || session.destroyed));

describe('an HTTP/2 session', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('allows 100 streams at once', async () => {
    const session = await openSession(server.url);
    assert.equal(session.remoteSettings.maxConcurrentStreams, 100);
    session.destroy();
  });

  it('takes one request without credentials, or with wrong ones, and many with valid ones', async () => {
    for (const [headers, status] of [[{}, 200], [{ authorization: 'Bearer wrong' }, 401]] as const) {
      const session = await openSession(server.url);
      assert.equal(await ask(session, { ':path': '/version', ...headers }), status);
      await isClosed(session);
    }
    const session = await openSession(server.url);
    for (let count = 0; count < 5; count += 1) assert.equal(await ask(session, { ':path': '/version', authorization: 'Bearer alice-token' }), 200);
    assert.ok(!session.closed);
    session.destroy();
  });

  it('takes a request with 1,000 headers, and refuses one with more than 4,000', async () => {
    const session = await openSession(server.url);
    const makeHeaders = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, '1']));
    const headers = { ':path': '/version', authorization: 'Bearer alice-token' };
    assert.equal(await ask(session, { ...headers, ...makeHeaders(1000) }), 200);
    await assert.rejects(ask(session, { ...headers, ...makeHeaders(5000) }));
    session.destroy();
  });

  it('ends when its client gives up streams by the thousand, authenticated or not', async () => {
    for (const headers of [{}, { authorization: 'Bearer alice-token' }] as Record<string, string>[]) {
      const { socket, closed } = await openRawConnection(server.url, { ALPNProtocols: ['h2'] });
      socket.write(encodeResets(3000, headers));
      await closed;
    }
    assert.equal((await server.request({ path: '/version' })).status, 200);
  });
});

/** One frame. */
function encodeFrame(type: number, { flags, id }: { flags: number; id: number }, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

/** The headers of a GET of the version. */
function encodeHeaders(headers: Readonly<Record<string, string>>): Buffer {
  const encodeText = (text: string): Buffer => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);
  const fields = Object.entries({ ':path': '/version', ':authority': 'x', ...headers });
  // Indexed: GET and https; the others are literals that are not added to the table.
  return Buffer.concat([Buffer.of(0x82, 0x87), ...fields.flatMap(([name, value]) => [Buffer.of(0), encodeText(name), encodeText(value)])]);
}

const opening = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), encodeFrame(4, { flags: 0, id: 0 }, Buffer.alloc(0))]);

/** The first bytes of a client that opens streams and gives each up at once. */
function encodeResets(count: number, headers: Readonly<Record<string, string>>): Buffer {
  const block = encodeHeaders(headers);
  const frames: Buffer[] = [opening];
  for (let at = 0; at < count; at += 1) {
    const id = 2 * at + 1;
    frames.push(encodeFrame(1, { flags: 5, id }, block), encodeFrame(3, { flags: 0, id }, Buffer.of(0, 0, 0, 8)));
  }
  return Buffer.concat(frames);
}

/** A listener by a clock that the test moves. */
async function openListener(handler: Handler, beforeAnswer?: () => void) {
  const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, { clock: systemClock, random: systemRandom });
  const clock = createManualClock();
  const listener = createListener({
    clock, random: systemRandom, logger: silentLogger, maxStreamsPerConnection: 100, handler, beforeAnswer,
    tls: { certificate: authority.certificate, key: authority.key, clientAuthorities: [] },
  });
  return { clock, listener, url: `https://127.0.0.1:${await listener.listen(0, '127.0.0.1')}` };
}

it('what is written before answers is written once for the answers of a turn, and before each of them leaves', async () => {
  const made: string[] = [];
  const written = new Set<string>();
  let writes = 0;
  const long = new Uint8Array(300_000);
  const { listener, url } = await openListener((exchange) => {
    made.push(exchange.path);
    return { status: 200, headers: {}, body: exchange.path.startsWith('/long') ? long : new Uint8Array(10) };
  }, () => {
    writes += 1;
    for (const path of made.splice(0)) written.add(path);
  });
  const session = await openSession(url);
  const get = (path: string, method = 'GET'): Promise<number> => new Promise((resolve) => {
    let bytes = 0;
    session.request({ ':path': path, ':method': method }).on('response', () => assert.ok(written.has(path), path))
      .on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => resolve(bytes));
  });
  assert.deepEqual(await Promise.all([get('/a'), get('/head', 'HEAD'), get('/long')]), [10, 0, long.length]);
  writes = 0;
  const paths = Array.from({ length: 80 }, (_, index) => `/${index}`);
  assert.deepEqual(await Promise.all(paths.map((path) => get(path))), paths.map(() => 10));
  assert.ok(writes >= 1 && writes <= 20, `${writes} writes`);
  session.destroy();
  await listener.close(0);
});

it('streams that many connections open at once come in several turns, and all are answered', async (context) => {
  const { listener, url } = await openListener(() => Promise.resolve({ status: 200, headers: [], body: new Uint8Array(1) }) as never);
  const flag = new Int32Array(new SharedArrayBuffer(4));
  // A thread of its own opens the streams, while the listener's does not look at its connections.
  const client = new Worker(`
    const { connect } = require('node:http2');
    const { parentPort, workerData: { url, flag } } = require('node:worker_threads');
    const sessions = Array.from({ length: 10 }, () => connect(url, { rejectUnauthorized: false }));
    let [settled, ended] = [0, 0];
    for (const session of sessions) session.once('remoteSettings', () => ++settled === 10 && parentPort.postMessage('connected'));
    parentPort.once('message', () => {
      for (const session of sessions) for (let count = 0; count < 100; count++) {
        session.request({ ':path': '/' }).on('end', () => ++ended === 1000 && parentPort.postMessage('answered')).resume();
      }
      setTimeout(() => { Atomics.store(flag, 0, 1); Atomics.notify(flag, 0); }, 300);
    });`, { eval: true, workerData: { url, flag } });
  context.after(async () => {
    await client.terminate();
    await listener.close(0);
  });
  let [streams, most] = [0, 0];
  const hook = createHook({ init: (_, type) => void (type === 'HTTP2STREAM' && streams++) }).enable();
  const look = (): void => {
    most = Math.max(most, streams);
    streams = 0;
    turn = setImmediate(look);
  };
  let turn = setImmediate(look);
  await once(client, 'message');
  client.postMessage('go');
  Atomics.wait(flag, 0, 0, 10_000);
  assert.deepEqual(await once(client, 'message'), ['answered']);
  clearImmediate(turn);
  hook.disable();
  assert.ok(most >= 100 && most <= 300, `${most} in one turn`);
});

it('an HTTP/2 session that has ended by a broken frame shows that its client has left', async () => {
  let begun = 0;
  let ended = 0;
  const { clock, listener, url } = await openListener(({ signal }) => new Promise((_, reject) => {
    begun += 1;
    signal.addEventListener('abort', () => {
      ended += 1;
      reject(new Error('the client has left'));
    });
  }));
  const broken = [
    ['PING of three bytes', encodeFrame(6, { flags: 0, id: 0 }, Buffer.alloc(3))], ['frame beyond all bounds', Buffer.from('ffffff000000000001', 'hex')],
    ['half a frame of data', Buffer.from('00003200000000000101', 'hex')], ['lone CONTINUATION', encodeFrame(9, { flags: 4, id: 3 }, Buffer.alloc(4))],
    ['header that is none', encodeFrame(1, { flags: 5, id: 3 }, Buffer.alloc(7, 0xff))],
  ] as const;
  let count = 0;
  for (const [what, frame] of broken) {
    count += 1;
    const { socket } = await openRawConnection(url, { ALPNProtocols: ['h2'] });
    socket.write(Buffer.concat([opening, encodeFrame(1, { flags: 5, id: 1 }, encodeHeaders({})), frame]));
    // Node 22 and newer end the connection at once, and the request with it.
    await eventually(() => assert.equal(begun, count, what));
    socket.destroy();
    await eventually(() => {
      clock.advance(5000);
      assert.deepEqual([ended, listener.active.size], [count, 0], what);
    });
  }
  await listener.close(0);
});

it('a watch over HTTP/2 ends with its stream, however the client gives that up', async (context) => {
  let ended = 0;
  const { clock, listener, url } = await openListener(() => ({
    status: 200, headers: {}, body: (sink) => {
      sink.write(Buffer.from('x'));
      return new Promise<void>((resolve) => sink.signal.addEventListener('abort', () => {
        ended += 1;
        resolve();
      }));
    },
  }));
  context.after(() => {
    const closed = listener.close(0);
    clock.advance(1000);
    return closed;
  });
  const leave: Readonly<Record<string, (session: ClientHttp2Session, streams: readonly ClientHttp2Stream[]) => void>> = {
    'the session is destroyed': (session) => session.destroy(),
    'streams are reset without an error': (_, streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_NO_ERROR)),
    'streams are cancelled': (_, streams) => streams.forEach((stream) => stream.close(constants.NGHTTP2_CANCEL)),
  };
  let begun = 0;
  for (const [how, giveUp] of Object.entries(leave)) {
    const session = await openSession(url);
    const streams = Array.from({ length: 20 }, () => session.request({ ':path': '/watch' }).on('error', ignore));
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('data', resolve))));
    begun += streams.length;
    giveUp(session, streams);
    await eventually(() => assert.deepEqual([ended, listener.active.size], [begun, 0], how));
    session.destroy();
  }
});

it('an HTTP/2 session without streams is closed after 90 seconds, one with a watch is kept', async () => {
  const { clock, listener, url } = await openListener((exchange) => ({
    status: 200, headers: {}, body: (sink) => {
      sink.write(Buffer.from('x'));
      return exchange.path === '/watch' ? new Promise<void>((resolve) => sink.signal.addEventListener('abort', () => resolve())) : Promise.resolve();
    },
  }));
  const [unused, used, watching] = [await openSession(url), await openSession(url), await openSession(url)];
  await new Promise((resolve) => watching.request({ ':path': '/watch' }).on('error', ignore).once('data', resolve));
  assert.equal(await ask(used, { ':path': '/get' }), 200);
  await eventually(() => assert.equal(listener.active.size, 1));
  clock.advance(89_999);
  assert.ok(!unused.closed && !used.closed);
  clock.advance(1);
  await Promise.all([isClosed(unused), isClosed(used)]);
  clock.advance(600_000);
  assert.equal(await ask(watching, { ':path': '/get' }), 200);
  const closing = listener.close(0);
  clock.advance(1000);
  watching.destroy();
  await closing;
});

describe('the TLS port', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('answers plain HTTP as Go does', async () => {
    const socket = connectTcp(Number(server.port), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    assert.equal(text, 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
  });

  it('speaks TLS 1.2 with suites of authenticated encryption only, TLS 1.3, and nothing older', async () => {
    const negotiate = (options: object): Promise<string> => new Promise((resolve) => {
      const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
        resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
        socket.destroy();
      });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    });
    assert.match(await negotiate({}), /^TLSv1\.3 /);
    assert.match(await negotiate({ maxVersion: 'TLSv1.2' }), /^TLSv1\.2 ECDHE-ECDSA-AES\d+-GCM/);
    const cbc = 'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES128-SHA:AES128-SHA';
    assert.match(await negotiate({ maxVersion: 'TLSv1.2', ciphers: cbc }), /HANDSHAKE_FAILURE/);
    assert.match(await negotiate({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }), /PROTOCOL_VERSION/);
  });
});
