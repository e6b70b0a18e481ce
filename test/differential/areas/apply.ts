// Server-side apply by several managers: built-in kinds, and custom kinds whose schema and versions change between the applies.
import type { Area, Case, Facts, Json, Request } from '../case.ts';
import { findSchema } from '../facts.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance } from '../values.ts';
import { makeOptions, makePatch } from './patches.ts';
import { takeSeed } from './kinds.ts';

const APPLY = 'application/apply-patch+yaml';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const LISTS: readonly Json[] = [
  { type: 'array', items: { type: 'string' } }, { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'integer' } } }, 'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'] },
  { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'integer' } } } },
];
const MAPS: readonly Json[] = [
  { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } }, { type: 'object', additionalProperties: { type: 'string' } },
  { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, 'x-kubernetes-map-type': 'atomic' },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
];

/** A definition with one or two versions; `storage` names the one that is stored. */
function define(dice: Dice, storage: string): Json {
  const schema = (): Json => ({ openAPIV3Schema: { type: 'object', properties: {
    spec: { type: 'object', properties: { list: LISTS[dice.below(4)]!, map: MAPS[dice.below(4)]!,
      text: { type: 'string', ...(chance(dice, 20) && { default: 'd' }) } } },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  } } });
  const shared = schema();
  const version = (name: string): Json => ({ name, served: true, storage: name === storage, schema: chance(dice, 50) ? shared : schema(),
    subresources: chance(dice, 60) ? { status: {} } : undefined });
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.{id}.example.com' },
    spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [version('v1'), version('v2')] },
  };
}

function makeThing(dice: Dice, version: string): Json {
  const list = dice.pick<unknown>([['a'], ['a', 'b'], ['b', 'c', 'a'], [{ a: 'x', b: 1 }], [{ a: 'x' }, { a: 'y', b: 2 }], [{ a: 'y', b: 3 }], [], null,
    ['a', 'a'], [{ a: 'x' }, { a: 'x' }]]);
  const map = dice.pick<unknown>([{ a: 'x' }, { a: 'y', b: 1 }, { b: 2 }, {}, null, { a: 'z', c: 'd' }]);
  const spec = { ...(chance(dice, 60) && { list }), ...(chance(dice, 60) && { map }), ...(chance(dice, 50) && { text: dice.pick(['a', 'b']) }) };
  return {
    apiVersion: `{id}.example.com/${version}`, kind: 'Thing', metadata: { name: 'x', ...(chance(dice, 30) && { labels: { l: dice.pick(['a', 'b']) } }) },
    ...(chance(dice, 92) && { spec }), ...(chance(dice, 25) && { status: { seen: dice.below(3), [dice.pick(['a', 'b'])]: 'x' } }),
  };
}

function applyThing(dice: Dice): Request {
  const version = dice.pick(['v1', 'v1', 'v2']);
  const path = `/apis/{id}.example.com/${version}/namespaces/{ns}/things/x${dice.pick(['', '', '', '', '/status'])}`;
  const sort = dice.below(10);
  if (sort < 7) return { method: 'PATCH', path: `${path}?fieldManager=${dice.pick(['one', 'two', 'three'])}${chance(dice, 50) ? '&force=true' : ''}`,
    type: APPLY, body: makeThing(dice, version) };
  if (sort < 8) return { method: 'PATCH', path: `${path}?fieldManager=edit`, body: { spec: makeThing(dice, version)['spec'] ?? null } };
  if (sort < 9) return { path };
  return { method: 'PATCH', path, type: 'application/json-patch+json', body: [{ op: 'replace', path: '/metadata/managedFields',
    value: dice.pick<unknown>([[], [{}], null]) }] };
}

function makeCustom(dice: Dice): Case {
  const path = `${DEFINITIONS}/things.{id}.example.com`;
  const requests: Request[] = [
    { method: 'POST', path: DEFINITIONS, body: define(dice, 'v1'), isNeeded: true }, { path, until: { field: 'status.conditions.1.status', equals: 'True' } },
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingList' }, pauseMs: 100 },
  ];
  for (let count = 12; count > 0; count--) requests.push(applyThing(dice));
  const changed = define(dice, dice.pick(['v1', 'v2']));
  requests.push({ method: 'PATCH', path, body: { spec: { versions: changed['spec'].versions } } });
  requests.push({ path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingList' }, pauseMs: 600 });
  for (let count = 8; count > 0; count--) requests.push(applyThing(dice));
  return { requests };
}

const KINDS = /\/(configmaps|pods|services|deployments|statefulsets|networkpolicies|ingresses|endpointslices|cronjobs|serviceaccounts|secrets)$/;

function makeBuiltin(dice: Dice, facts: Facts): Case {
  const seeds = facts.seeds.filter(({ path }) => KINDS.test(path));
  const { path, body } = takeSeed(dice, seeds);
  const schema = findSchema(facts.schemas, body) as Json;
  const name = String(body['metadata']?.name ?? 'a');
  body['metadata'] = { ...body['metadata'], name };
  const object: Json = { apiVersion: body['apiVersion'], kind: body['kind'], ...body };
  const at = `${path}/${name}`;
  const first: Request = chance(dice, 50) ? { method: 'POST', path: `${path}?fieldManager=maker`, body: object }
    : { method: 'PATCH', path: `${at}?fieldManager=one`, type: APPLY, body: object };
  const requests: Request[] = [first];
  for (let count = 3 + dice.below(6); count > 0; count--) {
    const type = chance(dice, 80) ? APPLY : 'application/merge-patch+json';
    requests.push({ method: 'PATCH', path: `${at}${chance(dice, 12) ? '/status' : ''}${makeOptions(dice, type)}`, type,
      body: makePatch(dice, type, { object, facts, schema }) });
  }
  return { requests };
}

/** Server-side apply. */
export const apply: Area = { name: 'apply', count: 300, makeCase: (dice, facts) => (chance(dice, 20) ? makeCustom(dice) : makeBuiltin(dice, facts)) };
