// Objects that are updated often: which are decoded ahead, which update takes them, and when they are dropped.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { KubeObject } from '../../apimachinery/index.ts';
import { DecodedObjectCache } from './decoded-object-cache.ts';
import type { Resource } from '../resource.ts';

const [row, otherRow] = [{ plural: 'ks' } as Resource, { plural: 'ks' } as Resource];
const v1 = { resource: row, version: 'v1' };

/** Writes that count how often they were decoded. */
function createWrites(hot: DecodedObjectCache) {
  const state = { decoded: 0 };
  const expect = (key: string, { form = v1, bytes = 100 } = {}) => hot.expect({
    key, form, bytes,
    decode: () => {
      state.decoded += 1;
      return { apiVersion: 'v1', kind: 'K', metadata: { name: key, resourceVersion: '1' } } as KubeObject;
    },
  });
  return { state, expect };
}

describe('HotObjects', () => {
  it('decodes what is updated a second time, once the turn is over, and gives it away once', async () => {
    const hot = new DecodedObjectCache();
    const { state, expect } = createWrites(hot);
    assert.equal(expect('a'), undefined);
    const tell = expect('a');
    assert.equal(state.decoded, 0);
    await turn();
    assert.equal(state.decoded, 1);
    assert.equal(hot.take('a', v1, 7), undefined);
    tell?.(7);
    assert.equal(hot.take('a', v1, 6), undefined);
    assert.equal(hot.take('a', { resource: row, version: 'v2' }, 7), undefined);
    assert.equal(hot.take('a', { resource: otherRow, version: 'v1' }, 7), undefined);
    assert.equal(hot.take('a', v1, 7)?.metadata.resourceVersion, '7');
    assert.equal(hot.take('a', v1, 7), undefined);
  });

  it('forgets what was not written, and what another write followed', async () => {
    const hot = new DecodedObjectCache();
    const { expect } = createWrites(hot);
    expect('a');
    expect('a');
    await turn();
    assert.equal(hot.take('a', v1, 0), undefined);
    const first = expect('a');
    await turn();
    const second = expect('a');
    first?.(8);
    await turn();
    assert.equal(hot.take('a', v1, 8), undefined);
    second?.(9);
    assert.equal(hot.take('a', v1, 9)?.metadata.name, 'a');
  });

  it('decodes nothing where the store was faster, or for what is large', async () => {
    const hot = new DecodedObjectCache();
    const { state, expect } = createWrites(hot);
    expect('a');
    expect('a')?.(3);
    expect('b', { bytes: 2 ** 20 });
    expect('b', { bytes: 2 ** 20 });
    await turn();
    assert.equal(state.decoded, 0);
    assert.equal(hot.take('a', v1, 3), undefined);
  });

  it('looks after the last sixty-four objects', async () => {
    const hot = new DecodedObjectCache();
    const { state, expect } = createWrites(hot);
    for (let round = 0; round < 2; round++) for (let index = 0; index < 65; index++) expect(`${index}`);
    await turn();
    assert.equal(state.decoded, 0);
    for (let round = 0; round < 2; round++) for (let index = 0; index < 64; index++) expect(`${index}`);
    await turn();
    assert.equal(state.decoded, 64);
  });
});
