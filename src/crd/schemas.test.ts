// Compiled schemas come and go within their bound; what a request sees is the same either way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Schema } from '../apimachinery/index.ts';
import type { Steps } from '../base/index.ts';
import { SchemaCache, SchemaShare, createSchemas } from './schemas.ts';

const objectMeta: Schema = { type: 'object', name: 'ObjectMeta', fields: new Map() };

function define(kind: string, fields: number): KubeObject {
  const properties = Object.fromEntries(Array.from({ length: fields }, (_, i) => [`${kind}${i}`, { type: 'string', description: 'd'.repeat(1000) }]));
  const openAPIV3Schema = { type: 'object', description: 'all', properties: { spec: { type: 'object', properties } } };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: kind },
    spec: { group: 'g.io', names: {}, versions: [{ name: 'v1', schema: { openAPIV3Schema } }] } } as unknown as KubeObject;
}

type Kind = { readonly schema: () => Schema; readonly loads: () => number; readonly prepare: () => Steps<void> | undefined };

function createKind(kind: string, cache: SchemaCache | SchemaShare, fields = 20): Kind {
  let loads = 0;
  const reload = (): KubeObject => {
    loads++;
    return define(kind, fields);
  };
  const schemas = createSchemas(['v1'], { reload, objectMeta, cache });
  return { schema: () => schemas.get('v1') as Schema, loads: () => loads, prepare: () => schemas.prepare('v1') };
}

const fieldNames = (schema: Schema): string[] => [...schema.fields?.get('spec')?.schema.fields?.keys() ?? []];

test('schemas are compiled when they are first looked into, once while they are kept', () => {
  const cache = new SchemaCache();
  const kind = createKind('a', cache);
  const schema = kind.schema();
  assert.deepEqual([schema.type, kind.loads(), cache.size.schemas], ['object', 0, 0]);
  assert.equal(fieldNames(schema).length, 20);
  assert.equal(fieldNames(kind.schema()).length, 20);
  assert.deepEqual([kind.schema() === schema, kind.loads(), cache.size.schemas], [true, 1, 1]);
});

test('the schema that was used least recently is dropped first, stays whole for its holder, and comes back when it is asked for', () => {
  const one = new SchemaCache();
  void createKind('x', one).schema().fields;
  const cache = new SchemaCache(one.size.bytes * 2.5);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => createKind(name, cache)) as [Kind, Kind, Kind];
  const held = [a, b].map(({ schema }) => schema());
  for (const schema of held) void schema.fields;
  a.schema();
  void c.schema().fields;
  assert.equal(cache.size.schemas, 2);
  assert.ok(cache.size.bytes <= one.size.bytes * 2.5);
  assert.equal(a.schema(), held[0]);
  assert.notEqual(b.schema(), held[1]);
  assert.deepEqual(fieldNames(held[1] as Schema), fieldNames(b.schema()));
  assert.deepEqual([a.loads(), b.loads(), c.loads()], [1, 2, 1]);
});

test('the schemas of a row that is no longer served leave, and those that a request still compiles do not come in', () => {
  const cache = new SchemaCache();
  const shares = ['a', 'b', 'c'].map(() => new SchemaShare(cache)) as [SchemaShare, SchemaShare, SchemaShare];
  const [a, b, c] = shares.map((share, at) => createKind('abc'[at] as string, share)) as [Kind, Kind, Kind];
  for (const { schema } of [a, b]) void schema().fields;
  const held = c.schema();
  for (const share of [shares[0], shares[2]]) share.end();
  assert.equal(fieldNames(held).length, 20);
  assert.equal(fieldNames(a.schema()).length, 20);
  assert.deepEqual([cache.size.schemas, b.loads()], [1, 1]);
  shares[1].end();
  assert.deepEqual(cache.size, { schemas: 0, bytes: 0 });
});

test('a schema larger than the bound is kept alone', () => {
  const cache = new SchemaCache(1);
  const large = createKind('large', cache, 500);
  const small = createKind('small', cache);
  void small.schema().fields;
  void large.schema().fields;
  assert.deepEqual([cache.size.schemas, large.loads()], [1, 1]);
  void large.schema().fields;
  assert.equal(large.loads(), 1);
});

test('the source that is kept has no prose, and leaves are shared', () => {
  const cache = new SchemaCache();
  const [first, second] = ['a', 'b'].map((name) => createKind(name, cache).schema()) as [Schema, Schema];
  assert.doesNotMatch(JSON.stringify(first.source), /description/);
  const leafOf = (schema: Schema, name: string): Schema | undefined => schema.fields?.get('spec')?.schema.fields?.get(name)?.schema;
  assert.equal(leafOf(first, 'a0'), leafOf(second, 'b3'));
});

test('a large schema is compiled in steps, once for all that ask for it meanwhile', () => {
  const kind = createKind('wide', new SchemaCache(), 20_000);
  const [one, other] = [kind.prepare(), kind.prepare()] as [Steps<void>, Steps<void>];
  let steps = 0;
  while (one.next().done !== true) {
    steps++;
    other.next();
  }
  assert.ok(steps > 8, `${steps} steps of one of two`);
  assert.deepEqual([other.next().done, kind.loads(), kind.prepare()], [true, 1, undefined]);
  assert.equal(fieldNames(kind.schema()).length, 20_000);
  assert.equal(kind.loads(), 1);
});

test('the walks over a whole schema are steps of their own: to read it, to compile it, to count it, to find out what it states', () => {
  let taken = 1;
  for (const steps = createKind('a', new SchemaCache()).prepare() as Steps<void>; steps.next().done !== true;) taken++;
  assert.equal(taken, 4);
});
