// The requests of the bench of turns: each is the largest of its sort that a client may send, by what it is expensive for.

/** One request, or several whose sum is measured. */
export interface LargeRequest {
  readonly name: string;
  /** Sent first, and not measured. */
  readonly before?: readonly Sent[];
  readonly measured: Sent;
}

/** A request on the wire. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
}

type Json = Record<string, unknown>;

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

const keys = (count: number, value: (i: number) => unknown): Json => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value(i)]));

const configMap = (name: string, data: Json, meta: Json = {}): Json => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });

/** A definition whose group is its own, so that its documents are. */
const definitionOf = (plural: string, spec: Json): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.${plural}.io` },
  spec: {
    group: `${plural}.io`, scope: 'Cluster', names: { plural, kind: `K${plural}` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
  },
});

const defineIn = (plural: string, spec: Json): Sent => ({ method: 'POST', path: DEFINITIONS, body: definitionOf(plural, spec) });

const custom = (plural: string, spec: unknown, name = 'a'): Json => ({ apiVersion: `${plural}.io/v1`, kind: `K${plural}`, metadata: { name }, spec });
const customPath = (plural: string): string => `/apis/${plural}.io/v1/${plural}`;
const fields = (count: number): Json => ({ type: 'object', properties: keys(count, () => ({ type: 'string' })) });
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function wideObjects(): LargeRequest[] {
  const data = keys(90_000, () => '');
  const other = keys(90_000, () => 'b');
  const applied = (manager: string, body: unknown): Sent => ({ method: 'PATCH', path: `${CONFIG_MAPS}/applied?fieldManager=${manager}`, type: APPLY, body });
  return [
    { name: 'ConfigMap of 90,000 keys: create', measured: { method: 'POST', path: CONFIG_MAPS, body: configMap('wide', data) } },
    { name: 'the same: create again (dry run)', measured: { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap('wide2', data) } },
    { name: 'the same: get', measured: { method: 'GET', path: `${CONFIG_MAPS}/wide` } },
    { name: 'the same: get as YAML', measured: { method: 'GET', path: `${CONFIG_MAPS}/wide`, accept: 'application/yaml' } },
    { name: 'the same: replace', measured: { method: 'PUT', path: `${CONFIG_MAPS}/wide`, body: configMap('wide', { ...data, k1: 'x' }) } },
    { name: 'the same: merge patch of one key', measured: { method: 'PATCH', path: `${CONFIG_MAPS}/wide`, type: MERGE, body: { data: { a: 'b' } } } },
    { name: 'the same: merge patch of all keys', measured: { method: 'PATCH', path: `${CONFIG_MAPS}/wide`, type: MERGE, body: { data: other } } },
    { name: 'the same: JSON patch of one key', measured: { method: 'PATCH', path: `${CONFIG_MAPS}/wide`, type: 'application/json-patch+json',
      body: [{ op: 'add', path: '/data/z', value: 'y' }] } },
    { name: 'the same: apply', measured: applied('one', configMap('applied', data)) },
    { name: 'the same: apply again', measured: applied('one', configMap('applied', data)) },
    { name: 'the same: apply in conflict', measured: applied('two', configMap('applied', other)) },
    { name: 'labels of 90,000 keys: create', measured: { method: 'POST', path: CONFIG_MAPS,
      body: configMap('labels', {}, { labels: keys(90_000, () => 'a') }) } },
    { name: 'annotations of 20,000 keys: create', measured: { method: 'POST', path: CONFIG_MAPS,
      body: configMap('notes', {}, { annotations: keys(20_000, () => 'a') }) } },
    { name: 'finalizers: 60,000 in a create', measured: { method: 'POST', path: CONFIG_MAPS,
      body: configMap('final', {}, { finalizers: Array.from({ length: 60_000 }, (_, i) => `a.b/c${i}`) }) } },
    { name: 'unknown fields: 90,000 (warnings)', measured: { method: 'POST', path: `${CONFIG_MAPS}?fieldValidation=Warn`,
      body: { ...configMap('unknown', {}), ...data } } },
  ];
}

function customObjects(): LargeRequest[] {
  const spec = keys(90_000, () => 'a');
  const apply = (manager: string, value: string): Sent => ({
    method: 'PATCH', path: `${customPath('frees')}/applied?fieldManager=${manager}`, type: APPLY, body: custom('frees', keys(90_000, () => value), 'applied'),
  });
  return [
    { name: 'custom object of 90,000 keys of its own: create', before: [defineIn('frees', free)],
      measured: { method: 'POST', path: customPath('frees'), body: custom('frees', spec) } },
    { name: 'the same: merge patch', measured: { method: 'PATCH', path: `${customPath('frees')}/a`, type: MERGE, body: { spec: { a: 'b' } } } },
    { name: 'the same: apply', measured: apply('one', 'a') },
    { name: 'the same: apply in conflict', measured: apply('two', 'b') },
  ];
}

function definitions(): LargeRequest[] {
  return [20_000, 40_000].flatMap((count): LargeRequest[] => {
    const plural = `wide${count}s`;
    const body = custom(plural, keys(count, () => 'a'));
    const apply = (manager: string, value: string): Sent => ({
      method: 'PATCH', path: `${customPath(plural)}/applied?fieldManager=${manager}`, type: APPLY, body: custom(plural, keys(count, () => value), 'applied'),
    });
    const patch = (body: Json): Sent => ({ method: 'PATCH', path: `${DEFINITIONS}/${plural}.${plural}.io`, type: MERGE, body });
    return [
      { name: `definition of ${count} fields: create`, measured: defineIn(plural, fields(count)) },
      { name: 'its OpenAPI v3 document', measured: { method: 'GET', path: `/openapi/v3/apis/${plural}.io/v1` } },
      { name: 'the same as protobuf', measured: { method: 'GET', path: `/openapi/v3/apis/${plural}.io/v1`,
        accept: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf' } },
      { name: 'its first object', measured: { method: 'POST', path: customPath(plural), body } },
      { name: 'another object', measured: { method: 'POST', path: customPath(plural), body: { ...body, metadata: { name: 'b' } } } },
      { name: 'its replacement', measured: { method: 'PUT', path: `${customPath(plural)}/b`,
        body: custom(plural, { ...(body['spec'] as Json), k1: 'z' }, 'b') } },
      { name: 'apply', measured: apply('one', 'a') },
      { name: 'apply in conflict', measured: apply('two', 'b') },
      { name: 'list as protobuf', measured: { method: 'GET', path: customPath(plural), accept: 'application/vnd.kubernetes.protobuf, application/json' } },
      { name: 'metadata patch of the definition', measured: patch({ metadata: { labels: { a: 'b' } } }) },
      { name: 'its fields change', measured: patch(definitionOf(plural, { ...fields(count), description: 'other' })) },
      { name: 'the first small object after that', measured: { method: 'POST', path: customPath(plural), body: custom(plural, { k1: 'a' }, 'small') } },
      { name: 'apply of the definition', measured: { method: 'PATCH', path: `${DEFINITIONS}/${plural}.${plural}.io?fieldManager=one&force=true`, type: APPLY,
        body: definitionOf(plural, fields(count)) } },
      { name: 'apply of it again', measured: { method: 'PATCH', path: `${DEFINITIONS}/${plural}.${plural}.io?fieldManager=one&force=true`, type: APPLY,
        body: definitionOf(plural, { ...fields(count), description: 'more' }) } },
    ];
  });
}

function rulesAndPolicies(): LargeRequest[] {
  const schema = { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5' }] }, maxItems: 100_000 };
  return [
    { name: 'object that breaks 100,000 rules', before: [defineIn('rules', schema)],
      measured: { method: 'POST', path: customPath('rules'), body: custom('rules', Array.from({ length: 100_000 }, () => 1)) } },
    { name: 'policy of 50,000 expressions', measured: { method: 'POST', path: POLICIES, body: {
      apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: 'many' },
      spec: {
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }] },
        validations: Array.from({ length: 50_000 }, (_, i) => ({ expression: `object.x != ${i}` })),
      },
    } } },
  ];
}

const repeated = (text: string, separator: string): string => {
  const times = Math.floor((99_000 + separator.length) / (text.length + separator.length));
  return Array.from({ length: times }, () => text).join(separator);
};

const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }];
const policyOf = (name: string, spec: Json): Json => ({
  apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name },
  spec: { matchConstraints: { resourceRules: rules }, ...spec },
});

/** Expressions of 100,000 characters, the most that one may have. */
function expressions(): LargeRequest[] {
  const create = (plural: string, kind: string, name: string): Sent => ({ method: 'POST', path: `/api/v1/namespaces/default/${plural}`,
    body: { apiVersion: 'v1', kind, metadata: { name } } });
  const serviceAccounts = [{ ...rules[0], resources: ['serviceaccounts'] }];
  const binding = (name: string): Sent => ({ method: 'POST', path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', body: {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] } } });
  return ([
    ['a list', `object.x in [${repeated('1', ',')}]`], ['a chain', repeated('true', '&&')], ['macros', `[${repeated('[].map(x,x)', ',')}].size() > 0`],
    ['undeclared names', `[${repeated('q', ',')}].size() > 0`],
  ] as const).flatMap(([what, expression], i): LargeRequest[] => {
    const constant = expression.replace('object.x', '1');
    const schema = { type: 'object', 'x-kubernetes-validations': [{ rule: constant }], properties: { a: { type: 'string' } } };
    const plural = `longs${i}`;
    return [
      { name: `expression of ${what} in a policy`, measured: { method: 'POST', path: POLICIES,
        body: policyOf(`long${i}`, { validations: [{ expression }] }) } },
      { name: 'as match condition and variable', measured: { method: 'POST', path: POLICIES, body: policyOf(`longer${i}`, {
        matchConditions: [{ name: 'a', expression: constant }], variables: [{ name: 'v', expression }],
        validations: [{ expression: 'variables.v' }] }) } },
      { name: 'a write that the first is about', before: [binding(`long${i}`)], measured: create('secrets', 'Secret', `a${i}`) },
      { name: 'as condition of a webhook', measured: { method: 'POST', path: WEBHOOKS, body: {
        apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: `long${i}` }, webhooks: [{
          name: 'a.b.io', clientConfig: { url: 'https://127.0.0.1:1/' }, rules: serviceAccounts, sideEffects: 'None', admissionReviewVersions: ['v1'],
          failurePolicy: 'Ignore',
          matchConditions: [{ name: 'a', expression: constant }] }] } } },
      { name: 'a write that the webhook is about', measured: create('serviceaccounts', 'ServiceAccount', `b${i}`) },
      { name: 'as rule of a definition', measured: defineIn(plural, schema) },
      { name: 'its object', measured: { method: 'POST', path: customPath(plural), body: custom(plural, {}) } },
      { name: 'as rule of a definition with a default', measured: defineIn(`${plural}d`, { ...schema, default: {} }) },
    ];
  });
}

function documents(): LargeRequest[] {
  return [
    { name: 'OpenAPI v2, first', measured: { method: 'GET', path: '/openapi/v2' } },
    { name: 'OpenAPI v2 as protobuf, first', measured: { method: 'GET', path: '/openapi/v2',
      accept: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' } },
    { name: 'YAML of 40,000 keys: create', measured: { method: 'POST', path: CONFIG_MAPS, type: 'application/yaml',
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n${Array.from({ length: 40_000 }, (_, i) => `  k${i}: "v"\n`).join('')}` } },
  ];
}

/** All of them, by the group that a command names. */
export const LARGE_REQUESTS: Readonly<Record<string, () => LargeRequest[]>> = { documents, wideObjects, customObjects, definitions, rulesAndPolicies,
  expressions };
