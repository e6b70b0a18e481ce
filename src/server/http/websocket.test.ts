// WebSockets over a real port: handshake, messages, pings and goodbyes, and requests that do not become one.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import type { Exchange, Response } from '../../endpoints/index.ts';
import { type Listener, createListener } from './listener.ts';
import { readWebSocketRequest } from './websocket.ts';
import { silentLogger } from '../observability/logger.ts';

/** The key of the RFC's example, and the answer to it. */
const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const accept = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
const encoder = new TextEncoder();
let ended = 0;

const watch = (contentType: string, chunks: readonly Uint8Array[], stays: boolean): Response => ({
  status: 200, headers: { 'content-type': contentType },
  async body(sink) {
    for (const chunk of chunks) sink.write(chunk);
    if (stays && !sink.signal.aborted) await new Promise((resolve) => sink.signal.addEventListener('abort', resolve));
    ended++;
  },
});

async function handle(exchange: Exchange): Promise<Response> {
  exchange.info = { ...exchange.info, verb: exchange.path === '/list' ? 'list' : 'watch' };
  if (exchange.headers['authorization'] === 'Bearer wrong') return { status: 401, headers: { 'content-type': 'text/plain' }, body: encoder.encode('no') };
  switch (exchange.path) {
    case '/lines': return watch('application/json', [encoder.encode('{"a":1}\n{"b":2}\n'), encoder.encode(`"${'x'.repeat(70_000)}"\n`)], false);
    case '/frames': return watch('application/vnd.kubernetes.protobuf;stream=watch', [Uint8Array.of(0, 0, 0, 2, 7, 8, 0, 0, 0, 1, 9)], false);
    case '/stays': return watch('application/json', [encoder.encode('1\n')], true);
    default: return { status: 200, headers: { 'content-type': 'text/plain' }, body: encoder.encode(exchange.headers['authorization'] ?? 'plain') };
  }
}

let listener: Listener;
let port = 0;
before(async () => {
  listener = createListener({ clock: systemClock, random: systemRandom, logger: silentLogger, maxStreamsPerConnection: 1, handler: handle });
  port = await listener.listen(0, '127.0.0.1');
});
after(() => listener.close(100));

function open(path: string, more = ''): { socket: Socket; all: Promise<Buffer> } {
  const socket = connect({ host: '127.0.0.1', port });
  const handshake = `Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${handshake}${more}\r\n`);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { socket, all: new Promise((resolve) => socket.on('close', () => resolve(Buffer.concat(chunks)))) };
}

/** Head and frames of what a server sent. */
function parse(bytes: Buffer): { head: string; frames: { opcode: number; payload: Buffer }[] } {
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const frames: { opcode: number; payload: Buffer }[] = [];
  for (let at = end; at < bytes.length;) {
    const short = bytes[at + 1] as number;
    const size = short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    const start = at + (short === 127 ? 10 : short === 126 ? 4 : 2);
    frames.push({ opcode: (bytes[at] as number) & 15, payload: bytes.subarray(start, start + size) });
    at = start + size;
  }
  return { head: bytes.toString('latin1', 0, end), frames };
}

const mask = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | payload.length, 1, 2, 3, 4), payload.map((byte, i) => byte ^ ((i & 3) + 1))]);

test('writeWebSocket sends one text message per line and says goodbye at the end of the stream', async () => {
  const { head, frames } = parse(await open('/lines').all);
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.ok(head.includes(`Sec-WebSocket-Accept: ${accept}\r\n`));
  assert.deepEqual(frames.map(({ opcode, payload }) => [opcode, payload.length]), [[1, 8], [1, 8], [1, 70_003], [8, 2]]);
  assert.equal(frames[0]?.payload.toString(), '{"a":1}\n');
  assert.equal(frames[3]?.payload.readUInt16BE(), 1000);
});

test('writeWebSocket sends protobuf as binary messages without lengths, or as base64 text', async () => {
  const binary = parse(await open('/frames').all).frames;
  assert.deepEqual(binary.slice(0, 2).map(({ opcode, payload }) => [opcode, [...payload]]), [[2, [7, 8]], [2, [9]]]);
  const { head, frames } = parse(await open('/frames', 'Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n').all);
  assert.ok(head.includes('Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n'));
  assert.deepEqual(frames.slice(0, 2).map(({ opcode, payload }) => [opcode, payload.toString()]), [[1, 'Bwg='], [1, 'CQ==']]);
});

test('writeWebSocket answers pings and ends the stream when the client closes, leaves or breaks the protocol', async () => {
  for (const last of [mask(8, Buffer.of(3, 232)), Buffer.of(0x81, 1, 65), undefined]) {
    const before = ended;
    const { socket, all } = open('/stays');
    for (let got = ''; !got.endsWith('1\n');) got += String(await new Promise((resolve) => socket.once('data', resolve)));
    const ping = mask(9, Buffer.from('hello'));
    socket.write(ping.subarray(0, 3));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write(ping.subarray(3));
    await answered;
    if (last === undefined) socket.destroy();
    else socket.write(last);
    const { frames } = parse(await all);
    assert.deepEqual([frames[1]?.opcode, frames[1]?.payload.toString()], [10, 'hello']);
    for (let i = 0; i < 50 && ended === before; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(ended, before + 1);
  }
});

test('a client that sends pings and reads no answers is cut off, before its answers fill the memory', async () => {
  const { socket } = open('/stays');
  for (let got = ''; !got.endsWith('1\n');) got += String(await new Promise((resolve) => socket.once('data', resolve)));
  socket.pause();
  const [exchange] = listener.active;
  const connection = (exchange?.wire.input as IncomingMessage).socket;
  let mostBytes = 0;
  const closed = new Promise((resolve) => connection.on('close', resolve));
  const pings = Buffer.concat(Array.from({ length: 20_000 }, () => mask(9, Buffer.alloc(100))));
  const flood = (): void => {
    mostBytes = Math.max(mostBytes, connection.writableLength);
    socket.write(pings, (error) => error ?? flood());
  };
  socket.on('error', () => {});
  flood();
  await closed;
  assert.ok(mostBytes < 64 * 1024, `${mostBytes} bytes`);
  socket.destroy();
  for (let i = 0; i < 50 && listener.active.size > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(listener.active.size, 0);
});

test('the token of a subprotocol authenticates, and requests without a stream are answered as usual', async () => {
  const protocol = (token: string): string =>
    `Sec-WebSocket-Protocol: v1, base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}\r\n`;
  assert.match((await open('/list', protocol('secret')).all).toString(), /^HTTP\/1\.1 200 [^]*Bearer secret$/);
  assert.match((await open('/stays', protocol('wrong')).all).toString(), /^HTTP\/1\.1 401 [^]*no$/);
  assert.match((await open('/list').all).toString(), /^HTTP\/1\.1 200 [^]*plain$/);
});

test('readWebSocketRequest wants a whole handshake, and one well-formed token beside another protocol', () => {
  const headers = { upgrade: 'WebSocket', connection: 'upgrade', 'sec-websocket-version': '13', 'sec-websocket-key': key };
  const read = (more: Record<string, string> = {}, method = 'GET') => readWebSocketRequest({ method, headers: { ...headers, ...more } });
  assert.deepEqual(read(), { key, protocols: [], token: undefined, session: undefined });
  const bad: Record<string, string>[] = [{ upgrade: 'h2c' }, { connection: 'close' }, { 'sec-websocket-version': '8' }, { 'sec-websocket-key': 'AAAA' }];
  for (const more of bad) assert.equal(read(more), undefined);
  assert.equal(read({}, 'POST'), undefined);
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('t').toString('base64url')}`;
  assert.deepEqual(read({ 'sec-websocket-protocol': `a, ${token}` }), { key, protocols: ['a'], token: 't', session: undefined });
  for (const text of [token, `a, ${token}, ${token}`, `a, ${token}=`, 'a, base64url.bearer.authorization.k8s.io.']) {
    assert.equal(read({ 'sec-websocket-protocol': text })?.token, undefined);
  }
});
