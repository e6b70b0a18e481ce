// Departures: when answers leave, that one which fails harms no other, and that few wait for each other.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Departures } from './departures.ts';

const body = new TextEncoder().encode('x');

/** An output that tells when it was written to. */
function createOutput(name: string, log: string[]): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      log.push(name);
      done();
    },
  });
}

describe('Departures', () => {
  it('sends what a turn made at its end, in order', async () => {
    const log: string[] = [];
    const departures = new Departures(assert.ifError);
    for (const name of ['a', 'b', 'c']) departures.add(createOutput(name, log), body);
    await Promise.resolve();
    assert.deepEqual(log, []);
    await turn();
    assert.deepEqual(log, ['a', 'b', 'c']);
    departures.add(createOutput('d', log), body);
    await turn();
    assert.deepEqual(log, ['a', 'b', 'c', 'd']);
  });

  it('lets at most sixteen wait for each other', async () => {
    const log: string[] = [];
    const departures = new Departures(assert.ifError);
    for (let count = 0; count < 20; count++) departures.add(createOutput(String(count), log), body);
    assert.equal(log.length, 16);
    await turn();
    assert.equal(log.length, 20);
  });

  it('passes over outputs that are gone, and those that cannot be written harm nobody else', async () => {
    const log: string[] = [];
    let told: unknown;
    const departures = new Departures((error) => (told = error));
    const gone = createOutput('gone', log);
    gone.destroy();
    const broken = createOutput('broken', log);
    broken.end = () => {
      throw new Error('no');
    };
    for (const output of [gone, broken, createOutput('well', log)]) departures.add(output, body);
    await turn();
    assert.deepEqual(log, ['well']);
    assert.ok(broken.destroyed);
    assert.equal((told as Error).message, 'no');
  });
});
