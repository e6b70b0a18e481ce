// Paths, methods, media types and options of requests: what is refused before an object is looked at, and in which form answers come. Reviews.
import type { Area, Case, Facts, Json, Request } from '../case.ts';
import { findSchema } from '../facts.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance, mutateObject } from '../values.ts';

const ACCEPTS = ['application/json', '*/*', 'application/*', 'text/html', 'application/yaml', 'application/xml', '',
  'application/json;q=0.5,application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf', 'application/json;charset=utf-8', 'APPLICATION/JSON', 'application/json;as=Bogus;v=v1;g=meta.k8s.io',
  'application/json;as=Table', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'text/plain',
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', 'application/json;pretty=1', 'bogus', 'application/json;q=0', ';',
    'application/cbor'];
const TYPES = ['application/json', 'application/yaml', 'text/plain', '', 'application/json; charset=utf-8', 'application/json;bogus',
  'application/merge-patch+json', 'application/x-www-form-urlencoded', 'application/vnd.kubernetes.protobuf', 'APPLICATION/JSON',
  'application/strategic-merge-patch+json', 'application/json-patch+json', 'application/apply-patch+yaml', '*/*', 'application/jsonx', 'application/cbor'];
const PATHS = ['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/apis/none', '/apis/none/v1', '/api/v2', '/apis/apps/v9', '/api/v1/none',
  '/api/v1/namespaces', '/api/v1/namespaces/{ns}', '/api/v1/namespaces/{ns}/none', '/api/v1/namespaces/{ns}/configmaps',
  '/api/v1/namespaces/{ns}/configmaps/a', '/api/v1/namespaces/{ns}/configmaps/a/status', '/api/v1/namespaces/{ns}/pods/a/status',
  '/api/v1/namespaces/{ns}/configmaps/a/b/c', '/apis/apps/v1/deployments', '/apis/apps/v1/namespaces/{ns}/deployments/a/scale',
  '/healthz', '/readyz/ping', '/readyz/none', '/none', '/api/', '/apis/', '/api/v1/', '/openapi', '/api/v1/namespaces/{ns}/', '//api', '/api//v1',
    '/api/v1/watch/namespaces/{ns}/none', '/api/v1/proxy/x', '/api/v1/nodes/none', '/apis/rbac.authorization.k8s.io/v1/clusterroles/admin',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/none', '/api/v1/namespaces/none/configmaps', '/api/v1/namespaces/{ns}/namespaces',
    '/api/v1/configmaps/a', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x',
    '/apis/apps/v1/namespaces/{ns}/controllerrevisions/a', '/api/v1/namespaces/{ns}/pods/a/eviction', '/api/v1/namespaces/{ns}/pods/a/binding',
    '/api/v1/namespaces/{ns}/serviceaccounts/a/token', '/apis/metrics.k8s.io/v1/nodes'];
const BODIES: readonly unknown[] = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, { metadata: { name: 'a' } }, {}, '', '{', '[]', 'null',
  '"a"', '7', { kind: 'Pod' }, { apiVersion: 'apps/v1', kind: 'Deployment' }, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\n', 'a: [',
  '{"metadata":{"name":"a","name":"b"}}', { metadata: { name: 'b', namespace: 'other' } }, { metadata: { generateName: 'g-' } },
  { apiVersion: 'v2', kind: 'ConfigMap' }, { kind: 'ConfigMap', apiVersion: '' }, { apiVersion: 'a/b/c', kind: 'ConfigMap' }, '{"metadata":{"name":"a"}} {}',
  '{"data":{"a":1}}', '\ufeff{}'];
const QUERIES = ['pretty=true', 'pretty=x', 'dryRun=All', 'dryRun=x', 'dryRun=All&dryRun=All', 'fieldValidation=Strict', 'fieldValidation=x',
  'fieldManager=a', 'fieldManager=', 'timeout=1s', 'timeout=0', 'timeout=x', 'timeout=1', 'watch=true&timeoutSeconds=1', 'a=b', '%zz', 'resourceVersion=x',
  'limit=1', 'force=true', 'labelSelector=a%3Db', 'labelSelector=%3D', 'gracePeriodSeconds=0', 'fieldManager=a%0Ab'];

function makeRequest(dice: Dice): Request {
  const method = dice.pick(['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE']);
  const path = dice.pick(PATHS);
  const withBody = ['POST', 'PUT', 'PATCH'].includes(method) || chance(dice, 3);
  const deletesAll = method === 'DELETE' && (path === '/api/v1/namespaces' || path.includes('clusterroles') || path.endsWith('deployments'));
  return {
    method: deletesAll ? 'GET' : method, path: chance(dice, 30) ? `${path}${path.includes('?') ? '&' : '?'}${dice.pick(QUERIES)}` : path,
      ...(chance(dice, 40) && { accept: dice.pick(ACCEPTS) }),
    ...(withBody && { body: dice.pick(BODIES) }), ...(withBody && chance(dice, 40) && { type: dice.pick(TYPES) }),
      ...(chance(dice, 8) && { as: 'alice' as const }),
  };
}

function makeNegotiation(dice: Dice): Case {
  const requests: Request[] = [{ method: 'POST', path: '/api/v1/namespaces/{ns}/configmaps', body: { metadata: { name: 'a' }, data: { k: 'v' } } }];
  for (let count = 12; count > 0; count--) requests.push(makeRequest(dice));
  return { requests };
}

/** Paths, methods, media types and options. */
export const negotiation: Area = { name: 'negotiation', count: 400, makeCase: makeNegotiation };

const ROLES = ['view', 'edit', 'admin', 'cluster-admin', 'system:discovery', 'system:basic-user', 'none', 'system:node'];
const attributes = (dice: Dice): Json => ({
  ...(chance(dice, 70) && { namespace: dice.pick(['{ns}', '{ns}', 'other', '']) }), verb: dice.pick(['get', 'list', 'create', '*', 'delete', 'watch', '',
    'GET', 'impersonate']), group: dice.pick(['', 'apps', '*', 'rbac.authorization.k8s.io', 'none']),
  resource: dice.pick(['pods', 'secrets', 'deployments', '*', 'nodes', 'configmaps', '', 'roles']),
    ...(chance(dice, 25) && { subresource: dice.pick(['log', 'status', '*', 'scale']) }), ...(chance(dice, 30) && { name: dice.pick(['a', '*', '']) }),
    ...(chance(dice, 20) && { version: dice.pick(['v1', '*', 'v9']) }),
  ...(chance(dice, 15) && { labelSelector: dice.pick<Json>([{ rawSelector: 'a=b' }, { rawSelector: 'a=' }, { rawSelector: 'a in (' },
    { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, { requirements: [] }, { requirements: [{ key: 'a', operator: 'Bogus' }] },
    { rawSelector: 'a', requirements: [{ key: 'a', operator: 'Exists' }] }, {}]) }),
  ...(chance(dice, 12) && { fieldSelector: dice.pick<Json>([{ rawSelector: 'a=b' }, { rawSelector: 'a' },
    { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }, { requirements: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] }, {}]) }),
});

function makeReview(dice: Dice, facts: Facts): Request {
  const [group, kind, path] = dice.pick([
    ['authorization.k8s.io', 'SubjectAccessReview', '/subjectaccessreviews'], ['authorization.k8s.io', 'SubjectAccessReview', '/subjectaccessreviews'],
      ['authorization.k8s.io', 'SelfSubjectAccessReview', '/selfsubjectaccessreviews'],
    ['authorization.k8s.io', 'LocalSubjectAccessReview', '/namespaces/{ns}/localsubjectaccessreviews'],
      ['authorization.k8s.io', 'SelfSubjectRulesReview', '/selfsubjectrulesreviews'],
    ['authentication.k8s.io', 'TokenReview', '/tokenreviews'], ['authentication.k8s.io', 'SelfSubjectReview', '/selfsubjectreviews'],
  ] as const);
  const user = { ...(chance(dice, 85) && { user: dice.pick(['alice', 'bob', 'carol-{id}', 'system:serviceaccount:{ns}:a', 'system:anonymous',
    'system:kube-scheduler', '']) }), ...(chance(dice, 50) && { groups: dice.pick([['devs'], ['system:masters'], ['system:authenticated'], [],
    ['ops-{id}', 'system:authenticated']]) }), ...(chance(dice, 10) && { extra: { a: ['b'] }, uid: 'u' }) };
  const nonResource = { path: dice.pick(['/healthz', '/api', '/metrics', '/apis/apps', '*', '/none', '']), verb: dice.pick(['get', 'post', '*', '']) };
  const asked = chance(dice, 75) ? { resourceAttributes: attributes(dice) } : chance(dice, 80) ? { nonResourceAttributes: nonResource } : chance(dice, 50)
    ? {} : { resourceAttributes: attributes(dice), nonResourceAttributes: nonResource };
  const specs: Readonly<Record<string, Json>> = { SelfSubjectAccessReview: asked, SelfSubjectRulesReview: { namespace: dice.pick(['{ns}', '{ns}', '',
    'other']) }, TokenReview: { token: dice.pick(['admin-token', 'alice-token', 'bogus', '']),
    ...(chance(dice, 25) && { audiences: dice.pick([['a'], ['https://kubernetes.default.svc'], []]) }) }, SelfSubjectReview: {} };
  const body: Json = { apiVersion: `${group}/v1`, kind, ...(chance(dice, 10) && { metadata: dice.pick<Json>([{ name: 'a' }, { namespace: '{ns}' },
    { namespace: 'other' }, { labels: { a: 'b' } }, { generateName: 'a-' }]) }), ...(kind !== 'SelfSubjectReview'
    && { spec: specs[kind] ?? { ...user, ...asked } }) };
  const schema = findSchema(facts.schemas, body) as Json;
  const sent = chance(dice, 15) ? mutateObject(dice, facts.schemas, { object: body, schema, changes: 1 }) : body;
  return { method: 'POST',
    path: `/apis/${group}/v1${path}${chance(dice, 8) ? `?${dice.pick(['dryRun=All', 'fieldValidation=Strict', 'pretty=true', 'fieldManager=a'])}` : ''}`,
    body: sent, ...(chance(dice, 25) && { as: dice.pick(['alice', 'bob'] as const) }) };
}

function makeReviews(dice: Dice, facts: Facts): Case {
  const subjects = dice.pick([[{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'carol-{id}' }],
    [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'ops-{id}' }], [{ kind: 'ServiceAccount', name: 'a', namespace: '{ns}' }]]);
  const rules = [{ apiGroups: [dice.pick(['', 'apps', '*'])], resources: [dice.pick(['pods', 'pods/log', '*', '*/scale', 'configmaps'])],
    verbs: [dice.pick(['get', '*', 'list'])], ...(chance(dice, 30) && { resourceNames: ['a'] }) }];
  const requests: Request[] = [
    { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', body: { metadata: { name: 'r' }, rules } },
    { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings',
      body: { metadata: { name: 'r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects } },
    { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings',
      body: { metadata: { name: 's' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: dice.pick(ROLES) }, subjects } },
    { path: '/api/v1/namespaces/{ns}', until: { field: 'kind', equals: 'Namespace' }, pauseMs: 400 },
  ];
  for (let count = 15; count > 0; count--) requests.push(makeReview(dice, facts));
  return { requests };
}

/** Reviews of access, rules and tokens. */
export const reviews: Area = { name: 'reviews', count: 300, makeCase: makeReviews };
