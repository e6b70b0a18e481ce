// Accepted WebSockets whose client does not behave.
import assert from 'node:assert/strict';
import { type Server, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { type ManualClock, createManualClock } from '../../base/index.ts';
import { eventually } from '../../test-support/index.ts';
import { type WebSocketConnection, acceptWebSocket } from './websocket-connection.ts';

/** A server and a client that has connected to it. */
async function open(clock: ManualClock) {
  const server: Server = createServer();
  const accepted = new Promise<{ connection: WebSocketConnection; socket: Socket; isClosed: () => boolean }>((resolve, reject) => {
    server.on('upgrade', (incoming, socket: Socket, head) => {
      let isClosed = false;
      acceptWebSocket({ incoming, socket, head }, {
        clock, protocol: undefined, headers: [], maxMessageBytes: 64 << 20, onClose: () => {
          isClosed = true;
        },
      }).then((connection) => resolve({ connection, socket, isClosed: () => isClosed }), reject);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { server, client, ...await accepted };
}

test('a WebSocket that is not read notices that its client has left, and does not disturb one that stays', async () => {
  const clock = createManualClock();
  const { server, client, connection, socket, isClosed } = await open(clock);
  const pings: number[] = [];
  client.on('ping', () => pings.push(clock.now()));
  connection.pause();
  clock.advance(5000);
  await eventually(() => assert.equal(pings.length, 1));
  connection.resume();
  assert.equal(clock.pendingTimers, 0);
  connection.pause();
  client.terminate();
  await eventually(() => {
    clock.advance(5000);
    assert.ok(socket.destroyed && isClosed());
  });
  assert.equal(clock.pendingTimers, 0);
  server.close();
});

test('a client that sends thousands of frames is read on in a later turn, unless its messages are not wanted', async () => {
  const clock = createManualClock();
  const { server, client, connection, socket } = await open(clock);
  await eventually(() => assert.equal(client.readyState, client.OPEN));
  const flood = async (): Promise<void> => {
    for (let count = 0; count < 1000; count++) client.send('a');
    await eventually(() => assert.ok(socket.isPaused()));
  };
  await flood();
  clock.advance(0);
  await eventually(() => assert.ok(!socket.isPaused()));
  await flood();
  connection.pause();
  clock.advance(0);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(socket.isPaused());
  client.terminate();
  connection.close();
  socket.destroy();
  server.close();
});

test('of clients whose messages do not end, the one with the longest is cut off when all of them are too much', async () => {
  const clock = createManualClock();
  const clients = await Promise.all([20, 25, 15].map(async (megabytes) => ({ megabytes, ...await open(clock) })));
  const unfinished = (bytes: number): Buffer => Buffer.concat([Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x03, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(bytes)]);
  const rawOf = (client: WebSocket): Socket => (client as unknown as { readonly _socket: Socket })._socket;
  for (const { client, socket, megabytes } of clients) {
    client.on('error', () => {});
    await eventually(() => assert.equal(client.readyState, client.OPEN));
    rawOf(client).write(unfinished(megabytes << 20));
    await eventually(() => assert.ok(socket.bytesRead > megabytes << 20));
  }
  assert.deepEqual(clients.map(({ socket }) => socket.destroyed), [false, false, false]);
  rawOf(clients[2]?.client as WebSocket).write(Buffer.alloc(5 << 20));
  const states = (): boolean[] => clients.flatMap(({ socket, isClosed }) => [socket.destroyed, isClosed()]);
  await eventually(() => assert.deepEqual(states(), [false, false, true, true, false, false]));
  for (const { client, socket, server } of clients) {
    client.terminate();
    await eventually(() => assert.ok(socket.destroyed));
    server.close();
  }
});
