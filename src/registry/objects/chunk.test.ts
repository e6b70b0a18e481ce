// Packed chunks: wherever their bytes are, readers get those that each object had on its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createLayout, encodeObject } from './layout.ts';
import { createEncodingMemo } from './encoded-bytes.ts';
import { type ObjectContext, StoredRevision } from './stored-object.ts';
import type { Resource } from '../resource.ts';
import { type Steps, finishSteps } from '../../base/index.ts';
import { joinItems as joinItemsInSteps, packLoose, restChunk } from './chunk.ts';
import { rows } from '../testing.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const joinItems = (...of: Parameters<typeof joinItemsInSteps>): Uint8Array => finishSteps(joinItemsInSteps(...of));

function makeChunk(resource: Resource, metas: readonly object[], recall?: ObjectContext['recall']): { value: StoredRevision }[] {
  const layout = createLayout(resource, `/registry/${resource.storagePrefix}/`);
  const context = { layout, memo: createEncodingMemo(), ...(recall !== undefined && { recall }) };
  return metas.map((metadata, i) => {
    const value = encodeObject(layout, { metadata, data: { k: `v${i}` } } as unknown as KubeObject).json;
    return { value: new StoredRevision(context, { key: `${layout.prefix}ns/${i}`, value, modRevision: i + 1 }) };
  });
}

const strings = fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 });
const metas = fc.array(fc.record({ name: fc.string(), uid: fc.string(), labels: strings, annotations: strings, generation: fc.nat() }, { requiredKeys: [] }), {
  minLength: 1, maxLength: 12,
});

function describeVersion(version: StoredRevision): Readonly<Record<string, unknown>> {
  return {
    single: text(version.bytes('v1', 'json-single')), item: text(version.item()), stored: text(version.stored()), object: version.object('v1'),
    labels: version.labels, deleted: text(version.at(99).item()), fields: version.fields,
  };
}

test('packLoose moves versions without changing what any reader gets, and supersede moves them out of the piece of their neighbours', () => {
  for (const resource of [rows.configMaps, rows.widgets]) {
    fc.assert(fc.property(metas, (all) => {
      const chunk = makeChunk(resource, all);
      const alone = makeChunk(resource, all).map(({ value }) => describeVersion(value));
      assert.equal(finishSteps(packLoose(chunk)), true);
      assert.equal(finishSteps(packLoose(chunk)), false);
      assert.ok(chunk.every(({ value }) => value.memory === chunk[0]?.value.memory));
      assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), alone);
      const piece = chunk[0]?.value.memory;
      for (const { value } of chunk) value.supersede();
      assert.ok(chunk.every(({ value }) => value.memory !== undefined && value.memory !== piece && !value.movable));
      assert.equal(text(joinItems(chunk, 0, chunk.length)), alone.map(({ item }) => `,${item}`).join(''));
      assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), alone);
    }));
  }
});

test('joinItems joins any part of a chunk, packed, half packed or with versions that must stay where they are', () => {
  const all = fc.tuple(metas, fc.nat(), fc.nat(), fc.constantFrom('loose', 'packed', 'replaced', 'superseded'));
  fc.assert(fc.property(all, ([each, a, b, state]) => {
    const chunk = makeChunk(rows.configMaps, each);
    const from = Math.min(a, b) % chunk.length;
    const to = from + 1 + (Math.max(a, b) % (chunk.length - from));
    const expected = chunk.slice(from, to).map(({ value }) => `,${text(value.item())}`).join('');
    if (state !== 'loose') finishSteps(packLoose(chunk));
    if (state === 'superseded') chunk[from]?.value.supersede();
    if (state === 'replaced') chunk[from] = makeChunk(rows.configMaps, each)[from] as { value: StoredRevision };
    assert.equal(text(joinItems(chunk, from, to)), expected);
    assert.equal(text(joinItems(chunk, 0, chunk.length)), chunk.map(({ value }) => `,${text(value.item())}`).join(''));
  }));
});

test('joinItems of a packed chunk is a view: lists share the memory of the objects', () => {
  const chunk = makeChunk(rows.configMaps, [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
  const first = joinItems(chunk, 0, 3);
  assert.equal(joinItems(chunk, 1, 2).buffer, first.buffer);
  assert.equal(chunk[2]?.value.item().buffer, first.buffer);
});

test('packLoose puts large pieces on pages of their own, whose bytes are read as any others', () => {
  const chunk = makeChunk(rows.configMaps, Array.from({ length: 30 }, (_, i) => ({ name: `n${i}`, annotations: { a: 'x'.repeat(1000) } })));
  const alone = chunk.map(({ value }) => text(value.item()));
  finishSteps(packLoose(chunk));
  const memory = chunk[0]?.value.memory as Uint8Array<ArrayBuffer>;
  assert.equal(memory.buffer.resizable, true);
  assert.equal(text(joinItems(chunk, 0, chunk.length)), alone.map((item) => `,${item}`).join(''));
  assert.ok(chunk.every(({ value }) => value.contains('xxx') && !value.contains('xyx')));
});

const keyOf = (name: string): string => `/registry/${name}/`;

/** A chunk whose objects can rest, and the values of the store by revision. */
function makeRecalled(resource: Resource, all: readonly object[]): { readonly chunk: { value: StoredRevision }[]; readonly stored: Map<number, Uint8Array> } {
  const stored = new Map<number, Uint8Array>();
  // As in a store that uses the memory of its answer again.
  let answer = new Uint8Array(0);
  const recall = (key: string, revision: number): Uint8Array | undefined => {
    const value = stored.get(revision);
    assert.equal(key, `${keyOf(resource.storagePrefix)}ns/${revision - 1}`);
    answer.fill(0x21);
    return value && (answer = new Uint8Array(value));
  };
  const chunk = makeChunk(resource, all, recall);
  for (const { value } of chunk) stored.set(value.revision, value.stored());
  return { chunk, stored };
}

const joined = (chunk: { value: StoredRevision }[], from = 0, to = chunk.length): string => text(joinItems(chunk, from, to));

test('restChunk gives up the bytes that the store has, and readers and lists get what they got before; supersede takes them back', () => {
  for (const resource of [rows.configMaps, rows.widgets]) {
    fc.assert(fc.property(metas, fc.boolean(), fc.boolean(), (all, isPacked, isListed) => {
      const { chunk, stored } = makeRecalled(resource, all);
      const alone = makeChunk(resource, all).map(({ value }) => describeVersion(value));
      const sizes = chunk.map(({ value }) => value.size);
      if (isPacked) finishSteps(packLoose(chunk));
      assert.equal(finishSteps(restChunk(chunk)), true);
      assert.equal(finishSteps(restChunk(chunk)), false);
      assert.ok(chunk.every(({ value }) => value.isResting && value.memory === undefined));
      assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), alone);
      assert.deepEqual(chunk.map(({ value }) => value.size), sizes);
      if (isListed) assert.equal(joined(chunk), alone.map(({ item }) => `,${item}`).join(''));
      assert.ok(chunk.every(({ value }) => value.isResting && (value.memory !== undefined) === isListed));
      assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), alone);
      for (const { value } of chunk) value.supersede();
      stored.clear();
      assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), alone);
    }));
  }
});

test('restChunk leaves what the store does not have yet, has otherwise or cannot read, and comes back to the first of these', () => {
  const { chunk, stored } = makeRecalled(rows.configMaps, [{ name: 'a' }, { name: 'young' }, { name: 'other' }]);
  const expected = joined(chunk);
  const young = stored.get(2) as Uint8Array;
  stored.delete(2);
  stored.set(3, Buffer.from('{}'));
  const resting = (): boolean[] => chunk.map(({ value }) => value.isResting);
  assert.deepEqual([finishSteps(restChunk(chunk)), ...resting()], ['later', true, false, false]);
  assert.ok(chunk.every(({ value }) => value.memory === undefined), 'the piece is not kept for those that stay');
  assert.equal(joined(chunk), expected);
  stored.set(2, young);
  assert.deepEqual([finishSteps(restChunk(chunk)), ...resting()], [true, true, true, false]);
  assert.equal(finishSteps(restChunk(chunk)), false);
  assert.equal(joined(chunk), expected);
  const throwing = makeChunk(rows.configMaps, [{ name: 'a' }], () => assert.fail('damaged'));
  assert.deepEqual([finishSteps(restChunk(throwing)), throwing[0]?.value.isResting], [true, false], 'a chunk without any is packed');
  assert.ok(throwing[0]?.value.memory !== undefined);
});

test('an object that the store has lost says so by an error, superseded or not', () => {
  const { chunk, stored } = makeRecalled(rows.configMaps, [{ name: 'a' }, { name: 'b' }]);
  finishSteps(restChunk(chunk));
  stored.delete(1);
  const [lost, other] = chunk.map(({ value }) => value) as [StoredRevision, StoredRevision];
  const refusal = { code: 500, message: /^Internal error occurred: the object \/registry\/configmaps\/ns\/0 of revision 1 cannot be read: the store does not/ };
  for (const superseding of [false, true]) {
    if (superseding) lost.supersede();
    for (const form of ['json-single', 'json-item', 'json-line'] as const) assert.throws(() => lost.bytes('v1', form), refusal);
    assert.throws(() => joinItems(chunk, 0, 2), refusal);
    assert.throws(() => lost.object('v1'), refusal);
    assert.throws(() => lost.labels, refusal);
  }
  assert.equal(other.object('v1').metadata.name, 'b');
});

test('pieces that are lent for lists are bounded: those not used for longest are given up, of a list beyond the bound a part stays, large chunks get none', () => {
  const big = (count: number, length: number): { value: StoredRevision }[] =>
    makeRecalled(rows.configMaps, Array.from({ length: count }, () => ({ annotations: { a: 'x'.repeat(length) } }))).chunk;
  const isLent = (chunk: { value: StoredRevision }[]): boolean => chunk[0]?.value.memory !== undefined;
  const [chunks, others] = [32, 20].map((length) => Array.from({ length }, () => big(10, 100_000))) as [ReturnType<typeof big>[], ReturnType<typeof big>[]];
  const expected = new Uint8Array(joinItems(chunks[0] as ReturnType<typeof big>, 0, 10));
  for (const chunk of [...chunks, ...others]) finishSteps(restChunk(chunk));
  for (let round = 0; round < 4; round += 1) for (const chunk of chunks) assert.equal(joinItems(chunk, 0, 10).length, expected.length);
  assert.equal(Buffer.compare(joinItems(chunks[0] as ReturnType<typeof big>, 0, 10), expected), 0);
  const lent = chunks.filter(isLent).length;
  assert.ok(lent >= 14 && lent <= 16, `${lent} of them`);
  const used = chunks.find(isLent) as { value: StoredRevision }[];
  const piece = joinItems(used, 0, 10).buffer;
  for (let i = 0; i < 12 * 20; i += 1) {
    joinItems(others[i % others.length] as ReturnType<typeof big>, 0, 10);
    assert.equal(joinItems(used, 0, 10).buffer, piece);
  }
  assert.equal(chunks.filter(isLent).length, 1);
  const large = big(5, 1_000_000);
  finishSteps(restChunk(large));
  joinItems(large, 0, 5);
  const few = big(20, 10);
  finishSteps(restChunk(few));
  assert.equal(joined(few, 3, 5), joined(big(20, 10), 3, 5));
  assert.deepEqual([large, few].map(isLent), [false, false]);
});

test('an object that does not rest takes its bytes along when a lent piece is given up', () => {
  const { chunk, stored } = makeRecalled(rows.configMaps, [{ name: 'a' }, { name: 'young' }]);
  stored.delete(2);
  finishSteps(restChunk(chunk));
  const expected = chunk.map(({ value }) => describeVersion(value));
  joinItems(chunk, 0, 2);
  const piece = chunk[1]?.value.memory as Uint8Array;
  for (const { value } of chunk) value.leave(piece);
  assert.deepEqual(chunk.map(({ value }) => [value.isResting, value.memory]), [[true, undefined], [false, undefined]]);
  assert.deepEqual(chunk.map(({ value }) => describeVersion(value)), expected);
});

const countSteps = <T>(steps: Steps<T>, between?: (count: number) => void): { readonly count: number; readonly result: T } => {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done === true) return { count, result: step.value };
    between?.(count);
  }
};

const large = Array.from({ length: 6 }, (_, i) => ({ annotations: { a: `${i}`.repeat(1_100_000) } }));

test('joinItems reads large objects that rest in a step each, and copies them in a step each', () => {
  const { chunk } = makeRecalled(rows.configMaps, large);
  finishSteps(restChunk(chunk));
  const { count, result } = countSteps(joinItemsInSteps(chunk, 1, 6));
  assert.ok(count >= 2 * 5, `${count} steps`);
  assert.equal(Buffer.compare(result, joinItems(chunk, 1, 6)), 0);
});

test('large objects are packed in steps; one that is superseded meanwhile stays where it is', () => {
  for (const pack of [packLoose, (chunk: { value: StoredRevision }[]): Steps<unknown> => joinItemsInSteps(chunk, 0, 6)]) {
    const chunk = makeChunk(rows.configMaps, large);
    const expected = chunk.map(({ value }) => `,${text(value.item())}`).join('');
    for (const { value } of chunk) finishSteps(value.settle() ?? (function* none() {})());
    const { count } = countSteps<unknown>(pack(chunk), (steps) => {
      if (steps === 8) chunk[2]?.value.supersede();
    });
    assert.ok(count >= 2 * 6, `${count} steps`);
    assert.deepEqual(chunk.map(({ value }) => value.memory !== undefined), [true, true, false, true, true, true]);
    assert.equal(new Set(chunk.map(({ value }) => value.memory)).size, 2);
    assert.equal(joined(chunk), expected);
  }
});
