// Departures: when answers leave, that one which fails harms no other, and that few wait for each other.
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ResponseBatcher } from './response-batcher.ts';

const body = new TextEncoder().encode('x');

/** An output that records when it was written to. */
function createOutput(name: string, log: string[]): Writable {
  return new Writable({
    write(_chunk, _encoding, done) {
      log.push(name);
      done();
    },
  });
}

describe('Departures', () => {
  it('sends the one answer of a turn at once', async () => {
    const log: string[] = [];
    const responseBatcher = new ResponseBatcher(assert.ifError);
    for (const name of ['a', 'b']) {
      responseBatcher.add(createOutput(name, log), body);
      assert.equal(log.at(-1), name);
      await turn();
    }
    assert.deepEqual(log, ['a', 'b']);
  });

  it('sends what a turn made at its end, in order, while turns make more than one', async () => {
    const log: string[] = [];
    const responseBatcher = new ResponseBatcher(assert.ifError);
    const add = (names: string): void => {
      for (const name of names) responseBatcher.add(createOutput(name, log), body);
    };
    add('abc');
    assert.equal(log.join(''), 'a');
    await turn();
    assert.equal(log.join(''), 'abc');
    add('de');
    assert.equal(log.join(''), 'abc');
    await turn();
    assert.equal(log.join(''), 'abcde');
    add('f');
    assert.equal(log.join(''), 'abcde');
    await turn();
    add('g');
    assert.equal(log.join(''), 'abcdefg');
  });

  it('lets at most sixteen wait for each other', async () => {
    const log: string[] = [];
    const responseBatcher = new ResponseBatcher(assert.ifError);
    for (let count = 0; count < 20; count++) responseBatcher.add(createOutput(String(count), log), body);
    assert.equal(log.length, 17);
    await turn();
    assert.equal(log.length, 20);
  });

  it('sends heads before bodies, and no body whose head is not taken', async () => {
    const log: string[] = [];
    const responseBatcher = new ResponseBatcher(assert.ifError);
    for (const isTaken of [true, false, true]) {
      responseBatcher.add(createOutput(`body ${isTaken}`, log), body, () => {
        log.push(`head ${isTaken}`);
        return isTaken;
      });
    }
    await turn();
    assert.deepEqual(log, ['head true', 'body true', 'head false', 'head true', 'body true']);
  });

  it('passes over outputs that are gone, and those that cannot be written harm no other', async () => {
    const log: string[] = [];
    let told: unknown;
    const responseBatcher = new ResponseBatcher((error) => (told = error));
    const gone = createOutput('gone', log);
    gone.destroy();
    const broken = createOutput('broken', log);
    broken.end = () => {
      throw new Error('no');
    };
    for (const output of [gone, broken, createOutput('well', log)]) responseBatcher.add(output, body);
    await turn();
    assert.deepEqual(log, ['well']);
    assert.ok(broken.destroyed);
    assert.equal((told as Error).message, 'no');
  });
});
