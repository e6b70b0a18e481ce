// Requests to a whole server, and the events that kube-apiserver makes of them. Expectations follow the reference's filters and handlers.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type TestServer, eventually, startTestServer } from '../../test-support/index.ts';
import { startTestService } from '../testing.ts';

type Event = Record<string, any>;
type Request = Parameters<TestServer['request']>[0];

const maps = '/api/v1/namespaces/default/configmaps';
const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- { level: None, userGroups: [ops] }
- { level: None, nonResourceURLs: ["/livez*", /metrics] }
- { level: Metadata, resources: [{ resources: [secrets] }] }
- { level: Request, resources: [{ group: apps }], omitStages: [RequestReceived] }
- { level: RequestResponse, resources: [{ resources: [configmaps] }], omitManagedFields: true }
- { level: RequestResponse, resources: [{ resources: [services] }], omitStages: [RequestReceived] }
- { level: RequestResponse, nonResourceURLs: [/api, "/apis*"], omitStages: [RequestReceived] }
- { level: Metadata, omitStages: [RequestReceived] }
`;

const directory = mkdtempSync(join(tmpdir(), 'audit-'));
const writeFile = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
after(() => rmSync(directory, { recursive: true }));

/** A machine that is busy makes any request a slow one, whose event says where it stayed. */
const withoutLatency = (event: Event): Event => (event['annotations'] === undefined ? event : {
  ...event, annotations: Object.fromEntries(Object.entries(event['annotations']).filter(([key]) => !key.startsWith('apiserver.latency.k8s.io/'))),
});

/** The parts of an event that a row shows; what is absent must be absent. */
const shown = (event: Event, names: readonly string[]): Event => {
  const plain = withoutLatency(event);
  return Object.fromEntries(names.map((name) => [name, name.split('.').reduce<any>((value, part) => value?.[part.replaceAll('~', '.')], plain)]));
};

const success = { metadata: {}, code: 200 };
const allowed = { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' };
const forbidden = { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' };
const admin = { username: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] };

/** A request, and what its events say, stage by stage. */
interface Row {
  readonly name: string;
  readonly request: Request;
  readonly events: readonly Event[];
}

const rows: readonly Row[] = [
  {
    name: 'a read of metadata', request: { path: '/api/v1/namespaces/default?x=%20y' },
    events: [{
      level: 'Metadata', stage: 'ResponseComplete', requestURI: '/api/v1/namespaces/default?x=%20y', verb: 'get', user: admin, annotations: allowed,
      objectRef: { resource: 'namespaces', namespace: 'default', name: 'default', apiVersion: 'v1' }, responseStatus: success,
      requestObject: undefined, responseObject: undefined, sourceIPs: ['127.0.0.1'], kind: 'Event', apiVersion: 'audit.k8s.io/v1',
    }],
  },
  {
    name: 'a creation with both bodies', request: { method: 'POST', path: maps, body: { metadata: { name: 'a' }, data: { k: '<v>' } } },
    events: [
      {
        stage: 'RequestReceived', verb: 'create', objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
        responseStatus: undefined, requestObject: undefined, annotations: undefined,
      },
      {
        stage: 'ResponseComplete', objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', apiVersion: 'v1' },
        responseStatus: { metadata: {}, code: 201 }, 'requestObject.kind': 'ConfigMap', 'requestObject.data': { k: '<v>' },
        'requestObject.metadata.name': 'a', 'requestObject.metadata.uid': undefined, 'responseObject.metadata.managedFields': undefined,
        'responseObject.data': { k: '<v>' }, 'responseObject.metadata.name': 'a',
      },
    ],
  },
  {
    name: 'an answer in protobuf is recorded as JSON',
    request: { path: `${maps}/a`, headers: { accept: 'application/vnd.kubernetes.protobuf' } },
    events: [{ stage: 'RequestReceived' }, { stage: 'ResponseComplete', 'responseObject.kind': 'ConfigMap', 'responseObject.data': { k: '<v>' } }],
  },
  {
    name: 'an update', request: { method: 'PUT', path: `${maps}/a`, body: { metadata: { name: 'a', labels: { x: 'y' } }, data: { k: 'w' } } },
    events: [{ stage: 'RequestReceived' }, { stage: 'ResponseComplete', 'requestObject.data': { k: 'w' }, 'responseObject.metadata.labels': { x: 'y' } }],
  },
  {
    name: 'a patch', request: {
      method: 'PATCH', path: `${maps}/a`, body: [{ op: 'add', path: '/data/z', value: '1' }], headers: { 'content-type': 'application/json-patch+json' } },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', verb: 'patch', requestObject: [{ op: 'add', path: '/data/z', value: '1' }], 'responseObject.data': { k: 'w', z: '1' },
    }],
  },
  {
    name: 'a list', request: { path: `${maps}?labelSelector=x%3Dy` },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', verb: 'list', objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      'responseObject.kind': 'ConfigMapList', 'responseObject.items.0.metadata.name': 'a', 'responseObject.items.0.metadata.managedFields': undefined,
      'responseObject.items.length': 1,
    }],
  },
  {
    name: 'a table', request: { path: `${maps}/a`, headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', 'responseObject.kind': 'Table', 'responseObject.rows.0.object.metadata.name': 'a',
      'responseObject.rows.0.object.metadata.managedFields': undefined,
    }],
  },
  {
    name: 'discovery', request: { path: '/apis/apps/v1', headers: { accept: 'application/vnd.kubernetes.protobuf' } },
    events: [{ objectRef: undefined, 'responseObject.kind': 'APIResourceList', 'responseObject.groupVersion': 'apps/v1' }],
  },
  {
    name: 'aggregated discovery',
    request: { path: '/api', headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' } },
    events: [{ 'responseObject.kind': 'APIGroupDiscoveryList', 'responseObject.items.length': 1 }],
  },
  {
    name: 'a refused creation', request: { method: 'POST', path: maps, body: { metadata: { name: 'a' } } },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', 'responseObject.kind': 'Status', responseStatus: {
        metadata: {}, status: 'Failure', message: 'configmaps "a" already exists', reason: 'AlreadyExists',
        details: { name: 'a', kind: 'configmaps' }, code: 409,
      },
    }],
  },
  {
    name: 'a body that cannot be read', request: { method: 'POST', path: maps, body: '{' },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', requestObject: undefined, 'responseStatus.code': 400, 'responseStatus.reason': 'BadRequest',
    }],
  },
  {
    name: 'a deletion with options', request: { method: 'DELETE', path: `${maps}/a`, body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 } },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', verb: 'delete', requestObject: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal', gracePeriodSeconds: 0 },
      'responseStatus.status': 'Success', 'responseStatus.code': 200, 'responseObject.kind': 'Status',
    }],
  },
  {
    name: 'what is absent', request: { path: `${maps}/none` },
    events: [{ stage: 'RequestReceived' }, { stage: 'ResponseComplete', 'responseStatus.code': 404, 'responseStatus.reason': 'NotFound' }],
  },
  {
    name: 'secrets at the level of metadata', request: { method: 'POST', path: '/api/v1/namespaces/default/secrets', body: { metadata: { name: 's' } } },
    events: [{ stage: 'RequestReceived', level: 'Metadata' }, {
      stage: 'ResponseComplete', requestObject: undefined, responseObject: undefined,
      objectRef: { resource: 'secrets', namespace: 'default', name: 's', apiVersion: 'v1' }, responseStatus: { metadata: {}, code: 201 },
    }],
  },
  {
    name: 'the level of requests', request: {
      method: 'PATCH', path: '/apis/apps/v1/namespaces/default/deployments/none', body: { spec: {} },
      headers: { 'content-type': 'application/merge-patch+json' },
    },
    events: [{
      level: 'Request', stage: 'ResponseComplete', requestObject: { spec: {} }, responseObject: undefined, 'responseStatus.code': 404,
      objectRef: { resource: 'deployments', namespace: 'default', name: 'none', apiGroup: 'apps', apiVersion: 'v1' },
    }],
  },
  {
    name: 'a user without the right', request: { path: '/api/v1/nodes', token: 'alice-token' },
    events: [{
      stage: 'ResponseComplete', 'user.username': 'alice', annotations: forbidden, 'responseStatus.code': 403, 'responseStatus.reason': 'Forbidden',
      'responseStatus.status': 'Failure',
    }],
  },
  {
    name: 'wrong credentials', request: { path: '/api/v1/nodes', token: 'wrong' },
    events: [{
      stage: 'ResponseStarted', user: {}, annotations: undefined, objectRef: { resource: 'nodes', apiVersion: 'v1' },
      responseStatus: { metadata: {}, status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
    }],
  },
  {
    name: 'wrong credentials where no Status is negotiated', request: { path: '/api/v1/nodes', token: 'wrong', headers: { accept: 'text/none' } },
    events: [{ stage: 'ResponseStarted', responseStatus: { metadata: {}, message: 'Authentication failed, attempted: bearer', code: 401 } }],
  },
  {
    name: 'impersonation', request: { path: '/api/v1/namespaces', headers: { 'impersonate-user': 'carol', 'impersonate-group': 'devs' } },
    events: [{
      stage: 'ResponseComplete', user: admin, impersonatedUser: { username: 'carol', groups: ['devs', 'system:authenticated'] }, annotations: forbidden,
      authenticationMetadata: { impersonationConstraint: 'impersonate:user-info' },
    }],
  },
  {
    name: 'a deprecated API', request: { path: '/api/v1/namespaces/default/endpoints' },
    events: [{ stage: 'ResponseComplete', annotations: { ...allowed, 'k8s.io/deprecated': 'true' } }],
  },
  {
    name: 'a path that is no resource', request: { path: '/version' },
    events: [{ stage: 'ResponseComplete', verb: 'get', requestURI: '/version', objectRef: undefined, responseStatus: success, annotations: allowed }],
  },
  {
    name: 'proxies in front', request: { path: '/version', headers: { 'x-forwarded-for': '10.1.1.1, bad, 10.1.1.2', 'x-real-ip': '10.2.2.2' } },
    events: [{ stage: 'ResponseComplete', sourceIPs: ['10.1.1.1', '10.1.1.2', '10.2.2.2', '127.0.0.1'] }],
  },
  {
    name: 'a long user agent', request: { path: '/version', headers: { 'user-agent': 'x'.repeat(2000) } },
    events: [{ stage: 'ResponseComplete', userAgent: `${'x'.repeat(1024)}...TRUNCATED` }],
  },
  {
    name: 'a watch that ends', request: { path: '/api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1' },
    events: [
      { stage: 'ResponseStarted', verb: 'watch', responseStatus: success, annotations: allowed },
      { stage: 'ResponseComplete', verb: 'watch', responseStatus: success },
    ],
  },
  {
    name: 'a try to remove what cannot be read',
    request: { method: 'DELETE', path: '/api/v1/namespaces/default/secrets/none?ignoreStoreReadErrorWithClusterBreakingPotential=true' },
    events: [{ stage: 'RequestReceived' }, {
      stage: 'ResponseComplete', 'responseStatus.code': 422, annotations: { ...allowed, 'apiserver.k8s.io/unsafe-delete-ignore-read-error': '' },
    }],
  },
  { name: 'a group that is not recorded', request: { path: '/api/v1/namespaces', token: 'bob-token' }, events: [] },
  { name: 'a path that is not recorded', request: { path: '/livez/ping' }, events: [] },
];

describe('audit', () => {
  let server: TestServer;
  const path = join(directory, 'logs', 'audit.log');
  const readEvents = (auditId: string): Event[] =>
    readFileSync(path, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Event).filter(({ auditID }) => auditID === auditId);
  before(async () => {
    const featureGates = ['AllowUnsafeMalformedObjectDeletion=true'];
    server = await startTestServer({ auditPolicyFile: writeFile('policy.yaml', policy), auditLogPath: path, featureGates });
  });
  after(() => server.close());

  for (const [index, { name, request, events }] of rows.entries()) {
    it(`makes the events of ${name}`, async () => {
      const auditId = `row-${index}`;
      const { headers } = await server.request({ ...request, headers: { ...request.headers, 'audit-id': auditId } });
      assert.equal(headers['audit-id'], auditId);
      await eventually(() => assert.equal(readEvents(auditId).length, events.length));
      for (const [stage, event] of readEvents(auditId).entries()) assert.deepEqual(shown(event, Object.keys(events[stage] as Event)), events[stage]);
    });
  }

  it('names the token that a request issued, a dry run too', async () => {
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    for (const query of ['', '?dryRun=All']) {
      const auditId = `token${query}`;
      const issue = { method: 'POST', path: `/api/v1/namespaces/default/serviceaccounts/default/token${query}`, body: asked };
      const { body: { status: { token } } } = await server.request({ ...issue, headers: { 'audit-id': auditId } });
      const { jti } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()) as { readonly jti: string };
      await eventually(() => assert.equal(readEvents(auditId).length, 1));
      const [event] = readEvents(auditId).map(withoutLatency);
      assert.deepEqual(event?.['annotations'], { ...allowed, 'authentication.kubernetes.io/issued-credential-id': `JTI=${jti}` });
    }
  });

  it('stamps the stages in microseconds, the first with the time of arrival', async () => {
    await server.request({ path: maps, headers: { 'audit-id': 'times' } });
    await eventually(() => assert.equal(readEvents('times').length, 2));
    const [received, complete] = readEvents('times') as [Event, Event];
    assert.match(received['requestReceivedTimestamp'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.equal(received['stageTimestamp'], received['requestReceivedTimestamp']);
    assert.ok(complete['stageTimestamp'] >= complete['requestReceivedTimestamp']);
  });

  it('records bodies with very many members, which workers handle', async () => {
    const data = Object.fromEntries(Array.from({ length: 11_000 }, (_, index) => [`k${index}`, 'v']));
    const created = await server.request({ method: 'POST', path: maps, body: { metadata: { name: 'large' }, data }, headers: { 'audit-id': 'large' } });
    assert.equal(created.status, 201);
    await eventually(() => assert.equal(readEvents('large').length, 2));
    const [, complete] = readEvents('large') as [Event, Event];
    assert.deepEqual([complete['responseStatus'].code, complete['responseObject'].metadata.name, Object.keys(complete['responseObject'].data).length],
      [201, 'large', 11_000]);
  });

  it('leaves out answers that are too large, and says so', async () => {
    const path = '/api/v1/namespaces/kube-public/configmaps';
    for (const name of ['one', 'two']) {
      assert.equal((await server.request({ method: 'POST', path, body: { metadata: { name }, data: { k: 'x'.repeat(700_000) } } })).status, 201);
    }
    await server.request({ path, headers: { 'audit-id': 'huge' } });
    await eventually(() => assert.equal(readEvents('huge').length, 2));
    const [, complete] = readEvents('huge') as [Event, Event];
    assert.deepEqual([complete['responseObject'], complete['annotations']['audit.k8s.io/truncated']], [undefined, 'true']);
  });

  it('answers the users that made revisions, where the asking user may read that path', async () => {
    const revisionOf = ({ body }: { readonly body: any }): string => body.metadata.resourceVersion;
    const created = await server.request({ method: 'POST', path: maps, body: { metadata: { name: 'seen' } }, headers: { 'user-agent': 'till/1' } });
    const asAlice = { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters', 'audit-id': 'changed' };
    const changed = await server.request({ method: 'PATCH', path: `${maps}/seen`, body: { data: { a: '1' } }, headers: asAlice });
    const tried = await server.request({ method: 'PATCH', path: `${maps}/seen?dryRun=All`, body: { data: { a: '2' } } });
    assert.equal(tried.status, 200);
    await server.request({ method: 'DELETE', path: `${maps}?fieldSelector=metadata.name=seen` });
    const { body: { metadata } } = await server.request({ path: maps });
    const ask = (query: string, token?: string) => server.request({ path: `/audit/writes?${query}`, ...(token !== undefined && { token }) });
    const wanted = [revisionOf(created), revisionOf(changed), metadata.resourceVersion];
    const { status, body } = await ask(`group=&resource=configmaps&revisions=${wanted.join()},999999`);
    assert.equal(status, 200);
    const asked = body.items.map(({ revision, verb, user, impersonatedUser }: Event) => [revision, verb, user, impersonatedUser]);
    const writes = [['create', 'admin', undefined], ['patch', 'admin', 'alice'], ['deletecollection', 'admin', undefined]];
    assert.deepEqual(asked, writes.map((write, index) => [wanted[index], ...write]));
    assert.deepEqual([body.items[0].userAgent, body.items[0].sourceIPs, body.items[1].auditID], ['till/1', ['127.0.0.1'], 'changed']);
    assert.deepEqual((await ask(`group=apps&resource=configmaps&revisions=${wanted.join()}`)).body.items, []);
    assert.equal((await ask('resource=configmaps&revisions=x')).status, 400);
    assert.equal((await ask(`resource=configmaps&revisions=${Array.from({ length: 501 }, () => '1').join()}`)).status, 400);
    assert.equal((await ask(`resource=configmaps&revisions=${wanted[0]}`, 'alice-token')).status, 403);
  });

  it('counts events, levels and errors', async () => {
    const { text } = await server.request({ path: '/metrics' });
    assert.match(text, /^apiserver_audit_event_total [1-9]\d*$/m);
    assert.match(text, /^apiserver_audit_level_total\{level="RequestResponse"\} [1-9]\d*$/m);
    assert.match(text, /^apiserver_audit_level_total\{level="None"\} [1-9]\d*$/m);
    assert.match(text, /^apiserver_audit_requests_rejected_total 0$/m);
    assert.match(text, /^# TYPE apiserver_audit_error_total counter$/m);
  });
});

describe('the audit webhook', () => {
  it('gets lists of events, in batches, from before the stop to its end', async () => {
    let failures = 1;
    const service = await startTestService(() => (failures-- > 0 ? undefined : {}));
    const kubeconfig = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: `${service.url}/sink`, 'certificate-authority-data': Buffer.from(service.authority).toString('base64') } }],
    });
    const server = await startTestServer({
      auditPolicyFile: writeFile('all.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata, users: [admin] }]\n'),
      auditWebhookConfigFile: writeFile('webhook.kubeconfig', kubeconfig), auditWebhookInitialBackoffMs: 1, auditWebhookBatchMaxWaitMs: 1,
    });
    await server.request({ path: '/version', headers: { 'audit-id': 'first' } });
    await eventually(() => assert.ok(service.asked.length >= 2));
    await server.request({ path: '/version', headers: { 'audit-id': 'last' } });
    await server.close();
    await service.close();
    const [failed, ...lists] = service.asked;
    assert.deepEqual([failed.kind, failed.apiVersion, failed.items[0].kind], ['EventList', 'audit.k8s.io/v1', undefined]);
    assert.deepEqual(lists[0], failed);
    const stages = lists.flatMap(({ items }) => items.map(({ auditID, stage }: Event) => `${auditID} ${stage}`));
    const expected = ['first', 'last'].flatMap((id) => [`${id} RequestReceived`, `${id} ResponseComplete`]);
    for (const stage of expected) assert.ok(stages.includes(stage), stage);
  });
});

describe('the start with audit flags', () => {
  const start = (options: Parameters<typeof startTestServer>[0]) => startTestServer(options).then((server) => server.close());

  it('fails for policies and files that cannot be used', async () => {
    const bad = writeFile('bad.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: All }]\n');
    await assert.rejects(start({ auditPolicyFile: join(directory, 'none') }), /--audit-policy-file: cannot read .*none: ENOENT/);
    await assert.rejects(start({ auditPolicyFile: bad }),
      /^StartError: loading audit policy file: rules\[0\]\.level: Unsupported value: "All".*: from file .*bad\.yaml$/s);
    await assert.rejects(start({ auditPolicyFile: writeFile('p.yaml', policy), auditLogPath: '/dev/null/audit.log' }), /--audit-log-path: cannot write/);
    await assert.rejects(start({ auditLogPath: 'x', auditLogMode: 'eager' }), /--audit-log-mode must be batch or blocking or blocking-strict/);
    await assert.rejects(start({ auditLogPath: 'x', auditLogMode: 'batch', auditLogBatchThrottleEnable: true }), /invalid audit batch log throttle QPS 0/);
    await assert.rejects(start({ auditWebhookConfigFile: 'x', auditWebhookTruncateMaxBatchSize: 1 }), /invalid audit truncate webhook max batch size 1/);
  });
});
