// Bytes of other releases: versions that are read and served no more, and objects that are completed when they are read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue, KubeObject, Schema } from '../../apimachinery/index.ts';
import { encodeEnvelope, encodeMessage } from '../../codec/index.ts';
import { rows } from '../testing.ts';
import type { Resource } from '../resource.ts';
import { decodeForeign } from './foreign.ts';
import { createLayout } from './layout.ts';

const members = rows.configMaps.versions[0]!.schema.fields!;
const text: Schema = { type: 'string' };
/** Its field has another name than today, under the number of data. */
const former: Schema = { type: 'object', fields: new Map([
  ['metadata', members.get('metadata')!], ['note', { name: 'note', schema: text, required: false, omitEmpty: true, pointer: false, number: 4 }],
]) };
const resource: Resource = {
  ...rows.configMaps,
  formerVersions: { 'old/v1': { schema: () => former, convert: ({ note, ...object }) => ({ ...object, data: { note } }) }, 'old/v2': {} },
  completeForeign: (object) => void Object.assign(object, { data: { ...object['data'] as object, read: 'yes' } }),
};
const layout = createLayout(resource, '/registry/configmaps/');
const decode = (document: object): KubeObject => decodeForeign(layout, Buffer.from(JSON.stringify(document)));
const metadata = { name: 'a' };

test('decodeForeign reads a former version by its schema, converts it and completes it', () => {
  const wanted = { metadata, data: { note: 'x', read: 'yes' }, apiVersion: 'v1', kind: 'ConfigMap' };
  assert.deepEqual(decode({ kind: 'ConfigMap', apiVersion: 'old/v1', metadata, note: 'x', data: { unknown: 'y' } }), wanted);
  const raw = encodeMessage(former, { metadata, note: 'x' } as unknown as JsonValue);
  assert.deepEqual(decodeForeign(layout, encodeEnvelope({ apiVersion: 'old/v1', kind: 'ConfigMap' }, raw)), wanted);
});

test('decodeForeign completes objects of versions of today as well; those that state no type are of the storage version', () => {
  for (const type of [{ kind: 'ConfigMap', apiVersion: 'v1' }, { kind: 'ConfigMap', apiVersion: 'old/v2' }, { kind: 'ConfigMap' }, { apiVersion: 'v1' }]) {
    const { data, ...rest } = decode({ ...type, metadata, data: { k: 'v' }, note: 'x' });
    assert.deepEqual([data, rest['note'], rest.metadata], [{ k: 'v', read: 'yes' }, undefined, metadata]);
  }
});

test('decodeForeign refuses versions and kinds that are not those of the row, in JSON and in protobuf', () => {
  const refusal = (kind: string, version: string): object =>
    ({ message: `no kind "${kind}" is registered for version "${version}" in scheme "pkg/api/legacyscheme/scheme.go:30"` });
  const raw = encodeMessage(rows.configMaps.versions[0]!.schema, { metadata });
  for (const apiVersion of ['v9', 'apps/v1', 'old/v9', 'constructor']) {
    assert.throws(() => decode({ kind: 'ConfigMap', apiVersion, metadata }), refusal('ConfigMap', apiVersion));
    assert.throws(() => decodeForeign(layout, encodeEnvelope({ apiVersion, kind: 'ConfigMap' }, raw)), refusal('ConfigMap', apiVersion));
  }
  assert.throws(() => decode({ kind: 'Secret', apiVersion: 'v1', metadata }), refusal('Secret', 'v1'));
  assert.throws(() => decode({ kind: 'ConfigMap', apiVersion: 'a/b/c', metadata }), { message: 'unexpected GroupVersion string: a/b/c' });
});
