// The name in the hello of a client, as Node's client sends it, whole and in pieces; bytes that are none.
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { readServerName } from './server-name.ts';

/** The first bytes of a TLS client. */
async function captureHello(servername: string): Promise<Buffer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const received = new Promise<Buffer>((resolve) => server.once('connection', (socket) => socket.once('data', (chunk: Buffer) => {
    socket.destroy();
    resolve(chunk);
  })));
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  client.on('error', () => undefined);
  const hello = await received;
  server.close();
  return hello;
}

test('readServerName finds the name in the hello of a client, as soon as all of it is there', async () => {
  const hello = await captureHello('one.example.com');
  assert.equal(readServerName(hello), 'one.example.com');
  for (let length = 0; length < hello.length; length++) assert.equal(readServerName(hello.subarray(0, length)), undefined, String(length));
  assert.equal(readServerName(await captureHello('')), '');
});

test('readServerName joins a hello that comes in several records', async () => {
  const hello = (await captureHello('one.example.com')).subarray(5);
  const record = (part: Buffer): Buffer => Buffer.concat([Buffer.of(22, 3, 1, part.length >> 8, part.length & 255), part]);
  assert.equal(readServerName(Buffer.concat([record(hello.subarray(0, 3)), record(hello.subarray(3, 100)), record(hello.subarray(100))])), 'one.example.com');
});

test('readServerName takes any bytes', () => {
  assert.equal(readServerName(Buffer.from('GET / HTTP/1.1\r\n')), '');
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
    const hello = Buffer.concat([Buffer.of(22, 3, 1, 0, bytes.length & 255, 1, 0, 0), bytes]);
    const name = readServerName(hello);
    assert.ok(name === undefined || typeof name === 'string');
  }));
});
