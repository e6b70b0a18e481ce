// Bodies by a memory of a few bytes, and in turns that tests give.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { BodyMemory, BodyReader, type BodySource } from './bodies.ts';
import { Callers } from './turns.ts';

describe('BodyMemory', () => {
  function open(limitBytes: number) {
    const memory = new BodyMemory(limitBytes);
    const granted: string[] = [];
    const release = new Map<string, () => void>();
    return { granted, claim: (caller: string, name: string, bytes: number) => void release.set(name, memory.claim(caller, bytes, () => granted.push(name))),
      release: (name: string) => release.get(name)?.() };
  }

  it('is granted in order as far as it reaches, and again when it is given back', () => {
    const { granted, claim, release } = open(100);
    for (const [name, bytes] of [['a1', 60], ['a2', 40], ['a3', 50], ['a4', 1]] as const) claim('a', name, bytes);
    assert.deepEqual(granted, ['a1', 'a2']);
    release('a1');
    assert.deepEqual(granted, ['a1', 'a2', 'a3', 'a4']);
    release('a1');
    claim('a', 'a5', 20);
    assert.deepEqual(granted, ['a1', 'a2', 'a3', 'a4'], 'what was given back twice does not count twice');
  });

  it('keeps none from its share, and gives each caller one body of any size', () => {
    const { granted, claim, release } = open(100);
    for (const name of ['a1', 'a2', 'a3']) claim('a', name, 50);
    claim('b', 'b1', 30);
    claim('b', 'b2', 20);
    claim('b', 'b3', 1);
    claim('c', 'c1', 500);
    assert.deepEqual(granted, ['a1', 'a2', 'b1', 'b2', 'c1']);
    release('a3');
    for (const name of ['a1', 'a2']) release(name);
    assert.deepEqual(granted.slice(5), [], 'c1 takes more than there is');
    release('c1');
    assert.deepEqual(granted.slice(5), ['b3']);
  });
});

describe('BodyReader', () => {
  function open() {
    const counted: number[] = [];
    const resumed: { readonly costMs: number; readonly run: () => void }[] = [];
    const closed: (() => void)[] = [];
    const turns = { resume: (_: object, costMs: number, run: () => void) => void resumed.push({ costMs, run }) };
    const intake = { count: (_: object, requests = 1) => void counted.push(requests) };
    const taken: number[] = [];
    const pieces = { take: (length: number) => (taken.push(length), new Uint8Array(length)) };
    const reader = new BodyReader({ turns, intake, callers: new Callers() }, new BodyMemory(100_000), pieces);
    const source = (more: Partial<BodySource>, announced?: number): BodySource => ({
      input: new PassThrough(), isWhole: false, reads: { readStart() {}, readStop() {} }, ...more, exchange: {
        headers: announced === undefined ? {} : { 'content-length': String(announced) }, connection: {}, user: { name: 'u', groups: [] },
        onClosed: (callback) => void closed.push(callback),
      } });
    return { counted, resumed, closed, reader, source, taken };
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('counts bytes as requests, and lets what follows wait for its turn', async () => {
    const { counted, resumed, reader, source } = open();
    const input = new PassThrough();
    let length: number | undefined;
    void reader.read(source({ input }, 90_000), 1_000_000).then((body) => {
      length = body.length;
    });
    for (let at = 0; at < 9; at++) input.write(Buffer.alloc(10_000));
    input.end();
    await settle();
    assert.equal(counted.reduce((sum, count) => sum + count, 0), Math.floor(90_000 / 16_384));
    assert.equal(length, undefined);
    assert.ok(resumed[0] !== undefined && resumed[0].costMs > 0.1, 'a large body costs more than a small one');
    resumed[0].run();
    await settle();
    assert.equal(length, 90_000);
  });

  it('puts a large body together as it comes, also one that is not as long as was said', async () => {
    for (const length of [70_000, 69_999, 70_001, 140_000]) {
      const { resumed, reader, source } = open();
      const input = new PassThrough();
      const reading = reader.read(source({ input }, 70_000), 1_000_000);
      const sent = Buffer.from(Array.from({ length }, (_, index) => index % 251));
      for (let at = 0; at < length; at += 9_999) input.write(sent.subarray(at, at + 9_999));
      input.end();
      await settle();
      resumed[0]?.run();
      assert.equal(Buffer.compare(await reading, sent), 0, `${length} bytes`);
    }
  });

  it('takes no memory ahead for large bodies while more of them has not come than has', async () => {
    const { closed, resumed, reader, source, taken } = open();
    const send = async (length: number, sent: number, limitBytes = 2 ** 30): Promise<void> => {
      const input = new PassThrough();
      const reading = reader.read(source({ input }, length), limitBytes);
      input.write(Buffer.alloc(sent));
      if (sent === length) input.end();
      await settle();
      resumed.pop()?.run();
      if (sent < length) input.destroy();
      await (sent === length ? reading : assert.rejects(reading, { code: 400 }));
      for (const release of closed.splice(0)) release();
    };
    const MB = 2 ** 20;
    for (let i = 0; i < 50; i++) await send(3 * MB, 1, 2 * MB);
    for (let i = 0; i < 2000; i++) await send(50_000, 1);
    assert.equal(taken.length, 0, 'bodies that get no memory ahead, for they are beyond the limit or small, do not count');
    for (let i = 0; i < 50; i++) await send(3 * MB, 1);
    assert.deepEqual([taken.length, new Set(taken)], [22, new Set([3 * MB])], '64 MB ahead');
    for (let i = 0; i < 22; i++) await send(3 * MB, 3 * MB);
    assert.equal(taken.length, 22, 'what has come makes up for what has not');
    await send(3 * MB, 1);
    assert.equal(taken.length, 23);
  });

  it('takes a small body that is there at once', async () => {
    const { resumed, reader, source } = open();
    const body = await reader.read(source({ input: new PassThrough().end('{}'), isWhole: true }, 2), 1000);
    assert.deepEqual([Buffer.from(body).toString(), resumed.length], ['{}', 0]);
  });

  it('does not read a body that finds no memory until a request is over; without a length it is stopped when it is large', async () => {
    const { closed, reader, source } = open();
    void reader.read(source({}, 90_000), 90_000);
    const [later, unannounced] = [new PassThrough(), new PassThrough()];
    void reader.read(source({ input: later }, 30_000), 90_000);
    void reader.read(source({ input: unannounced }), 90_000);
    later.write('{');
    unannounced.write(Buffer.alloc(10_000));
    await settle();
    assert.deepEqual([later.readableFlowing, unannounced.readableFlowing], [null, true]);
    unannounced.write(Buffer.alloc(10_000));
    await settle();
    assert.equal(unannounced.isPaused(), true);
    closed[0]?.();
    await settle();
    assert.deepEqual([later.readableFlowing, unannounced.isPaused()], [true, true]);
    closed[2]?.();
    await settle();
    assert.equal(unannounced.isPaused(), false);
  });

  it('refuses a body that is too large, and one that ends early', async () => {
    const { reader, source } = open();
    const input = new PassThrough();
    const read = reader.read(source({ input }), 10);
    input.write('more than ten bytes');
    await assert.rejects(read, { code: 413 });
    const broken = new PassThrough();
    const reading = reader.read(source({ input: broken }, 5), 10);
    broken.destroy();
    await assert.rejects(reading, { code: 400 });
  });
});
