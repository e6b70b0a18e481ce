// The codecs against upstream's published samples: every field of every kind filled, as JSON and as protobuf; and on objects generated from the schemas.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Field, type JsonObject, type JsonValue, type Schema, decodeObject, loadSchemas } from '../../src/apimachinery/index.ts';
import { ProtobufError, decodeEnvelope, decodeMessage, encodeEnvelope, encodeMessage, parseJson, parseYaml, stringifyJson,
  stringifyYaml } from '../../src/codec/index.ts';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { createCatalog, createRegistry, objectKey } from '../../src/registry/index.ts';
import { createBuiltinResources, schemaData } from '../../src/resources/index.ts';
import { createMemoryStore, keyRange } from '../../src/storage/index.ts';

const directory = new URL('../../../test/data/roundtrip/', import.meta.url);
const names = readdirSync(directory).filter((name) => name.endsWith('.pb')).map((name) => name.slice(0, -3));
const schemas = loadSchemas(schemaData);

function schemaOf({ apiVersion, kind }: { apiVersion: string; kind: string }): Schema | undefined {
  const slash = apiVersion.indexOf('/');
  return schemas.forKind({ group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind });
}

const samples = names.map((name) => {
  const bytes = readFileSync(new URL(`${name}.pb`, directory));
  const envelope = decodeEnvelope(bytes);
  return { name, bytes, envelope, schema: schemaOf(envelope), json: readFileSync(new URL(`${name}.json`, directory)) };
});
const known = samples.filter((sample): sample is typeof sample & { schema: Schema } => sample.schema !== undefined);

/** Not served as objects: options of proxies, what only etcd or the kubelet sees, and the frame of a watch. */
const unserved = /^core\.v1\.(\w+(Proxy|Attach|Exec|Log|Forward)Options|PodStatusResult|RangeAllocation|SerializedReference|WatchEvent)$/;

test('every sample of a served kind has a schema', () => {
  assert.ok(known.length >= 80, `${known.length} samples`);
  assert.deepEqual(samples.filter(({ name, schema }) => schema === undefined && !unserved.test(name)).map(({ name }) => name), []);
});

test('decodeMessage of each sample gives its JSON', () => {
  for (const { name, envelope, schema, json } of known) {
    const object = { apiVersion: envelope.apiVersion, kind: envelope.kind, ...decodeMessage(schema, envelope.raw) };
    assert.deepEqual(object, parseJson(json).value, name);
  }
});

test('encodeMessage of the JSON of each sample gives its bytes', () => {
  for (const { name, bytes, envelope, schema, json } of known) {
    const encoded = encodeEnvelope(envelope, encodeMessage(schema, parseJson(json).value));
    assert.ok(bytes.equals(encoded), name);
  }
});

test('parseJson of each sample is what JSON.parse gives, and JSON and YAML give it back', async () => {
  for (const { name, json } of samples) {
    const { value, duplicates } = parseJson(json);
    assert.deepEqual(value, JSON.parse(json.toString('utf8')), name);
    assert.deepEqual(duplicates, []);
    assert.deepEqual(parseJson(Buffer.from(stringifyJson(value, 2))).value, value, name);
    assert.deepEqual((await parseYaml(Buffer.from(stringifyYaml(value)))).value, value, name);
  }
});

test('decodeMessage of each sample cut short or with a byte changed never fails with anything but ProtobufError', () => {
  for (const { envelope, schema } of known.filter((_, i) => i % 5 === 0)) {
    fc.assert(fc.property(fc.nat(envelope.raw.length - 1), fc.nat(255), fc.boolean(), (at, byte, cut) => {
      const bytes = Uint8Array.from(cut ? envelope.raw.subarray(0, at) : envelope.raw);
      if (!cut) bytes[at] = byte;
      try {
        decodeMessage(schema, bytes);
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String((error as Error).stack));
      }
    }), { numRuns: 40 });
  }
});

const kinds = [['', 'v1', 'Pod'], ['', 'v1', 'Service'], ['', 'v1', 'Event'], ['apps', 'v1', 'Deployment'], ['rbac.authorization.k8s.io', 'v1',
  'ClusterRole'], ['batch', 'v1', 'CronJob']] as const;

test('decodeMessage of encodeMessage settles after one turn on objects of real kinds', () => {
  for (const [group, version, kind] of kinds) {
    const schema = schemas.forKind({ group, version, kind }) as Schema;
    fc.assert(fc.property(valueOf(schema, 5), (value) => {
      const object = decodeMessage(schema, encodeMessage(schema, value));
      assert.deepEqual(decodeMessage(schema, encodeMessage(schema, object)), object);
      containsAll(object, value);
    }), { numRuns: 60 });
  }
});

test('decodeMessage gives the shape and the order that decodeObject gives', () => {
  for (const [group, version, kind] of kinds) {
    const schema = schemas.forKind({ group, version, kind }) as Schema;
    fc.assert(fc.property(valueOf(schema, 5), (value) => {
      const { object } = decodeObject(schema, value);
      const message = decodeMessage(schema, encodeMessage(schema, object as JsonObject));
      assert.deepEqual(message, object);
      assert.equal(stringifyJson(message), stringifyJson(object));
    }), { numRuns: 60 });
  }
});

test('each sample reads alike from JSON and from protobuf in the store, filled in; and what was read, stored again, reads as it was', async () => {
  const catalog = createCatalog(createBuiltinResources(schemas));
  const store = createMemoryStore({ clock: systemClock });
  const nothing = () => Promise.resolve();
  const registry = createRegistry({ store, catalog, clock: systemClock, random: systemRandom, admission: { mutate: nothing, validate: nothing },
    trackUpdate: () => undefined });
  let count = 0;
  for (const { name, envelope: { apiVersion, kind }, json, bytes } of known) {
    const [version, group = ''] = apiVersion.split('/').reverse() as [string, string?];
    const resource = catalog.findKind(group, kind);
    if (resource === undefined || resource.storedAs !== undefined || !resource.versions.some((row) => row.name === version)) continue;
    const { metadata } = parseJson(json).value as unknown as { metadata: { name: string; namespace: string } };
    const place = { namespace: resource.namespaced ? metadata.namespace : '', name: metadata.name };
    const key = objectKey('/registry', resource, place);
    const read = async (value: Uint8Array): Promise<JsonObject> => {
      const now = await store.range(keyRange(key));
      await store.txn({ key, expect: now.type === 'ok' ? now.kvs[0]?.modRevision ?? 0 : 0, value });
      const object = await registry.get({ resource, version: resource.storageVersion, ...place }, {});
      const shown = parseJson(object.bytes(resource.storageVersion, 'json-single')).value as unknown as { metadata: { resourceVersion?: string } };
      delete shown.metadata.resourceVersion;
      return shown as unknown as JsonObject;
    };
    const fromJson = stringifyJson(await read(json));
    assert.equal(stringifyJson(await read(bytes)), fromJson, name);
    assert.equal(stringifyJson(await read(Buffer.from(fromJson))), fromJson, name);
    count++;
  }
  registry.close();
  assert.ok(count >= 60, `${count} samples`);
});

/** Everything that `expected` says and that is not a zero value is in `actual`. */
function containsAll(actual: JsonValue | undefined, expected: JsonValue): void {
  if (Array.isArray(expected)) expected.forEach((item, i) => containsAll((actual as JsonValue[])[i], item));
  else if (typeof expected === 'object' && expected !== null) {
    for (const [key, value] of Object.entries(expected)) {
      const isZero = value === '' || value === 0 || value === false || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
      if (!isZero || (actual as JsonObject)[key] !== undefined) containsAll((actual as JsonObject)[key], value as JsonValue);
    }
  } else assert.deepEqual(actual ?? expected, expected);
}

const texts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('', '__proto__', 'TCP', 'a'.repeat(60)));
const byFormat: Record<string, fc.Arbitrary<JsonValue>> = {
  time: fc.integer({ min: 0, max: 4e9 }).map((s) => new Date(s * 1000).toISOString().replace('.000', '')),
  'micro-time': fc.integer({ min: 0, max: 4e9 }).map((s) => new Date(s * 1000).toISOString().replace('.000', '.000001')),
  quantity: fc.nat(1000).map((n) => `${n}m`), 'int-or-string': fc.oneof(fc.integer({ min: -5, max: 70_000 }), texts),
  byte: fc.uint8Array({ maxLength: 9 }).map((b) => Buffer.from(b).toString('base64')),
  duration: fc.nat(59).map((n) => `${n}s`), raw: fc.constant({ a: [1] }), 'fields-v1': fc.constant({ 'f:a': { '.': {} } }), json: fc.constant([1]),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), int64: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2n ** 63n - 1n, -(2n ** 60n))),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
};

function valueOf(schema: Schema, depth: number): fc.Arbitrary<JsonValue> {
  const special = schema.format === undefined ? undefined : byFormat[schema.format];
  if (special !== undefined) return special;
  if (schema.type === 'string') return texts;
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return depth <= 0 ? fc.constant([]) : fc.array(valueOf(schema.items as Schema, depth - 1), { maxLength: 2 });
  if (schema.type === 'map') return fc.array(fc.tuple(texts, valueOf(schema.items as Schema, depth - 1)),
    { maxLength: 3 }).map((entries) => Object.fromEntries(entries) as JsonObject);
  if (schema.type !== 'object' || depth <= 0) return fc.constant({});
  const fields = [...(schema.fields?.values() ?? [])].filter((field) => field.number > 0);
  // An empty map and none are the same on the wire; JSON keeps them apart where Go has no omitempty.
  const valueOfField = (field: Field): fc.Arbitrary<JsonValue> => {
    const value = valueOf(field.schema, depth - 1);
    return field.schema.type === 'map' && !field.omitEmpty ? value.filter((map) => Object.keys(map as JsonObject).length > 0) : value;
  };
  return fc.record(Object.fromEntries(fields.map((field) => [field.name, valueOfField(field)])), { requiredKeys: [] }) as fc.Arbitrary<JsonValue>;
}
