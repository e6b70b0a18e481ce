// Custom kinds in the OpenAPI v2 document.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, eventually, startTestServer } from '../../test-support/index.ts';

describe('the OpenAPI v2 document', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('gives a custom kind another name where a built-in type has it', async () => {
    const group = 'apiextensions.apis.pkg.apiextensions-apiserver.k8s.io';
    const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition';
    const schema = { type: 'object', properties: { probe: { type: 'boolean' } } };
    const created = await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
      metadata: { name: `customresourcedefinitions.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, test-only' } },
      spec: {
        group, scope: 'Cluster', names: { plural: 'customresourcedefinitions', kind: 'CustomResourceDefinition' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    } });
    assert.equal(created.status, 201);
    const read = async () => (await server.request({ path: '/openapi/v2' })).body;
    await eventually(async () => assert.ok((await read()).definitions[`${name}_v2`]));
    const body = await read();
    assert.deepEqual(body.definitions[`${name}_v2`].properties.probe, { type: 'boolean' });
    assert.equal(body.definitions[name].properties.probe, undefined);
    assert.equal(body.definitions[`${name}List_v2`].properties.items.items.$ref, `#/definitions/${name}_v2`);
    const answer = (path: string): string => body.paths[path].get.responses['200'].schema.$ref;
    assert.equal(answer(`/apis/${group}/v1/customresourcedefinitions/{name}`), `#/definitions/${name}_v2`);
    assert.equal(answer('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}'), `#/definitions/${name}`);
  });

  it('publishes custom kinds, without the parts that v2 cannot express', async () => {
    const schema = { type: 'object', properties: { spec: {
      type: 'object', required: ['a', 'n'],
      properties: {
        a: { 'x-kubernetes-int-or-string': true }, n: { type: 'string', nullable: true }, any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        whole: { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['b'], properties: { b: { type: 'string' } } },
        loose: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    } } };
    await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
      metadata: { name: 'e2e-crds.multi.example.com' },
      spec: {
        group: 'multi.example.com', scope: 'Namespaced', names: { plural: 'e2e-crds', kind: 'e2e-crd' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, selectableFields: [{ jsonPath: '.spec.n' }] }],
      },
    } });
    let { body } = await server.request({ path: '/openapi/v2' });
    for (let i = 0; i < 50 && body.definitions['com.example.multi.v1.e2e-crd'] === undefined; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ({ body } = await server.request({ path: '/openapi/v2' }));
    }
    const definition = body.definitions['com.example.multi.v1.e2e-crd'];
    const { whole, ...properties } = definition.properties.spec.properties;
    assert.deepEqual({ ...definition.properties.spec, properties }, {
      type: 'object', required: ['a'],
      properties: { a: { 'x-kubernetes-int-or-string': true }, n: {}, any: { 'x-kubernetes-preserve-unknown-fields': true },
        loose: { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true } },
    });
    assert.deepEqual([Object.keys(whole.properties), whole.required], [['b', 'apiVersion', 'kind', 'metadata'], ['b', 'kind', 'apiVersion']]);
    const v3 = (await server.request({ path: '/openapi/v3/apis/multi.example.com/v1' })).body.components.schemas['com.example.multi.v1.e2e-crd'];
    const { loose } = v3.properties.spec.properties;
    assert.deepEqual([Object.keys(loose.properties), loose.required], [['apiVersion', 'kind', 'metadata'], ['kind', 'apiVersion']]);
    assert.equal(definition.properties.metadata.$ref, '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    assert.deepEqual(definition['x-kubernetes-group-version-kind'], [{ group: 'multi.example.com', version: 'v1', kind: 'e2e-crd' }]);
    for (const each of [definition, v3, body.definitions['com.example.multi.v1.e2e-crdList']]) {
      assert.deepEqual(each['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.n' }]);
    }
    const proto = await server.request({ path: '/openapi/v2', headers: { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' } });
    assert.ok(Buffer.from(proto.bytes).includes('- fieldPath: spec.n\n'));
    assert.equal(body.definitions['com.example.multi.v1.e2e-crdList'].properties.items.items.$ref, '#/definitions/com.example.multi.v1.e2e-crd');
    assert.ok(body.paths['/apis/multi.example.com/v1/namespaces/{namespace}/e2e-crds/{name}'].get);
  });
});

it('a kind whose root has no type is stored, owned and published without one', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const made = await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
    metadata: { name: 'loose.example.com' },
    spec: {
      group: 'example.com', scope: 'Cluster', names: { plural: 'loose', kind: 'Loose' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { 'x-kubernetes-preserve-unknown-fields': true } } }],
    },
  } });
  assert.equal(made.status, 201);
  const body = { apiVersion: 'example.com/v1', kind: 'Loose', metadata: { name: 'a', labels: { l: 'm' } }, spec: { a: [{ b: 1 }] } };
  await eventually(async () => assert.equal((await server.request({ method: 'POST', path: '/apis/example.com/v1/loose', body })).status, 201));
  const { body: stored } = await server.request({ path: '/apis/example.com/v1/loose/a' });
  assert.deepEqual(stored.metadata.managedFields[0].fieldsV1, { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } }, 'f:spec': { '.': {}, 'f:a': {} } });
  await eventually(async () => {
    const { components } = (await server.request({ path: '/openapi/v3/apis/example.com/v1' })).body;
    const { properties, ...root } = components.schemas['com.example.v1.Loose'];
    assert.deepEqual(Object.keys(properties).sort(), ['apiVersion', 'kind', 'metadata']);
    assert.equal(root.type, undefined);
  });
});

it('OpenAPI lists the values of fields unless the gate OpenAPIEnums is off', async (t) => {
  const name = 'io.k8s.api.core.v1.ServicePort';
  for (const [gates, values] of [[[], ['SCTP', 'TCP', 'UDP']], [['OpenAPIEnums=false'], undefined]] as const) {
    const server = await startTestServer({ featureGates: gates });
    t.after(() => server.close());
    const [v2, v3] = await Promise.all([server.request({ path: '/openapi/v2' }), server.request({ path: '/openapi/v3/api/v1' })]);
    assert.deepEqual([v2.body.definitions[name].properties.protocol.enum, v3.body.components.schemas[name].properties.protocol.enum], [values, values]);
  }
});

describe('the OpenAPI documents', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('describe the version and the keys of service account tokens', async () => {
    const { body } = await server.request({ path: '/openapi/v2' });
    assert.deepEqual(['/version/', '/openid/v1/jwks/', '/.well-known/openid-configuration/'].map((path) => [
      body.paths[path].get.operationId, body.paths[path].get.produces, body.paths[path].get.responses['200'].schema,
    ]), [
      ['getCodeVersion', ['application/json'], { $ref: '#/definitions/io.k8s.apimachinery.pkg.version.Info' }],
      ['getServiceAccountIssuerOpenIDKeyset', ['application/jwk-set+json'], { type: 'string' }],
      ['getServiceAccountIssuerOpenIDConfiguration', ['application/json'], { type: 'string' }],
    ]);
    assert.ok(body.definitions['io.k8s.apimachinery.pkg.version.Info'].properties.gitVersion);
    const index = await server.request({ path: '/openapi/v3' });
    assert.equal(index.headers['content-type'], 'text/plain; charset=utf-8');
    const { paths } = JSON.parse(index.text);
    for (const path of ['version', 'openid/v1/jwks', '.well-known/openid-configuration']) {
      const document = await server.request({ path: paths[path].serverRelativeURL });
      assert.deepEqual(Object.keys(document.body.paths), [`/${path}/`]);
    }
  });

  it('name the kind that a deletion answers, and that a log is text', async () => {
    const { body } = await server.request({ path: '/openapi/v2' });
    const answerOf = (path: string, method: string): unknown => body.paths[path][method].responses['200'].schema;
    assert.deepEqual(answerOf('/api/v1/namespaces/{name}', 'delete'), { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Status' });
    assert.deepEqual(answerOf('/api/v1/namespaces/{namespace}/pods/{name}', 'delete'), { $ref: '#/definitions/io.k8s.api.core.v1.Pod' });
    assert.deepEqual(answerOf('/apis/resource.k8s.io/v1/deviceclasses/{name}', 'delete'), { $ref: '#/definitions/io.k8s.api.resource.v1.DeviceClass' });
    assert.deepEqual(answerOf('/api/v1/namespaces/{namespace}/pods/{name}/log', 'get'), { type: 'string' });
  });

  it('list the group versions that share DeleteOptions and WatchEvent', async () => {
    const kinds = 'x-kubernetes-group-version-kind';
    const [v2, v3] = await Promise.all([server.request({ path: '/openapi/v2' }), server.request({ path: '/openapi/v3/apis/apps/v1' })]);
    const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
    assert.deepEqual(v3.body.components.schemas[name][kinds],
      [{ group: '', kind: 'DeleteOptions', version: 'v1' }, { group: 'apps', kind: 'DeleteOptions', version: 'v1' }]);
    const listed = v2.body.definitions[name][kinds].map(({ group, version }: Record<string, string>) => `${group}/${version}`);
    for (const each of ['/v1', 'apps/v1', 'apps/v1beta2', 'admission.k8s.io/v1', 'storage.k8s.io/v1']) assert.ok(listed.includes(each), each);
    assert.equal(new Set(listed).size, listed.length);
  });
});
