// Two connections that become one: what becomes of the client's when the other breaks before they are joined.
import assert from 'node:assert/strict';
import { Duplex, PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../base/index.ts';
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
});
