// Errors of definitions in the reference's words and order: versions, stored versions, selectable fields, structure.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type KubeObject, type OpenAPIV3Schema, type Schema, loadPatternEngine } from '../../apimachinery/index.ts';
import { finishSteps } from '../../base/index.ts';
import { validateDefaults } from './defaults.ts';
import { validateDefinition } from './definition.ts';

interface Version {
  readonly name: string;
  readonly storage?: boolean;
  readonly [field: string]: unknown;
}

const anything = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

function define(versions: readonly Version[], storedVersions: readonly string[] = ['v1']): KubeObject {
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'gadgets.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names, versions: versions.map((version) => ({ served: true, schema: anything, ...version })) },
    status: { storedVersions: [...storedVersions] },
  } as unknown as KubeObject;
}

const errorsOf = (definition: KubeObject): string[] => validateDefinition(definition).map(({ field, message }) => `${field}: ${message}`);
const errorsOfSchema = (schema: object, more: object = {}): string[] =>
  errorsOf(define([{ name: 'v1', storage: true, schema: { openAPIV3Schema: { type: 'object', ...schema } }, ...more }]));

describe('validateDefinition', () => {
  before(loadPatternEngine);

  it('reads the metadata that defaults bring', () => {
    const rules = { required: false, pointer: false, omitEmpty: true, number: 0 };
    const fields: Record<string, Schema> = { name: { type: 'string' }, labels: { type: 'map', items: { type: 'string' } } };
    const objectMeta: Schema = {
      type: 'object', name: 'meta.v1.ObjectMeta', fields: new Map(Object.entries(fields).map(([name, schema]) => [name, { name, schema, ...rules }])),
    };
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
    const problemsOf = (properties: Record<string, object>): string[] =>
      finishSteps(validateDefaults({ type: 'object', properties } as OpenAPIV3Schema, 'a', objectMeta)).map(({ field, message }) => `${field}: ${message}`);
    const ofMetadata = (metadata: unknown): string[] => problemsOf({ spec: { ...embedded, default: { apiVersion: 'v1', kind: 'A', metadata } } });
    const path = 'a.properties[spec].default.metadata';
    const unreadable = 'json: cannot unmarshal';
    assert.deepEqual(ofMetadata({ labels: { a: 'b' } }), []);
    assert.deepEqual(ofMetadata({ labels: { a: 7 } }),
      [`${path}: Invalid value: {"labels":{"a":7}}: ${unreadable} number into Go struct field ObjectMeta.labels of type string`]);
    const ofName = (value: unknown): string[] => problemsOf({ metadata: { type: 'object', properties: { name: { type: 'string', default: value } } } });
    assert.deepEqual(ofName('a'), []);
    assert.deepEqual(ofName({}), ['a.properties[metadata].properties[name].default: Invalid value: {}: must result in valid metadata: '
      + `metadata: Invalid value: {"name":{}}: ${unreadable} object into Go struct field ObjectMeta.name of type string`]);
    assert.deepEqual(problemsOf({ kind: { type: 'string', default: 'A B' } }).map((error) => error.slice(0, 130)), [
      'a.properties[kind].default: Invalid value: "A B": must result in valid metadata: kind: Invalid value: "A B": may have mixed case, but s',
    ].map((error) => error.slice(0, 130)));
  });

  it('reports each problem of a default once, and its rules beside unknown fields', () => {
    const at = 'spec.validation.openAPIV3Schema.properties[a].default';
    assert.deepEqual(errorsOfSchema({ properties: { a: { type: 'object', anyOf: [{ required: ['b'] }], required: ['b'], default: {} } } }),
      [`${at}: Invalid value: "": "" must validate at least one schema (anyOf)`, `${at}.b: Required value`]);
    const list = { type: 'array', maxItems: 9, items: { type: 'integer' }, 'x-kubernetes-validations': [{ rule: 'self.all(x, x > 1)' }] };
    assert.deepEqual(errorsOfSchema({ properties: { a: { type: 'object', properties: { l: list }, default: { l: [0], m: 1 } } } }),
      [`${at}: Invalid value: {"l":[0],"m":1}: must not have unknown fields`, `${at}.l: Invalid value: failed rule: self.all(x, x > 1)`]);
  });

  it('lets branches state the types of an int-or-string wherever they stand', () => {
    const pair = [{ type: 'integer' }, { type: 'string' }];
    assert.deepEqual(errorsOfSchema({ properties: { a: { anyOf: pair } } }),
      ['spec.validation.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields']);
  });

  it('reads the form of selectable fields beside a schema that it cannot read', () => {
    const errors = errorsOfSchema({ definitions: { '': {} } }, { selectableFields: [{}, { jsonPath: '/a' }, { jsonPath: '.a' }] });
    assert.deepEqual(errors.slice(-2), ['spec.selectableFields[0].jsonPath: Required value',
      'spec.selectableFields[1].jsonPath: Invalid value: "/a": is an invalid path: expected [ or . but got: /a']);
  });

  it('takes addresses of mail with the names of their owners', () => {
    const isMail = (value: string): boolean => errorsOfSchema({ properties: { a: { type: 'string', format: 'email', default: value } } }).length === 0;
    for (const good of ['a@b.c', ' a@b.c', '<a@b.c>', 'A B. <a@b.c> ', '"A, B" <a@b.c>']) assert.equal(isMail(good), true, good);
    for (const bad of ['A <a>', 'A <a@b.c> x', 'A, B <a@b.c>', '"A <a@b.c>', 'A <a@b.c', 'a@b@c']) assert.equal(isMail(bad), false, bad);
  });

  it('finds amounts with units in durations', () => {
    const isDuration = (value: string): boolean => errorsOfSchema({ properties: { a: { type: 'string', format: 'duration', default: value } } }).length === 0;
    const good = ['1h30m', '-1.5h', '0', '3 days', '2 Weeks ago', 'P1D', 'x1y 2min', '9223372036854775807ns', '00000000000000000000001s'];
    for (const text of good) assert.equal(isDuration(text), true, text);
    for (const text of ['', '1', 'h', '1 x', '1-h', 'P', '1.5 x', '9223372036854775808d', '1h 99999999999999999999x', '1\u2003h']) {
      assert.equal(isDuration(text), false, text);
    }
  });

  it('keeps formats that nothing checks for the types of defaults', () => {
    const messagesOf = (schema: object): string[] => errorsOfSchema({ properties: { a: schema } }).map((error) => error.slice(error.indexOf('default: ') + 9));
    for (const value of ['x', []]) assert.deepEqual(messagesOf({ type: 'object', format: 'bogus', default: value }), []);
    assert.deepEqual(messagesOf({ type: 'object', format: 'bogus', default: 7 }), ['Invalid value: "int64":  in body must be of type bogus: "int64"']);
    assert.deepEqual(messagesOf({ type: 'string', format: 'bogus', default: {} }), ['Invalid value: "":  in body must be of type bogus: ""']);
    assert.deepEqual(messagesOf({ type: 'object', default: 'x' }), ['Invalid value: "string":  in body must be of type object: "string"']);
  });

  it('checks rules on defaults that are neither text nor integer where either is wanted', () => {
    const schema = { 'x-kubernetes-int-or-string': true, 'x-kubernetes-validations': [{ rule: 'self == "a"' }], default: [] };
    const message = 'invalid data, expected XIntOrString value to be either a string or integer evaluating rule: self == "a"';
    assert.ok(errorsOfSchema({ properties: { a: schema } }).some((error) => error.endsWith(message)));
  });

  it('reads the form of selectable paths where all versions have the same schema, which says nothing', () => {
    const selectableFields = [{ jsonPath: '/a' }];
    assert.ok(errorsOf(define([{ name: 'v1', storage: true, schema: {}, selectableFields }])).includes(
      'spec.selectableFields[0].jsonPath: Invalid value: "/a": is an invalid path: expected [ or . but got: /a'));
  });

  it('asks for versions where there are none', () => {
    const definition = define([]);
    Object.assign(definition['spec'] as object, { versions: null });
    assert.ok(errorsOf(definition).includes('spec.versions: Invalid value: null: must have exactly one version marked as storage version'));
  });

  it('has no defaults where nothing is pruned', () => {
    const problemsOf = (schema: object): boolean => {
      const definition = define([{ name: 'v1', storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { a: schema } } } }]);
      Object.assign(definition['spec'] as object, { preserveUnknownFields: true });
      return errorsOf(definition).includes('spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema');
    };
    assert.equal(problemsOf({ type: 'array', items: { type: 'object', properties: { default: { type: 'string', default: 'x' } } } }), true);
    assert.equal(problemsOf({ type: 'object', properties: { default: { type: 'string' } } }), false);
  });

  it('prints a schema that says nothing as one', () => {
    const shown = errorsOf(define([{ name: 'v1', storage: true, schema: {} }, { name: 'v1', schema: undefined }]))
      .find((error) => error.startsWith('spec.versions: ')) ?? '';
    assert.match(shown, /"Name":"v1".*"Schema":\{"OpenAPIV3Schema":null\}.*"Name":"v1".*"Schema":null/);
  });

  it('finds empty list types at the root of a schema with a status', () => {
    const [first] = errorsOfSchema({ 'x-kubernetes-list-type': '' }, { subresources: { status: {} } });
    assert.match(first ?? '', /^spec\.validation\.openAPIV3Schema: Invalid value: .* fields are allowed at the root of the schema if the status subresource/);
  });

  it('prints versions as the internal type, without what they share', () => {
    const shown = (name: string) => `{"Name":"${name}","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,`
      + '"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}';
    assert.deepEqual(errorsOf(define([{ name: 'v1', storage: true }, { name: 'v2', storage: true }])), [
      `spec.versions: Invalid value: [${shown('v1')},${shown('v2')}]: must have exactly one version marked as storage version`,
      'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
    ]);
  });

  it('prints a schema that versions do not share with all fields of the internal type', () => {
    const other = { openAPIV3Schema: { type: 'object', description: 'd', properties: { b: { type: 'string' }, a: { type: 'integer', minimum: 1 } } } };
    const [error] = errorsOf(define([{ name: 'v1', storage: true }, { name: 'v2', storage: true, schema: other }]));
    assert.match(error as string, /"Schema":\{"OpenAPIV3Schema":\{"ID":"","Schema":"","Ref":null,"Description":"d","Type":"object","Nullable":false,/);
    assert.match(error as string, /"Properties":\{"a":\{"ID":"".*"Minimum":1,.*"b":\{"ID":""/);
  });

  it('keeps what was stored among the versions', () => {
    assert.deepEqual(errorsOf(define([{ name: 'v1', storage: true }], [])), ['status.storedVersions: Invalid value: null: must have at least one stored version']);
    const [gone] = errorsOf(define([{ name: 'v1', storage: true }], ['v1', 'v0']));
    assert.match(gone as string, /^status\.storedVersions\[1\]: Invalid value: "v0": missing from spec\.versions; v0 was previously a storage version/);
  });

  it('reports each selectable field, and then that there are too many', () => {
    const properties = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${i}`, { type: i === 0 ? 'object' : 'string' }]));
    const selectableFields = [...Object.keys(properties).map((name) => `.${name}`), '.absent', '.f1'].map((jsonPath) => ({ jsonPath }));
    assert.deepEqual(errorsOfSchema({ properties }, { selectableFields }), [
      'spec.selectableFields[0].jsonPath: Invalid value: ".f0": must point to a field of type string, boolean or integer. '
        + 'Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[9].jsonPath: Invalid value: ".absent": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[10].jsonPath: Duplicate value: ".f1"',
      'spec.selectableFields: Too many: 9: must have at most 8 items',
    ]);
  });

  it('sorts errors of structure by their text', () => {
    const at = 'spec.validation.openAPIV3Schema';
    assert.deepEqual(errorsOfSchema({ properties: { b: {}, a: { type: 'array' }, metadata: { type: 'string' } }, additionalProperties: true }).slice(0, 5), [
      `${at}.additionalProperties: Forbidden: must not be used at the root`,
      `${at}.properties[a].items: Required value: must be specified`,
      `${at}.properties[b].type: Required value: must not be empty for specified object fields`,
      `${at}.properties[metadata].type: Invalid value: "string": must be object`,
    ]);
  });

  it('prints no list type of the items of a set that are not atomic', () => {
    const list = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object', 'x-kubernetes-map-type': 'granular' } };
    const at = 'spec.validation.openAPIV3Schema.properties[l].items.x-kubernetes-map-type';
    assert.deepEqual(errorsOfSchema({ properties: { l: list } }), [`${at}: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set`]);
  });

  it('names what keeps selectable fields from being read', () => {
    const selectableFields = [{ jsonPath: 'a' }, { jsonPath: ".m['k']" }, { jsonPath: '.m.' }, { jsonPath: '.metadata.name' }];
    const properties = { m: { type: 'object', properties: { k: { type: 'string' } } }, metadata: { type: 'object', properties: { name: { type: 'string' } } } };
    assert.deepEqual(errorsOfSchema({ properties }, { selectableFields }).map((text) => text.replace(/^.*Invalid value: /, '')), [
      '"a": is an invalid path: expected [ or . but got: a', '".m[\'k\']": is an invalid path: array notation is not allowed',
      '".m.": is an invalid path: unexpected end of JSON path', '".metadata.name": must not point to fields in metadata',
    ]);
  });

  it('validates the fields of rules beside other problems, and their expressions only where a node has none', () => {
    const rule = { rule: 'self.absent', fieldPath: '.absent', reason: 'bogus' };
    const flawed = { type: 'object', 'x-kubernetes-list-type': 'other', 'x-kubernetes-validations': [rule] };
    assert.deepEqual(errorsOfSchema({ properties: { flawed, sound: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self' }] } } }), [
      'spec.validation.openAPIV3Schema.properties[flawed].type: Invalid value: "object": must be array if x-kubernetes-list-type is specified',
      'spec.validation.openAPIV3Schema.properties[flawed].x-kubernetes-list-type: Unsupported value: "other": supported values: "atomic", "set", "map"',
      'spec.validation.openAPIV3Schema.properties[flawed].x-kubernetes-validations[0].reason: Unsupported value: "bogus": '
        + 'supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      'spec.validation.openAPIV3Schema.properties[flawed].x-kubernetes-validations[0].fieldPath: Invalid value: ".absent": must be a valid path',
    ]);
  });

  it('reports keywords that no structural schema has where nothing else is wrong', () => {
    assert.deepEqual(errorsOfSchema({ properties: { a: { $schema: 'x' } } }),
      ["spec.validation.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]);
    assert.match(errorsOfSchema({ properties: { a: { type: 'object', dependencies: {} } } }).join(), /dependencies: Forbidden: dependencies is not supported/);
  });

  it('validates defaults by the type that is named, and not below additionalProperties', () => {
    const number = { type: 'number', minimum: 0.5, multipleOf: 0.5, default: 0 };
    const at = 'spec.validation.openAPIV3Schema.properties';
    assert.deepEqual(errorsOfSchema({ properties: {
      map: { type: 'object', additionalProperties: { type: 'string', default: 7 } },
      number, one: { type: 'string', maxLength: 1, default: 'ab' }, values: { type: 'object', additionalProperties: { type: 'string' }, default: { a: 1 } },
      whole: { type: 'object', 'x-kubernetes-int-or-string': true, default: 1 }, not: { type: 'string', not: { minLength: 1 }, default: 'a' },
    } }), [
      `${at}[not].default: Invalid value: "": "" must not validate the schema (not)`,
      `${at}[number].default: Invalid value: 0: factor MultipleOf declared for  must be positive: 0`,
      `${at}[one].default: Too long: may not be more than 1 byte`,
      `${at}[values].default.a: Invalid value: "integer": .a in body must be of type string: "integer"`,
      `${at}[whole].default: Invalid value: "integer":  in body must be of type object: "integer"`,
    ]);
  });

  it('validates each short name and category, and a conversion beside fields that are preserved', () => {
    const definition = define([{ name: 'v1', storage: true }]) as unknown as { spec: Record<string, unknown> & { names: object } };
    Object.assign(definition.spec.names, { shortNames: [''], categories: [''] });
    Object.assign(definition.spec, { conversion: {}, preserveUnknownFields: true });
    assert.deepEqual(errorsOf(definition as unknown as KubeObject).map((text) => text.replace(/(label) must.*/, '$1')), [
      'spec.names.shortNames[0]: Invalid value: "": a DNS-1035 label', 'spec.names.categories[0]: Invalid value: "": a DNS-1035 label',
      'spec.conversion.strategy: Invalid value: "": must be None if spec.preserveUnknownFields is true', 'spec.conversion.strategy: Required value',
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ]);
  });
});
