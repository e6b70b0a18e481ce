// Expressions of admission by example: what they may name, what they evaluate to, their budget, and the objects and patches that mutations build.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessAttributes, AccessDecision } from '../library/authorizer.ts';
import { MATCH_CONDITIONS_COST_BUDGET, RUNTIME_COST_BUDGET } from '../limits.ts';
import type { CelType } from '../values/types.ts';
import { compilePolicyExpression, policyEnvironment, typeOfVariable } from './policies.ts';
import { PolicyEvaluation, type PolicyInput, type PolicyVariable, jsonOfResult, patchOfResult } from './policy-evaluation.ts';

type Kind = Parameters<typeof compilePolicyExpression>[2];

const everything = { hasParams: true, hasAuthorizer: true, hasPatches: true };
const compile = (text: string, kind: Kind = 'variable') => compilePolicyExpression(text, policyEnvironment(everything), kind);
const evaluate = (text: string, input: PolicyInput = {}) => new PolicyEvaluation(input).evaluate(compile(text));

const input: PolicyInput = {
  object: { kind: 'Pod', metadata: { name: 'a' }, spec: { replicas: 3, list: [1, 2] } }, oldObject: { spec: { replicas: 2 } },
  request: { operation: 'UPDATE', userInfo: { username: 'alice', groups: ['dev'] }, kind: { group: '', version: 'v1', kind: 'Pod' } },
  params: { max: 5 }, namespaceObject: { metadata: { name: 'ns', labels: { tier: 'gold' } } },
};

for (const [text, expected] of [
  ['object.spec.replicas <= params.max', true], ['object.spec.replicas > oldObject.spec.replicas', true], ['request.operation', 'UPDATE'],
  ['request.userInfo.username', 'alice'], ["'dev' in request.userInfo.groups", true], ['request.kind.kind', 'Pod'],
  ["namespaceObject.metadata.labels['tier']", 'gold'], ['has(object.spec.absent)', false], ['object.metadata.?absent.orValue("none")', 'none'],
  ['object.spec.list.map(x, x * 2) == [2, 4]', true], ["jsonpatch.escapeKey('a/b~c')", 'a~1b~0c'],
] as const) {
  test(`evaluate gives the value of ${text}`, () => assert.deepEqual(evaluate(text, input), { type: 'value', value: expected }));
}

test('absent values are null', () => {
  for (const name of ['object', 'oldObject', 'params', 'namespaceObject']) assert.deepEqual(evaluate(`${name} == null`), { type: 'value', value: true });
});

for (const [text, message] of [
  ['object.spec.absent', "expression 'object.spec.absent' resulted in error: no such key: absent"],
  ['1 / object.zero', "expression '1 / object.zero' resulted in error: division by zero"],
  ["object.spec + 1", "expression 'object.spec + 1' resulted in error: no such overload: _+_"],
] as const) {
  test(`evaluate reports the failure of ${text} in the reference's words`, () => {
    assert.deepEqual(evaluate(text, { object: { spec: {}, zero: 0 } }), { type: 'error', message });
  });
}

test('compilePolicyExpression reports what does not compile, and results of the wrong type', () => {
  assert.match(String(compile('objet.spec')), /^compilation failed: ERROR: <input>:1:1: undeclared reference to 'objet' \(in container ''\)\n/);
  assert.equal(compile('1', 'condition'), 'must evaluate to bool but got int');
  assert.equal(compile('true', 'annotation'), 'must evaluate to one of [string null_type] but got bool');
  assert.match(String(compile('request.nothing')), /undefined field 'nothing'/);
  const plain = policyEnvironment({ hasParams: false, hasAuthorizer: false });
  assert.match(String(compilePolicyExpression('params == null', plain, 'condition')), /undeclared reference to 'params'/);
  assert.match(String(compilePolicyExpression('authorizer.group("").resource("x").check("y").allowed()', plain, 'condition')), /undeclared reference/);
  assert.deepEqual(new PolicyEvaluation({}).evaluate('compilation failed: x'), { type: 'error', message: 'compilation error: compilation failed: x' });
});

/** Variables in order, each compiled with those before it. */
function composed(texts: Readonly<Record<string, string>>): { variables: PolicyVariable[]; compile: (text: string) => ReturnType<typeof compile> } {
  const types = new Map<string, CelType>();
  const environment = policyEnvironment({ ...everything, variables: types });
  const variables = Object.entries(texts).map(([name, text]) => {
    const expression = compilePolicyExpression(text, environment, 'variable');
    types.set(name, typeOfVariable(expression));
    return { name, expression };
  });
  return { variables, compile: (text) => compilePolicyExpression(text, environment, 'variable') };
}

test('variables are typed, evaluated when they are read, and once', () => {
  const { variables, compile: compileNext } = composed({ a: 'object.n + 1', b: 'variables.a * 2', broken: 'object.absent', never: '1 / 0' });
  const evaluation = new PolicyEvaluation({ object: { n: 2 }, variables });
  assert.deepEqual(evaluation.evaluate(compileNext('variables.b')), { type: 'value', value: 6 });
  const spent = RUNTIME_COST_BUDGET - evaluation.remainingBudget;
  assert.deepEqual(evaluation.evaluate(compileNext('variables.b')), { type: 'value', value: 6 });
  assert.ok(RUNTIME_COST_BUDGET - evaluation.remainingBudget < 2 * spent, 'the second reading costs less');
  assert.deepEqual(evaluation.evaluate(compileNext('variables.broken')), {
    type: 'error', message: `expression 'variables.broken' resulted in error: composited variable "broken" fails to evaluate: no such key: absent`,
  });
  assert.match(String(compileNext('variables.unknown')), /undefined field 'unknown'/);
  assert.deepEqual(evaluation.evaluate(compileNext('has(variables.a) && variables.a == 3')), { type: 'value', value: true });
});

test('all expressions of a policy share one budget, and none is evaluated after it is spent', () => {
  const object = { list: Array.from({ length: 150_000 }, (_, i) => i) };
  const evaluation = new PolicyEvaluation({ object }, MATCH_CONDITIONS_COST_BUDGET);
  const costly = compile('object.list.all(x, x >= 0)');
  const results = Array.from({ length: 6 }, () => evaluation.evaluate(costly));
  const message = 'validation failed due to running out of cost budget, no further validation rules will be run';
  assert.deepEqual(results[0], { type: 'value', value: true });
  assert.deepEqual(results.at(-1), { type: 'out-of-budget', message });
  assert.equal(evaluation.remainingBudget, -1);
  assert.deepEqual(evaluation.evaluate(compile('true')), { type: 'out-of-budget', message });
});

test('one expression stops at the limit of a call', () => {
  const result = evaluate('[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, object.list.all(x, x >= 0)))', {
    object: { list: Array.from({ length: 5000 }, (_, i) => i) },
  });
  assert.match((result as { message: string }).message, /resulted in error: operation cancelled: actual cost limit exceeded$/);
});

const check = "authorizer.group('apps').resource('deployments').subresource('scale').namespace('ns').name('web').check('update')";

test('authorizer asks for an access with all that the expression says', () => {
  const asked: AccessAttributes[] = [];
  const authorize = (attributes: AccessAttributes): AccessDecision => {
    asked.push(attributes);
    return { allowed: true, reason: 'because' };
  };
  const evaluation = new PolicyEvaluation({ authorize, requestResource: { group: '', resource: 'pods', namespace: 'ns', name: 'p' } });
  assert.deepEqual(evaluation.evaluate(compile(`${check}.reason()`)), { type: 'value', value: 'because' });
  assert.deepEqual(evaluation.evaluate(compile("authorizer.path('/healthz').check('get').errored()")), { type: 'value', value: false });
  assert.deepEqual(evaluation.evaluate(compile("authorizer.requestResource.check('delete').allowed()")), { type: 'value', value: true });
  assert.deepEqual(evaluation.evaluate(compile("authorizer.serviceAccount('ns', 'sa').path('/x').check('get').error()")), { type: 'value', value: '' });
  assert.deepEqual(asked, [
    { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'ns', name: 'web', verb: 'update' }, { path: '/healthz', verb: 'get' },
    { group: '', resource: 'pods', namespace: 'ns', name: 'p', verb: 'delete' },
    { serviceAccount: { namespace: 'ns', name: 'sa' }, path: '/x', verb: 'get' },
  ]);
});

test('authorizer ends an evaluation with what its decision throws', () => {
  const wanted = new Error('the decision comes later');
  const authorize = ({ verb }: AccessAttributes): AccessDecision => {
    if (verb === 'put') throw wanted;
    return { allowed: false, error: 'unreachable' };
  };
  const evaluation = new PolicyEvaluation({ authorize });
  const later = compile("!authorizer.path('/a').check('get').allowed() && !authorizer.path('/a').check('put').allowed()");
  assert.throws(() => evaluation.evaluate(later), wanted);
  assert.deepEqual(evaluation.evaluate(compile("authorizer.path('/a').check('get').error()")), { type: 'value', value: 'unreachable' });
});

for (const [text, message] of [
  ["authorizer.path(' ').check('get').allowed()", 'path must not be empty'],
  ["authorizer.group('').resource('').check('get').allowed()", 'resource must not be empty'],
  ["authorizer.serviceAccount('ns', 'No').path('/').check('get').allowed()", 'Invalid service account name'],
  ["authorizer.serviceAccount('a.b', 'sa').path('/').check('get').allowed()", 'Invalid service account namespace'],
] as const) {
  test(`authorizer refuses ${text}`, () => {
    const authorize = () => ({ allowed: true });
    assert.deepEqual(evaluate(text, { authorize }), { type: 'error', message: `expression '${text}' resulted in error: ${message}` });
  });
}

test('expressions that read the authorizer fail without one', () => {
  const text = "authorizer.path('/').check('get').reason()";
  assert.deepEqual(evaluate(text), { type: 'error', message: `expression '${text}' resulted in error: no such attribute(s): authorizer` });
});

function built(text: string, values: PolicyInput = input): unknown {
  const result = evaluate(text, values);
  assert.ok(!(result instanceof Promise) && result.type === 'value', JSON.stringify(result));
  const found = text.startsWith('[') ? patchOfResult(result.value) : jsonOfResult(result.value);
  return 'json' in found ? found.json : found.problem;
}

for (const [text, expected] of [
  ['Object{spec: Object.spec{replicas: 3}}', { spec: { replicas: 3 } }],
  ["Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{?replicas: object.spec.?replicas, ?gone: object.spec.?gone}}",
    { metadata: { labels: { a: 'b' } }, spec: { replicas: 3 } }],
  ["Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', env: [{'name': 'x'}]}]}}", { spec: { containers: [{ name: 'a', env: [{ name: 'x' }] }] } }],
  ["Object{spec: Object.spec{d: duration('90s'), t: timestamp('2020-01-01T00:00:00Z'), b: b'ab', u: 7u, f: 1.5, n: null}}",
    { spec: { d: '90s', t: '2020-01-01T00:00:00Z', b: 'YWI=', u: 7, f: 1.5, n: null } }],
  ['Object{spec: Object.specx{replicas: 1}}',
    'type mismatch: unexpected type name "Object.specx", expected "Object.spec", which matches field name path from root Object type'],
  ["Object{spec: Object.spec{x: quantity('1')}}", "unsupported type conversion from 'kubernetes.Quantity' to JSON"],
  ["[JSONPatch{op: 'add', path: '/spec/' + jsonpatch.escapeKey('a/b'), value: Object.spec{replicas: 1}}]", [{ op: 'add', path: '/spec/a~1b', value: { replicas: 1 } }]],
  ["[JSONPatch{op: 'move', from: '/a', path: '/b'}, JSONPatch{op: 'test', path: '/c', value: null}]",
    [{ op: 'move', from: '/a', path: '/b' }, { op: 'test', path: '/c', value: null }]],
  ["[JSONPatch{op: 'add', path: '/spec', value: Object.spec{a: Object.spec.b{}}}]",
    'type mismatch: unexpected type name "Object.spec.b", expected "Object.spec.a", which matches field name path from root Object type'],
  ["{'__proto__': {'a': 1}}", Object.defineProperty({}, '__proto__', { value: { a: 1 }, enumerable: true })],
] as const) {
  test(`mutations build ${text}`, () => assert.deepEqual(built(text), expected));
}

test('compilePolicyExpression validates what mutations build', () => {
  assert.equal(typeof compile('Object{spec: Object.spec{}}', 'configuration'), 'object');
  assert.equal(typeof compile("[JSONPatch{op: 'add', path: '/a'}]", 'patch'), 'object');
  assert.equal(compile('Object.spec{}', 'configuration'), 'must evaluate to Object but got Object.spec');
  assert.equal(compile("[{'op': 'add'}]", 'patch'), 'must evaluate to list(JSONPatch) but got list(map(string, string))');
  assert.match(String(compile('JSONPatch{op: 1}')), /expected type of field 'op' is 'string' but provided type is 'int'/);
});

test('a result that holds one value along very many paths is no JSON', () => {
  let text = '[1]';
  for (let i = 0; i < 40; i++) text = `[${text}].map(x, [dyn(x), dyn(x)])[0]`;
  assert.equal(built(`Object{spec: ${text}}`), 'operation cancelled: actual cost limit exceeded');
});
