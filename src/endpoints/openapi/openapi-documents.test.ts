// A document is made once for all requests at the same time, and not at all when their clients have left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Steps, createManualClock, finishSteps } from '../../base/index.ts';
import { encodeJsonInSteps } from './json-steps.ts';
import { encodeDocumentV3 } from './openapi-proto.ts';
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
  it('makes one document, and compresses it once, for all requests', async () => {
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

  it('continues for a client that waits when others have left', async () => {
    const { cache, counts, make } = createCache();
    const all = [cache.get('v2', { aborted: true }, make), cache.get('v2', { aborted: false }, make)];
    assert.equal((await Promise.all(all)).length, 2);
    assert.equal(counts.made, 1);
  });

  it('keeps the eight documents that were requested last', async () => {
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

  it('lists the keys of a wide object once', () => {
    let listed = 0;
    const members = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, i]));
    const wide = new Proxy(members, {
      ownKeys(target) {
        listed++;
        return Reflect.ownKeys(target);
      },
    });
    assert.equal(encode({ wide }), JSON.stringify({ wide: members }));
    // To find out how much the object around it holds they are listed as well.
    assert.equal(listed, 2);
  });
});

describe('encodeDocumentV3', () => {
  it('writes in steps what it writes at once', () => {
    const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, { type: 'string', description: `${i}` }]));
    const document = (count: number) => ({
      openapi: '3.0.0', info: { title: 'x', version: '1' }, paths: { '/a/': { get: { tags: ['a'], operationId: 'b' } } },
      components: { schemas: { A: { type: 'object', properties: { spec: { type: 'object', properties: properties(count) } }, 'x-own': [1] } } },
    });
    const steps = encodeDocumentV3(document(2000));
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    assert.ok(count > 2000, String(count));
    // A length prefix for each property: the whole is as long as what it is made of.
    const [small, large] = [finishSteps(encodeDocumentV3(document(1000))).length, step.value.length];
    assert.ok(large > 2 * small - 200 && large < 2 * small + 4000, `${small} ${large}`);
    const decoded = new TextDecoder().decode(step.value);
    for (const text of ['3.0.0', '/a/', 'k0', 'k1999', 'x-own']) assert.ok(decoded.includes(text), text);
  });
});
