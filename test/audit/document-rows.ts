// Lines about the OpenAPI documents and the version: parts of them, since the digests of the whole documents are held by test/conformance/openapi.test.ts.
import type { Json, Request } from '../differential/case.ts';
import type { Row } from './row.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const post = (path: string, body: Json): Request => ({ method: 'POST', path, body });
/** A kind whose schema has what only v3 can say. */
const definition: Request = post(definitions, { metadata: { name: 'things.{id}.example.com' }, spec: { group: '{id}.example.com', scope: 'Namespaced',
  names: { plural: 'things', kind: 'Thing' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: {
    type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.size > 1', message: 'too small' }], properties: {
      note: { type: 'string', nullable: true }, size: { type: 'integer', default: 3, enum: [1, 2, 3] },
      either: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, oneOf: [{ required: ['a'] }, { required: ['b'] }],
        not: { required: ['c'] } },
      any: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
      loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, whole: { type: 'object', 'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true }, part: { type: 'object', 'x-kubernetes-embedded-resource': true,
        properties: { spec: { type: 'object' } } },
      list: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items: { type: 'object', required: ['k'],
        properties: { k: { type: 'string' } } } },
      map: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    } } } } } }] } });
const inV2 = (kind: string, field = ''): string => `/definitions/io.k8s.api.${kind}${field}`;
const inV3 = (kind: string, field = ''): string => `/components/schemas/io.k8s.api.${kind}${field}`;
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const gvk = '/x-kubernetes-group-version-kind';
const mapPath = '/paths/~1api~1v1~1namespaces~1{namespace}~1configmaps~1{name}';

/** The lines, in their order. */
export const documentRows: readonly Row[] = [
  { line: 'B-24', what: 'the version of the release', requests: [{ path: '/version', parts: ['/major', '/minor', '/gitVersion', '/emulationMajor',
    '/minCompatibilityMinor'] }] },
  { line: 'B-28', what: 'names, kinds, actions and extensions in v2', requests: [definition, { path: '/openapi/v2', until: {
    field: '/definitions/com.example.{id}.v1.Thing/type', equals: 'object' } },
  { path: '/openapi/v2', parts: [inV2('apps.v1.Deployment', gvk), inV2('apps.v1.Deployment', '/properties'),
    inV2('core.v1.PodSpec', '/properties/containers'), inV2('core.v1.PodSpec', '/properties/volumes'), inV2('core.v1.Container', '/properties/ports'),
    inV2('core.v1.LabelSelector'), inV2('core.v1.ConfigMapKeySelector/x-kubernetes-map-type'), inV2('core.v1.Volume'),
    '/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString', '/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension',
    `/definitions/${meta}.DeleteOptions${gvk}#`, `${mapPath}/get`, `${mapPath}/patch`, `${mapPath}/delete/x-kubernetes-action`,
    '/paths/~1api~1v1~1watch~1configmaps/get/x-kubernetes-action', '/definitions/com.example.{id}.v1.Thing'] }] },
  { line: 'B-34', what: 'schemas of custom kinds are whole in v3, and built-in ones have enums and defaults', requests: [definition,
    { path: '/openapi/v3/apis/{id}.example.com/v1', until: { field: 'openapi', equals: '3.0.0' } },
    { path: '/openapi/v3/apis/{id}.example.com/v1', parts: ['/components/schemas/com.example.{id}.v1.Thing'] },
    { path: '/openapi/v3/api/v1', parts: [inV3('core.v1.ServicePort', '/properties/protocol'), inV3('core.v1.PodSpec', '/properties/restartPolicy'),
      inV3('core.v1.Container', '/properties/imagePullPolicy'), inV3('core.v1.PersistentVolumeSpec', '/properties/persistentVolumeReclaimPolicy')] }] },
  { line: 'B-35 G-15', what: 'what kubectl looks for before it leaves validation to the server', requests: [
    { path: '/openapi/v3/api/v1', parts: [`${mapPath}/patch`, '/paths/~1api~1v1~1namespaces~1{namespace}~1configmaps/post/parameters'] },
    post('/api/v1/namespaces/{ns}/configmaps?fieldValidation=Strict&fieldManager=kubectl-client-side-apply', { metadata: { name: 'a' }, dta: { k: 'v' } }),
    { method: 'PATCH', path: '/api/v1/namespaces/{ns}/configmaps/a?fieldManager=kubectl&fieldValidation=Strict', type: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, dta: { k: 'v' } } }] },
  { line: 'B-36', what: 'kinds of schemas, and of those that all groups share', requests: [
    { path: '/openapi/v3/apis/apps/v1', parts: [inV3('apps.v1.Deployment', gvk), inV3('apps.v1.DeploymentSpec', gvk), inV3('autoscaling.v1.Scale', gvk),
      ...['DeleteOptions', 'Status', 'WatchEvent'].map((kind) => `/components/schemas/${meta}.${kind}${gvk}`)] }] },
  { line: 'B-37', what: 'what kubectl explain walks through', requests: [
    { path: '/openapi/v3/api/v1', parts: [inV3('core.v1.Pod'), inV3('core.v1.PodSpec', '/required'), inV3('core.v1.PodSpec', '/properties'),
      inV3('core.v1.Container', '/properties/resources'), inV3('core.v1.Container', '/properties/env')] }] },
  { line: 'B-43', what: 'a definition that changes while it is served', requests: [definition,
    { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingList' } },
    { path: '/apis/{id}.example.com/v1', until: { field: 'kind', equals: 'APIResourceList' } },
    ...['a', 'b', 'c', 'd'].flatMap((name): readonly Request[] => [{ method: 'PATCH', type: 'application/json-patch+json',
      path: `${definitions}/things.{id}.example.com`, body: [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/new',
        value: { type: 'string', default: name } }], parts: ['/kind'] },
    { path: '/apis/{id}.example.com/v1', parts: ['/kind', '/groupVersion'] },
    { ...post('/apis/{id}.example.com/v1/namespaces/{ns}/things?dryRun=All', { apiVersion: '{id}.example.com/v1', kind: 'Thing', metadata: { name } }),
      parts: ['/kind', '/metadata/name'] }])] },
];
