// Rules of custom resources by example, their limits, and expressions that mean harm. The reference's texts are proven by the oracle.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../../schema/validate/pattern.ts';
import type { OpenAPIV3Schema } from '../../schema/structural.ts';
import type { FieldError } from '../../status.ts';
import { finishSteps } from '../../../base/index.ts';
import { checkRules } from './check-rules.ts';
import { compileRules } from './compile-rules.ts';
import { compileExpression } from '../compile.ts';
import { kubernetesEnvironment } from '../kubernetes.ts';
import { CelSyntaxError } from '../parse/source.ts';
import { CelError } from '../values/values.ts';

before(loadPatternEngine);

const rule = (text: string, more: object = {}): object => ({ 'x-kubernetes-validations': [{ rule: text, ...more }] });
const underSpec = (spec: object): OpenAPIV3Schema => ({ type: 'object', properties: { spec: spec as OpenAPIV3Schema } });
const int = { type: 'integer' };
const check = (schema: OpenAPIV3Schema): readonly FieldError[] => finishSteps(checkRules(schema, { path: 'p' }));

test('validate reports a rule that does not hold at the path of its node, with the value of scalars', () => {
  const rules = compileRules(underSpec({ type: 'object', properties: { n: { ...int, ...rule('self <= 10') } } }));
  assert.deepEqual(rules.validate({ value: { spec: { n: 10 } } }).errors, []);
  const [error] = rules.validate({ value: { spec: { n: 11 } } }).errors;
  assert.deepEqual(error, { reason: 'FieldValueInvalid', field: 'spec.n', message: 'Invalid value: 11: failed rule: self <= 10' });
});

test('validate has no type for the items of an object, nor for what is below them', () => {
  const items = { type: 'object', properties: { n: { ...int, ...rule('self < 1') } }, ...rule('self.n > 0') };
  const rules = compileRules(underSpec({ type: 'object', items }));
  assert.deepEqual(rules.validate({ value: { spec: [{ n: 1 }] } }).errors, [{ reason: 'FieldValueInvalid', field: 'spec[0]',
    message: 'Invalid value: "object": rule compiler initialization error: failed to convert to declType for CEL validation rules' }]);
});

test('checkRules has no type for rules below a node that has rules and no type', () => {
  const message = 'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: '
    + 'unable to convert structural schema to CEL declarations';
  const odd = { type: 'odd', properties: { n: { ...int, ...rule('self > 3') } } };
  assert.deepEqual(check(underSpec({ ...odd, ...rule('true') })), ['.properties[n]', ''].map((at) => (
    { reason: 'InternalError', field: `p.properties[spec]${at}.x-kubernetes-validations`, message })));
  assert.deepEqual(check(underSpec(odd)), []);
});

test('validate runs rules over time only where there is an old value', () => {
  const rules = compileRules(underSpec({ type: 'object', properties: { n: { ...int, ...rule('self >= oldSelf', { message: 'only grows' }) } } }));
  assert.deepEqual(rules.validate({ value: { spec: { n: 1 } } }).errors, []);
  assert.equal(rules.validate({ value: { spec: { n: 1 } }, oldValue: { spec: { n: 2 } } }).errors[0]!.message, 'Invalid value: 1: only grows');
});

test('validate turns failures of unchanged values into warnings', () => {
  const rules = compileRules(underSpec({ type: 'object', properties: { n: { ...int, ...rule('self <= 10') } } }));
  const { errors, warnings } = rules.validate({ value: { spec: { n: 50, m: 1 } }, oldValue: { spec: { n: 50 } } });
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings, ['spec.n: Invalid value: 50: failed rule: self <= 10']);
});

test('validate finds no field that is null, but for values of maps', () => {
  const text = { type: 'string', nullable: true };
  const messageOf = (spec: object, value: object): string | undefined => compileRules(underSpec(spec)).validate({ value: { spec: value } }).errors[0]?.message;
  const named = { type: 'object', properties: { a: text } };
  assert.match(messageOf({ ...named, ...rule("self.a != 'x'") }, { a: null })!, /no such key: a/);
  assert.equal(messageOf({ ...named, ...rule("!has(self.a) && self.?a.orValue('b') == 'b'") }, { a: null }), undefined);
  assert.equal(messageOf({ type: 'object', additionalProperties: text, ...rule("'a' in self && dyn(self.a) == null") }, { a: null }), undefined);
});

test('validate compares objects by the fields that their schema does not know too', () => {
  const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
  const items = { type: 'object', ...preserve, properties: { a: { type: 'string' }, any: preserve } };
  const rules = compileRules(underSpec({ type: 'array', items, ...rule('self[0] == self[1]') }));
  const isEqual = (a: object, b: object): boolean => rules.validate({ value: { spec: [a, b] } }).errors.length === 0;
  assert.ok(isEqual({ a: 'x', b: [1] }, { a: 'x', b: [1] }));
  assert.ok(!isEqual({ a: 'x', b: [1] }, { a: 'x', b: [2] }));
  assert.ok(!isEqual({ a: 'x', b: 1 }, { a: 'x' }));
  assert.ok(!isEqual({ any: 'x' }, { any: 1 }));
  assert.ok(isEqual({ any: [{ b: 1 }] }, { any: [{ b: 1 }] }));
  assert.ok(!isEqual({ any: 'x' }, { b: 'x' }));
  assert.ok(!isEqual({ a: 'x', b: 1 }, { c: 'x', b: 1 }));
});

test('validate compares what has no type within its limit of work', () => {
  const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
  const items = { type: 'object', ...preserve, properties: { a: { type: 'string', maxLength: 1 } } };
  const rules = compileRules(underSpec({ type: 'array', maxItems: 200, items, ...rule('self.all(x, self.all(y, x == y))') }));
  const spec = Array.from({ length: 200 }, () => ({ any: Array.from({ length: 2000 }, (_, index) => index) }));
  const { errors } = rules.validate({ value: { spec } });
  assert.match(errors[0]!.message, /cost/);
});

test('validate finds a part of a wrong type where it is the first of two, or beside an object', () => {
  const inner = { type: 'object', properties: { b: { type: 'string' } } };
  const items = { type: 'object', properties: { a: { type: 'string' }, o: inner } };
  const rules = compileRules(underSpec({ type: 'array', items, ...rule('self[0] == self[1]') }));
  const messageOf = (a: object, b: object): string => rules.validate({ value: { spec: [a, b] } }).errors[0]!.message;
  assert.match(messageOf({ a: 1 }, { a: 'x' }), /invalid data, expected string, got int64/);
  assert.match(messageOf({ a: 'x' }, { a: 1 }), /failed rule/);
  assert.match(messageOf({ o: {} }, { o: 1 }), /invalid data, expected a map/);
});

test('check takes keys of maps for short, as definitions that were published rely on', () => {
  const labels = { type: 'object', maxProperties: 8, additionalProperties: { type: 'string', maxLength: 4096 },
    ...rule('self.all(key, key.matches("^[a-z]+(/[a-z]+)?$"))') };
  assert.deepEqual(check(underSpec({ type: 'object', properties: { labels } })), []);
});

test('validate stops at the budget', () => {
  const rules = compileRules(underSpec({ type: 'object', properties: { n: { ...int, ...rule('self <= 10') } } }));
  const { errors, remainingBudget } = rules.validate({ value: { spec: { n: 1 } }, budget: 1 });
  assert.match(errors[0]!.message, /validation failed due to running out of cost budget/);
  assert.equal(remainingBudget, -1);
});

test('check refuses what does not compile, and what may cost too much', () => {
  const unknown = check(underSpec({ type: 'object', properties: { n: int }, ...rule('self.m > 1') }));
  assert.match(unknown[0]!.message, /undefined field 'm'\n \| self\.m > 1\n \| \.\.\.\.\^/);
  const list = { type: 'array', items: { type: 'string' } };
  const costly = check(underSpec({ type: 'object', properties: { l: list }, ...rule('self.l.all(x, self.l.all(y, x == y))') }));
  assert.match(costly[0]!.message, /estimated rule cost exceeds budget by factor of more than 100x/);
});

test('estimated costs never fall when a list may be longer', () => {
  const costOf = (maxItems: number): number => {
    const list = { type: 'array', maxItems, items: { type: 'string', maxLength: 1000 } };
    const errors = check(underSpec({ type: 'object', properties: { l: list }, ...rule("self.l.all(x, x.contains('abc'))") }));
    return Number(/factor of ([\d.]+)x/.exec(errors[0]?.message ?? '')?.[1] ?? (errors.length > 0 ? 100 : 0));
  };
  const costs = [10, 1000, 100_000, 200_000, 1_000_000, 100_000_000].map(costOf);
  assert.deepEqual(costs, [...costs].sort((a, b) => a - b));
});

const hostile: readonly string[] = [
  `${'('.repeat(5000)}1${')'.repeat(5000)}`, `1${'+1'.repeat(20_000)}`, `${'true?1:'.repeat(3000)}1`, `optional.of(1)${'.optMap(x, x)'.repeat(60)}`,
  `${'[1,2,3,4,5,6,7,8,9].all(a,'.repeat(40)}true${')'.repeat(40)}`, `'${'a'.repeat(5000)}'.matches('^(a+)+$b')`,
    `'a'${".replace('a','aaaaaaaaaa')".repeat(20)}`,
];

test('hostile expressions are refused or stopped at the limit of a call', () => {
  for (const text of hostile) {
    try {
      const { value } = compileExpression(text, kubernetesEnvironment).program.evaluate(() => undefined, 1_000_000);
      assert.ok(value === false || value instanceof CelError, text.slice(0, 40));
    } catch (error) {
      assert.ok(error instanceof CelSyntaxError, text.slice(0, 40));
    }
  }
});
