// Connections to kubelets that break the rules.
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { createManualClock } from '../../base/index.ts';
import { SpdyConnection } from './spdy-connection.ts';
import { encodeDataHead, encodeNumbers, frameTypes } from './spdy-frames.ts';

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

test('SpdyConnection passes on what a read brings on a stream in one piece, and all of it before the end of the stream', () => {
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  const connection = new SpdyConnection(socket, { head: Buffer.alloc(0), clock: createManualClock(), onClose: () => {} });
  const seen: string[] = [];
  for (const name of ['a', 'b']) {
    connection.open([], { replied: () => {}, data: (piece) => void seen.push(`${name} ${piece.toString()}`), ended: () => void seen.push(`${name} ended`) });
  }
  const frame = (stream: number, text: string): Buffer => Buffer.concat([encodeDataHead(stream, text.length, false), Buffer.from(text)]);
  socket.emit('data', Buffer.concat([frame(1, 'o'), frame(3, 'x'), frame(1, 'n'), frame(3, 'y'), frame(1, 'e'), encodeDataHead(1, 0, true), frame(5, 'none')]));
  assert.deepEqual(seen, ['a one', 'a ended', 'b xy']);
  socket.emit('data', Buffer.concat([frame(3, 'z'), frame(1, 'late')]));
  assert.deepEqual(seen.slice(3), ['b z']);
  connection.destroy();
});
