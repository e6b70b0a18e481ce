// Connections to kubelets that break the rules.
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { SpdyConnection } from './spdy-connection.ts';
import { encodeNumbers, frameTypes } from './spdy-frames.ts';

test('SpdyConnection keeps no answers for a kubelet that asks for them without end and reads nothing', () => {
  const socket = new Duplex({ read: () => {}, write: () => {} });
  const connection = new SpdyConnection(socket, { head: Buffer.alloc(0), clock: createManualClock(), onClose: () => {} });
  const frames = [encodeNumbers(frameTypes.ping, 2), encodeNumbers(frameTypes.synStream, 2, 0)];
  const flood = Buffer.concat(Array.from({ length: 100_000 }, (_, index) => frames[index % 2] as Buffer));
  socket.emit('data', flood);
  assert.ok(socket.writableLength > 0);
  assert.ok(socket.writableLength <= 2 * socket.writableHighWaterMark, String(socket.writableLength));
  connection.destroy();
});
