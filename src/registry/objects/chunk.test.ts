// Packed chunks: wherever their bytes are, readers get those that each object had on its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createLayout, encodeObject } from './layout.ts';
import { createEncodingMemo } from './encoded-bytes.ts';
import { StoredRevision } from './stored-object.ts';
import type { Resource } from '../resource.ts';
import { finishSteps } from '../../base/index.ts';
import { joinItems, packLoose } from './chunk.ts';
import { rows } from '../testing.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function makeChunk(resource: Resource, metas: readonly object[]): { value: StoredRevision }[] {
  const layout = createLayout(resource, `/registry/${resource.storagePrefix}/`);
  const context = { layout, memo: createEncodingMemo() };
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
