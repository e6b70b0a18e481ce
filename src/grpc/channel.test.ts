// Calls against a server that answers as gRPC's may, and as only broken ones do; connections that break in all ways.
import assert from 'node:assert/strict';
import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, createServer } from 'node:http2';
import { type AddressInfo, type Server, type Socket, connect, createServer as createNetServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import { type Clock, createManualClock, systemClock } from '../base/index.ts';
import { eventually } from '../test-support/index.ts';
import { type CallStatus, Channel } from './channel.ts';
import { GrpcError } from './grpc-error.ts';
import { frameMessage } from './frames.ts';

type Answer = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => void;

const ended: (() => void)[] = [];
const endAll = (): void => {
  for (const end of ended.splice(0)) end();
};
afterEach(endAll);

async function listen(server: Http2Server | Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function open(port: number, clock: Clock = systemClock): Channel {
  const channel = new Channel({ url: `http://127.0.0.1:${port}`, headers: { hasleader: 'true' }, clock });
  ended.push(() => channel.close());
  return channel;
}

/** A server that answers every call this way, and the sessions that were opened to it. */
async function serve(answer: Answer): Promise<{ readonly port: number; readonly sessions: ServerHttp2Session[] }> {
  const sessions: ServerHttp2Session[] = [];
  const server = createServer();
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    answer(stream, headers);
  });
  ended.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { port: await listen(server), sessions };
}

/** Answers with these pieces of a body and this status in the trailers. */
function answerWith(pieces: readonly Buffer[], trailers: Readonly<Record<string, string>> = { 'grpc-status': '0' }): Answer {
  return (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    for (const piece of pieces) stream.write(piece);
    stream.end();
  };
}

const message = Buffer.from('an answer');
const framed = frameMessage(message);
const question = Buffer.from('a question');
const isFailure = (code: number, details: string | RegExp, isUnsent = false) => (error: unknown): boolean => {
  assert.ok(error instanceof GrpcError);
  assert.equal(error.code, code);
  if (typeof details === 'string') assert.equal(error.details, details);
  else assert.match(error.details, details);
  assert.equal(error.isUnsent, isUnsent);
  return true;
};

describe('Channel', () => {
  test('call hears no server to the end that answers with one message after the other, or with one above the limit of the channel', async () => {
    let closed = 0;
    const { port } = await serve((stream, headers) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.on('close', () => closed++);
      stream.write(headers[':path'] === '/many' ? Buffer.concat([framed, framed]) : frameMessage(Buffer.alloc(101)).subarray(0, 20));
    });
    const channel = new Channel({ url: `http://127.0.0.1:${port}`, receiveLimitBytes: 100, clock: createManualClock() });
    ended.push(() => channel.close());
    await assert.rejects(channel.call('/many', question, 1500), isFailure(13, 'the answer has more than one message'));
    await assert.rejects(channel.call('/large', question, 1500), isFailure(8, 'an answer of 101 bytes is larger than max (100)'));
    await eventually(() => assert.equal(closed, 2));
  });

  test('call sends one framed message with its deadline and resolves with the one that comes back, in however many pieces', async () => {
    const seen: unknown[] = [];
    const { port, sessions } = await serve((stream, headers) => {
      seen.push([headers[':path'], headers['content-type'], headers['te'], headers['hasleader'], headers['grpc-timeout']]);
      stream.on('data', (bytes: Buffer) => seen.push(bytes.toString('latin1')));
      stream.once('end', () => answerWith([framed.subarray(0, 3), framed.subarray(3, 7), framed.subarray(7)])(stream, headers));
    });
    const channel = open(port);
    assert.deepEqual(await channel.call('/some.Service/Method', question, 1500), message);
    assert.deepEqual(seen, [['/some.Service/Method', 'application/grpc', 'trailers', 'true', '1500m'], '\0\0\0\0\u000aa question']);
    await Promise.all([1, 2, 3].map(() => channel.call('/some.Service/Method', question, 1500)));
    assert.equal(sessions.length, 1);
  });

  for (const [what, answer, code, details] of [
    ['a status in the trailers, decoded', answerWith([], { 'grpc-status': '11', 'grpc-message': 'mvcc: 100%25 future' }), 11, 'mvcc: 100% future'],
    ['a message that is not encoded as it should be', answerWith([framed], { 'grpc-status': '5', 'grpc-message': '%' }), 5, '%'],
    ['a status in the head of an answer without a body',
      (stream) => stream.respond({ ':status': 200, 'grpc-status': '14', 'grpc-message': 'etcdserver: x' }, { endStream: true }), 14, 'etcdserver: x'],
    ['trailers without a status', answerWith([framed], { other: '1' }), 2, ''],
    ['an answer that is none of gRPC', (stream) => stream.respond({ ':status': 502 }, { endStream: true }), 14, 'the server answered with HTTP status 502'],
    ['success without a message', answerWith([]), 13, 'the answer has no message'],
    ['a compressed message', answerWith([Buffer.from([1, 0, 0, 0, 1, 0])]), 13, 'the answer is compressed'],
    ['a stream that is cut off', (stream) => stream.close(2), 14, 'the connection was lost'],
    ['a session that is cut off', (stream) => stream.session?.destroy(), 14, 'the connection was lost'],
  ] as const satisfies readonly (readonly [string, Answer, number, string])[]) {
    test(`call rejects: ${what}`, async () => {
      const { port } = await serve(answer);
      await assert.rejects(open(port).call('/x', question, 2000), isFailure(code, details));
    });
  }

  test('call gives up at its deadline and cancels at the server', async () => {
    let cancelled: Promise<unknown> | undefined;
    const { port } = await serve((stream) => (cancelled = new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)))));
    await assert.rejects(open(port).call('/x', question, 50), isFailure(4, 'the deadline has passed'));
    assert.equal(await cancelled, 8);
  });

  test('call opens a new session after the server has gone, or has announced it', async () => {
    const { port, sessions } = await serve(answerWith([framed]));
    const channel = open(port);
    await channel.call('/x', question, 2000);
    for (const leave of [(session: ServerHttp2Session) => session.close(), (session: ServerHttp2Session) => session.destroy()]) {
      const last = sessions.at(-1) as ServerHttp2Session;
      const gone = new Promise((resolve) => last.once('close', resolve));
      leave(last);
      await gone;
      // A call in the moment before the client notices fails; later ones succeed.
      await channel.call('/x', question, 2000).catch(() => channel.call('/x', question, 2000));
    }
    assert.equal(sessions.length, 3);
  });

  test('call is untouched when no server listens, when one listens and does not answer, and after close', async () => {
    const mute = createNetServer((socket) => ended.push(() => socket.destroy()));
    ended.push(() => mute.close());
    const port = await listen(mute);
    const channel = open(port);
    const both = await Promise.allSettled([channel.call('/x', question, 5000), channel.open('/x', { message: () => undefined, ended: () => undefined })]);
    for (const result of both) assert.ok(result.status === 'rejected' && isFailure(14, 'cannot be reached', true)(result.reason));
    endAll();
    await assert.rejects(open(port).call('/x', question, 5000), isFailure(14, 'cannot be reached', true));
    channel.close();
    await assert.rejects(channel.call('/x', question, 5000), isFailure(14, 'cannot be reached', true));
  });

  test('open carries messages both ways until the server ends it; cancel ends it without a word', async () => {
    const { port } = await serve((stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' }));
      stream.on('data', (bytes: Buffer) => (bytes.includes('last') ? stream.end(framed) : stream.write(bytes)));
    });
    const seen: (string | CallStatus)[] = [];
    const over = new Promise<void>((resolve) => {
      const sink = { message: (bytes: Buffer) => void seen.push(bytes.toString()), ended: (status: CallStatus) => resolve(void seen.push(status)) };
      void open(port).open('/x', sink).then((stream) => {
        stream.write(Buffer.from('one'));
        stream.write(Buffer.from('last'));
      });
    });
    await over;
    assert.deepEqual(seen, ['one', 'an answer', { code: 14, details: 'etcdserver: no leader' }]);
    const words: unknown[] = [];
    const stream = await open(port).open('/x', { message: (bytes) => words.push(bytes), ended: (status) => words.push(status) });
    stream.write(Buffer.from('one'));
    stream.cancel();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(words, []);
  });

  test('a server that leaves a ping unanswered is given up; one that answers is kept', async () => {
    const { port } = await serve(() => undefined);
    const sockets: Socket[] = [];
    let passed = 0;
    const proxy = createNetServer((near) => {
      const far = connect(port, '127.0.0.1');
      sockets.push(near, far);
      near.on('data', (bytes) => (passed += bytes.length) && far.write(bytes));
      far.on('data', (bytes) => near.write(bytes));
      for (const socket of [near, far]) socket.on('error', () => undefined);
    });
    ended.push(() => sockets.forEach((socket) => socket.destroy()), () => proxy.close());
    const clock = createManualClock();
    const channel = open(await listen(proxy), clock);
    const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));
    const over: CallStatus[] = [];
    const stream = await channel.open('/x', { message: () => undefined, ended: (status) => over.push(status) });
    stream.write(question);
    for (let turn = 0; turn < 3; turn += 1) {
      await settle();
      const before = passed;
      clock.advance(6_000);
      await settle();
      assert.ok(passed > before, 'a ping went out');
      assert.deepEqual(over, []);
    }
    for (const socket of sockets) socket.removeAllListeners('data');
    clock.advance(6_000);
    await settle();
    clock.advance(2_999);
    await settle();
    assert.deepEqual(over, []);
    clock.advance(1);
    await settle();
    assert.deepEqual(over.map(({ code, details }) => [code, details]), [[14, 'the connection was lost']]);
  });
});
