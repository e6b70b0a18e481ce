// Ownership as scripts of applies and updates, and the laws that every script obeys.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../object.ts';
import type { Field, Schema } from '../schema/schema.ts';
import { ApplyConflictError, applyConfiguration } from './apply.ts';
import { compareObjects, toFieldSet } from './compare.ts';
import { FieldSet, decodeFieldSet, emptySet, encodeFieldSet, fieldSetOf } from './field-set.ts';
import { type ManagedVersions, decodeManagers, encodeManagers, managersBefore, updateManagers } from './managers.ts';
import { mergeValues } from './merge.ts';

const text: Schema = { type: 'string' };
const struct = (fields: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: 'object', ...more,
  fields: new Map(Object.entries(fields).map(([name, schema]): [string, Field] =>
    [name, { name, schema, required: false, omitEmpty: true, pointer: false, number: 0 }])),
});
const mapOf = (items: Schema, more: Partial<Schema> = {}): Schema => ({ type: 'map', items, ...more });
const listOf = (items: Schema, more: Partial<Schema> = {}): Schema => ({ type: 'array', items, ...more });
const port = struct({ port: { type: 'integer' }, protocol: text, note: text });
(port.fields as Map<string, Field>).set('protocol',
  { name: 'protocol', schema: text, default: 'TCP', required: false, omitEmpty: true, pointer: false, number: 0 });
const kind = struct({
  apiVersion: text, kind: text,
  metadata: struct({ name: text, uid: text, resourceVersion: text, labels: mapOf(text), finalizers: listOf(text, { listType: 'set' }),
    managedFields: listOf(text) }),
  data: mapOf(text),
  spec: struct({ plain: listOf(text), ports: listOf(port, { listType: 'map', listMapKeys: ['port', 'protocol'] }),
    sealed: mapOf(text, { mapType: 'atomic' }), n: { type: 'integer' }, any: { type: 'any' } }),
});
const versions: ManagedVersions = { mayUnfit: false, schemaFor: (v) => (v === 'v1' ? kind : undefined), convert: (o) => o };
const zero: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: {} };

class Script {
  object: KubeObject = zero;
  #second = 0;
  time = (): string => new Date(1.6e12 + ++this.#second * 1000).toISOString().replace('.000', '');
  apply(manager: string, config: Record<string, unknown>, force = false): this {
    const out = applyConfiguration({ versions, apiVersion: 'v1', subresource: '', manager, force, live: this.object, zero, time: this.time(),
      config: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, ...config } as KubeObject });
    this.#store(out.object, out.managedFields);
    return this;
  }
  update(manager: string, change: (object: KubeObject) => void): this {
    const object = structuredClone(this.object);
    change(object);
    const before = managersBefore(this.object, object, false);
    const managers = updateManagers({ versions, live: this.object, object, managers: before, reset: undefined },
      { manager, apiVersion: 'v1', subresource: '', time: this.time() });
    this.#store(object, encodeManagers(managers));
    return this;
  }
  #store(object: KubeObject, managedFields: KubeObject['metadata']['managedFields']): void {
    const { managedFields: _, ...metadata } = object.metadata;
    this.object = { ...object, metadata: { ...metadata, uid: 'u', ...(managedFields && { managedFields }) } };
  }
  owners(): Record<string, unknown> {
    return Object.fromEntries((this.object.metadata.managedFields ?? []).map((e) => [`${e.manager}/${e.operation}`, e.fieldsV1]));
  }
}

test('applyConfiguration owns what it states and removes what it no longer states', () => {
  const script = new Script().apply('me', { data: { a: '1', b: '2' } });
  assert.deepEqual(script.owners(), { 'me/Apply': { 'f:data': { 'f:a': {}, 'f:b': {} } } });
  script.apply('me', { data: { a: '1' } });
  assert.deepEqual(script.object.data, { a: '1' });
  assert.deepEqual(script.owners(), { 'me/Apply': { 'f:data': { 'f:a': {} } } });
});

test('updateManagers owns doubles as a whole, and nothing of what was below one that got its double', () => {
  const withPorts = (ports: unknown[]) => (object: KubeObject): void => { object.spec = { ports }; };
  const key = 'k:{"port":53,"protocol":"TCP"}';
  const script = new Script().update('me', withPorts([{ port: 53, note: 'a' }]));
  const alone = script.owners();
  script.update('me', withPorts([{ port: 53, note: 'a' }, { port: 53, note: 'b' }]));
  assert.deepEqual(script.owners(), { 'me/Update': { 'f:spec': { '.': {}, 'f:ports': { '.': {}, [key]: {} } } } });
  script.update('me', withPorts([{ port: 53, note: 'a' }]));
  assert.deepEqual(script.owners(), alone);
  script.update('me', withPorts([{ port: 53, note: 'a' }, { port: 53, note: 'b' }])).update('me', withPorts([{ port: 1 }]));
  assert.deepEqual(script.owners(), { 'me/Update': { 'f:spec': { '.': {}, 'f:ports': { '.': {},
    'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } } });
});

test('applyConfiguration of the same intent changes nothing, times included', () => {
  const script = new Script().apply('me', { data: { a: '1' } });
  const before = structuredClone(script.object);
  assert.deepEqual(script.apply('me', { data: { a: '1' } }).object, before);
});

test('applyConfiguration refuses other values of others and shares equal ones', () => {
  const script = new Script().apply('first', { data: { k: '1', o: '1' }, metadata: { name: 'a', labels: { l: 'x' } } });
  assert.throws(() => script.apply('second', { data: { k: '2', o: '2' }, metadata: { name: 'a', labels: { l: 'y' } } }), (error: ApplyConflictError) => {
    assert.equal(error.message, 'Apply failed with 3 conflicts: conflicts with "first":\n- .data.k\n- .data.o\n- .metadata.labels.l');
    assert.deepEqual(error.causes[0], { reason: 'FieldManagerConflict', message: 'conflict with "first"', field: '.data.k' });
    return true;
  });
  script.apply('second', { data: { k: '1' } }).apply('first', { data: { o: '1' } });
  assert.deepEqual(script.object.data, { k: '1', o: '1' });
  script.apply('second', { data: { o: '3' } }, true);
  assert.deepEqual(script.owners(), { 'second/Apply': { 'f:data': { 'f:o': {} } } });
});

test('updateManagers gives an updater what it changed and takes it from appliers', () => {
  const script = new Script().apply('first', { data: { k: '1' } }).update('patcher', (o) => Object.assign(o, { data: { k: '2' } }));
  assert.deepEqual(script.owners(), { 'patcher/Update': { 'f:data': { 'f:k': {} } } });
  assert.throws(() => script.apply('first', { data: { k: '1' } }), { message: 'Apply failed with 1 conflict: conflict with "patcher" using v1: .data.k' });
});

test('updateManagers of a creation owns maps with their keys, not identity', () => {
  const script = new Script().update('oracle', (o) => Object.assign(o, { data: { k: 'v' }, metadata: { name: 'first' } }));
  assert.deepEqual(script.owners(), { 'oracle/Update': { 'f:data': { '.': {}, 'f:k': {} } } });
});

test('updateManagers merges the oldest of too many updaters', () => {
  const script = new Script();
  for (let i = 0; i <= 11; i++) script.update(`m${i}`, (o) => { o.data = { ...(o.data as object), [`k${i}`]: 'v' }; });
  assert.equal(script.object.metadata.managedFields?.length, 10);
  assert.deepEqual(script.owners()['ancient-changes/Update'], { 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } });
});

test('applyConfiguration treats lists by their type', () => {
  const script = new Script().apply('first',
    { spec: { plain: ['a'], ports: [{ port: 1, note: 'x' }], sealed: { a: '1' } }, metadata: { name: 'a', finalizers: ['x/a'] } });
  assert.deepEqual(script.owners()['first/Apply'], {
    'f:metadata': { 'f:finalizers': { 'v:"x/a"': {} } },
    'f:spec': { 'f:plain': {}, 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': { '.': {}, 'f:note': {}, 'f:port': {} } }, 'f:sealed': {} } });
  script.apply('second', { spec: { ports: [{ port: 1, protocol: 'UDP' }] }, metadata: { name: 'a', finalizers: ['x/b'] } });
  assert.deepEqual(script.object.spec, { plain: ['a'], ports: [{ port: 1, note: 'x' }, { port: 1, protocol: 'UDP' }], sealed: { a: '1' } });
  assert.throws(() => script.apply('second', { spec: { plain: ['b'], ports: [{ port: 1, note: 'y' }] } }), {
    message: 'Apply failed with 2 conflicts: conflicts with "first":\n- .spec.plain\n- .spec.ports[port=1,protocol="TCP"].note' });
});

test('applyConfiguration of an object without owners sees them as made before the first apply', () => {
  const script = new Script();
  script.object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', uid: 'u' }, data: { k: '1' } };
  assert.throws(() => script.apply('me', { data: { k: '2' } }),
    { message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.k' });
  script.apply('me', { data: { k: '1' } });
  assert.deepEqual(script.owners(), { 'me/Apply': { 'f:data': { 'f:k': {} } }, 'before-first-apply/Update': { 'f:data': { '.': {}, 'f:k': {} } } });
});

const keys = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const data = fc.dictionary(keys, fc.constantFrom('1', '2'), { noNullPrototype: true });
const ports = fc.uniqueArray(fc.record({ port: fc.integer({ min: 1, max: 4 }), note: fc.constantFrom('x', 'y') }, { noNullPrototype: true }),
  { selector: (p) => p.port });
const config = fc.record({ data,
  spec: fc.record({ ports, plain: fc.array(fc.constantFrom('p', 'q'), { maxLength: 2 }) }, { noNullPrototype: true }) }, { noNullPrototype: true });

test('applyConfiguration is idempotent, and the applier then owns exactly what it stated', () => {
  fc.assert(fc.property(config, config, (first, second) => {
    const script = new Script().apply('one', first).apply('two', second, true);
    const once = structuredClone(script.object);
    assert.deepEqual(script.apply('two', second, true).object, once);
    const own = decodeManagers(script.object.metadata.managedFields?.filter((e) => e.manager === 'two'));
    const stated = toFieldSet(kind, second);
    assert.ok(([...(own?.values() ?? [])][0]?.set ?? emptySet).equals(stated));
  }), { numRuns: 300 });
});

test('applyConfiguration commutes on disjoint fields and conflicts exactly on overlapping different ones', () => {
  fc.assert(fc.property(data, data, (left, right) => {
    const clash = Object.keys(left).some((k) => Object.hasOwn(right, k) && left[k] !== right[k]);
    const script = new Script().apply('one', { data: left });
    if (clash) return void assert.throws(() => script.apply('two', { data: right }), ApplyConflictError);
    const other = new Script().apply('two', { data: right }).apply('one', { data: left });
    script.apply('two', { data: right });
    assert.deepEqual(sorted(script.object.data), sorted(other.object.data));
  }), { numRuns: 300 });
});
const sorted = (value: unknown): unknown[] => Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));

test('compareObjects finds nothing between equal objects and everything between one and nothing', () => {
  fc.assert(fc.property(config, (value) => {
    const none = compareObjects(kind, value, structuredClone(value));
    assert.ok(none.added.isEmpty && none.removed.isEmpty && none.modified.isEmpty);
    assert.ok(toFieldSet(kind, value).difference(compareObjects(kind, {}, value).added).isEmpty);
    assert.deepEqual(mergeValues(kind, value, value), value);
  }));
});

test('encodeFieldSet and decodeFieldSet round-trip, set algebra holds', () => {
  const path = fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:"x"', 'i:0'), { minLength: 1, maxLength: 3 });
  const set = fc.array(path).map((paths) => fieldSetOf(...paths));
  fc.assert(fc.property(set, set, (a, b) => {
    assert.ok((decodeFieldSet(encodeFieldSet(a)) as FieldSet).equals(a));
    assert.ok(a.difference(b).union(a.intersection(b)).equals(a));
    assert.ok(a.union(b).difference(b).equals(a.difference(b)));
    assert.ok(a.differenceWithBelow(b).difference(b).equals(a.differenceWithBelow(b)));
  }));
});

test('applyConfiguration lists what each of several managers owns', () => {
  const script = new Script().apply('first', { data: { k: '1' } }).apply('second', { data: { o: '1' } });
  assert.throws(() => script.apply('third', { data: { k: '2', o: '2' } }),
    { message: 'Apply failed with 2 conflicts: conflicts with "first":\n- .data.k\nconflicts with "second":\n- .data.o' });
});

test('ApplyConflictError lists a manager that applies before the same one that updates, and one on a subresource before one without', () => {
  const set = decodeFieldSet({ 'f:data': { 'f:k': {} } }) as FieldSet;
  const owner = { manager: 'm', operation: 'Apply', apiVersion: 'v1', time: undefined, set } as const;
  const error = new ApplyConflictError(new Map([['a', { manager: { ...owner, subresource: '' }, set }],
    ['b', { manager: { ...owner, subresource: 'scale' }, set }], ['c', { manager: { ...owner, operation: 'Update', subresource: '' }, set }]]));
  assert.deepEqual(error.message.split('\n').filter((line) => !line.startsWith('-')),
    ['Apply failed with 3 conflicts: conflicts with "m" with subresource "scale":', 'conflicts with "m":', 'conflicts with "m" using v1:']);
});

test('mergeValues adds nothing to maps and lists that are merged where null is stated, and lets null win elsewhere', () => {
  const spec = { ports: [{ port: 1 }], sealed: { a: 'b' }, plain: ['p'], n: 1 };
  const live = { data: { k: '1' }, spec, metadata: { labels: { l: 'v' }, finalizers: ['f'] } };
  const stated = { data: null, spec: { ports: null, sealed: null, plain: null, n: null }, metadata: { labels: null, finalizers: null } };
  assert.deepEqual(mergeValues(kind, live, stated), { ...live, spec: { ports: [{ port: 1 }], sealed: null, plain: null, n: null } });
  assert.deepEqual(mergeValues(kind, {}, stated), stated);
  assert.deepEqual(mergeValues(kind, { data: {}, spec: { ports: [] } }, { data: null, spec: { ports: null } }), { data: null, spec: { ports: null } });
});

test('applyConfiguration keeps what the endpoint never writes from managers of writes before the first apply', () => {
  const live = { ...zero, metadata: { name: 'a', uid: 'u' }, data: { k: '1' }, spec: { n: 1 } };
  const { managedFields } = applyConfiguration({
    versions, apiVersion: 'v1', subresource: '', manager: 'me', force: true, live, zero, time: '2026-01-01T00:00:00Z', reset: () => fieldSetOf(['f:spec']),
    config: { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, data: { k: '2' } } as KubeObject,
  });
  const before = managedFields?.find(({ manager }) => manager === 'before-first-apply');
  assert.deepEqual(before?.fieldsV1, { 'f:data': {} });
});
