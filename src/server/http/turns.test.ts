// Requests begin at once while a turn is short, and then in turns of connections; nothing else waits for all of them. Connections are read in turns
// before they are secure and after, and end by the number of their streams.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Callers, ConnectionEnds, HandshakeTurns, PassingTurns, type PausableReads, RequestIntake, RequestTurns } from './turns.ts';

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests begin at once until a turn is long, and then one of each connection at a time', async () => {
  let nowMs = 1000;
  const begun: string[] = [];
  const turns = new RequestTurns({ monotonicMs: () => nowMs });
  const connections = { many: {}, single: {} };
  const begin = (connection: object, name: string): void => turns.begin(connection, nowMs, () => {
    begun.push(name);
    nowMs += 0.5;
  });
  for (const name of ['m1', 'm2', 'm3', 'm4', 'm5']) begin(connections.many, name);
  begin(connections.single, 's1');
  assert.deepEqual(begun.splice(0), ['m1', 'm2']);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m3', 's1']);
  begin(connections.single, 's2');
  assert.deepEqual(begun, []);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m4', 's2']);
  await endOfTurn();
  assert.deepEqual(begun.splice(0), ['m5']);
  await endOfTurn();
  nowMs += 500;
  begin(connections.single, 's3');
  assert.deepEqual(begun.splice(0), ['s3']);
});

test('what follows a body counts for the turn in which it begins', async () => {
  const turns = new RequestTurns({ monotonicMs: () => 1000 });
  const begun: string[] = [];
  const seen: string[] = [];
  for (const [name, costMs] of [['large', 3], ['small', 0.4], ['small', 0.4], ['small', 0.4], ['small', 0.4]] as const) {
    turns.resume({}, costMs, () => begun.push(name));
  }
  turns.begin({}, 1000, () => begun.push('new'));
  for (let turn = 0; turn < 6; turn++) {
    seen.push(begun.splice(0).join(' '));
    await endOfTurn();
  }
  assert.deepEqual(seen, ['large', '', 'small small small', '', 'small new', '']);
});

test('a user with many connections has as many turns as one with a single connection, and so have those whose user is not known of one address', async () => {
  let nowMs = 1000;
  const begun: string[] = [];
  const callers = new Callers();
  const turns = new RequestTurns({ monotonicMs: () => nowMs }, callers);
  const begin = (name: string, user = ''): void => {
    const connection = {};
    callers.begin(connection, name.startsWith('x') ? '192.0.2.1' : '192.0.2.2');
    callers.note(connection, user);
    turns.begin(connection, nowMs, () => {
      begun.push(name);
      nowMs += 0.5;
    });
  };
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) begin(name, 'alice');
  begin('b1', 'bob');
  begin('x1');
  begin('x2', 'system:anonymous');
  begin('y1');
  const seen: string[] = [];
  for (let turn = 0; turn < 5; turn++) {
    seen.push(begun.splice(0).join(' '));
    await endOfTurn();
  }
  assert.deepEqual(seen, ['a1 a2', 'a3 b1', 'x1 y1', 'a4 x2', 'a5 a6']);
});

test('connections are read again by their users, those that brought less first', async () => {
  const callers = new Callers();
  const intake = new RequestIntake(callers);
  const log: string[] = [];
  const connect = (name: string, user?: string): PausableReads => {
    const connection = { readStop: () => undefined, readStart: () => void log.push(name) };
    if (user !== undefined) callers.note(connection, user);
    intake.add(connection);
    return connection;
  };
  const [a1, , , b1] = [connect('a1', 'alice'), connect('a2', 'alice'), connect('a3', 'alice'), connect('b1', 'bob'), connect('b2', 'bob'), connect('new')];
  intake.count(b1, 1);
  intake.count(a1, 450);
  await endOfTurn();
  assert.deepEqual(log, ['new', 'b2', 'b1', 'a2', 'a3', 'a1']);
});

test('a user that brings few requests is read on in a turn in which another brings many', async () => {
  const callers = new Callers();
  const intake = new RequestIntake(callers);
  const stopped: string[] = [];
  const connect = (name: string, user: string): PausableReads => {
    const connection = { readStop: () => void stopped.push(name), readStart: () => undefined };
    callers.note(connection, user);
    intake.add(connection);
    return connection;
  };
  const [a1, b1] = [connect('a1', 'alice'), connect('b1', 'bob'), connect('a2', 'alice')];
  intake.count(b1, 10);
  intake.count(a1, 190);
  assert.deepEqual(stopped.splice(0), ['a2', 'a1']);
  intake.count(b1, 199);
  assert.deepEqual(stopped, []);
  intake.count(b1, 1);
  assert.deepEqual(stopped, ['b1']);
});

test('a user that was stopped last in a turn, since others brought more, is read first in the next', async () => {
  const callers = new Callers();
  const intake = new RequestIntake(callers);
  const log: string[] = [];
  const connect = (name: string, user: string): PausableReads => {
    const connection = { readStop: () => void log.push(`-${name}`), readStart: () => void log.push(`+${name}`) };
    callers.note(connection, user);
    intake.add(connection);
    return connection;
  };
  const [a1] = [connect('a1', 'alice'), connect('a2', 'alice'), connect('b1', 'bob'), connect('b2', 'bob')];
  intake.count(a1, 200);
  intake.count(a1, 200);
  assert.deepEqual(log.splice(0), ['-a2', '-a1', '-b1', '-b2']);
  await endOfTurn();
  assert.deepEqual(log.splice(0), ['+b1', '+b2', '+a2', '+a1']);
});

const oneCaller = { of: () => 'alice' };

test('connections are not read on in a turn that has brought many streams, and those that brought nothing are read first in the next', async () => {
  const intake = new RequestIntake(oneCaller);
  const log: string[] = [];
  const connect = (name: string): PausableReads => ({ readStop: () => void log.push(`-${name}`), readStart: () => void log.push(`+${name}`) });
  const [a, b, c] = [connect('a'), connect('b'), connect('c')];
  for (const connection of [a, b, c]) intake.add(connection);
  const bring = (connection: PausableReads, streams: number): void => {
    for (let count = 0; count < streams; count++) intake.count(connection);
  };
  bring(a, 199);
  await endOfTurn();
  assert.deepEqual(log.splice(0), []);
  bring(a, 100);
  bring(b, 150);
  assert.deepEqual(log.splice(0), ['-c', '-a', '-b']);
  intake.remove(b);
  await endOfTurn();
  assert.deepEqual(log.splice(0), ['+c', '+a']);
  bring(c, 200);
  assert.deepEqual(log.splice(0), ['-a', '-c']);
  await endOfTurn();
  assert.deepEqual(log.splice(0), ['+a', '+c']);
});

test('thousands of connections are read again in several turns', async () => {
  const intake = new RequestIntake(oneCaller);
  let reading = 0;
  const connections = Array.from({ length: 1200 }, () => ({ readStop: () => reading--, readStart: () => reading++ }));
  for (const connection of connections) intake.add(connection);
  reading = connections.length;
  for (let count = 0; count < 200; count++) intake.count(connections[0] as (typeof connections)[0]);
  const seen = [reading];
  for (let turn = 0; turn < 3; turn++) {
    await endOfTurn();
    seen.push(reading);
  }
  assert.deepEqual(seen, [0, 500, 1000, 1200]);
});

test('requests that connections hold back come from one connection a turn, and from none that has ended', async () => {
  const intake = new RequestIntake();
  const released: string[] = [];
  const connections = ['a', 'b', 'c'].map((name) => ({ name, readStop() {}, readStart() {} }));
  for (const connection of connections) intake.release(connection, () => released.push(connection.name));
  intake.remove(connections[1] as (typeof connections)[0]);
  assert.deepEqual(released, []);
  await endOfTurn();
  assert.deepEqual(released, ['a']);
  await endOfTurn();
  assert.deepEqual(released, ['a', 'c']);
});

test('of many connections whose handshake is not done forty are read at a time, all of them in the end, at once while they bring something', () => {
  const timers: { readonly delayMs: number; readonly callback: () => void }[] = [];
  const turns = new HandshakeTurns({ after: (delayMs, callback) => ({ cancel() {}, left: timers.push({ delayMs, callback }) }) });
  const reading = new Set<number>();
  const connections = Array.from({ length: 100 }, (_, index) => (
    { bytesRead: 0, readStop: () => void reading.delete(index), readStart: () => void reading.add(index) }));
  const sorted = (): number[] => [...reading].sort((a, b) => a - b);
  const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
  const delays: number[] = [];
  const turn = (): void => {
    for (const { delayMs, callback } of timers.splice(0)) {
      delays.push(delayMs);
      callback();
    }
  };
  for (const connection of connections) {
    connection.readStart();
    turns.add(connection);
  }
  assert.deepEqual(sorted(), numbers(0, 40));
  turn();
  assert.deepEqual(sorted(), numbers(40, 80));
  (connections[50] as (typeof connections)[0]).bytesRead += 500;
  turn();
  assert.deepEqual(sorted(), [...numbers(0, 20), ...numbers(80, 100)]);
  turn();
  assert.deepEqual(sorted(), numbers(20, 60));
  for (const connection of connections.slice(0, 65)) {
    turns.remove(connection);
    connection.readStop();
  }
  turn();
  assert.deepEqual(sorted(), numbers(65, 100));
  assert.equal(timers.length, 0, 'nothing waits for its turn');
  assert.deepEqual(delays, [1, 1, 0, 1]);
});

test('no handshake is read on in a turn that has brought many requests', () => {
  const timers: (() => void)[] = [];
  const turns = new HandshakeTurns({ after: (_, callback) => ({ cancel() {}, left: timers.push(callback) }) });
  const intake = new RequestIntake();
  intake.onFull(() => turns.rest());
  const reading = new Set<string>();
  const open = (name: string): PausableReads & { bytesRead: number } => (
    { bytesRead: 0, readStop: () => void reading.delete(name), readStart: () => void reading.add(name) });
  const [first, second, third] = [open('first'), open('second'), open('third')];
  for (const connection of [first, second]) {
    connection.readStart();
    turns.add(connection);
  }
  turns.remove(first);
  intake.add(first);
  intake.count(first, 399);
  assert.deepEqual([...reading], ['second']);
  intake.count(first);
  third.readStart();
  turns.add(third);
  assert.deepEqual([...reading], []);
  assert.equal(timers.length, 1);
  timers[0]?.();
  assert.deepEqual([...reading], ['second', 'third']);
});

test('connections with many streams end one a turn, those with few together', async () => {
  const ends = new ConnectionEnds();
  const ended: string[] = [];
  const sockets = Object.entries({ a: 100, b: 100, c: 100, d: 1000, e: 0, f: 250, g: 0 }).map(([name, streams]) => {
    const socket = new Socket();
    ends.pace(socket, () => streams);
    socket.once('close', () => ended.push(name));
    return socket;
  });
  for (const socket of sockets) socket.destroy();
  assert.deepEqual(ended, []);
  const turns: string[] = [];
  while (ended.length < sockets.length) {
    await endOfTurn();
    turns.push(ended.join(''));
  }
  assert.deepEqual([...new Set(turns)].filter((text) => text !== ''), ['ab', 'abc', 'abcd', 'abcdefg']);
});

test('an error reaches its connection, and a connection that ends later has a turn of its own', async () => {
  const ends = new ConnectionEnds();
  const socket = new Socket();
  ends.pace(socket, () => 1);
  const seen: unknown[] = [];
  socket.on('error', (error) => seen.push(error.message)).on('close', () => seen.push('closed'));
  socket.destroy(new Error('reset'));
  await endOfTurn();
  await endOfTurn();
  assert.deepEqual(seen, ['reset', 'closed']);
  const later = new Socket();
  ends.pace(later, () => 1);
  later.once('close', () => seen.push('later'));
  later.destroy();
  await endOfTurn();
  await endOfTurn();
  assert.equal(seen.at(-1), 'later');
});

test('connections that pass on much rest until the next turn, where those that passed on nothing are read first', async () => {
  const turns = new PassingTurns();
  const log: string[] = [];
  const make = (name: string) => ({ readStart: () => void log.push(`+${name}`), readStop: () => void log.push(`-${name}`) });
  const [a, b, c, late] = ['a', 'b', 'c', 'late'].map(make) as [PausableReads, PausableReads, PausableReads, PausableReads];
  for (const each of [a, b, c]) turns.add(each);
  turns.count(a, 400_000);
  assert.deepEqual(log, []);
  turns.count(b, 400_000);
  assert.deepEqual(log.splice(0).sort(), ['-a', '-b', '-c']);
  turns.add(late);
  assert.deepEqual(log.splice(0), ['-late']);
  await endOfTurn();
  assert.deepEqual(log.splice(0), ['+c', '+a', '+b', '+late']);
  turns.remove(c);
  for (let turn = 0; turn < 2; turn++) {
    turns.count(a, 400_000);
    await endOfTurn();
  }
  assert.deepEqual(log, []);
});

test('joined connections that are many pass on more before they rest', async () => {
  const turns = new PassingTurns();
  let stopped = 0;
  const sources = Array.from({ length: 500 }, (): PausableReads => ({ readStart: () => undefined, readStop: () => void stopped++ }));
  for (const each of sources) turns.add(each);
  const [busy] = sources as [PausableReads];
  turns.count(busy, 2_000_000);
  assert.equal(stopped, 0);
  turns.count(busy, 100_000);
  assert.equal(stopped, 500);
  await endOfTurn();
});
