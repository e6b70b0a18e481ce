// Selectors: grammar, the reference's error texts, and agreement with a naive reading.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLabelSelector, formatLabelSelector, matchesRequirement, parseFieldSelector, parseFieldSelectorSteps, parseLabelSelector,
  parseLabelSelectorSteps } from './selector.ts';

test('parseLabelSelector selects as the reference does', () => {
  const labels = { app: 'x', tier: 'web', n: '5', 'example.com/app': '' };
  const yes = ['', 'app=x', 'app==x', 'app!=y', 'app in (x,y)', 'app notin (y)', 'app', '!gone', 'gone!=x', 'gone notin (a)', 'n>4', 'n<6', 'example.com/app',
    'example.com/app=', 'app=x,tier=web', ' app = x , tier '];
  const no = ['app=y', 'app!=x', 'app in ()', '!app', 'n>5', 'gone', 'gone>1', 'app in (y,z)', 'app=x,tier=db', 'app>1'];
  for (const text of yes) assert.equal(parseLabelSelector(text).matches(labels), true, text);
  for (const text of no) assert.equal(parseLabelSelector(text).matches(labels), false, text);
});

test('parseLabelSelector refuses in the reference\'s words', () => {
  const table: [string, string][] = [
    ['a=b=c', "found '=', expected: ',' or 'end of string'"], ['a in', "unable to parse requirement: found '' expected: '('"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"], ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"], ['!!',
      "unable to parse requirement: found '!', expected: identifier"],
    ['a>x', "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ];
  for (const [text, message] of table) assert.throws(() => parseLabelSelector(text), { message }, text);
  assert.throws(() => parseLabelSelector('-a=b'), /^StatusError: unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of/);
  assert.throws(() => parseLabelSelector('a=-b'), /unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b": a valid label must be/);
});

test('parseFieldSelector reads terms with escapes and refuses others', () => {
  assert.deepEqual(parseFieldSelector('a=b,c!=d,,e==f\\,g\\=h').requirements, [
    { field: 'a', operator: '=', value: 'b' }, { field: 'c', operator: '!=', value: 'd' }, { field: 'e', operator: '=', value: 'f,g=h' }]);
  assert.throws(() => parseFieldSelector('metadata.name'), { message: "invalid selector: 'metadata.name'; can't understand 'metadata.name'" });
  assert.throws(() => parseFieldSelector('a=b=c'), /unescaped character in value/);
});

const key = fc.constantFrom('a', 'b', 'c/d');
const value = fc.constantFrom('', 'x', 'y', '1', '2');
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom('=', '!='), value).map(([k, o, v]) => `${k}${o}${v}`),
  fc.tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1 })).map(([k, o, v]) => `${k} ${o} (${v.join(',')})`),
  key, key.map((k) => `!${k}`));

test('formatLabelSelector and parseLabelSelector round-trip, and negations are complements', () => {
  fc.assert(fc.property(fc.array(requirement), fc.dictionary(key, value), (parts, labels) => {
    const selector = parseLabelSelector(parts.join(','));
    assert.equal(parseLabelSelector(formatLabelSelector(selector)).matches(labels), selector.matches(labels));
    for (const v of ['x', '']) assert.notEqual(parseLabelSelector(`a=${v}`).matches(labels), parseLabelSelector(`a!=${v}`).matches(labels));
  }));
});

test('a selector of many requirements matches what each of them matches', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', 'toString');
  const value = fc.constantFrom('', '1', '2', '30', 'x', 'y');
  const one = fc.oneof(
    fc.record({ key, operator: fc.constantFrom('in' as const, 'notin' as const), values: fc.array(value, { minLength: 1, maxLength: 4 }) }),
    fc.record({ key, operator: fc.constantFrom('=' as const, '==' as const, '!=' as const), values: fc.tuple(value) }),
    fc.record({ key, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
    fc.record({ key, operator: fc.constantFrom('gt' as const, 'lt' as const), values: fc.tuple(fc.constantFrom('1', '5', '40', '-3')) }),
  );
  const labels = fc.array(fc.tuple(key, value)).map((pairs) => Object.fromEntries(pairs));
  fc.assert(fc.property(fc.array(one, { minLength: 9, maxLength: 14 }), labels, (requirements, set) => {
    assert.equal(createLabelSelector(requirements).matches(set), requirements.every((each) => matchesRequirement(each, set)));
  }), { numRuns: 2000 });
  const few = Array.from({ length: 3 }, (_, index) => ({ key: 'a', operator: 'notin' as const, values: [`${index}`] }));
  const many = Array.from({ length: 20_000 }, (_, index) => ({ key: `k${index}`, operator: '!' as const, values: [] }));
  let reads = 0;
  const counted = new Proxy({ a: 'x', b: 'y' }, { get: (target, name) => { reads += 1; return Reflect.get(target, name) as string; } });
  assert.equal(createLabelSelector([...many, ...few]).matches(counted), true);
  assert.ok(reads <= 4, `${reads} reads of two labels`);
});

function countSteps(steps: Generator<undefined, { readonly requirements: readonly unknown[] }>): readonly [steps: number, requirements: number] {
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  return [count, step.value.requirements.length];
}

test('long selectors are read in steps', () => {
  const join = (make: (i: number) => string): string => Array.from({ length: 20_000 }, (_, i) => make(i)).join(',');
  const [labelSteps, labels] = countSteps(parseLabelSelectorSteps(join((i) => `k${i}!=a`)));
  const [fieldSteps, fields] = countSteps(parseFieldSelectorSteps(join((i) => `f${i}=a`)));
  const [valueSteps, sets] = countSteps(parseLabelSelectorSteps(`a in (${join((i) => `v${i}`)})`));
  assert.deepEqual([labels, fields, sets], [20_000, 20_000, 1]);
  for (const steps of [labelSteps, fieldSteps, valueSteps]) assert.ok(steps >= 40, `${steps} steps`);
});

test('the errors of a set of values are bounded', () => {
  const values = Array.from({ length: 100_000 }, (_, i) => `-${i}`).join(',');
  assert.throws(() => parseLabelSelector(`a in (${values})`), ({ message }: Error) => message.length < 1_000_000 && message.includes('values[999][a]'));
  assert.throws(() => parseLabelSelector(`a>${'1'.repeat(1_000_000)}`), /the value must be an integer/);
});
