// Objects that are kept decoded: which update gets them, and when they are dropped.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { DecodedObjectCache, foresee } from './decoded-object-cache.ts';
import type { Resource } from '../resource.ts';

const row = { group: '', plural: 'ks', storageVersion: 'v1', versions: [{ name: 'v1' }], custom: false } as unknown as Resource;
const customRow = { ...row, custom: true, group: 'x.io', readStored: (object) => object } as Resource;

/** A write of an object of a row, read back in a version. */
function write(hot: DecodedObjectCache, key: string, { resource = row, version = 'v1', revision = 7, bytes = 100 } = {}): void {
  const document = { kind: 'K', apiVersion: 'v1', metadata: { name: key, uid: 'u', generation: 1 }, spec: { a: 1 } };
  const value = new Uint8Array(1);
  const encoded = { document, json: new Uint8Array(bytes) };
  foresee({ hot }, { key, value, target: { resource, version }, storage: { resource }, encoded, isUpdate: true });
  if (!hot.arrive({ key, value, modRevision: revision })) hot.drop(key);
}

const namesOf = (object: KubeObject | undefined): string[] => Object.keys(object?.metadata ?? {});

describe('DecodedObjectCache', () => {
  it('gives an object to the update in the same form of the revision that was written, as often as it is asked', () => {
    const hot = new DecodedObjectCache();
    write(hot, 'a');
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 6), undefined);
    assert.equal(hot.get('a', { resource: row, version: 'v2' }, 7), undefined);
    assert.equal(hot.get('a', { resource: customRow, version: 'v1' }, 7), undefined);
    const object = hot.get('a', { resource: row, version: 'v1' }, 7);
    assert.equal(object?.metadata.resourceVersion, '7');
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 7), object);
    hot.drop('a');
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 7), undefined);
  });

  it('arrive puts resourceVersion where the bytes of an object have it', () => {
    const hot = new DecodedObjectCache();
    write(hot, 'a');
    assert.deepEqual(namesOf(hot.get('a', { resource: row, version: 'v1' }, 7)), ['name', 'uid', 'resourceVersion', 'generation']);
    write(hot, 'b', { resource: customRow });
    assert.deepEqual(namesOf(hot.get('b', { resource: customRow, version: 'v1' }, 7)), ['name', 'resourceVersion', 'uid', 'generation']);
  });

  it('foresee leaves out what is read in another way than it is stored', () => {
    const hot = new DecodedObjectCache();
    const converted = { ...row, convert: (object) => object } as Resource;
    write(hot, 'a', { resource: converted, version: 'v1' });
    assert.notEqual(hot.get('a', { resource: converted, version: 'v1' }, 7), undefined);
    write(hot, 'a', { resource: converted, version: 'v2', revision: 8 });
    assert.equal(hot.get('a', { resource: converted, version: 'v1' }, 7), undefined);
    const remote = { ...row, convertRemotely: async () => [] } as unknown as Resource;
    write(hot, 'b', { resource: remote });
    assert.equal(hot.get('b', { resource: remote, version: 'v1' }, 7), undefined);
  });

  it('keeps the last eight that passed, none of them large, and those that were updated however many pass', () => {
    const hot = new DecodedObjectCache();
    const form = { resource: row, version: 'v1' };
    const pass = (key: string, bytes = 100): void => hot.pass(key, { form, revision: 7, bytes, object: { metadata: { name: key } } as KubeObject });
    write(hot, 'updated');
    for (let index = 0; index < 9; index++) pass(`${index}`);
    pass('large', 2 ** 15 + 1);
    const isKept = (key: string): boolean => hot.get(key, form, 7) !== undefined;
    assert.deepEqual(['0', '1', '8', 'large', 'updated'].map(isKept), [false, true, true, false, true]);
    assert.equal(hot.get('1', form, 8), undefined);
  });

  it('keeps a created object for a moment, when its value comes or when it is written, and does not hold it afterwards', () => {
    const hot = new DecodedObjectCache();
    const value = new Uint8Array(1);
    const encoded = { document: { kind: 'K', apiVersion: 'v1', metadata: { name: 'a', uid: 'u' } }, json: new Uint8Array(9) };
    const write = { key: 'a', value, target: { resource: row, version: 'v1' }, storage: { resource: row }, encoded, isUpdate: false };
    foresee({ hot }, write);
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 7), undefined);
    assert.equal(hot.arrive({ key: 'a', value: new Uint8Array(1), modRevision: 6 }), false);
    assert.equal(hot.arrive({ key: 'a', value, modRevision: 7 }), false);
    const object = hot.get('a', { resource: row, version: 'v1' }, 7);
    assert.equal(object?.metadata.resourceVersion, '7');
    hot.arrive({ key: 'a', value, modRevision: 7 });
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 7), object);
    foresee({ hot }, write);
    hot.forget('a', new Uint8Array(1));
    hot.forget('a', value);
    hot.arrive({ key: 'a', value, modRevision: 8 });
    assert.equal(hot.get('a', { resource: row, version: 'v1' }, 8), undefined);
  });

  it('keeps two megabytes of the last written, and nothing large', () => {
    const hot = new DecodedObjectCache();
    const isKept = (key: string): boolean => hot.get(key, { resource: row, version: 'v1' }, 7) !== undefined;
    for (let index = 0; index < 65; index++) write(hot, `${index}`, { bytes: 2 ** 15 });
    assert.deepEqual(['0', '1', '64'].map(isKept), [false, true, true]);
    write(hot, '1', { bytes: 2 ** 15 + 1, revision: 8 });
    assert.equal(isKept('1'), false);
    write(hot, 'new', { bytes: 2 ** 15 });
    assert.deepEqual(['2', 'new'].map(isKept), [true, true]);
  });
});
