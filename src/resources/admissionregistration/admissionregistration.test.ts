// Validation of the objects of admissionregistration.k8s.io, in the words of the reference.
import { strict as assert } from 'node:assert';
import { before, test } from 'node:test';
import { type KubeObject, loadPatternEngine } from '../../apimachinery/index.ts';
import { strategyOf } from '../kinds.suite.ts';

before(loadPatternEngine);

const context = { nowMs: 0, namespace: '', user: { name: 'alice', groups: [] }, version: 'v1', subresource: '' };

function build(kind: string, body: object): KubeObject {
  const object = { metadata: { name: 'a', uid: 'u' }, ...structuredClone(body) } as KubeObject;
  strategyOf(`admissionregistration.k8s.io/${kind}`).applyDefaults?.(object, 'v1');
  return object;
}
const describe = (errors: readonly { field: string; message: string }[] = []): string[] => errors.map(({ field, message }) => `${field}: ${message}`);
const validationOf = (kind: string) => strategyOf(`admissionregistration.k8s.io/${kind}`);

/** What the reference would list after `is invalid:` for a new object. */
const create = (kind: string, body: object): string[] => describe(validationOf(kind).validate?.(build(kind, body), context));
const update = (kind: string, body: object, old: object): string[] =>
  describe(validationOf(kind).validateUpdate?.(build(kind, body), build(kind, old), context));

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const hook = (change: object = {}): object => ({
  name: 'one.example.com', clientConfig: { service: { name: 's', namespace: 'n' } }, sideEffects: 'None', admissionReviewVersions: ['v1'], ...change,
});
const hooks = (...changes: object[]): object => ({ webhooks: changes.map(hook) });
const matchConstraints = { resourceRules: [rule] };
const policy = (change: object = {}): object => ({ spec: { matchConstraints, validations: [{ expression: 'true' }], ...change } });
const patch = { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/" + jsonpatch.escapeKey("a/b")}]' } };
const mutating = (change: object = {}): object => ({ spec: { matchConstraints, reinvocationPolicy: 'Never', mutations: [patch], ...change } });
const dns1123 = 'a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.\', and must start and end with an '
  + 'alphanumeric character (e.g. \'example.com\', regex used for validation is \'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\')';
const validating = 'ValidatingWebhookConfiguration';
const form = 'desired format: https://host[/path]';

/** Kind, body, and what the reference answered. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  [validating, hooks({ name: 'a.b', sideEffects: undefined, timeoutSeconds: 0, admissionReviewVersions: ['v2', 'v2'] }), [
    'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
    'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    'webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds',
    'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
    'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
  ]],
  [validating, hooks({}, { name: 'A', admissionReviewVersions: [], clientConfig: {} }, {}), [
    `webhooks[1].name: Invalid value: "A": ${dns1123}`,
    'webhooks[1].clientConfig: Required value: exactly one of url or service is required',
    'webhooks[1].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
    'webhooks[2].name: Duplicate value: "one.example.com"',
  ]],
  [validating, hooks({ clientConfig: { service: { namespace: 'n', port: 0, path: '/a//B' } } }), [
    'webhooks[0].clientConfig.service.namespace: Required value',
    'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    'webhooks[0].clientConfig.service.path: Invalid value: "/a//B": segment[1] may not be empty',
    `webhooks[0].clientConfig.service.path: Invalid value: "/a//B": segment[2]: ${dns1123}`,
  ]],
  [validating, hooks({ clientConfig: { url: 'http://u:p@/?a#b' } }), [
    `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; ${form}`,
    `webhooks[0].clientConfig.url: Invalid value: "": host must be specified; ${form}`,
    'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "b": fragments are not permitted in the URL',
    'webhooks[0].clientConfig.url: Invalid value: "a": query parameters are not permitted in the URL',
  ]],
  ...(['::|missing protocol scheme', 'https://%zz|invalid URL escape "%zz"', 'https://a b/|invalid character " " in host name',
    'https://a:x/|invalid port ":x" after host', '1a:b|first path segment in URL cannot contain colon'] as const).map((both) => {
    const [url = '', problem = ''] = both.split('|');
    const message = `webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "${url}": ${problem}; ${form}`;
    return [validating, hooks({ clientConfig: { url } }), [message]] as const;
  }),
  [validating, hooks({ rules: [{ operations: ['x', '*'], apiGroups: ['*', 'a'], apiVersions: [''], resources: [], scope: '' }] }), [
    'webhooks[0].rules[0].operations: Invalid value: ["x","*"]: if \'*\' is present, must not specify other operations',
    'webhooks[0].rules[0].operations[0]: Unsupported value: "x": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
    'webhooks[0].rules[0].apiVersions[0]: Required value',
    'webhooks[0].rules[0].resources: Required value',
    'webhooks[0].rules[0].scope: Unsupported value: "": supported values: "*", "Cluster", "Namespaced"',
  ]],
  [validating, hooks({ rules: [{ ...rule, resources: ['*', 'a', '*/*', 'a/*', 'a/b', ''] }] }), [
    'webhooks[0].rules[0].resources[3]: Invalid value: "a/*": if \'*/*\' is present, must not specify a/*',
    'webhooks[0].rules[0].resources[4]: Invalid value: "a/b": if \'a/*\' is present, must not specify a/b',
    'webhooks[0].rules[0].resources[5]: Required value',
    'webhooks[0].rules[0].resources: Invalid value: ["*","a","*/*","a/*","a/b",""]: if \'*/*\' is present, must not specify other resources',
    'webhooks[0].rules[0].resources: Invalid value: ["*","a","*/*","a/*","a/b",""]: if \'*\' is present, must not specify other resources without '
      + 'subresources',
  ]],
  [validating, hooks({ matchConditions: [{ name: 'c', expression: ' 1' }, { name: 'c', expression: 'params.x' }] }), [
    'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    'webhooks[0].matchConditions[1].expression: Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared reference to '
      + '\'params\' (in container \'\')\n | params.x\n | ^',
    'webhooks[0].matchConditions[1].name: Duplicate value: "c"',
  ]],
  ['MutatingWebhookConfiguration', hooks({ reinvocationPolicy: '' }), [
    'webhooks[0].reinvocationPolicy: Unsupported value: "": supported values: "IfNeeded", "Never"',
  ]],
  ['ValidatingAdmissionPolicy', {}, [
    'spec.matchConstraints: Required value',
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
  ]],
  ['ValidatingAdmissionPolicy', policy({ failurePolicy: '', paramKind: { apiVersion: 'a/b/c', kind: '' }, matchConstraints: {} }), [
    'spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"',
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    'spec.paramKind.kind: Required value',
    'spec.matchConstraints.resourceRules: Required value',
  ]],
  ['ValidatingAdmissionPolicy', policy({ validations: [{ expression: '[request.kind, namespaceObject.spec]', message: ' ', reason: 'x' }] }), [
    'spec.validations[0].expression: Invalid value: "[request.kind, namespaceObject.spec]": compilation failed: ERROR: <input>:1:31: expected type '
      + '\'kubernetes.GroupVersionKind\' but found \'kubernetes.NamespaceSpec\'\n | [request.kind, namespaceObject.spec]\n | ..............................^',
    'spec.validations[0].message: Invalid value: " ": must be non-empty if specified',
    'spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ]],
  ['ValidatingAdmissionPolicy', policy({
    variables: [{ name: 'in', expression: '1' }, { name: 'late', expression: 'variables.later' }, { name: 'later', expression: '[1]' }],
    validations: [{ expression: 'variables.later[0] == 1 && variables.late.any' }],
  }), [
    'spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier',
    'spec.variables[1].expression: Invalid value: "variables.later": compilation failed: ERROR: <input>:1:10: undefined field \'later\'\n'
      + ' | variables.later\n | .........^',
  ]],
  ['ValidatingAdmissionPolicy', policy({ auditAnnotations: [{ key: 'a b', valueExpression: '1' }, { key: 'a b', valueExpression: 'null' }] }), [
    'spec.auditAnnotations[0].key: Invalid value: "a/a b": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and '
      + 'end with an alphanumeric character (e.g. \'MyName\',  or \'my.name\',  or \'123-abc\', regex used for validation is '
      + '\'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\')',
    'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
    'spec.auditAnnotations[1].key: Invalid value: "a/a b": name part must consist of alphanumeric characters, \'-\', \'_\' or \'.\', and must start and '
      + 'end with an alphanumeric character (e.g. \'MyName\',  or \'my.name\',  or \'123-abc\', regex used for validation is '
      + '\'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\')',
    'spec.auditAnnotations[1].key: Duplicate value: "a b"',
  ]],
  ['ValidatingAdmissionPolicyBinding', { spec: { policyName: 'p', paramRef: {}, validationActions: ['Deny', 'Warn', 'Deny'] } }, [
    'spec.paramRef: Required value: one of name or selector must be specified',
    'spec.paramRef.parameterNotFoundAction: Required value',
    'spec.validationActions[2]: Duplicate value: "Deny"',
    'spec.validationActions: Invalid value: ["Deny","Warn","Deny"]: must not contain both Deny and Warn (repeating the same validation failure '
      + 'information in the API response and headers serves no purpose)',
  ]],
  ['MutatingAdmissionPolicy', {}, [
    'spec.matchConstraints: Required value',
    'spec.mutations: Required value: mutations must contain at least one item',
    'spec.reinvocationPolicy: Required value',
  ]],
  ['MutatingAdmissionPolicy', mutating({
    matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE'] }] },
    mutations: [
      {}, { patchType: 'x' }, { ...patch, applyConfiguration: { expression: 'Object{}' } },
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object.spec{}' } }, { ...patch, jsonPatch: { expression: ' [] ' } },
      { ...patch, jsonPatch: { expression: '[JSONPatch{foo: 1}]' } },
    ],
  }), [
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    'spec.mutations[0].patchType: Required value',
    'spec.mutations[1].patchType: Unsupported value: "x": supported values: "ApplyConfiguration", "JSONPatch"',
    'spec.mutations[2].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    'spec.mutations[3].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
    'spec.mutations[4].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)',
    'spec.mutations[5].jsonPatch.expression: Invalid value: "[JSONPatch{foo: 1}]": compilation failed: ERROR: <input>:1:15: expected type of field '
      + '\'foo\' is \'\' but provided type is \'int\'\n | [JSONPatch{foo: 1}]\n | ..............^',
  ]],
  ['MutatingAdmissionPolicyBinding', {
    spec: { policyName: '', paramRef: { name: 'a/b', selector: {}, parameterNotFoundAction: 'x' }, matchResources: { matchPolicy: '' } },
  }, [
    'spec.policyName: Required value',
    'spec.paramRef.name: Invalid value: "a/b": may not contain \'/\'',
    'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow"',
    'spec.matchResources.matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"',
  ]],
];

for (const [i, [kind, body, expected]] of refused.entries()) {
  test(`validate refuses a ${kind} in the reference's words (${i})`, () => assert.deepEqual(create(kind, body), expected));
}

test('validate accepts registrations that are well formed', () => {
  const conditions = [{ name: 'c', expression: 'authorizer.requestResource.check("get").allowed() && request.userInfo.groups.exists(g, g == "x")' }];
  assert.deepEqual(create(validating, hooks({ rules: [rule], matchConditions: conditions, timeoutSeconds: 30 })), []);
  assert.deepEqual(create('MutatingWebhookConfiguration', hooks({ clientConfig: { url: 'https://example.com:8443/a' } })), []);
  assert.deepEqual(create('MutatingAdmissionPolicy', mutating({
    variables: [{ name: 'foo', expression: 'object.spec' }],
    mutations: [patch, { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{spec: Object.spec.inner{a: variables.foo.b}}' } }],
  })), []);
  assert.deepEqual(create('ValidatingAdmissionPolicyBinding', { spec: { policyName: 'p', matchResources: {}, validationActions: ['Deny', 'Audit'] } }), []);
});

test('validateUpdate holds a webhook to a rule only when what it replaces kept it', () => {
  const loose = { sideEffects: 'Some', admissionReviewVersions: ['v2'], matchConditions: [{ name: '', expression: 'x' }] };
  assert.deepEqual(update(validating, hooks(loose, loose), hooks(loose, loose)), []);
  assert.deepEqual(update(validating, hooks({ sideEffects: 'Some' }), hooks({})), [
    'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
  ]);
});

test('validateUpdate leaves the conditions of a policy alone when neither they nor its parameters change', () => {
  const old = policy({ matchConditions: [{ name: 'c', expression: 'nothing' }] });
  assert.deepEqual(update('ValidatingAdmissionPolicy', old, old), []);
  assert.equal(update('ValidatingAdmissionPolicy', policy({ matchConditions: [{ name: 'd', expression: 'nothing' }] }), old).length, 1);
});

test('validateUpdate of the status of a policy looks at its warnings and conditions', () => {
  const warnings = { typeChecking: { expressionWarnings: [{}, { fieldRef: ' ', warning: 'x' }] } };
  const object = build('ValidatingAdmissionPolicy', { ...policy(), status: { ...warnings, conditions: [{ type: 'A', status: 'x', reason: 'R' }] } });
  const errors = validationOf('ValidatingAdmissionPolicy').validateUpdate?.(object, object, { ...context, subresource: 'status' });
  assert.deepEqual(describe(errors), [
    'status.typeChecking.expressionWarnings[0].warning: Required value',
    'status.typeChecking.expressionWarnings[0].fieldRef: Required value',
    'status.typeChecking.expressionWarnings[1].fieldRef: Required value',
    'status.conditions[0].status: Unsupported value: "x": supported values: "False", "True", "Unknown"',
    'status.conditions[0].lastTransitionTime: Required value',
  ]);
});

for (const [kind, body] of [
  ['ValidatingAdmissionPolicy', policy({ validations: [{ expression: Array.from({ length: 5000 }, () => 'true').join('&&') }] })],
  ['ValidatingWebhookConfiguration', hooks({ matchConditions: [{ name: 'a', expression: Array.from({ length: 5000 }, () => '(q)').join('&&') }] })],
] as const) {
  test(`long expressions of a ${kind} are validated in turns, once, to what they come to at once`, async () => {
    const object = build(kind, body);
    const strategy = validationOf(kind);
    let pauses = 0;
    await strategy.prepareValidation?.(object, { context, old: undefined, pause: () => void (pauses += 1) });
    assert.ok(pauses > 30, `${pauses} pauses`);
    const found = strategy.validate?.(object, context);
    assert.deepEqual(describe(found), create(kind, body));
    assert.notEqual(strategy.validate?.(object, context), found);
  });
}
