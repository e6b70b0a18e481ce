// Object versions: the bytes that readers get are those that decoding, setting resourceVersion and encoding would give.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue, KubeObject } from '../../apimachinery/index.ts';
import { isJsonObject } from '../../base/index.ts';
import { decodeEnvelope, decodeMessage, encodeEnvelope, encodeMessage } from '../../codec/index.ts';
import { type EncodedObject, createLayout, encodeObject, encodeWritten } from './layout.ts';
import { createEncodingMemo } from './encoded-bytes.ts';
import { StoredRevision } from './stored-object.ts';
import type { Resource } from '../resource.ts';
import { rows } from '../testing.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

function makeVersion(resource: Resource, value: Uint8Array, { modRevision = 7, isOwn = false } = {}): StoredRevision {
  const layout = createLayout(resource, `/registry/${resource.storagePrefix}/`);
  return new StoredRevision({ layout, memo: createEncodingMemo() }, { key: `/registry/${resource.storagePrefix}/ns/a`, value, modRevision }, isOwn);
}

const store = (resource: Resource, object: object, modRevision = 7): StoredRevision =>
  makeVersion(resource, encodeObject(createLayout(resource, ''), object as KubeObject).json, { modRevision, isOwn: true });

const meta = { name: 'a', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', labels: { b: 'c', uid: '"uid":"x"' } };

test('bytes puts resourceVersion where the reference has it', () => {
  const version = store(rows.configMaps, { metadata: meta, data: { k: 'v' } });
  const rest = '"name":"a","namespace":"ns","uid":"u","resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"b":"c","uid":"\\"uid\\":\\"x\\""}},"data":{"k":"v"}}';
  assert.equal(text(version.bytes('v1', 'json-single')), `{"kind":"ConfigMap","apiVersion":"v1","metadata":{${rest}`);
  assert.equal(text(version.bytes('v1', 'json-item')), `{"metadata":{${rest}`);
  assert.equal(version.bytes('v1', 'json-single'), version.bytes('v1', 'json-single'));
});

test('bytes of custom resources are sorted and carry their type in lists', () => {
  const version = store(rows.widgets, { spec: { z: 1, a: { d: 1, c: 2 } }, metadata: { ...meta, ownerReferences: [{ uid: 'o', name: 'n' }] } });
  const expected = '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"b":"c","uid":"\\"uid\\":\\"x\\""},' +
    '"name":"a","namespace":"ns","ownerReferences":[{"name":"n","uid":"o"}],"resourceVersion":"7","uid":"u"},"spec":{"a":{"c":2,"d":1},"z":1}}';
  assert.equal(text(version.bytes('v1', 'json-single')), expected);
  assert.equal(text(version.bytes('v1', 'json-item')), expected);
});

test('bytes agree with the object for any metadata and data', () => {
  const strings = fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
  const metadata = fc.record({ name: fc.string({ minLength: 1 }), uid: fc.string(), labels: strings, annotations: strings,
    finalizers: fc.array(fc.string()) }, { requiredKeys: [] });
  const objects = fc.record({ metadata, data: strings });
  for (const resource of [rows.configMaps, rows.widgets]) {
    fc.assert(fc.property(objects, fc.integer({ min: 1, max: 2 ** 53 - 1 }), (object, revision) => {
      const version = store(resource, object, revision);
      const parsed = JSON.parse(text(version.bytes('v1', 'json-single'))) as KubeObject;
      assert.equal(parsed.metadata.resourceVersion, String(revision));
      assert.deepEqual(JSON.parse(JSON.stringify(version.object('v1'))), parsed);
      assert.deepEqual(Object.entries(version.labels ?? {}), Object.entries(parsed.metadata.labels ?? {}));
      assert.equal(version.uid, parsed.metadata.uid ?? '');
      assert.deepEqual(Object.entries(parsed['data'] as object).sort(), Object.entries(object.data).sort());
      const item = JSON.parse(text(version.bytes('v1', 'json-item'))) as KubeObject;
      assert.deepEqual(item.metadata, parsed.metadata);
      const lines = [version.bytes('v1', 'json-line')];
      const home = version.item();
      version.move(home, 0, home.length);
      lines.push(version.bytes('v1', 'json-line'));
      for (const line of lines) assert.equal(text(line), `${text(version.bytes('v1', 'json-single'))}\n`);
    }));
  }
});

test('an object is brought into the form of its row where it is read, not for its uid or the event of its end', () => {
  let reads = 0;
  const resource: Resource = { ...rows.widgets, readStored: (object) => (reads++, { ...object, spec: { read: true } }) };
  const written = encodeObject(createLayout(resource, ''), { metadata: meta, spec: {} } as unknown as KubeObject);
  const version = makeVersion(resource, written.json, written).at(8);
  assert.deepEqual([version.uid, version.revision, reads], ['u', 8, 0]);
  assert.match(text(version.bytes('v1', 'json-single')), /"resourceVersion":"8".*"spec":\{"read":true\}/);
  assert.equal(reads, 1);
});

test('foreign bytes are understood: protobuf, and JSON in another order', () => {
  const object = { metadata: { ...meta, labels: { b: 'c' } }, data: { k: 'v' } };
  const schema = rows.configMaps.versions[0]?.schema;
  assert.ok(schema !== undefined);
  const raw = encodeMessage(schema, object as unknown as JsonValue);
  const expected = text(store(rows.configMaps, object).bytes('v1', 'json-single'));
  assert.equal(text(makeVersion(rows.configMaps, encodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap' }, raw)).bytes('v1', 'json-single')), expected);
  const foreign = bytes(JSON.stringify({ data: object.data, metadata: object.metadata, apiVersion: 'v1', kind: 'ConfigMap' }));
  assert.equal(text(makeVersion(rows.configMaps, foreign).bytes('v1', 'json-single')), expected);
  assert.throws(() => makeVersion(rows.configMaps, bytes('{')).object('v1'), { name: 'StatusError' });
});

test('JSON without a mark is filled in and put in order as other foreign bytes are, and own JSON is shown as it is', () => {
  const applyDefaults = (object: KubeObject): void => void (object['data'] ??= { filled: 'in' });
  const resource: Resource = { ...rows.configMaps, strategy: { applyDefaults }, formerVersions: { v0: {} } };
  const unfilled = bytes(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { uid: 'u', name: 'a' } }));
  const shown = (isOwn: boolean): string => text(makeVersion(resource, unfilled, { isOwn }).bytes('v1', 'json-item'));
  assert.equal(shown(false), '{"metadata":{"name":"a","uid":"u","resourceVersion":"7"},"data":{"filled":"in"}}');
  assert.equal(shown(true), '{"metadata":{"uid":"u","resourceVersion":"7","name":"a"}}');
  const formerVersion = bytes(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v0', metadata: { name: 'a' } }));
  assert.deepEqual(makeVersion(resource, formerVersion, { isOwn: true }).object('v1')['data'], { filled: 'in' });
});

test('bytes in protobuf are the envelope of the message with resourceVersion', () => {
  const version = store(rows.configMaps, { metadata: { ...meta, labels: { b: 'c' } }, data: { k: 'v' } });
  const envelope = decodeEnvelope(version.bytes('v1', 'protobuf-single'));
  assert.deepEqual([envelope.apiVersion, envelope.kind], ['v1', 'ConfigMap']);
  assert.deepEqual(Buffer.from(envelope.raw), Buffer.from(version.bytes('v1', 'protobuf-item')));
  const schema = rows.configMaps.versions[0]?.schema;
  assert.ok(schema !== undefined);
  const decoded = decodeMessage(schema, envelope.raw) as unknown as KubeObject;
  assert.deepEqual([decoded.metadata.name, decoded.metadata.resourceVersion, decoded['data']], ['a', '7', { k: 'v' }]);
});

test('a row with convert shows each version of its objects', () => {
  const convert = (object: KubeObject, from: string, to: string): KubeObject => ({ ...object, data: { from, to } });
  const [v1] = rows.configMaps.versions;
  assert.ok(v1 !== undefined);
  const resource: Resource = { ...rows.configMaps, convert, versions: [v1, { ...v1, name: 'v2' }] };
  const version = store(resource, { metadata: meta, data: { k: 'v' } });
  assert.deepEqual(version.object('v2')['data'], { from: 'v1', to: 'v2' });
  assert.match(text(version.bytes('v2', 'json-single')), /^\{"kind":"ConfigMap","apiVersion":"v2","metadata":.*"resourceVersion":"7".*"to":"v2"/);
  assert.deepEqual(version.object('v1')['data'], { k: 'v' });
  const plain: Resource = { ...resource, convert: undefined } as unknown as Resource;
  assert.match(text(store(plain, { metadata: meta }).bytes('v2', 'json-single')), /^\{"kind":"ConfigMap","apiVersion":"v2","metadata":/);
});

test('object of bytes that were written as the row reads them is what was written, without reading them again', () => {
  let reads = 0;
  const resource: Resource = { ...rows.widgets, readStored: (object) => (reads++, { ...object, spec: { read: true } }) };
  const layout = createLayout(resource, `/registry/${resource.storagePrefix}/`);
  const key = `/registry/${resource.storagePrefix}/ns/a`;
  const decode = ({ json: value, isOwn }: EncodedObject): KubeObject =>
    new StoredRevision({ layout, memo: createEncodingMemo() }, { key, value, modRevision: 7 }, isOwn).object('v1');
  const object = { metadata: meta, spec: { size: 1 } } as unknown as KubeObject;
  assert.deepEqual([decode(encodeWritten(layout, object, { version: 'v1' }))['spec'], reads], [{ size: 1 }, 0]);
  assert.deepEqual([decode(encodeWritten(layout, object, { version: 'v2' }))['spec'], reads], [{ read: true }, 1]);
  assert.deepEqual([decode(encodeObject(layout, object))['spec'], reads], [{ read: true }, 2]);
});

test('a large object is settled in several steps, each a walk over it, and reads as one that is settled at once', () => {
  const resource: Resource = { ...rows.widgets, readStored: (object) => object };
  const spec = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${20_000 - i}`, i]));
  const value = bytes(JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: meta, spec }));
  const [inSteps, atOnce] = [makeVersion(resource, value), makeVersion(resource, value)];
  const settling = inSteps.settle();
  assert.ok(settling !== undefined);
  let steps = 0;
  while (settling.next().done !== true) steps++;
  assert.ok(steps >= 6, `${steps} steps`);
  assert.equal(text(inSteps.stored()), text(atOnce.stored()));
  const broken = makeVersion(resource, bytes(`{"spec":${' '.repeat(200_000)}`)).settle();
  assert.throws(() => { while (broken?.next().done === false); }, { message: 'unexpected end of JSON input' });
});

test('settle takes a step for each member of an object that is not in the layout', () => {
  const read = (object: KubeObject): KubeObject => object;
  const row = { ...rows.widgets, readStored: read } as Resource;
  const countSteps = (object: object): number => {
    const version = makeVersion(row, bytes(JSON.stringify(object)));
    let steps = 1;
    for (const each = version.settle() as Generator; each.next().done !== true;) steps++;
    return steps;
  };
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: meta };
  // Each member is sorted in a step, and written in one.
  assert.equal(countSteps({ ...object, spec: { a: 1 }, status: {} }), countSteps({ ...object, spec: { a: 1 } }) + 2);
});

test('fields of large objects are read at their paths as from the whole object', () => {
  const paths = [['spec'], ['spec', 'color'], ['spec', 'deep', 'size'], ['spec', 'deep', 'sizes'], ['status'], ['constructor', 'name']];
  const valueAt = (path: readonly string[], object: KubeObject): unknown => {
    let value: unknown = object;
    for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return value;
  };
  const format = (value: unknown): string => (isJsonObject(value) || value === undefined ? '' : typeof value === 'bigint' ? `${value}` : JSON.stringify(value));
  const readers = (withPaths: boolean) => Object.fromEntries(paths.map((path) =>
    [path.join('.'), Object.assign((object: KubeObject) => format(valueAt(path, object)), withPaths && { paths: [path] })]));
  const constants = [null, 2n ** 60n, [], { size: 1 }, 'long'.repeat(20_000)];
  const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), ...constants.map((value) => fc.constant(value)));
  const deep = fc.record({ size: scalar, sizes: fc.array(fc.string()), siz: scalar, color: scalar }, { requiredKeys: [] });
  const inner = fc.record({ color: scalar, deep: fc.oneof(deep, scalar), z: scalar }, { requiredKeys: [] });
  const objects = fc.record({ spec: fc.oneof(inner, scalar), status: scalar, constructor: fc.record({ name: scalar }) }, { requiredKeys: [] });
  const data = { filler: 'x'.repeat(50_000) };
  let looked = 0;
  fc.assert(fc.property(objects, fc.boolean(), (object, isPacked) => {
    const fieldsOf = (withPaths: boolean): readonly string[] => {
      const version = store({ ...rows.widgets, selectableFields: readers(withPaths) }, { metadata: meta, ...object, data });
      const item = version.item();
      if (isPacked) version.move(item, 0, item.length);
      return version.fields;
    };
    const expected = fieldsOf(false);
    looked += expected.filter((text) => text !== '').length;
    assert.deepEqual(fieldsOf(true), expected);
  }));
  assert.ok(looked > 20);
});
