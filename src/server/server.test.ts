// A whole server, asked over its socket: identity, refusals, health, metrics, limits, and what its controllers promise.
import assert from 'node:assert/strict';
import { type IncomingMessage, get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type TestServer, requestUntil, startTestServer } from '../test-support/index.ts';

describe('startServer', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('lets system:masters read and write', async () => {
    const created = await server.request({
      method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: 'a' }, data: { k: 'v' } } });
    assert.equal(created.status, 201);
    assert.deepEqual((await server.request({ path: '/api/v1/namespaces/default/configmaps/a' })).body.data, { k: 'v' });
  });

  it('answers 401 to unknown tokens, with audit id and cache-control', async () => {
    const { status, body, headers } = await server.request({ path: '/api/v1/nodes', token: 'nobody', headers: { 'audit-id': 'mine' } });
    assert.deepEqual([status, body.reason, body.message], [401, 'Unauthorized', 'Unauthorized']);
    assert.deepEqual([headers['audit-id'], headers['cache-control']], ['mine', 'no-cache, private']);
  });

  it('answers 403 in the words of the reference', async () => {
    const { status, body, headers } = await server.request({ path: '/apis/apps/v1/namespaces/x/deployments/d/scale', token: 'alice-token' });
    assert.equal(status, 403);
    assert.equal(body.message,
      'deployments.apps "d" is forbidden: User "alice" cannot get resource "deployments/scale" in API group "apps" in the namespace "x"');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const anonymous = await server.request({ path: '/nope', token: null });
    assert.equal(anonymous.body.message, 'forbidden: User "system:anonymous" cannot get path "/nope"');
  });

  it('lets everybody read health and version, and the authenticated discovery', async () => {
    for (const path of ['/healthz/', '/readyz/none']) assert.equal((await server.request({ path })).status, 404, path);
    assert.equal((await server.request({ path: '/readyz/ping' })).headers['x-content-type-options'], undefined);
    assert.equal((await server.request({ path: '/api/v1/namespaces?limit=x;y&continue=%zz' })).status, 200);
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) assert.equal((await server.request({ path, token: null })).status, 200, path);
    for (const path of ['/api', '/apis', '/apis/apps/v1']) {
      assert.equal((await server.request({ path, token: 'alice-token' })).status, 200, path);
      assert.equal((await server.request({ path, token: null })).status, 403, path);
    }
  });

  it('prints health checks as the reference does', async () => {
    const verbose = await server.request({ path: '/livez?verbose&exclude=etcd&exclude=nosuch' });
    assert.match(verbose.text, /^\[\+\]ping ok\n/);
    assert.match(verbose.text, /\n\[\+\]etcd excluded: ok\n/);
    assert.match(verbose.text, /\nwarn: some health checks cannot be excluded: no matches for "nosuch"\nlivez check passed\n$/);
    for (const path of ['/readyz/ping', '/readyz/etcd', '/readyz/etcd-readiness', '/livez/etcd', '/healthz/etcd']) {
      assert.equal((await server.request({ path })).text, 'ok', path);
    }
    assert.match((await server.request({ path: '/readyz?verbose&exclude=etcd' })).text, /\n\[\+\]etcd excluded: ok\n\[\+\]etcd-readiness ok\n/);
    assert.deepEqual(await server.request({ path: '/readyz/nosuch' }).then(({ status, text }) => [status, text]), [404, '404 page not found\n']);
  });

  it('counts requests under upstream names', async () => {
    await server.request({ path: '/api/v1/namespaces/default/configmaps' });
    const { text, headers } = await server.request({ path: '/metrics' });
    assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
    const labels = 'component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"';
    assert.ok(text.includes(`\napiserver_request_total{code="200",${labels}} `));
    assert.match(text, /^apiserver_request_duration_seconds_bucket\{[^}]*le="\+Inf"\} \d+$/m);
    assert.match(text, /^apiserver_storage_objects\{resource="namespaces"\} 4$/m);
    assert.doesNotMatch(text, /^apiserver_request_sli_duration_seconds_bucket\{[^}]*le="0.025"\}/m);
    assert.match(text, /^apiserver_request_sli_duration_seconds_bucket\{[^}]*le="0.05"\} \d+$/m);
  });

  it('shows the outcomes of health checks as metrics', async () => {
    const { text } = await server.request({ path: '/metrics/slis' });
    assert.match(text, /^kubernetes_healthcheck\{name="etcd",type="livez"\} 1$/m);
    assert.match(text, /^kubernetes_healthchecks_total\{name="poststarthook\/rbac\/bootstrap-roles",status="success",type="readyz"\} 1$/m);
  });

  it('says that the default ServiceCIDR is ready, and since when tokens are tracked', async () => {
    const cidr = await server.request({ path: '/apis/networking.k8s.io/v1/servicecidrs/kubernetes' });
    assert.equal(cidr.body.status.conditions[0].message, 'Kubernetes default Service CIDR is ready');
    const map = await server.request({ path: '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking' });
    assert.match(map.body.data.since, /^\d{4}-\d\d-\d\d$/);
  });

  it('refuses options that mean nothing any more, or nothing here', async () => {
    const exported = await server.request({ path: '/api/v1/namespaces/default?export=true' });
    assert.deepEqual([exported.status, exported.body.message], [400, 'the export parameter, deprecated since v1.14, is no longer supported']);
    const dry = await server.request({ path: '/api/v1/namespaces/default/pods/none/exec?dryRun=All' });
    assert.deepEqual([dry.status, dry.body.message], [400, 'dryRun is not supported']);
  });

  it('refuses a timeout that is no duration', async () => {
    const { status, body } = await server.request({ path: '/api/v1/namespaces?timeout=soon' });
    assert.deepEqual([status, body.message], [400, 'invalid timeout specified in the request URL - time: invalid duration "soon"']);
  });

  it('answers reviews of oneself', async () => {
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
    const { body } = await server.request({ method: 'POST', path, token: 'alice-token', body: review });
    assert.deepEqual(body.status.userInfo, { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] });
  });

  it('makes its own objects as requests would have made them: defaults, order and owners are those of the reference', async () => {
    const ownersOf = async (path: string) => {
      const { body } = await requestUntil(server, { path }, { until: ({ status }) => status === 200 });
      const owners = body.metadata.managedFields.map(({ manager, operation, subresource, fieldsV1 }: any) =>
        [manager, operation, subresource ?? '', Object.keys(fieldsV1['f:spec'] ?? {}).join()].join(' '));
      return [Object.keys(body).slice(3).join(), ...owners];
    };
    const apf = 'api-priority-and-fairness-config';
    assert.deepEqual(await ownersOf('/api/v1/namespaces/default'), ['spec,status', 'kube-apiserver Update  ']);
    assert.deepEqual(await ownersOf('/api/v1/namespaces/default/services/kubernetes'),
      ['spec,status', 'kube-apiserver Update  f:clusterIP,f:internalTrafficPolicy,f:ipFamilyPolicy,f:ports,f:sessionAffinity,f:type']);
    assert.deepEqual(await ownersOf('/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1'), ['spec', 'kube-apiserver Update  f:parentRef']);
    assert.deepEqual(await ownersOf('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps'),
      ['spec,status', 'kube-apiserver Update  f:group,f:groupPriorityMinimum,f:version,f:versionPriority']);
    const cidr = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes';
    await requestUntil(server, { path: cidr }, { until: ({ body }) => body.status?.conditions !== undefined });
    assert.deepEqual(await ownersOf(cidr), ['spec,status', 'kubernetes-service-cidr-controller Apply status ', 'kube-apiserver Update  f:cidrs']);
    const schema = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all';
    await requestUntil(server, { path: schema }, { until: ({ body }) => body.status?.conditions !== undefined });
    assert.deepEqual(await ownersOf(schema), ['spec,status', `${apf}-consumer-v1 Apply status `,
      `${apf}-producer-v1 Update  f:distinguisherMethod,f:matchingPrecedence,f:priorityLevelConfiguration,f:rules`]);
  });

  it('leaves the endpoints of the kubernetes Service to other programs where a flag says so', async () => {
    const alone = await startTestServer({ endpointReconcilerType: 'none' });
    try {
      const { status } = await requestUntil(alone, { path: '/api/v1/namespaces/default/services/kubernetes' }, { until: (answer) => answer.status === 200 });
      assert.deepEqual([status, (await alone.request({ path: '/api/v1/namespaces/default/endpoints/kubernetes' })).status], [200, 404]);
    } finally {
      await alone.close();
    }
  });

  it('makes the namespaces, accounts, root certificates and the kubernetes Service', async () => {
    const names = (await server.request({ path: '/api/v1/namespaces' })).body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    assert.deepEqual(names, ['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'fresh' } } });
    const until = ({ status }: { status: number }) => status === 200;
    await requestUntil(server, { path: '/api/v1/namespaces/fresh/serviceaccounts/default' }, { until });
    const map = await requestUntil(server, { path: '/api/v1/namespaces/fresh/configmaps/kube-root-ca.crt' }, { until });
    assert.match(map.body.data['ca.crt'], /^-----BEGIN CERTIFICATE-----/);
    const { body } = await server.request({ path: '/api/v1/namespaces/default/services/kubernetes' });
    assert.equal(body.spec.clusterIP, '10.0.0.1');
  });

  it('brings back what every namespace has', async () => {
    const path = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
    await requestUntil(server, { path }, { until: ({ status }) => status === 200 });
    await server.request({ method: 'PATCH', path, body: { data: { 'ca.crt': 'forged', extra: 'x' } } });
    await requestUntil(server, { path }, { until: ({ body }) => Object.keys(body.data).length === 1 && body.data['ca.crt'].startsWith('-----BEGIN') });
    await server.request({ method: 'DELETE', path });
    await requestUntil(server, { path }, { until: ({ status }) => status === 200 });
  });

  it('empties a namespace that is deleted, then lets it go', async () => {
    await server.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'ending' } } });
    await server.request({
      method: 'POST', path: '/api/v1/namespaces/ending/configmaps', body: { metadata: { name: 'held', finalizers: ['example.com/hold'] } } });
    const path = '/api/v1/namespaces/ending';
    assert.equal((await server.request({ method: 'DELETE', path })).body.status.phase, 'Terminating');
    const waiting = await requestUntil(server, { path }, { until: ({ body }) => body.status.conditions?.[3]?.status === 'True' });
    assert.equal(waiting.body.status.conditions[3].message, 'Some resources are remaining: configmaps. has 1 resource instances');
    await server.request({ method: 'PATCH', path: `${path}/configmaps/held`, body: { metadata: { finalizers: null } } });
    await requestUntil(server, { path }, { until: ({ status }) => status === 404 });
  });

  it('compresses large lists while they are made, for clients that stay and those that go', async () => {
    const path = '/api/v1/namespaces/kube-public/configmaps';
    const data = { text: Array.from({ length: 20_000 }, (_, i) => `line ${i * 7919}`).join('\n') };
    for (let i = 0; i < 20; i++) await server.request({ method: 'POST', path, body: { metadata: { name: `large-${i}` }, data } });
    const plain = (await server.request({ path })).text;
    const authorization = 'Bearer admin-token';
    const ask = (take: (response: IncomingMessage) => void): void => {
      const options = { headers: { authorization, 'accept-encoding': 'gzip' }, rejectUnauthorized: false, agent: false as const };
      (server.url.startsWith('https') ? getHttps : getHttp)(`${server.url}${path}`, options, take).on('error', () => undefined);
    };
    await new Promise<void>((resolve) => ask((response) => void response.once('data', () => resolve(void response.destroy()))));
    const zipped = await new Promise<Buffer>((resolve) => ask((response) => {
      assert.equal(response.headers['content-encoding'], 'gzip');
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
    }));
    assert.equal(gunzipSync(zipped).toString(), plain);
    await server.request({ method: 'DELETE', path });
  });

  it('runs many servers in one process, each with a world of its own', async () => {
    const other = await startTestServer();
    assert.notEqual(other.port, server.port);
    assert.equal((await other.request({ path: '/api/v1/namespaces/default/configmaps/a' })).status, 404);
    await other.close();
    await other.close();
  });
});
