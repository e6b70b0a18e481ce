// Two connections that become one: what becomes of the client's when the other breaks before they are joined.
import assert from 'node:assert/strict';
import { Duplex, PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createManualClock, systemClock } from '../../base/index.ts';
import type { HttpExchange } from './exchange.ts';
import { TunnelResponse } from './tunnel.ts';
import type { Upgrade } from './websocket.ts';

const exchange = { auditId: 'a', clock: systemClock, signal: new AbortController().signal } as unknown as HttpExchange;

/** A client's connection; what it is sent is gathered, once it reads. */
function makeClient(reads: Promise<void> | undefined = undefined): { readonly socket: Duplex; readonly received: () => string } {
  const chunks: Buffer[] = [];
  const socket = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      if (reads === undefined) done();
      else void reads.then(() => done());
    },
  });
  return { socket, received: () => Buffer.concat(chunks).toString() };
}

describe('TunnelResponse', () => {
  it('survives an error of the other connection before the two are joined, and closes the client\'s', async () => {
    const other = new PassThrough();
    const response = new TunnelResponse({ upgrade: 'x' }, { socket: other, head: Buffer.from('hello') });
    other.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    await setImmediate();
    const { socket, received } = makeClient();
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    await response.join(exchange, { socket, head: Buffer.from('first words') } as unknown as Upgrade);
    await closed;
    assert.match(received(), /^HTTP\/1.1 101 [^]*upgrade: x\r\n\r\nhello$/);
  });

  it('reads the other connection no further than the client does, and gives it everything when it reads again', async () => {
    let read = (): void => {};
    const { socket, received } = makeClient(new Promise<void>((resolve) => {
      read = resolve;
    }));
    const other = new PassThrough({ highWaterMark: 4_000_000 });
    const head = Buffer.alloc(0);
    await new TunnelResponse({ upgrade: 'x' }, { socket: other, head }).join(exchange, { socket, head } as unknown as Upgrade);
    const pieces = Array.from({ length: 100 }, (_, index) => String(index).padEnd(16_384, '.'));
    for (const piece of pieces) other.write(piece);
    for (let turn = 0; turn < 1000 && !other.isPaused(); turn++) await setImmediate();
    assert.ok(socket.writableLength < 300_000, String(socket.writableLength));
    assert.ok(other.readableLength > 1_000_000, String(other.readableLength));
    read();
    const expected = pieces.join('');
    while (received().length < expected.length) await setImmediate();
    assert.ok(received().endsWith(expected));
    socket.destroy();
  });

  it('notices that a client is gone which it does not read, since the other connection takes nothing', async () => {
    const clock = createManualClock();
    const client = makeClient();
    const other = makeClient(new Promise<void>(() => {}));
    let error = 0;
    const socket = Object.assign(client.socket, { _handle: { getpeername: () => error, readStart() {}, readStop() {} } });
    const head = Buffer.alloc(0);
    const response = new TunnelResponse({ upgrade: 'x' }, { socket: other.socket, head });
    await response.join({ ...exchange, clock } as unknown as HttpExchange, { socket, head } as unknown as Upgrade);
    for (let piece = 0; piece < 20; piece++) socket.push(Buffer.alloc(16_384));
    await setImmediate();
    assert.ok(socket.isPaused());
    clock.advance(5000);
    assert.ok(!socket.destroyed);
    error = -107;
    clock.advance(5000);
    assert.ok(socket.destroyed);
    await setImmediate();
    clock.advance(10_000);
    await setImmediate();
    assert.ok(other.socket.destroyed);
    assert.equal(clock.pendingTimers, 0);
  });
});
