// Outlines against the paths themselves: objects with the same outline have the same owners.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../object.ts';
import { type Schema } from '../schema/schema.ts';
import { encodeManagers, updateManagers } from './managers.ts';
import { toFieldSet } from './compare.ts';
import { emptySet, encodeFieldSet } from './field-set.ts';
import { PathsByOutline, outlineOf, statedFields } from './outline.ts';
import { TypedValueError } from './value.ts';

const text: Schema = { type: 'string' };
const item = {
  type: 'object', fields: new Map<string, object>([
    ['name', { schema: text }], ['value', { schema: text }], ['labels', { schema: { type: 'map', items: text } }],
  ]),
} as unknown as Schema;
const schema: Schema = {
  type: 'object',
  fields: new Map([
    ['kind', { schema: text }], ['apiVersion', { schema: text }],
    ['metadata', { schema: { type: 'object', fields: new Map([['labels', { schema: { type: 'map', items: text } }], ['name', { schema: text }]]) } }],
    ['spec', { schema: { type: 'object', fields: new Map<string, { schema: Schema }>([
      ['count', { schema: { type: 'integer' } }], ['free', { schema: { type: 'any', format: 'json' } }],
      ['whole', { schema: { type: 'map', items: text, mapType: 'atomic' } }],
      ['list', { schema: { type: 'array', items: text, listType: 'set' } }], ['plain', { schema: { type: 'array', items: text } }],
      ['keyed', { schema: { type: 'array', items: item, listType: 'map', listMapKeys: ['name'] } }],
    ]) } }],
  ]),
} as unknown as Schema;

const zero = { kind: 'K', apiVersion: 'v1', metadata: {}, spec: { count: 0, list: null, plain: null, keyed: null } };
const key = fc.constantFrom('a', 'b', '1:a', '__proto__', '{', '');
const labels = fc.dictionary(key, fc.constantFrom('', 'x', 'y'), { maxKeys: 3 });
const anything = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, fc.constantFrom<unknown>(null, 'x', 'y', 0, true), fc.dictionary(key, tie('value'), { maxKeys: 2 }),
    fc.array(tie('value'), { maxLength: 1 })),
})).value;
const items = fc.array(fc.record({ name: key, value: fc.constantFrom('', 'x'), labels }, { requiredKeys: ['name'], noNullPrototype: true }), { maxLength: 2 });
const spec = fc.record({
  count: fc.constantFrom(0, 1, 2), free: anything, whole: labels, list: fc.constantFrom(null, [], ['x'], ['y'], ['x', 'y'], ['x', 'x']),
  plain: fc.constantFrom(null, [], ['x'], ['y']), keyed: fc.option(items),
},
  { requiredKeys: [], noNullPrototype: true });
const object = fc.record({ metadata: fc.record({ name: fc.constantFrom('n', 'm'), labels }, { requiredKeys: [], noNullPrototype: true }), spec },
  { requiredKeys: ['metadata'], noNullPrototype: true }).map((rest) => ({ kind: 'K', apiVersion: 'v1', ...rest }) as unknown as KubeObject);

const ownersOf = (of: KubeObject): string => JSON.stringify(encodeManagers(updateManagers(
  { versions: { mayUnfit: false, schemaFor: () => schema, convert: (one) => one }, live: zero, object: of, managers: new Map(), reset: undefined },
  { manager: 'm', apiVersion: 'v1', subresource: '', time: '2026-01-01T00:00:00Z' })) ?? null);

test('outlineOf separates whatever has different owners', () => {
  const known = new Map<string, string>();
  fc.assert(fc.property(object, (one) => {
    const outline = outlineOf(schema, zero, one);
    if (outline === undefined) return;
    const owners = ownersOf(one);
    assert.equal(known.get(outline) ?? owners, owners, outline);
    known.set(outline, owners);
  }), { numRuns: 3000 });
  assert.ok(known.size > 50);
});

test('outlineOf says nothing of values, nor of what is large', () => {
  const outline = (spec: object): string | undefined => outlineOf(schema, {}, { spec });
  assert.equal(outline({ keyed: [{ name: 'a', value: 'x' }] }), outline({ keyed: [{ name: 'a', value: 'y' }] }));
  assert.notEqual(outline({ keyed: [{ name: 'a', value: 'x' }] }), outline({ keyed: [{ name: 'b', value: 'x' }] }));
  assert.equal(outline(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key-${index}`, 'x']))), undefined);
  assert.equal(outline({ whole: { a: '1' } }), outline({ whole: { a: 'x'.repeat(5000) } }));
});

test('outlineOf fails as the comparison does', () => {
  assert.throws(() => outlineOf(schema, zero, { spec: { keyed: [{ value: 'x' }] } }), TypedValueError);
});

test('statedFields says what toFieldSet says', () => {
  fc.assert(fc.property(object, (one) => {
    const said = (find: typeof toFieldSet): unknown => {
      try {
        return encodeFieldSet(find(schema, one));
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.deepEqual(said(statedFields), said(toFieldSet));
  }), { numRuns: 3000 });
});

test('PathsByOutline finds paths once per outline, and forgets those found first when there are too many', () => {
  const paths = new PathsByOutline();
  const owner = {};
  let found = 0;
  const find = () => {
    found += 1;
    return emptySet;
  };
  const outlines = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(4000, 'x'));
  for (const outline of [outlines[0], outlines[0], undefined, undefined]) paths.getOrFind(owner, outline, find);
  assert.equal(found, 3);
  for (const outline of outlines) paths.getOrFind(owner, outline, find);
  assert.equal(found, 22);
  paths.getOrFind(owner, outlines.at(-1), find);
  assert.equal(found, 22);
  paths.getOrFind(owner, outlines[0], find);
  paths.getOrFind({}, outlines.at(-1), find);
  assert.equal(found, 24);
});
