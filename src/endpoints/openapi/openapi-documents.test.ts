// A document is made once for all who ask at the same time, and not at all when they have left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Steps, createManualClock, finishSteps } from '../../base/index.ts';
import { encodeJsonInSteps } from './json-steps.ts';
import { DocumentCache } from './openapi-documents.ts';

const bytes = new TextEncoder().encode('{}');

function createCache() {
  const counts = { made: 0, steps: 0, zipped: 0 };
  const cache = new DocumentCache({
    clock: createManualClock(),
    async gzip(each) {
      counts.zipped++;
      return each;
    },
  });
  const make = function* (): Steps<Uint8Array> {
    counts.made++;
    for (let i = 0; i < 100; i++) {
      counts.steps++;
      yield;
    }
    return bytes;
  };
  return { cache, counts, make };
}

describe('DocumentCache', () => {
  it('makes one document, and compresses it once, for all who ask', async () => {
    const { cache, counts, make } = createCache();
    const documents = await Promise.all(Array.from({ length: 2000 }, () => cache.get('v2', { aborted: false }, make)));
    await Promise.all(documents.map((document) => document.gzip()));
    assert.ok(documents.every((document) => document.bytes === bytes));
    await cache.get('v2', { aborted: false }, make);
    assert.deepEqual(counts, { made: 1, steps: 100, zipped: 1 });
  });

  it('gives up what none of its clients waits for, and begins again for the next one', async () => {
    const { cache, counts, make } = createCache();
    const gone = cache.get('v2', { aborted: true }, make);
    await assert.rejects(gone, /allotted timeout/);
    assert.equal(counts.steps, 0);
    assert.equal((await cache.get('v2', { aborted: false }, make)).bytes, bytes);
    assert.equal(counts.made, 1);
  });

  it('goes on for one who waits when others have left', async () => {
    const { cache, counts, make } = createCache();
    const all = [cache.get('v2', { aborted: true }, make), cache.get('v2', { aborted: false }, make)];
    assert.equal((await Promise.all(all)).length, 2);
    assert.equal(counts.made, 1);
  });

  it('keeps eight documents, those that were asked for last', async () => {
    const { cache, counts, make } = createCache();
    const waiter = { aborted: false };
    for (let i = 0; i < 8; i++) await cache.get(`${i}`, waiter, make);
    await cache.get('0', waiter, make);
    await cache.get('8', waiter, make);
    assert.equal(counts.made, 9);
    await cache.get('0', waiter, make);
    assert.equal(counts.made, 9);
    await cache.get('1', waiter, make);
    assert.equal(counts.made, 10);
  });
});

describe('encodeJsonInSteps', () => {
  const encode = (value: unknown): string => new TextDecoder().decode(finishSteps(encodeJsonInSteps(value)));

  it('writes what JSON.stringify writes', () => {
    const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k"${i}`, { type: 'string', list: [1, null, 'é'] }]));
    const nested = { wide, gone: undefined, nested: { gone: undefined, x: [wide] } };
    for (const value of [{}, { a: {} }, { a: { b: { c: { d: { e: wide } } } } }, nested, [1], 'x', null]) {
      assert.equal(encode(value), JSON.stringify(value));
    }
  });

  it('takes a step for each 64 KiB of a wide object', () => {
    const wide = { a: { b: { c: { d: Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, { type: 'string' }])) } } } };
    let steps = 0;
    for (const steps_ = encodeJsonInSteps(wide); steps_.next().done !== true;) steps++;
    assert.ok(steps >= Math.floor(JSON.stringify(wide).length / (64 * 1024)), String(steps));
  });
});
