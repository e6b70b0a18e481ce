// Connections that pass bytes on at a rate: what passes when, ends and breaks, and proxies of a server with the flag.
import assert from 'node:assert/strict';
import { type Server, createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Clock, createManualClock, systemClock } from '../../base/index.ts';
import { eventually, openRawConnection, startTestServer } from '../../test-support/index.ts';
import { createPod } from './testing.ts';
import { throttle } from './throttled-connection.ts';

/** A connection whose far end is the test. */
function makeInner(): { readonly inner: Duplex; readonly written: () => string } {
  const chunks: Buffer[] = [];
  const inner = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { inner, written: () => Buffer.concat(chunks).toString() };
}

function setUp(bytesPerSecond: number) {
  const clock = createManualClock();
  const { inner, written } = makeInner();
  const connection = throttle(inner, bytesPerSecond, clock);
  let text = '';
  connection.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const step = async (byMs: number): Promise<void> => {
    clock.advance(byMs);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  return { clock, inner, written, connection, read: () => text, step };
}

describe('throttle', () => {
  it('passes a tenth of the rate in each tenth of a second, each way', async () => {
    const { inner, written, connection, read, step } = setUp(30);
    inner.push('abcdefgh');
    connection.write('12345678');
    for (const passed of [3, 6, 8]) {
      await step(passed === 3 ? 0 : 100);
      assert.deepEqual([read(), written()], ['abcdefgh'.slice(0, passed), '12345678'.slice(0, passed)]);
    }
    await step(1000);
    inner.push('ijkl');
    await step(0);
    assert.equal(read(), 'abcdefghijk');
  });

  it('passes a byte at least, and all at once without a limit', async () => {
    const { inner, read, step } = setUp(1);
    inner.push('ab');
    await step(0);
    assert.equal(read(), 'a');
    const { inner: free } = makeInner();
    assert.equal(throttle(free, 0, createManualClock()), free);
  });

  it('ends when the other connection has ended and all has passed', async () => {
    const { inner, connection, read, step } = setUp(20);
    let hasEnded = false;
    connection.on('end', () => {
      hasEnded = true;
    });
    inner.push('abc');
    inner.push(null);
    await step(0);
    assert.deepEqual([read(), hasEnded], ['ab', false]);
    await step(100);
    assert.deepEqual([read(), hasEnded], ['abc', true]);
  });

  it('ends the other connection after what is written, breaks with it, and leaves no timer', async () => {
    const { inner, connection, written, step } = setUp(20);
    connection.end('abc');
    await step(0);
    assert.deepEqual([written(), inner.writableFinished], ['ab', false]);
    await step(100);
    assert.deepEqual([written(), inner.writableFinished], ['abc', true]);
    const other = setUp(20);
    other.connection.on('error', () => {});
    other.connection.write('abc');
    await other.step(0);
    assert.equal(other.clock.pendingTimers, 1);
    other.inner.destroy(new Error('gone'));
    await other.step(0);
    assert.deepEqual([other.connection.destroyed, other.clock.pendingTimers], [true, 0]);
  });
});

const address = Object.values(networkInterfaces()).flat().find((one) => one?.family === 'IPv4' && !one.internal)?.address;

describe('--max-connection-bytes-per-sec', { skip: address === undefined ? 'this machine is in no network' : false }, () => {
  it('holds connections that change their protocol to a rate', async (t) => {
    const held: (() => void)[] = [];
    let skippedMs = 0;
    let isHolding = false;
    const clock: Clock = {
      now: () => systemClock.now(), monotonicMs: () => (isHolding ? skippedMs : systemClock.monotonicMs()),
      after(delayMs, callback) {
        if (!isHolding || delayMs > 100) return systemClock.after(delayMs, callback);
        held.push(callback);
        return { cancel: () => {} };
      },
    };
    const server = await startTestServer({ maxConnectionBytesPerSec: 40, clock });
    let received = '';
    const behind: Server = createServer();
    t.after(async () => {
      isHolding = false;
      // Other work of the server may have asked for its turn meanwhile.
      for (const callback of held.splice(0)) callback();
      await server.close();
      behind.closeAllConnections();
      behind.close();
    });
    behind.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
    });
    const port = await new Promise<number>((resolve) => behind.listen(0, address, () => resolve((behind.address() as { port: number }).port)));
    await createPod(server, { name: 'web', ip: address ?? '', spec: { containers: [{ name: 'a', image: 'x', ports: [{ containerPort: port }] }] } });
    const { socket, text } = await openRawConnection(server.url);
    socket.write('GET /api/v1/namespaces/default/pods/web/proxy/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\n'
      + 'Connection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await eventually(() => assert.match(text(), /^HTTP\/1.1 101 /));
    isHolding = true;
    // A whole number: sums of fractions would make a window end a little later than 100 ms after it began.
    skippedMs = Math.ceil(systemClock.monotonicMs()) + 1000;
    socket.write('abcdefghij');
    for (const passed of ['abcd', 'abcdefgh', 'abcdefghij']) {
      // Timers may be set after the bytes before them have come: they are asked again as long as time stands still.
      await eventually(() => {
        for (const callback of held.splice(0)) callback();
        assert.equal(received, passed);
      });
      skippedMs += 100;
    }
    socket.destroy();
  });
});
