// Validating policies by example: what is denied and how it reads, what failures do, what bindings and parameters choose, what is only reported.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { createBench, createRequest, refusalOf, rowOf, specOf } from './policies.suite.ts';

type Bench = Parameters<typeof createBench>[1];

const denied = "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b-p' denied request: ";
const bench = (spec: object, more: Partial<Bench> = {}) => createBench('validating', { policies: { p: specOf(spec) }, ...more });
const refusal = (spec: object, request: Partial<AdmissionAttributes> = {}, more: Partial<Bench> = {}) =>
  refusalOf(() => bench(spec, more).validate(createRequest(request)));
const validation = (expression: string, more: object = {}): object => ({ validations: [{ expression, ...more }] });

test('validate passes what holds, and what no binding chooses', async () => {
  assert.equal(await refusal(validation("object.data.k == 'v'")), undefined);
  assert.equal(await refusal(validation('false'), {}, { bindings: {} }), undefined);
  assert.equal(await refusal(validation('false'), {}, { bindings: { b: { policyName: 'other', validationActions: ['Deny'] } } }), undefined);
});

for (const [what, spec, message, reason, code] of [
  ['its message', validation('false', { message: ' no ' }), 'no', 'Invalid', 422],
  ['its expression', validation(' false '), 'failed expression: false', 'Invalid', 422],
  ['a message made of the object', validation('false', { messageExpression: "'k=' + object.data.k" }), 'k=v', 'Invalid', 422],
  ['its message where the other fails', validation('false', { message: 'plain', messageExpression: 'string(object.data.none)' }), 'plain', 'Invalid', 422],
  ['its message where the other has lines', validation('false', { message: 'plain', messageExpression: "'a\\nb'" }), 'plain', 'Invalid', 422],
  ['its message where the other is too long', validation('false', { message: 'plain', messageExpression: 'request.userInfo.extra.long[0]' }), 'plain',
    'Invalid', 422],
  ['its reason', validation('false', { message: 'no', reason: 'Forbidden' }), 'no', 'Forbidden', 403],
  ['a large reason', validation('false', { message: 'no', reason: 'RequestEntityTooLarge' }), 'no', 'RequestEntityTooLarge', 413],
  ['the first of several', { validations: ['true', 'false', '!true'].map((expression, at) => ({ expression, message: `${at}` })) }, '1', 'Invalid', 422],
  ['an error', validation('object.none == 1'), "expression 'object.none == 1' resulted in error: no such key: none", 'Invalid', 422],
  ['an error of a variable', { ...validation('variables.x'), variables: [{ name: 'x', expression: '1 / 0 == 1' }] },
    'expression \'variables.x\' resulted in error: composited variable "x" fails to evaluate: division by zero', 'Invalid', 422],
  ['an error of its conditions', { ...validation('true'), matchConditions: [{ name: 'c', expression: 'object.none == 1' }] },
    "expression 'object.none == 1' resulted in error: no such key: none", 'Invalid', 422],
  ['the cost of its expressions', validation('[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, '
    + '[0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, true))))))'),
  '[0,1,2', 'Invalid', 422],
] as const) {
  test(`validate denies with ${what}`, async () => {
    const { context } = createRequest();
    const status = await refusal(spec, { context: { ...context, user: { ...context.user, extra: { long: ['x'.repeat(5 * 1024 + 1)] } } } });
    assert.ok(status !== undefined);
    const short = message === '[0,1,2';
    if (short) assert.match(status.message ?? '', /resulted in error: operation cancelled: actual cost limit exceeded$/);
    else assert.equal(status.message, `${denied}${message}`);
    assert.deepEqual([status.reason, status.code], [reason, code]);
    if (!short) {
      const cause = `ValidatingAdmissionPolicy 'p' with binding 'b-p' denied request: ${message}`;
      assert.deepEqual(status.details, { name: 'a', kind: 'configmaps', causes: [{ message: cause }] });
    }
  });
}

for (const [what, spec] of [
  ['errors', validation('object.none == 1')],
  ['conditions that fail', { ...validation('false'), matchConditions: [{ name: 'c', expression: 'object.none == 1' }] }],
  ['expressions that do not compile', validation('objet')],
  ['kinds of parameters that are not served', { ...validation('false'), paramKind: { apiVersion: 'v1', kind: 'None' } }],
] as const) {
  test(`validate passes over ${what} when the failure policy says so, and denies otherwise`, async () => {
    assert.equal(await refusal({ ...spec, failurePolicy: 'Ignore' }), undefined);
    assert.equal((await refusal(spec))?.code, 422);
  });
}

test('expressions see the request, the namespace, the old object and the answers of the authorizer', async () => {
  const asked: unknown[] = [];
  const status = await refusal({
    variables: [{ name: 'may', expression: "authorizer.requestResource.check('create').allowed()" }],
    validations: [{
      expression: '!variables.may',
      messageExpression: "[request.operation, request.userInfo.username, namespaceObject.metadata.labels.team, string(oldObject.data.k), "
        + "string(request.dryRun)].join(' ')",
    }],
  }, { operation: 'UPDATE', oldObject: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'old' } } as KubeObject }, {
    askAccess: ({ verb, resource, user }) => {
      asked.push([verb, resource, user.name]);
      return Promise.resolve({ type: 'allow', reason: '' });
    },
  });
  assert.equal(status?.message, `${denied}UPDATE alice blue old false`);
  assert.deepEqual(asked, [['create', 'configmaps', 'alice']]);
});

test('expressions that read the uid of the namespace fail, as the reference declares it by a name that no namespace has', async () => {
  assert.match((await refusal(validation("namespaceObject.metadata.UID == 'x'")))?.message ?? '', /resulted in error: no such key: UID$/);
});

test('message expressions have no authorizer, not even by a variable', async () => {
  const variables = [{ name: 'why', expression: "authorizer.path('/').check('get').reason()" }];
  assert.equal((await refusal({ variables, ...validation('false', { messageExpression: 'variables.why' }) }))?.message, `${denied}failed expression: false`);
});

test('expressions may use patterns', async () => {
  assert.match((await refusal(validation("object.data.k.matches('^[a-u]$')")))?.message ?? '', /failed expression: object/);
  assert.equal(await refusal(validation("object.data.k.matches('^[a-v]$')")), undefined);
});

test('conditions that are false leave a policy out, also beside one that fails', async () => {
  const matchConditions = [{ name: 'fails', expression: 'object.none == 1' }, { name: 'no', expression: "request.operation == 'DELETE'" }];
  assert.equal(await refusal({ ...validation('false'), matchConditions }), undefined);
});

const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const scalers = { operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] };
const scaler = {
  resource: rowOf('horizontalpodautoscalers'), version: 'v2', kind: { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  object: { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2', metadata: { name: 'a' }, spec: { maxReplicas: 1 } } as KubeObject,
};

for (const [what, match, given, matches] of [
  ['its name', { resourceRules: [{ ...rule, resourceNames: ['b', 'a'] }] }, {}, true],
  ['another name', { resourceRules: [{ ...rule, resourceNames: ['b'] }] }, {}, false],
  ['a name that a later rule has', { resourceRules: [{ ...rule, resourceNames: ['b'] }, { ...rule, resourceNames: ['a'] }] }, {}, true],
  ['an exclusion', { resourceRules: [rule], excludeResourceRules: [rule] }, {}, false],
  ['an exclusion of another name', { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['b'] }] }, {}, true],
  ['an exclusion of its name', { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['a'] }] }, {}, false],
  ['labels of the namespace', { resourceRules: [rule], namespaceSelector: { matchLabels: { team: 'blue' } } }, {}, true],
  ['other labels of the namespace', { resourceRules: [rule], namespaceSelector: { matchLabels: { team: 'red' } } }, {}, false],
  ['labels of the object', { resourceRules: [rule], objectSelector: { matchLabels: { a: 'b' } } }, {}, false],
  ['another operation', { resourceRules: [{ ...rule, operations: ['DELETE'] }] }, {}, false],
  ['another version of the kind', { resourceRules: [scalers], matchPolicy: 'Equivalent' }, scaler, true],
  ['another version of the kind, exactly', { resourceRules: [scalers], matchPolicy: 'Exact' }, scaler, false],
] as const) {
  test(`policies and bindings match by ${what}`, async () => {
    const request = given as Partial<AdmissionAttributes>;
    assert.equal(await refusal({ ...validation('false'), matchConstraints: match }, request) !== undefined, matches, 'of the policy');
    const everything = { resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] };
    const bindings = { b: { policyName: 'p', validationActions: ['Deny'], matchResources: match } };
    assert.equal(await refusal({ ...validation('false'), matchConstraints: everything }, request, { bindings }) !== undefined, matches, 'of the binding');
  });
}

test('objects are converted to the version that a policy is about', async () => {
  const spec = { ...validation('false', { messageExpression: "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version" }),
    matchConstraints: { resourceRules: [scalers], matchPolicy: 'Equivalent' } };
  assert.match((await refusal(spec, scaler))?.message ?? '', /denied request: autoscaling\/v1 v1 v2$/);
});

for (const plural of ['validatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'subjectaccessreviews']) {
  test(`no policy sees ${plural}`, async () => {
    const everything = { resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }] };
    assert.equal(await refusal({ ...validation('false'), matchConstraints: everything }, { resource: rowOf(plural), namespace: '' }), undefined);
  });
}

const account = (name: string, labels: Record<string, string>): KubeObject =>
  ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name, namespace: 'ns', labels, annotations: { max: name } } });
const withParams = {
  paramKind: { apiVersion: 'v1', kind: 'ServiceAccount' }, ...validation('false', { messageExpression: 'string(params.metadata.annotations.max)' }),
};
const objects = [account('one', { set: 'x' }), account('two', { set: 'x' }), account('three', { set: 'y' })];
const misconfigured = 'failed to configure binding: ';
const absent = `${misconfigured}no params found for policy binding with \`Deny\` parameterNotFoundAction`;

for (const [what, paramRef, request, message] of [
  ['by name', { name: 'one', parameterNotFoundAction: 'Deny' }, {}, 'one'],
  ['by name and namespace', { name: 'one', namespace: 'ns' }, {}, 'one'],
  ['by selector', { selector: { matchLabels: { set: 'y' } } }, {}, 'three'],
  ['by a selector of several', { selector: { matchLabels: { set: 'x' } } }, {}, 'one'],
  ['that are absent', { name: 'none', parameterNotFoundAction: 'Deny' }, {}, absent],
  ['that no selector finds', { selector: { matchLabels: { set: 'z' } }, parameterNotFoundAction: 'Deny' }, {}, absent],
  ['that may be absent', { name: 'none', parameterNotFoundAction: 'Allow' }, {}, undefined],
  ['that are in another namespace', { name: 'one', namespace: 'other', parameterNotFoundAction: 'Deny' }, {}, absent],
  ['without a namespace to look in', { name: 'one' }, { namespace: '' },
    `${misconfigured}cannot use namespaced paramRef in policy binding that matches cluster-scoped resources`],
] as const) {
  test(`policies are evaluated with parameters ${what}`, async () => {
    const bindings = { 'b-p': { policyName: 'p', validationActions: ['Deny'], paramRef } };
    const status = await refusal(withParams, request, { objects, bindings });
    assert.equal(status?.message, message === undefined ? undefined : `${denied}${message}`);
  });
}

test('a cluster-scoped kind of parameters has no namespace, and a binding without a reference evaluates null', async () => {
  const spec = { paramKind: { apiVersion: 'v1', kind: 'Node' }, ...validation('params != null', { message: 'null' }) };
  const bind = (more: object) => ({ bindings: { 'b-p': { policyName: 'p', validationActions: ['Deny'], ...more } } });
  assert.equal((await refusal(spec, {}, bind({ paramRef: { name: 'n', namespace: 'ns' } })))?.message,
    `${denied}${misconfigured}paramRef.namespace must not be provided for a cluster-scoped \`paramKind\``);
  assert.equal((await refusal(spec, {}, bind({})))?.message, `${denied}null`);
  assert.match((await refusal({ ...spec, paramKind: { apiVersion: 'a.b/v1', kind: 'None' } }))?.message ?? '',
    /ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a\.b\/v1, Kind=None'$/);
});

test('bindings warn and audit in place of denying, and annotations are published once for each value', async () => {
  const request = createRequest();
  const chain = createBench('validating', {
    policies: { p: specOf({ ...validation('false', { message: '<no>' }), auditAnnotations: [
      { key: 'seen', valueExpression: "'k=' + object.data.k" }, { key: 'none', valueExpression: 'null' }, { key: 'blank', valueExpression: "' '" },
    ] }) },
    bindings: { b1: { policyName: 'p', validationActions: ['Warn', 'Audit'] }, b2: { policyName: 'p', validationActions: ['Audit'] } },
  });
  await chain.validate(request);
  assert.deepEqual(request.context.warnings, ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b1': <no>"]);
  assert.deepEqual([...request.notes].map(([key, { value }]) => [key, value]), [
    ['p/seen', 'k=v'],
    ['validation.policy.admission.k8s.io/validation_failure', '[{"message":"\\u003cno\\u003e","policy":"p","binding":"b1","expressionIndex":0,'
      + '"validationActions":["Warn","Audit"]},{"message":"\\u003cno\\u003e","policy":"p","binding":"b2","expressionIndex":0,"validationActions":["Audit"]}]'],
  ]);
});

test('an annotation that fails denies whatever the binding does', async () => {
  const spec = { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.none)' }] };
  const bindings = { 'b-p': { policyName: 'p', validationActions: ['Audit'] } };
  assert.equal((await refusal(spec, {}, { bindings }))?.message, `${denied}expression 'string(object.none)' resulted in error: no such key: none`);
  assert.equal(await refusal({ ...spec, failurePolicy: 'Ignore' }, {}, { bindings }), undefined);
});

test('the first denial by name of policy and binding is answered', async () => {
  const chain = createBench('validating', {
    policies: { z: specOf(validation('false', { message: 'z' })), c: specOf(validation('true')), m: specOf(validation('false', { message: 'm' })) },
    bindings: Object.fromEntries(['z-y', 'z-x', 'c-y', 'm-y', 'm-x'].map((name) => [name, { policyName: name.slice(0, 1), validationActions: ['Deny'] }])),
  });
  assert.match((await refusalOf(() => chain.validate(createRequest())))?.message ?? '', /Policy 'm' with binding 'm-x' denied request: m$/);
});

test('a budget that is spent ends the policy with one denial', async () => {
  const list = Array.from({ length: 2000 }, (_, at) => at);
  const costly = { expression: 'object.list.all(x, x >= 0) && object.list.all(x, x >= 0) && object.list.all(x, x >= 0)' };
  const status = await refusal({ validations: Array.from({ length: 800 }, () => costly) },
    { object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, list } as unknown as KubeObject });
  assert.equal(status?.message, `${denied}validation failed due to running out of cost budget, no further validation rules will be run`);
});

test('validate reports each decision that counts', async () => {
  const checks: unknown[] = [];
  const conditions: unknown[] = [];
  const { validate } = createBench('validating', {
    policies: {
      p: specOf({ validations: [{ expression: 'true' }, { expression: 'false', message: 'no' }, { expression: '1 / 0 == 1' }] }),
      q: specOf({ failurePolicy: 'Ignore', validations: [{ expression: '1 / 0 == 1' }] }),
      r: specOf({ matchConditions: [{ name: 'c', expression: 'false' }], validations: [{ expression: 'false' }] }),
    },
    bindings: Object.fromEntries(['p', 'q', 'r'].map((name) => [`b-${name}`, { policyName: name, validationActions: ['Deny', 'Audit'] }])),
    recordPolicyCheck: ({ durationMs: _durationMs, ...check }) => checks.push(Object.values(check)),
    recordConditions: ({ durationMs: _durationMs, ...record }) => conditions.push(Object.values(record)),
  });
  await refusalOf(() => validate(createRequest()));
  const failure = "expression '1 / 0 == 1' resulted in error: division by zero";
  assert.deepEqual(checks, [
    ['p', 'b-p', 'no', 'deny'], ['p', 'b-p', 'no', 'audit'], ['p', 'b-p', failure, 'deny'], ['p', 'b-p', failure, 'audit'], ['q', 'b-q', failure, 'allow'],
  ]);
  assert.deepEqual(conditions, [['policy', 'r', 'validate', 'CREATE', 0, true]]);
});
