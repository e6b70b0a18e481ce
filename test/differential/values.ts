// Random values that a schema of OpenAPI allows, mostly, and small changes of good objects along their schema.
import { isJsonObject } from '../../src/base/index.ts';
import type { Dice } from '../fuzz/mutate.ts';
import type { Json } from './case.ts';

type Schemas = Readonly<Record<string, Json>>;

const TEXTS = ['a', 'b', 'A', 'a-b', 'a.b', 'a_b', 'example.com', 'example.com/a', 'a b', '', '1', '-1', '80', '*', 'a/b', 'x'.repeat(63), 'y'.repeat(64),
  'z'.repeat(254),
  'ä', '☃', 'TCP', 'http', 'default', 'true', 'null', '{}', 'a=b', '!', '%', '$(A)', 'kubernetes.io/a', 'Never', 'Always', 'None'];
const NAMES = ['a', 'b', 'a-b', 'a.b', 'A', 'a_b', '', '-a', 'a-', 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(253), 'y'.repeat(254), '1', 'default', 'a/b',
  '..', 'kubernetes.io/a', '{id}'];
const HINTS: readonly (readonly [pattern: RegExp, values: readonly string[]])[] = [
  [/(ip|ips|address|addresses)$/i, ['10.0.0.10', '1.2.3.4', '::1', '2001:db8::1', '2001:DB8::1', '::ffff:1.2.3.4', '127.0.0.1', '0.0.0.0', '224.0.0.1',
    '169.254.0.1', '01.2.3.4', '1.2.3', 'a', '', 'None', 'fe80::1%eth0', 'fd00::0001', '0:0:0:0:0:ffff:0a01:0203', 'a.b', 'a.b.']],
  [/cidr/i, ['10.0.0.0/8', '10.0.0.5/8', '::/0', '2001:db8::/64', '0.0.0.0/0', '10.0.0.0', '10.0.0.0/33', '010.0.0.0/8', '1.2.3.4/32', '', 'a',
    '10.0.0.0/08', '2001:DB8::/64', '::ffff:10.0.0.0/120']],
  [/path$/i, ['/', '/a', 'a', '../a', '/a/../b', '', '/a//b', 'a/..', '..a', '/a b', '/a*', '/%2f', 'x'.repeat(300)]],
  [/(url|uri|host|server|endpoint)$/i, ['a.example.com', '*.example.com', '*.com', 'https://a.example.com/x', 'http://a', 'HTTPS://b', 'a:80', '10.0.0.1', '',
    'a..b', '-', 'A.b', 'https://u:p@a/?x=1#y']],
  [/(key|label|resource|resources|topologyKey)$/i, ['a', 'a/b', 'example.com/a', 'a/b/c', '', '-', 'A', '/a', 'a/', 'pods', 'pods/status', '*', '*/*',
    'kubernetes.io/hostname', 'cpu', 'memory', 'hugepages-2Mi', 'example.com/gpu', 'requests.cpu', 'x'.repeat(64), `${'p'.repeat(254)}/a`]],
  [/operator$/i, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Equal', 'in', '', '=']],
  [/schedule$/i, ['* * * * *', '0 0 * * *', '@daily', '@every 1h', 'TZ=UTC 0 0 * * *', '60 * * * *', '', 'a', '*/5 * * * * *', '1-5,7/2 * * * MON']],
  [/(timeZone)$/, ['UTC', 'Europe/Berlin', 'Local', 'local', '', 'Nowhere/Land']],
  [/(expression|rule|messageExpression)$/i, ['true', 'false', 'self == oldSelf', 'object.metadata.name == "a"', 'self.size() > 0', '1', 'x', 'has(self.a)',
    'self.a == ', '"a" + 1', 'object.spec.replicas > 3', 'variables.v', 'request.userInfo.username', '\'a\'', 'params.x == 1',
    'authorizer.group("").resource("pods").check("get").allowed()']],
  [/version$/i, ['v1', 'v2', 'v1beta1', 'v1alpha1', '', '1', 'V1', 'apps/v1', 'v10', '*']],
  [/verbs?$/i, ['get', 'list', '*', 'watch', 'create', 'GET', '', 'a b', 'use']],
  [/apigroups?$/i, ['', 'apps', '*', 'a b', 'example.com', 'rbac.authorization.k8s.io']],
];
const INTEGERS = [0, 1, 2, -1, 3, 10, 15, 50, 80, 100, 101, 255, 256, 443, 600, 1000, 1001, 3600, 30_000, 65_535, 65_536, 100_000, 2_147_483_647,
  -2_147_483_648];
const QUANTITIES = ['1', '100m', '1Gi', '0', '-1', '1.5', '500m', '1k', '1e3', '1E', '0.1m', '1n', '9223372036854775807', '1Ki', '2Mi', '10M', '', 'a', '1.',
  '.5', '+1', '1 ', '1e', 5, 0.5];
const TIMES = ['2026-01-01T00:00:00Z', '2020-02-30T00:00:00Z', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00+02:00', '', 'a', '2026-01-01',
  '0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z'];
const WRONG: readonly unknown[] = ['text', 7, 1.5, true, {}, [], null, [null], { a: 'b' }, -0.5, 1e20, ['a'], '', '7'];

/** True in so many of a hundred cases. */
export const chance = (dice: Dice, percent: number): boolean => dice.below(100) < percent;

/** The schema behind references; what stands beside a reference (a default) is kept. */
export function resolve(schemas: Schemas, schema: Json | undefined): Json {
  const target = schema?.['$ref'] ?? schema?.['allOf']?.[0]?.$ref;
  if (target === undefined) return schema ?? {};
  const name = String(target).split('/').at(-1) as string;
  return { name, ...schemas[name], ...(schema?.['default'] !== undefined && { default: schema['default'] }) };
}

function makeText(dice: Dice, schema: Json, key: string): unknown {
  if (schema['enum'] !== undefined && chance(dice, 90)) return dice.pick(schema['enum'] as string[]);
  if (schema['format'] === 'date-time') return dice.pick(TIMES);
  if (schema['format'] === 'byte') return dice.pick(['YQ==', 'aGVsbG8=', '', 'YQ', '!', 'YWI=']);
  const hint = HINTS.find(([pattern]) => pattern.test(key));
  if (hint !== undefined && chance(dice, 85)) return dice.pick(hint[1]);
  return dice.pick(/name$/i.test(key) ? NAMES : TEXTS);
}

/** A value that a schema allows, mostly. `key` is the name of its field, from which texts are guessed. */
export function makeValue(dice: Dice,
  given: { readonly schemas: Schemas; readonly schema: Json | undefined; readonly key: string; readonly depth?: number }): unknown {
  const { schemas, key, depth = 0 } = given;
  const schema = resolve(schemas, given.schema);
  const inner = (child: Json | undefined, name = key): unknown => makeValue(dice, { schemas, schema: child, key: name, depth: depth + 1 });
  if (schema['name']?.endsWith('.Quantity')) return dice.pick(QUANTITIES);
  if (schema['name']?.endsWith('.IntOrString') || schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string') {
    return chance(dice, 50) ? dice.pick(INTEGERS) : dice.pick(['50%', '100%', '101%', '0%', '-1%', '25', 'http', 'a', '', '%', '1.5%', '80']);
  }
  switch (schema['type']) {
    case 'string': return makeText(dice, schema, key);
    case 'boolean': return chance(dice, 50);
    case 'integer': case 'number': return schema['type'] === 'number' && chance(dice, 40) ? dice.pick([0.5, 1.25, -0.1, 1e10]) : dice.pick(INTEGERS);
    case 'array': return Array.from({ length: depth > 4 ? 0 : dice.below(4) }, () => inner(schema['items']));
    default: return makeFields(dice, schema, { depth, inner });
  }
}

function makeFields(dice: Dice, schema: Json, { depth, inner }: { readonly depth: number; inner(child: Json | undefined, name?: string): unknown }): Json {
  const fields: Json = {};
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const percent = depth > 4 ? 0 : Math.min(60, 250 / Math.max(1, properties.length));
  for (const [name, child] of properties) {
    if (name === 'managedFields' || name === 'resourceVersion' || (name === 'metadata' && depth === 0)) continue;
    if (schema['required']?.includes(name) ? chance(dice, 92) : chance(dice, percent)) fields[name] = inner(child, name);
  }
  if (typeof schema['additionalProperties'] === 'object') {
    for (let count = dice.below(3); count > 0; count--) fields[dice.pick(['a', 'b', 'cpu', 'memory', 'example.com/a', 'A B', '', 'x'.repeat(64),
      'storage'])] = inner(schema['additionalProperties']);
  } else if (properties.length === 0 && schema['type'] !== 'object' && chance(dice, 50)) {
    fields['a'] = makeWrong(dice);
  }
  return fields;
}

interface Place {
  readonly parent: any;
  readonly key: string | number;
  readonly schema: Json;
}

/** Every field and item of an object, with its schema. */
function* findPlaces(schemas: Schemas, value: unknown, given: Json): Iterable<Place> {
  const schema = resolve(schemas, given);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield { parent: value, key: index, schema: schema['items'] ?? {} };
      yield* findPlaces(schemas, item, schema['items'] ?? {});
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (key === 'apiVersion' || key === 'kind') continue;
      const child = (schema['properties']?.[key] ?? schema['additionalProperties'] ?? {}) as Json;
      yield { parent: value, key, schema: child };
      yield* findPlaces(schemas, item, child);
    }
  }
}


const nameOf = (places: readonly Place[], place: Place): string => {
  if (typeof place.key === 'string') return place.key;
  const owner = places.find((other) => other.parent[other.key] === place.parent);
  return owner === undefined ? '' : String(owner.key);
};

/** Fields that are tried on purpose elsewhere. */
const unsuited = new Set(['managedFields', 'name', 'resourceVersion']);

function addField(dice: Dice, schemas: Schemas, places: readonly Place[]): void {
  const owners = places.filter(({ parent, key }) => isJsonObject(parent[key]));
  if (owners.length === 0) return;
  const { parent, key, schema } = dice.pick(owners);
  const { properties } = resolve(schemas, schema) as { properties?: Record<string, Json> };
  const names = Object.keys(properties ?? {}).filter((name) => !unsuited.has(name));
  if (names.length === 0) parent[key][dice.pick(TEXTS)] = makeValue(dice, { schemas, schema: resolve(schemas, schema)['additionalProperties'],
    key: String(key) });
  else {
    const name = dice.pick(names);
    parent[key][name] = makeValue(dice, { schemas, schema: properties?.[name], key: name, depth: 1 });
  }
}

/** Changes an object in place, once: a field more, another value, one item twice, a field less, a wrong type, an unknown field. */
function mutateOnce(dice: Dice, schemas: Schemas, root: Json): void {
  const schema = root['schema'] as Json;
  const all = [...findPlaces(schemas, { object: root['object'] }, { properties: { object: schema } })];
  const outside = all.filter(({ parent, key }) => parent !== root['object'].metadata || chance(dice, 20) || key === 'labels');
  const places = outside.length > 1 ? outside : all;
  const place = dice.pick(places.slice(1).length > 0 ? places.slice(1) : places);
  const sort = dice.below(100);
  if (sort < 35) addField(dice, schemas, places);
  else if (sort < 70) place.parent[place.key] = makeValue(dice, { schemas, schema: place.schema, key: nameOf(places, place), depth: 2 });
  else if (sort < 78) {
    const others = places.filter(({ parent, key }) => typeof parent[key] === 'string');
    if (typeof place.parent[place.key] === 'string' && others.length > 0) {
      const other = dice.pick(others);
      place.parent[place.key] = other.parent[other.key];
    }
  } else if (sort < 86) {
    const lists = places.filter(({ parent, key }) => Array.isArray(parent[key]) && parent[key].length > 0);
    if (lists.length > 0) {
      const { parent, key } = dice.pick(lists);
      parent[key].push(structuredClone(dice.pick(parent[key])));
    }
  } else if (sort < 93) {
    if (Array.isArray(place.parent)) place.parent.splice(place.key as number, 1);
    else delete place.parent[place.key];
  } else if (sort < 97) place.parent[place.key] = makeWrong(dice);
  else if (isJsonObject(place.parent)) place.parent[dice.pick(['bogus', 'Name', 'SPEC'])] = makeWrong(dice);
}

/** A copy of an object with some changes along its schema. */
export function mutateObject(dice: Dice, schemas: Schemas,
  { object, schema, changes }: { readonly object: Json; readonly schema: Json; readonly changes: number }): Json {
  const root = { object: structuredClone(object), schema };
  for (let count = changes; count > 0; count--) mutateOnce(dice, schemas, root);
  return dropEmptyLists(root.object) as Json;
}

/** Maps that the reference refuses even if they are empty. */
const emptyMaps = new Set(['overhead', 'patternProperties', 'definitions', 'dependencies']);

/** Empty lists and maps are read as absent here (docs/differences.md). */
function dropEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropEmptyLists);
  if (!isJsonObject(value)) return value;
  const isEmpty = (key: string, item: unknown): boolean => (Array.isArray(item) && item.length === 0)
    || (emptyMaps.has(key) && isJsonObject(item) && Object.keys(item).length === 0);
  return Object.fromEntries(Object.entries(value).filter(([key, item]) => !isEmpty(key, item)).map(([key, item]) => [key, dropEmptyLists(item)]));
}

/** Something that fits nowhere. */
export const makeWrong = (dice: Dice): unknown => structuredClone(dice.pick(WRONG));
