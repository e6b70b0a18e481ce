// Pruning and defaults of custom resources, case by case as the reference answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coerceEmbedded } from './decode/coerce.ts';
import { applyDefaults } from './decode/defaults.ts';
import { pruneUnknown } from './decode/prune.ts';
import type { Schema } from './schema.ts';
import { type OpenAPIV3Schema, compileStructuralSchema } from './structural.ts';

const text: OpenAPIV3Schema = { type: 'string' };
const keep = { 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: Record<string, OpenAPIV3Schema>, rest: object = {}): OpenAPIV3Schema => ({ type: 'object', properties, ...rest });
const list = (items: OpenAPIV3Schema): OpenAPIV3Schema => ({ type: 'array', items });
const map = (additionalProperties: OpenAPIV3Schema): OpenAPIV3Schema => ({ type: 'object', additionalProperties });
const compileSpec = (spec: OpenAPIV3Schema) => compileStructuralSchema(object({ spec }));

function fillIn(spec: OpenAPIV3Schema, value: object): string {
  return JSON.stringify(applyDefaults(compileSpec(spec), { spec: value })['spec']);
}

test('compileStructuralSchema reads types, merge rules and int-or-string', () => {
  const ports = { ...list(object({ port: { 'x-kubernetes-int-or-string': true } })), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port'] };
  const compiled = compileSpec(object({ ports, labels: map(text) })).fields!.get('spec')!.schema.fields!;
  assert.equal(compiled.get('labels')!.schema.type, 'map');
  assert.equal(compiled.get('ports')!.schema.listType, 'map');
  assert.deepEqual(compiled.get('ports')!.schema.listMapKeys, ['port']);
  assert.equal(compiled.get('ports')!.schema.items!.fields!.get('port')!.schema.format, 'int-or-string');
});

test('compileStructuralSchema adds typed metadata to the root and to embedded resources', () => {
  const objectMeta = { type: 'object', name: 'ObjectMeta', fields: new Map() } as const;
  const compiled = compileStructuralSchema(object({ template: { type: 'object', 'x-kubernetes-embedded-resource': true, ...keep } }), { objectMeta });
  assert.deepEqual([...compiled.fields!.keys()], ['apiVersion', 'kind', 'metadata', 'template']);
  assert.equal(compiled.fields!.get('template')!.schema.fields!.get('metadata')!.schema, objectMeta);
});

test('compileStructuralSchema reads a root without a type as the object that it is', () => {
  const objectMeta = { type: 'object', name: 'ObjectMeta', fields: new Map() } as const;
  const compiled = compileStructuralSchema({ ...keep }, { objectMeta });
  assert.equal(compiled.type, 'object');
  assert.deepEqual([...compiled.fields!.keys()], ['apiVersion', 'kind', 'metadata']);
  assert.deepEqual(compiled.source, keep);
});

test('embedded resources have the defaults of their type and metadata, without unknown metadata', () => {
  const objectMeta: Schema = compileStructuralSchema(object({ name: text }));
  const metadata = object({ name: { ...text, default: 'Bar' }, odd: { ...text, default: 'x' } });
  const embedded = object({ apiVersion: { ...text, default: 'foos/v1' }, kind: { ...text, default: 'Foo' }, metadata }, {
    'x-kubernetes-embedded-resource': true, default: { metadata: { name: 'Baz', odd: 'x' } },
  });
  const schema = compileStructuralSchema(object({ spec: object({ template: embedded }) }), { objectMeta });
  const fill = (template?: object): string => JSON.stringify(applyDefaults(schema, { spec: { template } })['spec']);
  assert.equal(fill({ metadata: {} }), '{"template":{"apiVersion":"foos/v1","kind":"Foo","metadata":{"name":"Bar"}}}');
  assert.equal(fill(), '{"template":{"apiVersion":"foos/v1","kind":"Foo","metadata":{"name":"Baz"}}}');
});

test('pruneUnknown drops what no property declares, at any depth, and returns the paths sorted', () => {
  const schema = compileSpec(object({ l: list(object({ a: text })), m: map(object({ a: text })) }));
  const { object: pruned, unknownFields } = pruneUnknown(schema, {
    spec: { odd: 1, m: { k: { a: '1', z: 2 } }, l: [{ a: '1' }, { b: '3', a: '2' }] }, top: true, metadata: { any: 'thing' }, kind: 'W',
  });
  assert.equal(JSON.stringify(pruned), '{"kind":"W","metadata":{"any":"thing"},"spec":{"l":[{"a":"1"},{"a":"2"}],"m":{"k":{"a":"1"}}}}');
  assert.deepEqual(unknownFields, ['spec.l[1].b', 'spec.m.k.z', 'spec.odd', 'top']);
});

test('pruneUnknown keeps unknown fields where the schema preserves them, but for what it specifies again', () => {
  const schema = compileSpec(object({ half: { type: 'object', ...keep, properties: { strict: object({ x: text }) } }, any: keep, items: list({ type: 'object', ...keep }) }));
  const { object: pruned, unknownFields } = pruneUnknown(schema, {
    spec: { half: { y: { z: 1 }, strict: { x: '1', y: 2 } }, any: [1, { y: null }], items: [{ a: 1 }, {}] },
  });
  assert.equal(JSON.stringify(pruned['spec']), '{"any":[1,{"y":null}],"half":{"strict":{"x":"1"},"y":{"z":1}},"items":[{"a":1},{}]}');
  assert.deepEqual(unknownFields, ['spec.half.strict.y']);
});

test('pruneUnknown keeps keys beside properties where additional ones are allowed, and nothing in what they hold', () => {
  const compiled = compileSpec(object({ a: object({ known: text }, { additionalProperties: true }) }));
  const { object: pruned, unknownFields } = pruneUnknown(compiled, { spec: { a: { known: 'x', more: 1, list: [null, { b: 1 }], map: { c: 1 } } } });
  assert.equal(JSON.stringify(pruned), '{"spec":{"a":{"known":"x","list":[null,{}],"map":{},"more":1}}}');
  assert.deepEqual(unknownFields, ['spec.a.list[1].b', 'spec.a.map.c']);
});

test('compileStructuralSchema says of which nodes apply takes any fields: of those around which unknown ones are preserved', () => {
  const compiled = compileSpec(object({ inner: object({ deep: object({ a: text }) }), list: list(object({ a: text })) }, keep));
  const spec = compiled.fields!.get('spec')!.schema;
  const inner = spec.fields!.get('inner')!.schema;
  assert.deepEqual([compiled, spec, inner, inner.fields!.get('deep')!.schema, spec.fields!.get('list')!.schema.items!].map(({ isOpen }) => isOpen === true),
    [false, true, true, true, true]);
  assert.equal(inner.preserveUnknownFields, undefined);
});

test('pruneUnknown leaves kind, apiVersion and metadata of embedded resources alone', () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: object({ x: text }) } };
  const { object: pruned, unknownFields } = pruneUnknown(compileSpec(object({ t: embedded })), {
    spec: { t: { kind: 'Pod', metadata: { nick: 1 }, spec: { y: 1 }, more: 1 } },
  });
  assert.equal(JSON.stringify(pruned['spec']), '{"t":{"kind":"Pod","metadata":{"nick":1},"spec":{}}}');
  assert.deepEqual(unknownFields, ['spec.t.more', 'spec.t.spec.y']);
});

test('applyDefaults fills what is absent or null, needs a parent, and drops nulls that are not allowed', () => {
  const one = { type: 'integer', default: 1 };
  const spec = object({
    a: { type: 'string', default: 'A' }, n: { type: 'string', nullable: true, default: 'N' }, nn: { type: 'string', nullable: true, default: null },
    o: object({ x: one }), od: object({ x: one, y: { type: 'integer' } }, { default: {} }), l: list(object({ x: { type: 'integer', default: 2 } })),
    m: map(object({ x: { type: 'integer', default: 3 } })), plain: text,
  });
  assert.equal(fillIn(spec, {}), '{"a":"A","n":"N","od":{"x":1}}');
  assert.equal(fillIn(spec, { a: null, n: null }), '{"a":"A","n":null,"od":{"x":1}}');
  assert.equal(fillIn(spec, { a: '', n: '', o: {}, od: { y: 5 } }), '{"a":"","n":"","o":{"x":1},"od":{"x":1,"y":5}}');
  assert.equal(fillIn(spec, { o: null, od: null, plain: null }), '{"a":"A","n":"N","od":{"x":1}}');
  const nested = fillIn(spec, { l: [{}, { x: 5 }, { x: null }], m: { j: null, k: {} } });
  assert.equal(nested, '{"a":"A","l":[{"x":2},{"x":5},{"x":2}],"m":{"k":{"x":3}},"n":"N","od":{"x":1}}');
});

test('applyDefaults keeps nulls where any value may stand', () => {
  assert.equal(fillIn(object({ m: { type: 'object', additionalProperties: true } }), { m: { a: null } }), '{"m":{"a":null}}');
});

test('applyDefaults keeps nulls without a default on request', () => {
  const fields = { n: { type: 'integer', default: 2 }, s: { type: 'string' }, l: { type: 'array', items: { type: 'string' } } };
  const schema = compileSpec({ type: 'object', properties: { ...fields, m: { type: 'object', additionalProperties: { type: 'string' } } } });
  const object = { spec: { n: null, s: null, l: null, m: { a: null } } };
  assert.deepEqual(applyDefaults(schema, object, { keepNulls: true })['spec'], { l: null, m: { a: null }, n: 2, s: null });
  assert.deepEqual(applyDefaults(schema, object)['spec'], { m: {}, n: 2 });
});

test('applyDefaults never hands the same default out twice', () => {
  const schema = compileSpec(object({ o: object({}, { default: {} }) }));
  const first = applyDefaults(schema, { spec: {} })['spec'] as Record<string, object>;
  const second = applyDefaults(schema, { spec: {} })['spec'] as Record<string, object>;
  assert.notEqual(first['o'], second['o']);
});

test('coerceEmbedded reads the metadata of embedded resources as ObjectMeta, and of nothing else', () => {
  const label = { type: 'map', items: { type: 'string' } } as const;
  const rules = { required: false, omitEmpty: true, pointer: false, number: 0 };
  const objectMeta: Schema = {
    type: 'object', name: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    fields: new Map([['name', { name: 'name', schema: { type: 'string' }, ...rules }], ['labels', { name: 'labels', schema: label, ...rules }]]),
  };
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, ...keep };
  const schema = compileSpec(object({ t: embedded, l: list(embedded), plain: { type: 'object', ...keep } }));
  const { object: coerced, strictErrors } = coerceEmbedded(schema, {
    metadata: { nick: 1 }, spec: { t: { kind: 'Pod', metadata: { nick: 1, name: 'x', labels: {} } }, l: [{ metadata: { odd: 1 } }], plain: { metadata: 1 } },
  }, objectMeta);
  assert.equal(JSON.stringify(coerced['spec']), '{"t":{"kind":"Pod","metadata":{"name":"x"}},"l":[{"metadata":{}}],"plain":{"metadata":1}}');
  assert.deepEqual(strictErrors, ['unknown field "spec.t.metadata.nick"', 'unknown field "spec.l[0].metadata.odd"']);
  assert.throws(() => coerceEmbedded(schema, { spec: { t: { metadata: { labels: { a: 1 }, name: 'x' } } } }, objectMeta), {
    message: 'spec.t.metadata: Invalid value: {"labels":{"a":1},"name":"x"}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  });
});
