// Names, conditions, paths, columns and versions of definitions.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type KubeObject, type Schema, compileStructuralSchema, loadPatternEngine, matchesPattern } from '../apimachinery/index.ts';
import { systemClock, systemRandom } from '../base/index.ts';
import { applyScale, subresourcesIn, toScale } from '../registry/index.ts';
import { createColumns } from './columns.ts';
import { createConverter } from './conversion/converter.ts';
import { createRow, findScale } from './row.ts';
import { validateWrite } from './strategy.ts';
import type { DefinitionStatus } from './types.ts';
import { findAll, parsePath, readField } from './json-path.ts';
import { acceptNames, collectTaken, establish } from './controller/names.ts';
import { readApproval } from './validate/approval.ts';
import { validateDefinition, validateDefinitionUpdate } from './validate/definition.ts';

const now = '2026-01-01T00:00:00Z';

function define(change: Record<string, unknown> = {}): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }], conversion: { strategy: 'None' }, ...change,
    },
    status: { storedVersions: ['v1'], acceptedNames: { plural: '', kind: '' } },
  };
}

const statusText = ({ conditions }: DefinitionStatus): string[] => (conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

describe('acceptNames', () => {
  it('accepts free names first and establishes them in a second step', () => {
    const definition = define();
    const named = acceptNames(definition, collectTaken([]), now);
    assert.deepEqual(statusText(named), ['NamesAccepted=True NoConflicts', 'Established=False Installing']);
    assert.equal(establish(definition, now), undefined);
    assert.deepEqual(statusText(establish({ ...definition, status: named }, now) as DefinitionStatus), ['NamesAccepted=True NoConflicts',
      'Established=True InitialNamesAccepted']);
  });

  it('refuses a kind that another definition of the group has, and keeps the other names', () => {
    const named = acceptNames(define(), collectTaken([{ plural: 'others', kind: 'Widget' }]), now);
    assert.deepEqual(statusText(named), ['NamesAccepted=False KindConflict', 'Established=False NotAccepted']);
    assert.deepEqual(named.acceptedNames, { plural: 'widgets', singular: 'widget', kind: '', listKind: 'WidgetList' });
  });

  it('changes nothing when asked again', () => {
    const named = acceptNames(define(), collectTaken([]), now);
    assert.deepEqual(acceptNames({ ...define(), status: named }, collectTaken([]), '2027-01-01T00:00:00Z'), named);
  });
});

describe('readApproval', () => {
  it('distinguishes links, refusals of review and nonsense', () => {
    const read = (text: string) => readApproval({ 'api-approved.kubernetes.io': text }).type;
    assert.deepEqual(['https://example.com/1', 'unapproved, a test', 'because', ''].map(read), ['approved', 'bypassed', 'invalid', 'missing']);
  });
});

describe('json paths', () => {
  const object = { spec: { list: [{ name: 'x', on: true }, { name: 'y' }] }, metadata: { annotations: { 'example.com/note': 'hi' } } };
  const all = (path: string): unknown[] => findAll(parsePath(path) ?? [], object);
  it('findAll follows fields, indices, wildcards, filters and escaped dots', () => {
    assert.deepEqual(all('.spec.list[1].name'), ['y']);
    assert.deepEqual(all('.spec.list[*].name'), ['x', 'y']);
    assert.deepEqual(all('.spec.list[?(@.name=="y")].name'), ['y']);
    assert.deepEqual(all('.metadata.annotations.example\\.com/note'), ['hi']);
    assert.deepEqual(all(".metadata.annotations['example.com/note']"), ['hi']);
    assert.deepEqual(all('.spec.list[7].name'), []);
  });
  it('findAll follows slices, unions and everything below', () => {
    const value = { spec: { list: ['a', 'b', 'c', 'd'], objects: [{ name: 'x' }, { name: 'y', deep: { name: 'z' } }], v: 1 } };
    const found = (path: string): unknown[] => findAll(parsePath(path) ?? [], value);
    assert.deepEqual(found('.spec.list[1:3]'), ['b', 'c']);
    assert.deepEqual(found('.spec.list[-1:]'), ['d']);
    assert.deepEqual(found('.spec.list[0:4:2]'), ['a', 'c']);
    assert.deepEqual(found('.spec.list[0,2]'), ['a', 'c']);
    assert.deepEqual(found(".spec['v','list']"), [1, ['a', 'b', 'c', 'd']]);
    assert.deepEqual(found('.spec..name'), ['x', 'y', 'z']);
    assert.deepEqual(found('..v'), [1]);
  });
  it('findAll gives paths up that branch without end', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 300; depth++) value = { a: value };
    assert.equal(findAll(parsePath('..a') ?? [], value).length, 300);
    assert.deepEqual(findAll(parsePath('..a..a..a..a..a..a') ?? [], value), []);
    let lists: unknown = 1;
    for (let depth = 0; depth < 60; depth++) lists = [lists];
    assert.deepEqual(findAll(parsePath(`.l${'[0,0]'.repeat(60)}`) ?? [], { l: lists }), []);
  });
  it('findAll finds nothing at all where a step cannot be taken', () => {
    const value = { list: ['a', 'b'], objects: [{ v: 2 }, { v: 'text' }, { v: 3 }] };
    const found = (path: string): unknown[] => findAll(parsePath(path) ?? [], value);
    assert.deepEqual(found('.list[1:3]'), []);
    assert.deepEqual(found('.objects[?(@.v>1)].v'), []);
    assert.deepEqual(found('.list[?(@.v)]'), []);
  });
  it('readField sees own fields only', () => assert.equal(readField({}, '.__proto__.toString'), undefined));
  it('parsePath refuses what is no path', () => assert.equal(parsePath('spec.list'), undefined));
});

describe('createColumns', () => {
  it('marks the age of an object once', () => {
    const age = { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' };
    assert.deepEqual(createColumns([age, { ...age, name: 'Again' }], String).map((column) => column.age), [undefined, true, undefined]);
    assert.deepEqual(createColumns(undefined, String).map((column) => column.age), [undefined, true]);
  });

  it('lets the columns of a row look at no more together than one may', () => {
    const object = { metadata: { name: 'a' }, list: Array.from({ length: 5_000 }, () => 'x'), deep: { field: 'y' } };
    const cellsOf = (count: number, jsonPath: string) => {
      const columns = createColumns(Array.from({ length: count }, () => ({ name: 'C', type: 'string', jsonPath })), String);
      return new Set(columns.slice(1).map(({ cell }) => cell(object, 0)));
    };
    assert.deepEqual([...cellsOf(10, '.list[*]')], ['x']);
    assert.deepEqual([...cellsOf(100, '.list[*]')], [null]);
    assert.deepEqual([...cellsOf(20_000, '.deep.field')], ['y']);
  });

  it('prints values by type, and nothing where the type does not fit', () => {
    const columns = createColumns([
      { name: 'S', type: 'string', jsonPath: '.s' }, { name: 'I', type: 'integer', jsonPath: '.i' }, { name: 'D', type: 'date', jsonPath: '.d' },
    ], (ms) => `${ms / 1000}s`);
    const cells = (object: Record<string, unknown>) => columns.map((column) => column.cell({ metadata: { name: 'a' }, ...object }, Date.parse(now)));
    assert.deepEqual(cells({ s: { k: [1] }, i: 2.9, d: '2025-12-31T23:59:50Z' }), ['a', '{"k":[1]}', 2, '10s']);
    assert.deepEqual(cells({ i: 'x', d: 'yesterday' }), ['a', null, null, '<invalid>']);
  });
});

describe('createConverter', () => {
  const schemas = new Map<string, Schema>(['v1', 'v2'].map((name) => [name, compileStructuralSchema({
    type: 'object', properties: { spec: { type: 'object', properties: name === 'v1' ? { a: { type: 'string', default: 'A' },
      b: { type: 'string' } } : { b: { type: 'string' } } } },
  })]));
  const { readStored } = createConverter({ group: 'example.com', storageVersion: 'v1', schemas });
  const stored = (): KubeObject => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: {}, spec: { b: 'x', gone: 1 } });
  it('readStored prunes and defaults by the version that was written', () => assert.deepEqual(readStored(stored(), 'v1')['spec'], { a: 'A', b: 'x' }));
  it('readStored shows another version without what that version does not know', () => {
    const shown = readStored(stored(), 'v2');
    assert.deepEqual([shown.apiVersion, shown['spec']], ['example.com/v2', { b: 'x' }]);
  });
});

describe('createConverter of versions that allow null in other places', () => {
  const text = (rules: object = {}): object => ({ type: 'string', ...rules });
  const compile = (rules: object): Schema => compileStructuralSchema({ type: 'object', properties: { spec: { type: 'object', properties: {
    a: text(rules), d: text({ ...rules, default: 'D' }), l: { type: 'array', items: text(rules) }, m: { type: 'object', additionalProperties: text(rules) },
    o: { type: 'object', properties: { a: text(rules) } }, free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } } } } as never);
  const schemas = new Map([['v1', compile({ nullable: true })], ['v2', compile({})]]);
  const { convert, readStored } = createConverter({ group: 'example.com', storageVersion: 'v1', schemas });
  it('drops nulls that the other version does not allow, but for those that have a default there and those in lists', () => {
    const spec = { a: null, d: null, free: { a: null }, l: [null, 'x'], m: { a: null, b: 'x' }, o: { a: null } };
    const stored = (): KubeObject => structuredClone({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: {}, spec });
    assert.deepEqual(readStored(stored(), 'v1')['spec'], spec);
    const shown = { d: null, free: { a: null }, l: [null, 'x'], m: { b: 'x' }, o: {} };
    assert.deepEqual(readStored(stored(), 'v2')['spec'], shown);
    assert.deepEqual(convert(stored(), 'v1', 'v2')['spec'], shown);
  });
});

describe('readStored of objects that other programs have stored', () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
  const text: Schema = { type: 'string' };
  const rules = { required: false, omitEmpty: true, pointer: false, number: 0 };
  const fields = { name: text, labels: { type: 'map', items: text }, annotations: { type: 'map', items: text } } as const;
  const objectMeta: Schema = { type: 'object', fields: new Map(Object.entries(fields).map(([name, schema]) => [name, { name, schema, ...rules }])) };
  const schema = compileStructuralSchema({ type: 'object', properties: { spec: embedded } }, { objectMeta });
  const { readStored } = createConverter({ group: 'example.com', storageVersion: 'v1', schemas: new Map([['v1', schema]]) });
  it('drops fields of metadata with a wrong type, and gives a generation', () => {
    const metadata = { name: 'a', labels: { l: 'm' }, annotations: { a: 1 }, generation: null } as unknown as KubeObject['metadata'];
    const spec = { kind: 'K', apiVersion: 2, metadata: { labels: { l: 'm' }, annotations: { a: 1 } } };
    const read = readStored({ apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec }, 'v1');
    assert.deepEqual(read.metadata, { name: 'a', labels: { l: 'm' }, generation: 1 });
    assert.deepEqual(read['spec'], { kind: 'K', metadata: { labels: { l: 'm' } } });
  });
  it('reads nulls in metadata as values that are not set', () => {
    const metadata = { name: 'a', labels: { l: null }, annotations: { a: null, b: 'c' }, generation: 1 } as unknown as KubeObject['metadata'];
    const read = readStored({ apiVersion: 'example.com/v1', kind: 'Widget', metadata }, 'v1');
    assert.deepEqual(read.metadata, { name: 'a', labels: { l: '' }, annotations: { a: '', b: 'c' }, generation: 1 });
  });
});

describe('createRow', () => {
  it('reads the schema of a version only when it is wanted', () => {
    let reads = 0;
    const definition = { ...define(), status: acceptNames(define(), collectTaken([]), now) };
    const row = createRow(definition, () => (reads++, define()), {
      objectMeta: { type: 'object', fields: new Map() }, formatAge: String, random: systemRandom, clock: systemClock,
    });
    assert.equal(reads, 0);
    assert.deepEqual([row.kind, row.storageVersion, row.custom], ['Widget', 'v1', true]);
    assert.deepEqual([...(row.versions[0]?.schema.fields?.keys() ?? [])], ['apiVersion', 'kind', 'metadata', 'spec']);
    assert.ok(reads > 0);
  });

  it('needs no schemas for the row of a large definition, which it compiles in steps before a request', () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { status: { type: 'object', default: {} } } } };
    const version = { name: 'v1', served: true, storage: true };
    const whole = define({ versions: [{ ...version, schema }] });
    const outline = { ...define({ versions: [{ ...version, schema: null }] }), status: acceptNames(define(), collectTaken([]), now) };
    const rowOf = (isLarge: boolean) => createRow(outline, () => whole, {
      objectMeta: { type: 'object', fields: new Map() }, formatAge: String, random: systemRandom, clock: systemClock, isLarge,
    });
    assert.equal(rowOf(false).prepare, undefined);
    const row = rowOf(true);
    assert.notEqual(row.prepare?.('v1'), undefined);
    assert.equal(row.versions[0]?.defaultsStatus, true);
    assert.equal(row.prepare?.('v1'), undefined);
  });
});

describe('subresourcesIn', () => {
  it('knows which versions of a definition have which subresources', () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [
      { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } },
      { name: 'v2', served: true, storage: false, schema, subresources: { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } } },
      { name: 'v3', served: true, storage: false, schema },
    ];
    const definition = { ...define({ versions }), status: acceptNames(define(), collectTaken([]), now) };
    const row = createRow(definition, () => definition, {
      objectMeta: { type: 'object', fields: new Map() }, formatAge: String, random: systemRandom, clock: systemClock,
    });
    const names = (version: string): string[] => subresourcesIn(row, version).map(({ name }) => name);
    assert.deepEqual([names('v1'), names('v2'), names('v3')], [['status'], ['scale'], []]);
  });
  it('knows where selectable fields are whose names need no reading', () => {
    const rowOf = (...jsonPaths: string[]) => {
      const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } },
        selectableFields: jsonPaths.map((jsonPath) => ({ jsonPath })) }];
      const definition = { ...define({ versions }), status: acceptNames(define(), collectTaken([]), now) };
      return createRow(definition, () => definition, {
        objectMeta: { type: 'object', fields: new Map() }, formatAge: String, random: systemRandom, clock: systemClock,
      });
    };
    const pathsOf = (...names: string[]) => Object.values(rowOf(...names).selectableFields).map(({ paths }) => paths);
    assert.deepEqual(pathsOf('.spec.color', '.spec.max_size'), [[['spec', 'color']], [['spec', 'max_size']]]);
    assert.deepEqual(pathsOf('.spec.a\\.b', '.spec.__proto__.a', '.spec.größe'), [undefined, undefined, undefined]);
  });
  it('leaves each version the fields of its own Scale', () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const scale = (name: string): object => ({ scale: { specReplicasPath: `.spec.${name}`, statusReplicasPath: `.status.${name}` } });
    const versions = [
      { name: 'v1', served: true, storage: true, schema, subresources: scale('replicas') },
      { name: 'v2', served: true, storage: false, schema, subresources: scale('count') },
    ];
    const definition = { ...define({ versions }), status: acceptNames(define(), collectTaken([]), now) };
    const row = createRow(definition, () => definition, {
      objectMeta: { type: 'object', fields: new Map() }, formatAge: String, random: systemRandom, clock: systemClock,
    });
    const object = (version: string): KubeObject => ({ apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name: 'w' },
      spec: { replicas: 1, count: 2 }, status: { replicas: 3, count: 4 } });
    const shown = ['v1', 'v2'].map((version) => toScale(row, object(version)));
    assert.deepEqual(shown.map(({ spec, status }) => [spec, status]), [[{ replicas: 1 }, { replicas: 3 }], [{ replicas: 2 }, { replicas: 4 }]]);
    const scaled = object('v2');
    applyScale(row, scaled, { metadata: {}, spec: { replicas: 9 } });
    assert.deepEqual(scaled['spec'], { replicas: 1, count: 9 });
    const errors = validateWrite({ object: { ...object('v2'), spec: { replicas: -1, count: -2 } }, old: undefined, version: 'v2', subresource: '' }, {
      schemas: { get: () => undefined }, scaleIn: (version) => findScale(versions as never, version), checkRules: undefined });
    assert.deepEqual(errors.errors.map(({ field }) => field), ['.spec.count']);
  });
});

describe('validateWrite', () => {
  const list = { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } };
  const validate = (spec: object, kept: object): string[] => {
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: spec } } };
    const object = { ...define(), spec: kept };
    const schemas = { get: () => ({ source: schema }) } as never;
    return validateWrite({ object, old: structuredClone(object), version: 'v1', subresource: '' }, { schemas, scaleIn: () => undefined, checkRules: undefined })
      .errors.map(({ field }) => field);
  };
  it('looks at the properties of an object that has too many or too few of them', () => {
    const schema = { type: 'object', properties: { spec: { type: 'object', maxProperties: 1, additionalProperties: { type: 'integer' } },
      status: { type: 'object', minProperties: 1, required: ['a'] } } };
    const object = { ...define(), spec: { a: 'x', b: 1 }, status: {} };
    const { errors } = validateWrite({ object, old: undefined, version: 'v1', subresource: '' },
      { schemas: { get: () => ({ source: schema }) } as never, scaleIn: () => undefined, checkRules: undefined });
    assert.deepEqual(errors.map(({ reason, field }) => [reason, field]), [['FieldValueTooMany', 'spec'], ['FieldValueTypeInvalid', 'spec.a'],
      ['FieldValueInvalid', 'status'], ['FieldValueRequired', 'status.a']]);
  });
  it('tolerates what was there before where it is found again', () => {
    assert.deepEqual(validate({ list, n: { type: 'integer' } }, { list: ['x'], n: 'seven' }), []);
    assert.deepEqual(validate({ map: { type: 'object', additionalProperties: { type: 'integer' } } }, { map: { a: 'x' } }), []);
  });
  it('refuses an apiVersion that was there before: that it had another version cannot be seen', () => {
    const only = { type: 'string', enum: ['example.com/v2'] };
    const schema = { type: 'object', properties: { apiVersion: only, spec: { type: 'object', properties: { apiVersion: only } } } };
    const object = { ...define(), apiVersion: 'example.com/v1', spec: { apiVersion: 'example.com/v1' } };
    const { errors } = validateWrite({ object: { ...object, data: 1 }, old: object, version: 'v1', subresource: '' },
      { schemas: { get: () => ({ source: schema }) } as never, scaleIn: () => undefined, checkRules: undefined });
    assert.deepEqual(errors.map(({ field }) => field), ['apiVersion']);
  });
  it('refuses what was there before in items without their keys, and beside members that no schema declares', () => {
    const keyed = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] };
    assert.deepEqual(validate({ list: keyed }, { list: ['x'] }), ['spec.list[0]']);
    assert.deepEqual(validate({ o: { type: 'object', required: ['n'], 'x-kubernetes-preserve-unknown-fields': true } }, { o: { a: 'x' } }), ['spec.o.n']);
  });
});

describe('validateDefinition', () => {
  before(loadPatternEngine);
  const problems = (definition: KubeObject): string[] => validateDefinition(definition).map(({ field, message }) => `${field}: ${message}`);
  const withSchema = (schema: object): KubeObject => define({ versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] });
  it('accepts a sound definition', () => assert.deepEqual(problems(define()), []));
  it('wants a type at every node, and branches without types', () => {
    assert.deepEqual(problems(withSchema({ type: 'object', properties: { spec: { anyOf: [{ type: 'string' }] } } })), [
      'spec.validation.openAPIV3Schema.properties[spec].anyOf[0].type: Forbidden: must be empty to be structural',
      'spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    ]);
  });
  it('lets the branches of an int-or-string repeat its two types, and say nothing else', () => {
    const spec = (...anyOf: readonly object[]): KubeObject =>
      withSchema({ type: 'object', properties: { spec: { 'x-kubernetes-int-or-string': true, anyOf } } });
    assert.deepEqual(problems(spec({ type: 'integer' }, { type: 'string' })), []);
    assert.deepEqual(problems(spec({ type: 'integer', maximum: 3 }, { type: 'string' })), [0, 1].map((index) =>
      `spec.validation.openAPIV3Schema.properties[spec].anyOf[${index}].type: Forbidden: must be empty to be structural`));
  });
  it('refuses fields that an established definition may not change', () => {
    const established = { ...define(), status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] } };
    const changed = validateDefinitionUpdate({ ...established, spec: define({ scope: 'Cluster' })['spec'] }, established);
    assert.deepEqual(changed.map(({ field }) => field), ['spec.scope']);
  });
  // An engine that backtracks would take longer than the tests may.
  it('ends with hostile patterns', () => assert.equal(matchesPattern('^(a+)+$', `${'a'.repeat(5000)}b`), false));
});
