// The objects of flow control and aggregation on a running server: made, kept, and acted on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';

const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const autoUpdate = 'apf.kubernetes.io/autoupdate-spec';

interface WithConditions {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[] };
}
const reasonOf = (object: WithConditions): string | undefined => object.status?.conditions?.[0]?.reason;

describe('flow control on a running server', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ maxRequestsInflight: 3, maxMutatingRequestsInflight: 3 });
    const [, { body: { metadata: { uid } } }] = await Promise.all(['catch-all', 'global-default'].map((name) =>
      requestUntil(server, { path: `${flow}/flowschemas/${name}` }, { until: ({ body }) => reasonOf(body) === 'Found' })));
    await requestUntil(server, { path: '/api', token: 'alice-token' }, { until: ({ headers }) => headers['x-kubernetes-pf-flowschema-uid'] === uid });
  });
  after(() => server.close());

  it('names the schema and the level of every authenticated request, refused ones included', async () => {
    const schema = (await server.request({ path: `${flow}/flowschemas/global-default` })).body.metadata.uid;
    const level = (await server.request({ path: `${flow}/prioritylevelconfigurations/global-default` })).body.metadata.uid;
    const refused = await server.request({ path: '/api/v1/secrets', token: 'alice-token' });
    assert.equal(refused.status, 403);
    assert.equal(refused.headers['x-kubernetes-pf-flowschema-uid'], schema);
    assert.equal(refused.headers['x-kubernetes-pf-prioritylevel-uid'], level);
    const unknown = await server.request({ path: '/api/v1/secrets', token: 'nobody' });
    assert.equal(unknown.status, 401);
    assert.equal(unknown.headers['x-kubernetes-pf-flowschema-uid'], undefined);
  });

  it('says whether a level exists by an apply of the status, as its owner', async () => {
    const { body } = await server.request({ path: `${flow}/flowschemas/catch-all` });
    const entry = body.metadata.managedFields.find(({ subresource }: { subresource?: string }) => subresource === 'status');
    assert.deepEqual([entry.manager, entry.operation], ['api-priority-and-fairness-config-consumer-v1', 'Apply']);
    assert.deepEqual(Object.keys(entry.fieldsV1['f:status']['f:conditions']), ['k:{"type":"Dangling"}']);
  });

  it('contends for a status six times a minute and no more', async () => {
    // Its level is there before it: the first write is made once.
    const spec = { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'global-default' }, rules: [] };
    assert.equal((await server.request({ method: 'POST', path: `${flow}/flowschemas`, body: { metadata: { name: 'contended' }, spec } })).status, 201);
    const path = `${flow}/flowschemas/contended`;
    const isRestored = ({ body }: { body: WithConditions }): boolean => reasonOf(body) === 'Found';
    const status = { conditions: [{ type: 'Dangling', status: 'True', reason: 'Other', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' }] };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const overwrite = () => server.request({ method: 'PATCH', path: `${path}/status`, body: { status }, headers });
    await requestUntil(server, { path }, { until: isRestored });
    for (let round = 1; round < 6; round++) {
      await overwrite();
      await requestUntil(server, { path }, { until: isRestored });
    }
    await overwrite();
    // Another schema is restored after it, and would be restored after this one.
    await server.request({ method: 'DELETE', path: `${flow}/flowschemas/system-nodes` });
    const isBack = ({ status: code, body }: { status: number; body: WithConditions }): boolean => code === 200 && reasonOf(body) === 'Found';
    await requestUntil(server, { path: `${flow}/flowschemas/system-nodes` }, { until: isBack });
    assert.equal(reasonOf((await server.request({ path })).body), 'Other');
    await server.request({ method: 'DELETE', path });
  });

  it('restores what is deleted and what is mandatory', async () => {
    for (const name of ['exempt', 'probes']) {
      const { metadata } = (await server.request({ path: `${flow}/flowschemas/${name}` })).body;
      await server.request({ method: 'DELETE', path: `${flow}/flowschemas/${name}` });
      const until = ({ status, body }: { status: number; body: WithConditions }) => status === 200 && reasonOf(body) === 'Found';
      const back = await requestUntil(server, { path: `${flow}/flowschemas/${name}` }, { until });
      assert.notEqual(back.body.metadata.uid, metadata.uid);
    }
    const refused = await server.request({ method: 'PATCH', path: `${flow}/flowschemas/exempt`, body: { spec: { matchingPrecedence: 5 } } });
    assert.equal(refused.status, 422);
  });

  it('restores a suggestion unless its annotation says otherwise', async () => {
    const path = `${flow}/prioritylevelconfigurations/workload-low`;
    const change = { spec: { limited: { nominalConcurrencyShares: 7 } } };
    await server.request({ method: 'PATCH', path, body: change });
    await requestUntil(server, { path }, { until: ({ body }) => body.spec.limited.nominalConcurrencyShares === 100 });
    await server.request({ method: 'PATCH', path, body: { ...change, metadata: { annotations: { [autoUpdate]: 'false' } } } });
    // The one that is changed after it is restored: it has had its turn.
    const other = `${flow}/prioritylevelconfigurations/workload-high`;
    const { body: { spec } } = await server.request({ path: other });
    await server.request({ method: 'PATCH', path: other, body: { ...change, metadata: { annotations: { [autoUpdate]: 'TRUE' } } } });
    const restored = await requestUntil(server, { path: other },
      { until: ({ body }) => body.spec.limited.nominalConcurrencyShares === spec.limited.nominalConcurrencyShares });
    assert.equal(restored.body.metadata.annotations[autoUpdate], 'TRUE');
    assert.equal((await server.request({ path })).body.spec.limited.nominalConcurrencyShares, 7);
  });

  it('removes what claims to be its own and is not, and says that a level is missing', async () => {
    const make = (name: string, annotations: object) => ({ method: 'POST', path: `${flow}/flowschemas`, body: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name, annotations },
      spec: { priorityLevelConfiguration: { name: 'nowhere' } },
    } });
    assert.equal((await server.request(make('stale', { [autoUpdate]: 'true' }))).status, 201);
    await requestUntil(server, { path: `${flow}/flowschemas/stale` }, { until: ({ status }) => status === 404 });
    assert.equal((await server.request(make('lost', {}))).status, 201);
    await requestUntil(server, { path: `${flow}/flowschemas/lost` }, { until: ({ body }) => reasonOf(body) === 'NotFound' });
  });

  it('answers 429 to what finds neither a seat nor a queue', async () => {
    const level = { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' }, borrowingLimitPercent: 0 } };
    await server.request({ method: 'POST', path: `${flow}/prioritylevelconfigurations`, body: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'PriorityLevelConfiguration', metadata: { name: 'narrow' }, spec: level } });
    await server.request({ method: 'POST', path: `${flow}/flowschemas`, body: {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name: 'narrow' },
      spec: {
        priorityLevelConfiguration: { name: 'narrow' }, matchingPrecedence: 20,
        rules: [{ subjects: [{ kind: 'User', user: { name: 'bob' } }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] }],
      } } });
    const uid = (await server.request({ path: `${flow}/flowschemas/narrow` })).body.metadata.uid;
    await requestUntil(server, { path: '/version', token: 'bob-token' }, { until: ({ headers }) => headers['x-kubernetes-pf-flowschema-uid'] === uid });
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.request({ path: '/openapi/v2', token: 'bob-token' })));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0, 'some are turned away');
    assert.ok(answers.length > refused.length, 'some are not');
    assert.equal(refused[0]?.text, 'Too many requests, please try again later.\n');
    assert.match(String(refused[0]?.headers['retry-after']), /^\d+$/);
    assert.equal(refused[0]?.headers['x-kubernetes-pf-flowschema-uid'], uid);
    const metrics = (await server.request({ path: '/metrics' })).text;
    assert.match(metrics, /apiserver_flowcontrol_rejected_requests_total\{flow_schema="narrow",priority_level="narrow",reason="concurrency-limit"\} \d+/);
  });
});

describe('APIServices on a running server', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ enablePriorityAndFairness: false });
    await requestUntil(server, { path: `${apiServices}/v2.autoscaling` }, { until: ({ body }) => reasonOf(body) === 'Local' });
  });
  after(() => server.close());

  it('come and go with custom group versions', async () => {
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
    await server.request({ method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: {
      apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'things.example.com' },
      spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions: [version] },
    } });
    const path = `${apiServices}/v1.example.com`;
    const made = await requestUntil(server, { path }, { until: ({ status, body }) => status === 200 && reasonOf(body) === 'Local' });
    assert.equal(made.body.metadata.labels['kube-aggregator.kubernetes.io/automanaged'], 'true');
    assert.deepEqual(made.body.spec, { group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
    await server.request({ method: 'DELETE', path });
    await requestUntil(server, { path }, { until: ({ status, body }) => status === 200 && body.metadata.uid !== made.body.metadata.uid });
    await server.request({ method: 'DELETE', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com' });
    await requestUntil(server, { path }, { until: ({ status }) => status === 404 });
  });

  it('of a Service say why it is not asked, and its group answers 503', async () => {
    const path = `${apiServices}/v1beta1.remote.example.com`;
    const made = await server.request({ method: 'POST', path: apiServices, body: {
      apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: 'v1beta1.remote.example.com' },
      spec: { group: 'remote.example.com', version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 'kubernetes', port: 8443 } },
    } });
    assert.equal(made.status, 201);
    await requestUntil(server, { path }, { until: ({ body }) => reasonOf(body) === 'ServicePortError' });
    for (const suffix of ['', '/things', '/namespaces/default/things/x']) {
      const answer = await server.request({ path: `/apis/remote.example.com/v1beta1${suffix}` });
      assert.equal(answer.status, 503);
      assert.equal(answer.text, 'service unavailable\n');
    }
    await server.request({ method: 'DELETE', path });
    await requestUntil(server, { path: '/apis/remote.example.com/v1beta1/things' }, { until: ({ status }) => status === 404 });
  });

  it('are there without flow control, whose headers are not', async () => {
    const answer = await server.request({ path: '/api', token: 'alice-token' });
    assert.equal(answer.headers['x-kubernetes-pf-flowschema-uid'], undefined);
  });
});
