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

/** A client's connection; what it is sent is gathered. */
function makeClient(): { readonly socket: Duplex; readonly received: () => string } {
  const chunks: Buffer[] = [];
  const socket = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
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
});
