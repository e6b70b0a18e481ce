// Patches: the reference's answers, the examples of the RFCs in our own words, and laws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject } from '../../base/index.ts';
import type { JsonObject, JsonValue } from '../object.ts';
import type { Field, Schema } from '../schema/schema.ts';
import type { StatusError } from '../status.ts';
import { compileJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';

const patch = (document: JsonValue, ...operations: JsonValue[]): JsonValue => compileJsonPatch(operations)(document);
const codeOf = (run: () => unknown): number | undefined => {
  try { run(); } catch (error) { return (error as StatusError).code; }
  return undefined;
};

test('compileJsonPatch applies operations in order', () => {
  assert.deepEqual(patch({ a: { one: '1', two: '2' } }, { op: 'add', path: '/a/three', value: '3' }, { op: 'replace', path: '/a/one', value: 'x' },
    { op: 'remove', path: '/a/two' }),
    { a: { one: 'x', three: '3' } });
  assert.deepEqual(patch({ l: [1, 2] }, { op: 'add', path: '/l/1', value: 9 }, { op: 'add', path: '/l/-', value: 3 },
    { op: 'remove', path: '/l/-1' }), { l: [1, 9, 2] });
  assert.deepEqual(patch({ 'a/b': 1, 'm~n': 2 }, { op: 'copy', from: '/a~1b', path: '/c' }, { op: 'move', from: '/m~0n', path: '/d' }),
    { 'a/b': 1, c: 1, d: 2 });
  assert.deepEqual(patch({ k: 'v' }, { op: 'replace', path: '/absent', value: 'x' }, { op: 'test', path: '/nothing', value: null }), { k: 'v', absent: 'x' });
});

test('compileJsonPatch answers 422 for what cannot be applied, 400 for what is no patch, 413 for too much', () => {
  const bad: JsonValue[] = [{ op: 'remove', path: '/absent' }, { op: 'add', path: '/no/where', value: 1 }, { op: 'test', path: '/k', value: 'other' },
    { op: 'frobnicate', path: '/k' },
    { op: 'add', value: 1 }, { op: 'copy', path: '/x' }, { op: 'add', path: '/l/5', value: 1 }, { op: 'replace', path: '/k/deeper', value: 1 },
      { op: 'move', from: '/none', path: '/x' }];
  for (const operation of bad) assert.equal(codeOf(() => patch({ k: 'v', l: [1] }, operation)), 422, JSON.stringify(operation));
  assert.throws(() => compileJsonPatch({}), { message: 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp' });
  assert.throws(() => compileJsonPatch(['add']), { message: 'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp' });
  assert.equal(codeOf(() => compileJsonPatch(Array(10_001).fill({ op: 'test', path: '/k', value: 'v' }))), 413);
});

test('compileJsonPatch bounds what copies may add up to', () => {
  const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: i === 0 ? '/a' : '', path: `/a${i}` }) as JsonValue);
  assert.equal(codeOf(() => patch({ a: 'x'.repeat(1000) }, ...doubling)), 422);
});

test('compileJsonPatch changes neither the document nor prototypes', () => {
  const document: JsonObject = { a: { b: 1 } };
  patch(document, { op: 'add', path: '/__proto__', value: { polluted: true } }, { op: 'remove', path: '/a' });
  assert.deepEqual(document, { a: { b: 1 } });
  assert.equal(({} as JsonObject).polluted, undefined);
});

test('applyMergePatch takes nulls out of objects in lists, but where a list replaces an object', () => {
  const patch = { list: [{ a: null, b: [{ c: null }] }, null] };
  for (const target of [{}, { list: 1 }, { list: [{ a: 1 }] }]) assert.deepEqual(applyMergePatch(target, patch), { list: [{ b: [{}] }, null] });
  assert.deepEqual(applyMergePatch({ list: { a: 1 } }, patch), patch);
});

test('compileJsonPatch reports which objects operations led into', () => {
  const document = { a: { deep: { x: 1 } }, b: { y: 2 } };
  const reached = new WeakSet<object>();
  const result = compileJsonPatch([{ op: 'add', path: '/a/deep/z', value: { w: 1 } }, { op: 'test', path: '/b', value: { y: 2 } }])(document, reached) as any;
  assert.deepEqual([result, result.a, result.a.deep, result.b, result.a.deep.z].map((value) => reached.has(value)), [true, true, true, true, false]);
});

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), json, { noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

test('applyMergePatch obeys its laws: itself once more changes nothing in the end, {} nothing at all, null removes', () => {
  fc.assert(fc.property(object, object, (target, change) => {
    const once = applyMergePatch(target, change);
    // A list that replaces an object keeps its nulls the first time.
    const twice = applyMergePatch(once, change);
    assert.deepEqual(applyMergePatch(twice, change), twice);
    assert.deepEqual(applyMergePatch(target, {}), target);
    for (const key of Object.keys(change)) assert.equal(Object.hasOwn(once, key), change[key] !== null);
  }));
});

const text: Schema = { type: 'string' };
const struct = (fields: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object', ...more,
  fields: new Map(Object.entries(fields).map(([name, schema]): [string, Field] =>
    [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0 }])),
});
const env = struct({ name: text, value: text });
const item = struct({ name: text, image: text, env: { type: 'array', items: env, patchStrategy: 'merge', patchMergeKey: 'name' } });
const schema = struct({
  items: { type: 'array', items: item, patchStrategy: 'merge', patchMergeKey: 'name' }, finalizers: { type: 'array', items: text, patchStrategy: 'merge' },
  plain: { type: 'array', items: item }, selector: { type: 'map', items: text },
    strategy: struct({ type: text, rolling: text }, { patchStrategy: 'retainKeys' }),
});
const merge = (target: JsonObject, change: JsonObject): JsonObject => applyStrategicMergePatch(target, structuredClone(change), schema);

test('applyStrategicMergePatch merges lists by their key, new items first', () => {
  const target = { items: [{ name: 'c', image: 'one', env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }] }] };
  assert.deepEqual(merge(target, { items: [{ name: 'c', image: 'two', env: [{ name: 'B', value: '3' }, { name: 'C', value: '4' }] }] }),
    { items: [{ name: 'c', image: 'two', env: [{ name: 'A', value: '1' }, { name: 'B', value: '3' }, { name: 'C', value: '4' }] }] });
  assert.deepEqual(merge(target, { items: [{ name: 'side', image: 'x' }] }).items, [{ name: 'side', image: 'x' }, target.items[0]]);
  assert.deepEqual(merge(target, { plain: [{ name: 'p' }], selector: { a: 'b', gone: null } }), { ...target, plain: [{ name: 'p' }], selector: { a: 'b' } });
});

test('applyStrategicMergePatch follows directives', () => {
  const target = { items: [{ name: 'a' }, { name: 'b' }], finalizers: ['x', 'y'], selector: { k: 'v' }, strategy: { type: 'Rolling', rolling: 'r' } };
  assert.deepEqual(merge(target, { items: [{ name: 'a', $patch: 'delete' }] }).items, [{ name: 'b' }]);
  assert.deepEqual(merge(target, { items: [{ $patch: 'replace' }, { name: 'n' }] }).items, [{ name: 'n' }]);
  assert.deepEqual(merge(target, { selector: { $patch: 'replace', z: '1' } }).selector, { z: '1' });
  assert.deepEqual(merge(target, { strategy: { $retainKeys: ['type'], type: 'Recreate' } }).strategy, { type: 'Recreate' });
  assert.deepEqual(merge(target, { '$deleteFromPrimitiveList/finalizers': ['x'] }).finalizers, ['y']);
  assert.deepEqual(merge(target, { finalizers: ['z', 'x'] }).finalizers, ['z', 'x', 'y']);
  assert.deepEqual(merge(target, { '$setElementOrder/finalizers': ['z', 'y', 'x'], finalizers: ['z'] }).finalizers, ['z', 'y', 'x']);
  assert.deepEqual(merge(target, { '$setElementOrder/items': [{ name: 'b' }, { name: 'n' }, { name: 'a' }], items: [{ name: 'n' }] }).items,
    [{ name: 'b' }, { name: 'n' }, { name: 'a' }]);
});

test('applyStrategicMergePatch puts what it adds behind the items of the server alone where it deletes others', () => {
  const names = (change: JsonObject): unknown => {
    const { items } = merge({ items: ['a', 'b', 'd'].map((name) => ({ name })) }, change);
    return (items as { name: string }[]).map(({ name }) => name).join('');
  };
  const added = [{ name: 'c' }, { name: 'a', $patch: 'delete' }];
  assert.equal(names({ '$setElementOrder/items': [{ name: 'b' }, { name: 'c' }], items: added }), 'bdc');
  assert.equal(names({ '$setElementOrder/items': [{ name: 'b' }, { name: 'c' }], items: [{ name: 'c' }] }), 'abcd');
  assert.equal(names({ '$setElementOrder/items': [{ name: 'b' }, { name: 'c' }, { name: 'e' }], items: [...added, { name: 'e' }] }), 'bdce');
});

test('applyStrategicMergePatch keeps directives in what replaces a list, and uses up those that it follows', () => {
  const target = { items: [{ name: 'a' }], plain: [{ name: 'p' }], selector: { k: 'v' } };
  assert.deepEqual(merge(target, { plain: [{ $patch: 'replace', name: 'q' }] }).plain, [{ $patch: 'replace', name: 'q' }]);
  assert.deepEqual(merge(target, { items: [{ name: 'n', $retainKeys: ['name'] }] }).items, [{ name: 'n', $retainKeys: ['name'] }, { name: 'a' }]);
  assert.deepEqual(merge({}, { plain: [{ $patch: 'delete' }, { name: 'q', gone: null }], selector: { $patch: 'replace' } }), { plain: [{ name: 'q' }] });
  const used = { selector: { $retainKeys: ['k'], k: null }, '$setElementOrder/items': [{ name: 'a' }], strategy: { none: null, $patch: 'replace' } };
  applyStrategicMergePatch(target, used, schema);
  assert.deepEqual(used, { selector: { k: null }, strategy: { $patch: 'replace' } });
});

test('applyStrategicMergePatch refuses directives for lists of maps without a key', () => {
  const target = { plain: [{ name: 'p' }] };
  assert.throws(() => merge(target, { '$setElementOrder/plain': [], plain: [] }), { message: 'map: map[name:p] does not contain declared merge key: ' });
  assert.throws(() => merge({ strategy: { type: 'a' } }, { strategy: { type: [], '$deleteFromPrimitiveList/type': [] } }),
    { message: 'expected slice or array type, but got: struct' });
  assert.throws(() => merge(target, { '$deleteFromPrimitiveList/plain': [{ name: 'p' }] }), { message: 'cannot merge lists without merge key for struct' });
  assert.deepEqual(merge({ items: [{ name: 'a' }] }, { '$deleteFromPrimitiveList/items': [] }), { items: [{ name: 'a' }] });
});

test('applyStrategicMergePatch lets a directive of deletion do what a field does, but that it adds nothing', () => {
  const target = { items: [{ name: 'a' }], finalizers: ['x', 'y'], selector: { k: 'v' } };
  const deleting = (name: string, value: JsonValue): JsonObject => merge(target, { [`$deleteFromPrimitiveList/${name}`]: value });
  assert.equal('finalizers' in deleting('finalizers', null), false);
  assert.deepEqual([deleting('finalizers', 'x'), deleting('absent', ['x'])], [target, target]);
  assert.deepEqual(deleting('selector', { z: '1' }).selector, { k: 'v', z: '1' });
  assert.throws(() => deleting('finalizers', [7]), { message: 'list element types are not identical: [[x y] [7]]' });
  assert.throws(() => merge(target, { $deleteFromPrimitiveList: ['x'] }), { message: 'invalid patch format of primitive list' });
});

test('applyStrategicMergePatch wants the merge key in all items that it puts in order', () => {
  const target = { items: [{ name: 'a' }], selector: { k: 'v' } };
  const keyless = { message: 'map: map[image:x] does not contain declared merge key: name' };
  assert.throws(() => merge(target, { items: [{ $patch: 'replace' }, { image: 'x' }] }), keyless);
  assert.throws(() => merge({ items: [{ image: 'x' }] }, { items: [{ name: 'a' }] }), keyless);
  assert.throws(() => merge(target, { items: [{ name: 'a' }], '$setElementOrder/items': [{ name: 'a' }, { image: 'x' }] }), keyless);
  assert.throws(() => merge(target, { '$setElementOrder/items': [{ name: 'b' }, 'x'] }), { message: 'value for key 1 is not a map' });
  assert.throws(() => merge(target, { '$setElementOrder/items': [{ name: 'a' }, 'x'] }), { message: /^expected a map/ });
  assert.throws(() => merge({}, { items: [], '$setElementOrder/items': [] }), { message: 'no elements in any of the given slices' });
  assert.throws(() => merge(target, { selector: { '$setElementOrder/k': [] } }), { message: 'expected a []interface {}, but received a string' });
  assert.throws(() => merge(target, { selector: { '$setElementOrder/z': [] } }),
    { message: 'merging an object in json but data type is not struct, instead is: map' });
});

test('applyStrategicMergePatch refuses directives in the reference\'s words', () => {
  const target = { items: [{ name: 'a' }], selector: { k: 'v' }, strategy: { type: 'x' } };
  assert.throws(() => merge(target, { selector: { $patch: 'bogus', zone: 'y' } }), { message: 'unknown patch type: bogus in map: map[$patch:bogus zone:y]' });
  const wrong: readonly (readonly [JsonValue, string])[] =
    [[1, '%!s(int64=1)'], [1.5, '%!s(float64=1.5)'], [null, '%!s(<nil>)'], [['a', true], '[a %!s(bool=true)]']];
  for (const [directive, text] of wrong) {
    assert.throws(() => merge(target, { selector: { $patch: directive } }), ({ message }: Error) => message.startsWith(`unknown patch type: ${text} in map: `));
  }
  assert.throws(() => merge(target, { items: [{ image: 'nokey' }] }), { message: 'map: map[image:nokey] does not contain declared merge key: name' });
  for (const keys of ['type', ['type', {}]]) {
    assert.throws(() => merge(target, { strategy: { $retainKeys: keys, type: 'y' } }), { message: 'invalid patch format of retainKeys' });
  }
  assert.throws(() => merge(target, { '$setElementOrder/items': [{ name: 'a' }], items: [{ image: 'x' }] }),
    { message: 'map: map[image:x] does not contain declared merge key: name' });
  assert.throws(() => merge(target, { '$setElementOrder/unknown': [] }), { message: /^unable to find api field in struct .* for the json field "unknown"$/ });
  assert.throws(() => merge(target, { items: ['text'] }), { message: /^list element types are not identical: \[\[map\[.*\]\] \[text\]\]$/ });
  assert.throws(() => merge(target, { '$setElementOrder/items': [{ name: 'a' }, { name: 'b' }], items: [{ name: 'other', image: 'x' }] }),
    { message: "The order in patch list:\n[map[image:x name:other]]\n doesn't match $setElementOrder list:\n[map[name:a] map[name:b]]\n" });
});

test('applyStrategicMergePatch answers values of other types as the reference does', () => {
  const target = { items: [{ name: 'a' }], finalizers: ['x'] };
  const failing = (change: JsonObject): string => {
    try { merge(target, change); } catch (error) { return `${(error as StatusError).code} ${(error as StatusError).message}`; }
    return 'no error';
  };
  assert.equal(failing({ items: [null] }), '500 list element types are not identical: [[map[name:a]] [<nil>]]');
  assert.equal(failing({ '$setElementOrder/items': { name: 'a' } }), '500 expected a []interface {}, but received a map[string]interface {}');
  assert.equal(failing({ '$setElementOrder/items': null }), '500 expected a []interface {}, but received a %!s(<nil>)');
  assert.equal(failing({ '$setElementOrder/items': [{ name: 'a' }], items: 'text' }), '500 expected a []interface {}, but received a string');
  assert.equal(failing({ '$setElementOrder/items': [{ name: 'a' }], items: [null] }), '500 expected a map[string]interface {}, but received a %!s(<nil>)');
  assert.equal(failing({ finalizers: [['x']] }), '500 list element types are not identical: [[x] [[x]]]');
  assert.deepEqual(merge({}, { items: [null], plain: [null] }), { items: [null], plain: [null] });
});

test('applyStrategicMergePatch throws nothing but StatusError, whatever the patch', () => {
  const any = fc.letrec<{ tree: JsonValue }>((tie) => ({
    tree: fc.oneof({ maxDepth: 3 }, fc.constantFrom<JsonValue>('a', 'delete', 'replace', 1, null), fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('name', 'items', 'finalizers', 'env', 'strategy', '$patch', '$retainKeys', '$setElementOrder/items',
        '$setElementOrder/finalizers', '$deleteFromPrimitiveList/finalizers', '__proto__'), tie('tree'),
        { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonValue>),
  })).tree;
  fc.assert(fc.property(any.filter(isJsonObject), any.filter(isJsonObject), (target, change) => {
    try {
      merge(target as JsonObject, change as JsonObject);
    } catch (error) {
      assert.equal((error as Error).constructor.name, 'StatusError', String((error as Error).stack));
    }
  }), { numRuns: 5000 });
});

test('applyStrategicMergePatch without directives is idempotent and never changes its input', () => {
  const items = fc.uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('1', '2') }, { noNullPrototype: true }),
    { selector: (i) => i.name });
  fc.assert(fc.property(items, items, (target, change) => {
    const before = structuredClone(target);
    const once = merge({ items: target }, { items: change });
    assert.deepEqual(target, before);
    assert.deepEqual(merge(once, { items: change }), once);
  }));
});
