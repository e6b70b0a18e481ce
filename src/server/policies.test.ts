// Admission policies in a whole server: they take effect soon after they are written, follow their parameters and end with their bindings, also
// for objects that a worker handles, and their status has the warnings of type checking.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const resourceRules = [{ operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
const configMap = (name: string, data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

describe('admission policies', () => {
  let server: TestServer;
  const post = (path: string, body: object) => server.request({ method: 'POST', path, body });
  const tryOut = (data: Record<string, string>) => ({ method: 'POST', path: `${configMaps}?dryRun=All`, body: configMap('probe', data) });

  async function install(sort: 'Validating' | 'Mutating', name: string, { policy, binding = {} }: { readonly policy: object; readonly binding?: object }) {
    const [kind, plural] = [`${sort}AdmissionPolicy`, `${sort.toLowerCase()}admissionpolicies`];
    const spec = { matchConstraints: { resourceRules }, ...policy };
    assert.equal((await post(`${registration}/${plural}`, { kind, apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name }, spec })).status, 201);
    const bound = await post(`${registration}/${sort.toLowerCase()}admissionpolicybindings`, {
      kind: `${kind}Binding`, apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name },
      spec: { policyName: name, ...(sort === 'Validating' && { validationActions: ['Deny'] }), ...binding },
    });
    assert.equal(bound.status, 201, bound.text);
  }

  before(async () => {
    server = await startTestServer();
    await post(configMaps, configMap('limits', { most: '2' }));
    await install('Mutating', 'count', {
      policy: { reinvocationPolicy: 'Never', mutations: [{
        patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'count': string(object.data.size())}}" },
      }] },
    });
    await install('Validating', 'limit', {
      policy: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConditions: [{ name: 'others', expression: "object.metadata.name != 'limits'" }],
        validations: [{ expression: 'int(object.data.count) <= int(params.data.most)', messageExpression: "'at most ' + string(params.data.most)" }],
      },
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    });
    await requestUntil(server, tryOut({ a: '1', b: '2', c: '3' }), { until: ({ status }) => status === 422 });
  });

  after(() => server.close());

  it('mutate before they validate', async () => {
    const { status, body } = await post(configMaps, configMap('two', { a: '1', b: '2' }));
    assert.deepEqual([status, body.data], [201, { a: '1', b: '2', count: '2' }]);
    const refused = await server.request({
      method: 'PATCH', path: `${configMaps}/two`, body: { data: { c: '3' } }, headers: { 'content-type': 'application/merge-patch+json' },
    });
    assert.equal(refused.body.message, "configmaps \"two\" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: at most 2");
  });

  it('are evaluated in workers too', async () => {
    const wide = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`k${index}`, '']));
    const { status, body } = await post(configMaps, configMap('large', wide));
    assert.equal(status, 422, JSON.stringify(body).slice(0, 500));
    assert.match(body.message, /ValidatingAdmissionPolicy 'limit' with binding 'limit' denied request: at most 2$/);
  });

  it('are evaluated in workers where they take long', async () => {
    await install('Validating', 'slow', {
      policy: {
        matchConditions: [{ name: 'slow', expression: "object.metadata.name == 'slow'" }],
        validations: [{ expression: '!object.binaryData.all(x, object.binaryData.exists(y, y == x))', message: 'slow' }],
      },
    });
    const binaryData = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`k${index}`, 'AA==']));
    const { body } = await requestUntil(server, {
      method: 'POST', path: `${configMaps}?dryRun=All`, body: { ...configMap('slow', { a: '1' }), binaryData },
    }, { until: ({ status }) => status !== 201 });
    assert.equal(body.message, "configmaps \"slow\" is forbidden: ValidatingAdmissionPolicy 'slow' with binding 'slow' denied request: slow");
  });

  it('have their types checked', async () => {
    const path = `${registration}/validatingadmissionpolicies/limit`;
    const { body } = await requestUntil(server, { path }, { until: ({ body: policy }) => policy.status?.observedGeneration === 1 });
    assert.deepEqual(body.status.typeChecking, {});
    const change = { spec: { validations: [{ expression: 'object.dat.size() > 1 || int(object.data.count) <= int(params.data.most)' }] } };
    await server.request({ method: 'PATCH', path, body: change, headers: { 'content-type': 'application/merge-patch+json' } });
    const { body: changed } = await requestUntil(server, { path }, { until: ({ body: policy }) => policy.status?.observedGeneration === 2 });
    assert.match(changed.status.typeChecking.expressionWarnings[0].warning, /^\/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dat'/);
  });

  it('follow their parameters, and end with their bindings', async () => {
    const three = tryOut({ a: '1', b: '2', c: '3' });
    const merge = { 'content-type': 'application/merge-patch+json' };
    await server.request({ method: 'PATCH', path: `${configMaps}/limits`, body: { data: { most: '3' } }, headers: merge });
    await requestUntil(server, three, { until: ({ status }) => status === 201 });
    await server.request({ method: 'DELETE', path: `${configMaps}/limits` });
    const { body } = await requestUntil(server, three, { until: ({ status }) => status === 422 });
    assert.match(body.message, /failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/);
    await server.request({ method: 'DELETE', path: `${registration}/validatingadmissionpolicybindings/limit` });
    await requestUntil(server, three, { until: ({ status }) => status === 201 });
  });
});
