// JSON patches against a naive twin that copies the whole document, and what bounds them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../object.ts';
import { StatusError } from '../status.ts';
import { compileJsonPatch, decodeJsonPatch } from './json-patch.ts';

type Operation = { op: string; path: string; from?: string; value?: JsonValue };

/** RFC 6902 in its plainest form; undefined when an operation cannot be applied. */
function applyNaively(document: JsonValue, operations: readonly Operation[]): JsonValue | undefined {
  const root = structuredClone(document);
  const find = (pointer: string): [any, string] | undefined => {
    const segments = pointer.split('/').slice(1);
    let at: any = root;
    for (const key of segments.slice(0, -1)) at = typeof at === 'object' && at !== null && Object.hasOwn(at, key) && key !== 'length' ? at[key] : undefined;
    return typeof at === 'object' && at !== null ? [at, segments.at(-1) as string] : undefined;
  };
  const isIndex = (key: string, limit: number): boolean => /^\d$/.test(key) && Number(key) < limit;
  const add = (pointer: string, value: JsonValue): boolean => {
    const [at, key] = find(pointer) ?? [undefined, ''];
    if (at === undefined || (Array.isArray(at) && key !== '-' && !isIndex(key, at.length + 1))) return false;
    if (Array.isArray(at)) at.splice(key === '-' ? at.length : Number(key), 0, value);
    else at[key] = value;
    return true;
  };
  const read = (pointer: string): { value: JsonValue } | undefined => {
    const [at, key] = find(pointer) ?? [undefined, ''];
    if (at === undefined || (Array.isArray(at) && !isIndex(key, at.length))) return undefined;
    return { value: Array.isArray(at) || Object.hasOwn(at, key) ? at[key] : undefined };
  };
  const remove = (pointer: string): boolean => {
    const [at, key] = find(pointer) ?? [undefined, ''];
    if (at === undefined || (Array.isArray(at) ? !isIndex(key, at.length) : !Object.hasOwn(at, key))) return false;
    if (Array.isArray(at)) at.splice(Number(key), 1);
    else delete at[key];
    return true;
  };
  for (const { op, path, from = '', value = null } of operations) {
    const source = op === 'copy' || op === 'move' ? read(from) : undefined;
    const isDone = op === 'add' ? add(path, structuredClone(value)) : op === 'remove' ? remove(path)
      : op === 'copy' ? source !== undefined && add(path, structuredClone(source.value ?? null))
        : op === 'move' ? source !== undefined && remove(from) && add(path, source.value) : false;
    if (!isDone) return undefined;
  }
  return root;
}

const leaf = fc.constantFrom<JsonValue>(1, 'a', null, true);
const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0'), tie('tree'), { noNullPrototype: true }) as fc.Arbitrary<JsonValue>),
}));
const pointer = fc.array(fc.constantFrom('a', 'b', '0', '1', '-'), { minLength: 1, maxLength: 3 }).map((segments) => `/${segments.join('/')}`);
const operation = fc.record({ op: fc.constantFrom('add', 'add', 'remove', 'copy', 'move'), path: pointer, from: pointer, value: tree },
  { noNullPrototype: true });

test('compileJsonPatch gives what copying the whole document for each operation gives, and leaves document and patch as they were', () => {
  const object = fc.record({ a: tree, b: tree }, { noNullPrototype: true });
  fc.assert(fc.property(object, fc.array(operation, { maxLength: 6 }), (document, operations) => {
    const [before, patchBefore] = [structuredClone(document), structuredClone(operations)];
    let result: JsonValue | undefined;
    try {
      result = compileJsonPatch(operations)(document as JsonObject);
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error));
    }
    assert.deepEqual(result, applyNaively(document as JsonObject, operations));
    assert.deepEqual([document, operations], [before, patchBefore]);
  }), { numRuns: 5000 });
});

test('compileJsonPatch shares what it does not reach', () => {
  const document = { a: { deep: [1] }, b: { list: [{ x: 1 }, { y: 2 }] } };
  const result = compileJsonPatch([{ op: 'add', path: '/b/list/0/z', value: 3 }])(document) as typeof document;
  assert.deepEqual(result, { a: { deep: [1] }, b: { list: [{ x: 1, z: 3 }, { y: 2 }] } });
  assert.equal(result.a, document.a);
  assert.equal(result.b.list[1], document.b.list[1]);
});

test('compileJsonPatch keeps copies apart from their source', () => {
  const result = compileJsonPatch([
    { op: 'add', path: '/a/n', value: 1 }, { op: 'copy', from: '/a', path: '/b' }, { op: 'add', path: '/a/n', value: 2 },
    { op: 'add', path: '/b/l/0', value: 3 },
  ])({ a: { l: [] } });
  assert.deepEqual(result, { a: { l: [], n: 2 }, b: { l: [3], n: 1 } });
});

test('compileJsonPatch tests containers that were edited before', () => {
  const compiled = compileJsonPatch([
    { op: 'test', path: '/m', value: { a: 1 } }, { op: 'add', path: '/m/b', value: [1] }, { op: 'add', path: '/m/b/0', value: 0 },
    { op: 'test', path: '/m', value: { b: [0, 1], a: 1 } }, { op: 'remove', path: '/m/a' }, { op: 'test', path: '', value: { m: { b: [0, 1] } } },
  ]);
  assert.deepEqual(compiled({ m: { a: 1 } }), { m: { b: [0, 1] } });
});

test('compileJsonPatch refuses results that are nested deeper than a body may be', () => {
  const wrap: JsonValue[] = Array.from({ length: 1200 }, () => [{ op: 'add', path: '/b', value: {} }, { op: 'move', from: '/a', path: '/b/a' },
    { op: 'move', from: '/b', path: '/a' }]).flat();
  assert.throws(() => compileJsonPatch(wrap)({ a: {} }), (error: StatusError) => error.code === 422);
});

test('compileJsonPatch visits each item of a long list a bounded number of times', () => {
  let reads = 0;
  const long = new Proxy(Array.from({ length: 200_000 }, (_, i) => i), {
    get(target, key, receiver) {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  const edits = Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? { op: 'add', path: '/l/0', value: i } : { op: 'remove', path: '/l/1' }));
  const result = compileJsonPatch(edits)({ l: long }) as { l: number[] };
  assert.deepEqual(result.l.slice(0, 2), [4998, 1]);
  assert.ok(reads < 1_000_000, `${reads} reads`);
});

test('a replacement says no more of an item that is not there than that it is missing', () => {
  for (const key of ['-', '5', 'x', '-4']) {
    assert.throws(() => decodeJsonPatch([{ op: 'replace', path: `/l/${key}`, value: 1 }]).apply({ l: [0] }), {
      message: new RegExp(`replace operation does not apply: doc is missing key: /l/${key}: missing value$`) });
  }
});

test('compileJsonPatch compares numbers by how they are written', () => {
  const passes = (respelled: readonly number[], ...operations: Operation[]): boolean => {
    try {
      compileJsonPatch(operations, new Set(respelled))({ a: 7, z: 0, l: [1] });
      return true;
    } catch (error) {
      assert.ok(error instanceof StatusError);
      return false;
    }
  };
  const isSeven: Operation = { op: 'test', path: '/a', value: 7 };
  assert.deepEqual([passes([], isSeven), passes([0], isSeven), passes([1], isSeven, isSeven)], [true, false, false]);
  assert.equal(passes([], { op: 'test', path: '/z', value: -0 }), false);
  assert.equal(passes([], { op: 'test', path: '/l', value: [1] }), true);
  // What an operation before has put there is compared by its value.
  assert.equal(passes([0, 1], { op: 'add', path: '/a', value: 7 }, isSeven), true);
});
