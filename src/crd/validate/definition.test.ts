// Errors of definitions in the reference's words and order: versions, stored versions, selectable fields, structure.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type KubeObject, loadPatternEngine } from '../../apimachinery/index.ts';
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
});
