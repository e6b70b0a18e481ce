// Custom kinds in the OpenAPI v2 document.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, startTestServer } from '../../testing/index.ts';

describe('the OpenAPI v2 document', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('publishes custom kinds, without what v2 cannot say', async () => {
    const schema = { type: 'object', properties: { spec: {
      type: 'object', required: ['a', 'n'],
      properties: {
        a: { 'x-kubernetes-int-or-string': true }, n: { type: 'string', nullable: true }, any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    } } };
    await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
      metadata: { name: 'e2e-crds.multi.example.com' },
      spec: {
        group: 'multi.example.com', scope: 'Namespaced', names: { plural: 'e2e-crds', kind: 'e2e-crd' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    } });
    let { body } = await server.request({ path: '/openapi/v2' });
    for (let i = 0; i < 50 && body.definitions['com.example.multi.v1.e2e-crd'] === undefined; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ({ body } = await server.request({ path: '/openapi/v2' }));
    }
    const definition = body.definitions['com.example.multi.v1.e2e-crd'];
    assert.deepEqual(definition.properties.spec, {
      type: 'object', required: ['a'],
      properties: { a: { 'x-kubernetes-int-or-string': true }, n: {}, any: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
    assert.equal(definition.properties.metadata.$ref, '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    assert.deepEqual(definition['x-kubernetes-group-version-kind'], [{ group: 'multi.example.com', version: 'v1', kind: 'e2e-crd' }]);
    assert.equal(body.definitions['com.example.multi.v1.e2e-crdList'].properties.items.items.$ref, '#/definitions/com.example.multi.v1.e2e-crd');
    assert.ok(body.paths['/apis/multi.example.com/v1/namespaces/{namespace}/e2e-crds/{name}'].get);
  });
});
