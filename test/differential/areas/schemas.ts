// Random structural schemas for custom resources, and values for them.
import type { Json } from '../case.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance } from '../values.ts';

const FORMATS = ['date-time', 'date', 'byte', 'uuid', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'uri', 'duration', 'int32', 'int64', 'password', 'mac',
  'hexcolor',
  'creditcard', 'isbn', 'ssn', 'rgbcolor', 'bsonobjectid', 'uuid3', 'uuid4', 'uuid5', 'datetime', 'isbn10', 'isbn13', 'bogus', 'k8s-short-name',
    'k8s-long-name'];
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-01T00:00:00Z', '2026-01-01', 'a', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00.5+01:00'], date: ['2026-01-01', '2026-02-30', 'a'],
  byte: ['YQ==', '!', ''], uuid: ['123e4567-e89b-12d3-a456-426614174000', 'a', '123E4567E89B12D3A456426614174000'], email: ['a@b.c', 'a', 'A <a@b.c>'],
  hostname: ['a.example.com', '-a', 'a..b', ''], ipv4: ['1.2.3.4', '::1', '1.2.3'], ipv6: ['::1', '1.2.3.4', 'x'], cidr: ['10.0.0.0/8', '10.0.0.1', '::/0'],
  uri: ['https://a/b', 'a', '/x', '%'], duration: ['1h', '1d', '22 ns', 'a', 'P1D', '1'], mac: ['00:00:5e:00:53:01', 'a'], hexcolor: ['#fff', '#ggg', 'fff'],
  creditcard: ['4111111111111111', '1'], isbn: ['0-306-40615-2', '1'], ssn: ['123-45-6789', '1'], rgbcolor: ['rgb(1,2,3)', 'rgb(1,2)', '#fff'],
};
const TEXTS = ['a', 'b', 'abc', '', 'A', 'x'.repeat(12), 'ä', '1'];
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const PATTERNS = ['^a', '^[a-z]+$', 'a|b', '^$', '^.{1,3}$', '[0-9]'];
const RULES = ['true', 'self == self', 'has(self.a)', 'self.a == "a"', 'self.size() < 3', 'self > 1', 'self == oldSelf', 'self.all(x, x == "a")', 'self.a',
  'size(self) > 0', 'self.matches("^a")', '!has(self.b) || self.b == self.b'];

function makeLeaf(dice: Dice): Json {
  switch (dice.below(6)) {
    case 0: return { type: 'integer', ...(chance(dice, 30) && { minimum: dice.below(4) }), ...(chance(dice, 30) && { maximum: 2 + dice.below(9) }),
      ...(chance(dice, 20) && { format: dice.pick(['int32', 'int64']) }), ...(chance(dice, 15) && { multipleOf: 2 }),
      ...(chance(dice, 10) && { exclusiveMinimum: true, minimum: 1 }) };
    case 1: return { type: 'number', ...(chance(dice, 30) && { minimum: 0.5 }), ...(chance(dice, 20) && { multipleOf: 0.5 }) };
    case 2: return { type: 'boolean' };
    case 3: return { 'x-kubernetes-int-or-string': true, ...(chance(dice, 20) && { anyOf: [{ type: 'integer' }, { type: 'string' }] }) };
    default: return {
      type: 'string', ...(chance(dice, 35) && { format: dice.pick(FORMATS) }), ...(chance(dice, 20) && { enum: ['a', 'b'] }),
        ...(chance(dice, 20) && { maxLength: 1 + dice.below(5) }),
      ...(chance(dice, 15) && { minLength: 1 + dice.below(3) }), ...(chance(dice, 15) && { pattern: dice.pick(PATTERNS) }),
    };
  }
}

function makeList(dice: Dice, depth: number): Json {
  const items = makeSchema(dice, depth + 1);
  const list: Json = { type: 'array', items, ...(chance(dice, 15) && { maxItems: 1 + dice.below(4) }), ...(chance(dice, 10) && { minItems: 1 }),
    ...(chance(dice, 5) && { uniqueItems: true }) };
  if (items['type'] === 'object' && chance(dice, 50)) {
    items['properties'] = { ...items['properties'], a: { type: 'string', ...(chance(dice, 30) && { default: 'a' }) } };
    if (chance(dice, 70)) items['required'] = [...new Set([...(items['required'] ?? []), 'a'])];
    return { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': chance(dice, 90) ? ['a'] : dice.pick([['a', 'b'], ['none'], []]) };
  }
  return chance(dice, 40) ? { ...list, 'x-kubernetes-list-type': dice.pick(['atomic', 'set', 'set', 'map']) } : list;
}

function makeObject(dice: Dice, depth: number): Json {
  if (chance(dice, 15)) return { type: 'object', additionalProperties: chance(dice, 80) ? makeSchema(dice, depth + 1) : true,
    ...(chance(dice, 20) && { maxProperties: 2 }) };
  const names = NAMES.filter(() => chance(dice, 45));
  const object: Json = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, makeSchema(dice, depth + 1)])) };
  if (chance(dice, 25) && names.length > 0) object['required'] = [dice.pick(names)];
  if (chance(dice, 15)) object['x-kubernetes-preserve-unknown-fields'] = true;
  if (chance(dice, 8)) object['x-kubernetes-embedded-resource'] = true;
  if (chance(dice, 8)) object['x-kubernetes-map-type'] = dice.pick(['atomic', 'granular']);
  if (chance(dice, 8)) object[dice.pick(['oneOf', 'anyOf', 'allOf'])] = names.slice(0, 2).map((name) => ({ required: [name] }));
  if (chance(dice, 4)) object['not'] = { required: ['a'] };
  return object;
}

/** A schema that is structural, mostly. */
export function makeSchema(dice: Dice, depth = 0): Json {
  const sort = depth > 3 ? 9 : dice.below(10);
  const schema = sort < 4 ? makeObject(dice, depth) : sort < 6 ? makeList(dice, depth) : makeLeaf(dice);
  if (chance(dice, 10)) schema['nullable'] = true;
  if (chance(dice, 14)) schema['default'] = makeFor(dice, schema);
  if (chance(dice, 6)) {
    schema['x-kubernetes-validations'] = [{ rule: dice.pick(RULES), ...(chance(dice, 40) && { message: 'no' }),
      ...(chance(dice, 15) && { reason: dice.pick(['FieldValueForbidden', 'FieldValueRequired', 'bogus']) }),
      ...(chance(dice, 10) && { fieldPath: dice.pick(['.a', '.b.c', 'a', '']) }), ...(chance(dice, 10) && { optionalOldSelf: true }) }];
  }
  return schema;
}

const WRONG: readonly unknown[] = ['text', 7, 1.5, true, {}, [], null, { a: 'b' }, [null]];

/** A value for a schema: mostly one that it allows. */
export function makeFor(dice: Dice, schema: Json | undefined): unknown {
  if (schema === undefined || chance(dice, 3)) return structuredClone(dice.pick(WRONG));
  if (schema['nullable'] === true && chance(dice, 25)) return null;
  if (schema['x-kubernetes-int-or-string'] === true) return dice.pick<unknown>([1, 'a', '50%', 0]);
  if (schema['enum'] !== undefined && chance(dice, 85)) return dice.pick(schema['enum'] as unknown[]);
  switch (schema['type']) {
    case 'integer': return dice.pick([0, 1, 2, 3, 4, 6, 10, -1, 2_147_483_648]);
    case 'number': return dice.pick([0, 0.5, 1, 1.5, 2, 0.3, -1, 1e21]);
    case 'boolean': return chance(dice, 50);
    case 'string': return dice.pick(chance(dice, 90) ? VALUES[schema['format']] ?? TEXTS : TEXTS);
    case 'array': return Array.from({ length: dice.below(4) }, () => makeFor(dice, schema['items']));
    default: {
      const fields: Json = schema['x-kubernetes-embedded-resource'] === true && chance(dice, 90)
        ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: dice.pick<Json>([{ name: 'x' }, {}, { name: 'x', labels: { a: 'b' }, bogus: 1 },
        { labels: { a: 7 } }]) } : {};
      for (const [name, child] of Object.entries((schema['properties'] ?? {}) as Json)) if (schema['required']?.includes(name) ? chance(dice, 90)
        : chance(dice, 60)) fields[name] = makeFor(dice, child);
      if (typeof schema['additionalProperties'] === 'object') for (const name of ['a', 'x'].filter(() => chance(dice, 60))) fields[name] = makeFor(dice,
        schema['additionalProperties']);
      if (chance(dice, 8)) fields['extra'] = structuredClone(dice.pick(WRONG));
      return fields;
    }
  }
}
