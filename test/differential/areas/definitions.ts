// Definitions of custom resources, good and bad, and the objects of good ones through creates, updates, patches, scale, selectors and columns.
import type { Area, Case, Facts, Json, Request } from '../case.ts';
import { findSchema } from '../facts.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance, mutateObject } from '../values.ts';
import { makeOptions, makePatch } from './patches.ts';
import { makeFor, makeSchema } from './schemas.ts';
import { takeSeed } from './kinds.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A definition of the kind Thing, whose spec has the schema given. */
function define(dice: Dice, schema: Json): Json {
  const withStatus = chance(dice, 60);
  const withScale = chance(dice, 40);
  const properties: Json = { spec: schema, status: chance(dice, 50) ? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } : makeSchema(dice, 2) };
  const fields = Object.entries((schema['properties'] ?? {}) as Json).filter(([, child]) => ['string', 'integer',
    'boolean'].includes(child.type)).map(([name]) => `.spec.${name}`);
  if (withScale) properties['scale'] = { type: 'object', properties: { replicas: { type: 'integer', ...(chance(dice, 50) && { default: 2 }) },
    seen: { type: 'integer' }, selector: { type: 'string' } } };
  const version: Json = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas',
    ...(chance(dice, 60) && { labelSelectorPath: '.status.selector' }) };
  if (withStatus || withScale) version['subresources'] = { ...(withStatus && { status: {} }), ...(withScale && { scale }) };
  if (withScale && schema['type'] === 'object' && schema['properties'] !== undefined) schema['properties']['replicas'] = { type: 'integer',
    ...(chance(dice, 40) && { default: 1 }) };
  if (chance(dice, 50) && fields.length > 0) version['selectableFields'] = fields.slice(0, 2).map((jsonPath) => ({ jsonPath }));
  if (chance(dice, 50)) {
    version['additionalPrinterColumns'] = NAMES.filter(() => chance(dice, 40)).map((name) => ({
      name: name.toUpperCase(), type: dice.pick(['string', 'integer', 'number', 'boolean', 'date']),
        jsonPath: dice.pick([`.spec.${name}`, `.spec.${name}[0]`, `.spec.${name}[*].a`, '.metadata.name', '.metadata.creationTimestamp', '.status.x']),
      ...(chance(dice, 20) && { priority: 1 }), ...(chance(dice, 20) && { format: dice.pick(['int32', 'date', 'float']) }),
    }));
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.{id}.example.com' },
    spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [version] },
  };
}

const NAMES = ['a', 'b', 'c', 'd'];

function makeDefinition(dice: Dice, facts: Facts): Case {
  const path = `${DEFINITIONS}?dryRun=All`;
  const body = chance(dice, 60) ? define(dice, { ...makeSchema(dice), type: 'object' }) : takeSeed(dice, facts.definitions).body;
  const schema = findSchema(facts.schemas, body) as Json;
  return { requests: [{ method: 'POST', path, body: chance(dice, 40) ? mutateObject(dice, facts.schemas, { object: body, schema, changes: 1 + dice.below(2) })
    : body }] };
}

/** Definitions that are created without being stored: their validation. */
export const definitions: Area = { name: 'definitions', count: 2000, makeCase: makeDefinition };

/** A schema from which rules and defaults that a definition refuses are left out. */
function onlyGood(schema: Json, isRoot = true): Json {
  const { default: _default, 'x-kubernetes-validations': _rules, oneOf: _one, anyOf: _any, allOf: _all, not: _not, uniqueItems: _unique, ...rest } = schema;
  const good: Json = rest;
  if (good['x-kubernetes-list-type'] === 'map' && (good['items']?.type !== 'object' || good['x-kubernetes-list-map-keys']?.join() !== 'a')) {
    delete good['x-kubernetes-list-type'];
    delete good['x-kubernetes-list-map-keys'];
  }
  if (good['x-kubernetes-list-type'] === 'set' && ['object', 'array'].includes(good['items']?.type)) good['x-kubernetes-list-type'] = 'atomic';
  if (good['x-kubernetes-embedded-resource'] === true) Object.assign(good, { 'x-kubernetes-preserve-unknown-fields': true });
  if (good['additionalProperties'] === true) delete good['additionalProperties'];
  for (const key of ['items', 'additionalProperties']) if (typeof good[key] === 'object') good[key] = onlyGood(good[key], false);
  if (good['properties'] !== undefined) good['properties'] = Object.fromEntries(Object.entries(good['properties'] as Json).map(([name, child]) => [name,
    onlyGood(child, false)]));
  if (good['format'] === 'bogus') delete good['format'];
  if (good['x-kubernetes-list-type'] === 'map') good['items'].required = ['a'];
  if (!isRoot && _default !== undefined && ['string', 'integer', 'boolean'].includes(good['type']) && good['pattern'] === undefined
    && good['format'] === undefined) {
    good['default'] = good['type'] === 'string' ? (good['enum']?.[0] ?? (good['minLength'] === undefined ? 'a' : undefined)) : good['type'] === 'integer'
      ? (good['minimum'] === undefined && good['multipleOf'] === undefined ? 1 : undefined) : true;
    if (good['default'] === undefined) delete good['default'];
  }
  return good;
}

const RULES = [{ rule: '!has(self.a) || self.a == oldSelf.a' }, { rule: 'true', message: 'never' }, { rule: 'has(self.b)', message: 'b is needed' },
  { rule: 'size(self) >= 0' }];

function makeObjects(dice: Dice, facts: Facts): Case {
  const schema: Json = onlyGood({ ...makeSchema(dice), type: 'object', 'x-kubernetes-list-type': undefined, 'x-kubernetes-int-or-string': undefined,
    items: undefined });
  for (const key of Object.keys(schema)) if (schema[key] === undefined || ['enum', 'format', 'pattern', 'minimum', 'maximum', 'maxLength', 'minLength',
    'multipleOf', 'exclusiveMinimum', 'minItems', 'maxItems', 'x-kubernetes-list-map-keys'].includes(key)) delete schema[key];
  if (schema['properties']?.a !== undefined && chance(dice, 20)) schema['x-kubernetes-validations'] = [dice.pick(RULES)];
  const definition = define(dice, schema);
  const path = '/apis/{id}.example.com/v1/namespaces/{ns}/things';
  const requests: Request[] = [
    { method: 'POST', path: DEFINITIONS, body: definition, isNeeded: true },
    { path: `${DEFINITIONS}/things.{id}.example.com`, until: { field: 'status.conditions.1.status', equals: 'True' } },
    { path, until: { field: 'kind', equals: 'ThingList' }, pauseMs: 50 },
  ];
  const full = definition['spec'].versions[0].schema.openAPIV3Schema as Json;
  const make = (name: string): Json => ({
    apiVersion: '{id}.example.com/v1', kind: 'Thing', metadata: { name, ...(chance(dice, 40) && { labels: { l: dice.pick(['a', 'b']) } }) },
    spec: makeFor(dice, schema), ...(chance(dice, 30) && { status: makeFor(dice, full['properties'].status) }),
  });
  const withMeta = { ...full,
    properties: { ...full['properties'], metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' } } };
  for (let count = 10 + dice.below(20); count > 0; count--) requests.push(makeRequest(dice, facts, { path, make, schema: withMeta }));
  if (chance(dice, 60)) requests.push(...tighten(dice, facts, { path, make, schema: withMeta }));
  return { requests };
}

/** A schema with more demands than before, somewhere: what is stored may not meet them. */
function demandMore(dice: Dice, schema: Json): Json {
  const more: Json = { ...schema };
  if (schema['properties'] !== undefined) more['properties'] = Object.fromEntries(Object.entries(schema['properties'] as Json).map(([name, child]) => [name,
    demandMore(dice, child)]));
  for (const key of ['items', 'additionalProperties']) if (typeof schema[key] === 'object') more[key] = demandMore(dice, schema[key]);
  if (!chance(dice, 40)) return more;
  const demands: Readonly<Record<string, readonly Json[]>> = {
    string: [{ maxLength: 1 }, { minLength: 2 }, { enum: ['b', 'c'] }, { pattern: '^b' }, { format: 'date' }, { default: 'a' },
      { 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] }, { 'x-kubernetes-validations': [{ rule: 'self != "a"', message: 'no a' }] }],
    integer: [{ maximum: 1 }, { minimum: 2 }, { multipleOf: 3 }, { enum: [1, 2] }, { default: 1 }, { nullable: true },
      { 'x-kubernetes-validations': [{ rule: 'self > 2' }] }],
    boolean: [{ enum: [true] }, { default: false }, { 'x-kubernetes-validations': [{ rule: 'self' }] }],
    array: [{ maxItems: 1 }, { minItems: 2 }, { nullable: true }, { 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-list-map-keys': undefined }],
    object: [{ required: ['b'] }, { maxProperties: 1 }, { minProperties: 2 }, { nullable: true }, { 'x-kubernetes-preserve-unknown-fields': true }],
  };
  return { ...more, ...dice.pick(demands[schema['type']] ?? [{}]) };
}

/** A change of the schema, and requests to the objects that were there before. */
function tighten(dice: Dice, facts: Facts, things: Things): Request[] {
  const { properties } = things.schema as { properties: Json };
  const changed = Object.fromEntries(['spec', 'status'].map((name) => [name, demandMore(dice, properties[name])]));
  const requests: Request[] = [
    { method: 'PATCH', path: `${DEFINITIONS}/things.{id}.example.com`, type: 'application/json-patch+json', body: Object.entries(changed).map(([name, value]) =>
      ({ op: 'replace', path: `/spec/versions/0/schema/openAPIV3Schema/properties/${name}`, value })), until: { field: 'kind',
        equals: 'CustomResourceDefinition' } },
    { path: things.path, until: { field: 'kind', equals: 'ThingList' }, pauseMs: 600 },
  ];
  for (let count = 8 + dice.below(8); count > 0; count--) requests.push(makeRequest(dice, facts, things));
  for (const path of [things.path, `${things.path}?watch=1&timeoutSeconds=1`, `${things.path}?labelSelector=l%3Da`]) requests.push({ path });
  return requests;
}

interface Things {
  readonly path: string;
  readonly schema: Json;
  make(name: string): Json;
}

function makeRequest(dice: Dice, facts: Facts, { path, make, schema }: Things): Request {
  const name = dice.pick(['x', 'x', 'y', 'z']);
  const validation = chance(dice, 30) ? `?fieldValidation=${dice.pick(['Strict', 'Ignore', 'Warn'])}` : '';
  const field = dice.pick(NAMES);
  switch (dice.below(12)) {
    case 0: case 1: case 2: case 3: return { method: 'POST', path: `${path}${validation}`, body: make(name) };
    case 4: {
      const object = make(name);
      object['metadata'].resourceVersion = chance(dice, 80) ? '{rv}' : dice.pick(['1', '', 'abc', '999999999']);
      return { method: 'PUT', path: `${path}/${name}${dice.pick(['', '', '/status'])}${validation}`, body: object };
    }
    case 5: case 6: case 7: {
      const type = dice.pick(['application/json-patch+json', 'application/merge-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']);
      const where = dice.pick(['', '', '', '/status']);
      return { method: 'PATCH', path: `${path}/${name}${where}${makeOptions(dice, type)}`, type,
        body: makePatch(dice, type, { object: make(name), facts, schema }) };
    }
    case 8: return { path: `${path}/${name}${dice.pick(['', '/scale', '/status'])}`, save: { rv: 'metadata.resourceVersion' } };
    case 9: return { path, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
    case 10: {
      const wanted = dice.pick([`spec.${field}=a`, `spec.${field}!=a`, 'metadata.name=x', `spec.${field}=true`, `spec.${field}=1`, '.spec.a=a']);
      return { path: `${path}?fieldSelector=${encodeURIComponent(wanted)}` };
    }
    default: return {
      method: 'PUT', path: `${path}/${name}/scale`,
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name, ...(chance(dice, 50) && { resourceVersion: '{rv}' }) },
        spec: dice.pick<unknown>([{ replicas: 3 }, {}, { replicas: -1 }, { replicas: 0 }, { replicas: 'a' }]) },
    };
  }
}

/** Objects of custom kinds. */
export const customObjects: Area = { name: 'custom-objects', count: 60, makeCase: makeObjects };
