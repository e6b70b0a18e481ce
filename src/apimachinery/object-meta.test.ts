// Names and metadata: the texts that the reference was heard to say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQualifiedName, validateName } from './names.ts';
import { validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts';

const rules = { namespaced: true, nameRule: 'dns-subdomain' } as const;
const texts = (errors: readonly { field: string; message: string }[]): string[] => errors.map((e) => `${e.field}: ${e.message}`);
const name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

test('validateName says why, by rule', () => {
  assert.deepEqual(validateName('dns-subdomain', '0.dots.and-9'), []);
  assert.match(validateName('dns-subdomain', 'Upper_Case')[0] as string, /^a lowercase RFC 1123 subdomain must consist of .*\(e\.g\. 'example\.com', regex/);
  assert.deepEqual(validateName('dns-subdomain', 'n'.repeat(254)), ['must be no more than 253 characters']);
  assert.deepEqual(validateName('dns-label', 'with.dot'), ['must not contain dots']);
  assert.deepEqual(validateName('dns-label', 'x'.repeat(64)), ['must be no more than 63 characters']);
  assert.deepEqual(validateName('path-segment', 'System:Node reader'), []);
  assert.deepEqual(validateName('path-segment', 'a/b%'), ["may not contain '/'", "may not contain '%'"]);
  assert.deepEqual(validateName('dns-subdomain', 'made-', true), []);
  assert.deepEqual(validateName('long-name', 'n'.repeat(254)), ['must be no more than 253 bytes']);
  assert.deepEqual(validateName('long-name', 'Not a name', true), []);
});

test('checkQualifiedName names the part that is wrong', () => {
  assert.deepEqual(checkQualifiedName('example.com/'), ['name part must be non-empty', name]);
  assert.deepEqual(checkQualifiedName('bad key'), [name]);
  assert.match(checkQualifiedName('a/b/c')[0] as string, /^a valid label key must consist of .* with an optional DNS subdomain prefix and '\/'/);
});

test('validateObjectMeta lists problems in the reference\'s order', () => {
  const named = [{ field: 'metadata.name', message: 'odd', reason: 'FieldValueInvalid' }] as const;
  assert.deepEqual(texts(validateObjectMeta({ name: 'a', namespace: 'ns', generation: -1 }, { ...rules, named })),
    ['metadata.name: odd', 'metadata.generation: Invalid value: -1: must be greater than or equal to 0']);
  assert.deepEqual(texts(validateObjectMeta({ namespace: 'ns' }, rules)), ['metadata.name: Required value: name or generateName is required']);
  // The reference takes away the dash of a prefix and the byte before it.
  const prefixProblems = (generateName: string): number => validateObjectMeta({ name: 'a', generateName, namespace: 'ns' }, rules).length;
  assert.deepEqual(['a-', 'A-', '--', 'a..-', 'ä-', 'A', '-'].map(prefixProblems), [0, 0, 0, 0, 1, 1, 1]);
  const found = validateObjectMeta({ name: 'a', namespace: 'ns', labels: { 'bad key': 'ok' }, finalizers: ['noslash'],
    ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] }, rules);
  assert.deepEqual(texts(found), [`metadata.labels: Invalid value: "bad key": ${name}`,
    'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty', 'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
    'metadata.ownerReferences.name: Invalid value: "": must not be empty', 'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    'metadata.finalizers[0]: Invalid value: "noslash": name is neither a standard finalizer name nor is it fully qualified']);
  assert.deepEqual(validateObjectMeta({ name: 'a', namespace: 'ns', finalizers: ['noslash'] }, { ...rules, custom: true }), []);
  assert.deepEqual(texts(validateObjectMeta({ name: 'a', namespace: 'ns', annotations: { a: 'x'.repeat(262144) } }, rules)),
    ['metadata.annotations: Too long: may not be more than 262144 bytes']);
});

test('validateObjectMetaUpdate guards identity and terminating objects', () => {
  const old = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '5', deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: ['example.com/a'] };
  assert.deepEqual(texts(validateObjectMetaUpdate({ ...old, resourceVersion: '' }, old)),
    ['metadata.resourceVersion: Invalid value: 0: must be specified for an update']);
  assert.deepEqual(texts(validateObjectMetaUpdate({ ...old, uid: 'v' }, old)), ['metadata.uid: Invalid value: "v": field is immutable']);
  assert.deepEqual(texts(validateObjectMetaUpdate({ ...old, finalizers: ['example.com/c', 'example.com/b'] }, old)), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/b", "example.com/c"}']);
});

test('validateFieldManager limits length and characters', () => {
  assert.deepEqual(texts(validateFieldManager('m'.repeat(129), 'fieldManager')), ['fieldManager: Too long: may not be more than 128 bytes']);
  assert.equal(validateFieldManager('kubectl edit', 'fieldManager').length, 0);
  assert.equal(validateFieldManager('a\u0000b', 'fieldManager').length, 1);
});

test('validateObjectMetaUpdate refuses any time of deletion that a client states, the zero time too', () => {
  const old = { name: 'a', resourceVersion: '1' };
  const update = (deletionTimestamp: string): string[] => texts(validateObjectMetaUpdate({ ...old, deletionTimestamp }, old));
  assert.deepEqual(update(''), ['metadata.deletionTimestamp: Invalid value: null: field is immutable']);
  assert.deepEqual(update('2026-01-01T00:00:00Z'), ['metadata.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable']);
});
