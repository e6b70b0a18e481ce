// The same requests to this server and to a kube-apiserver, under one audit policy: the events of each request are the same, but for times, versions
// and uids. Skipped without a kube-apiserver, which PINTLE_KUBE_APISERVER names, and an etcd for it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { noEtcd, startCluster } from '../../src/storage/etcd/cluster.suite.ts';
import { type TestClient, type TestServer, createTestClient, eventually, findPorts, startTestServer } from '../../src/test-support/index.ts';

const program = process.env['PINTLE_KUBE_APISERVER'] ?? '';
const skip = program === '' ? 'PINTLE_KUBE_APISERVER names no kube-apiserver' : noEtcd;
const START_MS = 60_000;

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- { level: Metadata, resources: [{ resources: [secrets, serviceaccounts] }] }
- { level: Request, resources: [{ group: apps }, { group: rbac.authorization.k8s.io }], omitStages: [RequestReceived] }
- { level: RequestResponse, resources: [{ resources: [configmaps, limitranges, pods, resourcequotas] }], omitManagedFields: true }
- { level: RequestResponse, resources: [{ group: coordination.k8s.io }, { group: authentication.k8s.io }, { group: authorization.k8s.io }] }
- { level: Metadata }
`;

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}
type Event = Record<string, any>;

const spec = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { a: 'b' } }, spec };
const workload = { selector: { matchLabels: { a: 'b' } }, template };
/** Kinds by their path in a namespace, each with a minimal object. */
const kinds: readonly (readonly [path: string, object: Record<string, unknown>])[] = [
  ['/api/v1/namespaces/audit/configmaps', { data: { k: 'v' } }], ['/api/v1/namespaces/audit/secrets', { stringData: { k: 'v' } }],
  ['/api/v1/namespaces/audit/serviceaccounts', {}], ['/api/v1/namespaces/audit/pods', { spec }],
  ['/api/v1/namespaces/audit/limitranges', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }],
  ['/api/v1/namespaces/audit/resourcequotas', { spec: { hard: { 'count/leases.coordination.k8s.io': '9' } } }],
  ['/apis/apps/v1/namespaces/audit/deployments', { spec: workload }],
  ['/apis/apps/v1/namespaces/audit/statefulsets', { spec: { ...workload, serviceName: 's' } }],
  ['/apis/batch/v1/namespaces/audit/jobs', { spec: { template: { spec: { ...spec, restartPolicy: 'Never' } } } }],
  ['/apis/rbac.authorization.k8s.io/v1/namespaces/audit/roles', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }],
  ['/apis/coordination.k8s.io/v1/namespaces/audit/leases', { spec: { holderIdentity: 'me' } }],
  ['/apis/networking.k8s.io/v1/namespaces/audit/networkpolicies', { spec: { podSelector: {} } }],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 7 }], ['/apis/storage.k8s.io/v1/storageclasses', { provisioner: 'p' }],
];

const json = (type: string): Record<string, string> => ({ 'content-type': `application/${type}` });

/** The requests for every kind. */
function* askKind([path, object]: (typeof kinds)[number]): Iterable<Request> {
  const one = `${path}/one`;
  const metadata = { name: 'one', labels: { l: 'm' } };
  yield { method: 'POST', path, body: { metadata, ...object } };
  yield { method: 'POST', path, body: { metadata, ...object } };
  yield { method: 'POST', path: `${path}?dryRun=All&fieldManager=me`, body: { metadata: { name: 'dry' }, ...object } };
  yield { method: 'POST', path, body: { metadata: { name: 'Not A Name', labels: { l: 'm' } }, ...object } };
  yield { method: 'POST', path, body: '{"metadata":' };
  yield { path: one };
  yield { path: `${path}/none` };
  yield { path: `${path}?limit=5&labelSelector=l%3Dm` };
  yield { path: `${path}?labelSelector=%3D%3D` };
  yield { path, token: 'alice-token' };
  yield { path: one, token: 'alice-token', method: 'DELETE' };
  yield { path, token: null };
  yield { path, token: 'wrong' };
  yield { path: one, headers: { 'impersonate-user': 'bob', 'impersonate-group': 'ops' } };
  yield { method: 'PATCH', path: one, body: { metadata: { annotations: { a: 'b' } } } };
  yield { method: 'PATCH', path: one, body: [{ op: 'test', path: '/metadata/name', value: 'two' }], headers: json('json-patch+json') };
  yield { method: 'PATCH', path: one, body: { metadata: { labels: { s: 't' } } }, headers: json('strategic-merge-patch+json') };
  yield { method: 'PATCH', path: `${path}/none`, body: { metadata: { labels: { s: 't' } } } };
  yield { method: 'PUT', path: one, body: { metadata: { ...metadata, resourceVersion: '1' }, ...object } };
  yield { method: 'PUT', path: `${one}x`, body: { metadata, ...object } };
  yield { path: `${path}?watch=1&timeoutSeconds=1&resourceVersion=0` };
  yield { method: 'DELETE', path: `${one}?dryRun=All` };
  yield { method: 'DELETE', path: `${one}?gracePeriodSeconds=0` };
  yield { method: 'DELETE', path: one };
  yield { method: 'DELETE', path };
}

const reviews: readonly Request[] = [
  {
    method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' },
  },
  {
    method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', token: 'alice-token',
    body: { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  },
];
const paths = ['/version', '/healthz', '/readyz', '/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', '/none', '/api/v1/nothing', '/apis/none/v1',
  '/api/v1/namespaces/audit', '/api/v1/nodes', '/api/v1/endpoints?limit=1', '/.well-known/openid-configuration', '/metrics/none'];

function listRequests(): readonly Request[] {
  return [
    { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'audit' } } },
    ...kinds.flatMap((kind) => [...askKind(kind)]), ...reviews,
    ...paths.flatMap((path): Request[] => [{ path }, { path, token: null }, { path, token: 'alice-token', headers: { 'x-forwarded-for': '10.1.2.3' } }]),
  ];
}

const idOf = (index: number): string => `differential-${String(index).padStart(4, '0')}`;

/** Fields that differ from one run to the next. */
const volatileFields = new Set([
  'requestReceivedTimestamp', 'stageTimestamp', 'uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'time', 'startTime',
  'deletionTimestamp', 'controller-uid', 'batch.kubernetes.io/controller-uid', 'lastTransitionTime', 'continue', 'remainingItemCount',
]);

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Where several bindings allow a request the reference names the one that it finds first, in no order. */
const bindingPattern = /^RBAC: allowed by ClusterRoleBinding .*$/;

function normalise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalise);
  if (typeof value === 'string') return value.replaceAll(uidPattern, 'UID').replace(bindingPattern, 'RBAC: allowed by a binding');
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !volatileFields.has(name) && !name.startsWith('apiserver.latency.k8s.io/'));
  return Object.fromEntries(fields.map(([name, field]) => [name, normalise(field)]).sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)));
}

/** The events of each request, by its Audit-ID, in the order of their stages. */
function readEvents(file: string): ReadonlyMap<string, readonly unknown[]> {
  const events = new Map<string, Event[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter((text) => text.includes('differential-'))) {
    const event = JSON.parse(line) as Event;
    const list = events.get(event['auditID']) ?? [];
    events.set(event['auditID'], [...list, normalise(event) as Event]);
  }
  return events;
}

describe('audit events are those of kube-apiserver', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-audit-'));
  const path = (name: string): string => join(directory, name);
  const requests = listRequests();
  let reference: ChildProcess | undefined;
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let ours: TestServer;
  let theirs: TestClient;
  before(async () => {
    writeFileSync(path('policy.yaml'), policy);
    writeFileSync(path('tokens.csv'), 'admin-token,admin,admin-uid,"system:masters"\nalice-token,alice,alice-uid,"devs"\nbob-token,bob,bob-uid,"ops"\n');
    writeFileSync(path('sa.key'), generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
    cluster = await startCluster();
    const [port] = await findPorts(1);
    reference = spawn(program, [
      `--etcd-servers=${cluster.endpoints.join()}`, `--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${path('certs')}`,
      `--token-auth-file=${path('tokens.csv')}`, '--authorization-mode=RBAC', '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${path('sa.key')}`, `--service-account-signing-key-file=${path('sa.key')}`, '--service-cluster-ip-range=10.0.0.0/24',
      `--audit-policy-file=${path('policy.yaml')}`, `--audit-log-path=${path('theirs.log')}`, '--disable-admission-plugins=ServiceAccount',
    ], { stdio: 'ignore' });
    theirs = createTestClient(`https://127.0.0.1:${port}`, 'admin-token');
    ours = await startTestServer({
      auditPolicyFile: path('policy.yaml'), auditLogPath: path('ours.log'), disableAdmissionPlugins: ['ServiceAccount'],
      controllers: ['*', '-serviceaccount', '-root-ca-cert-publisher', '-resourcequota', '-namespace', '-garbage-collector'],
    });
    await eventually(async () => assert.equal((await theirs.request({ path: '/readyz' })).status, 200), START_MS);
    for (const [index, request] of requests.entries()) {
      const headers = { 'audit-id': idOf(index), 'user-agent': 'differential', ...request.headers };
      for (const client of [ours.client, theirs]) await client.request({ ...request, headers });
    }
    // The last events come behind their answers.
    await eventually(async () => assert.ok(readEvents(path('theirs.log')).size >= requests.length), 5000).catch(() => undefined);
  });
  after(async () => {
    theirs.close();
    await ours.close();
    reference?.kill('SIGTERM');
    await new Promise((resolve) => reference?.on('exit', resolve));
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  it(`for ${listRequests().length} requests`, () => {
    assert.ok(requests.length >= 300);
    const [mine, other] = [readEvents(path('ours.log')), readEvents(path('theirs.log'))];
    assert.equal(other.size, requests.length, 'kube-apiserver has events of every request');
    const different = requests.flatMap(({ method = 'GET', path: target, token }, index) => {
      const [here, there] = [mine.get(idOf(index)), other.get(idOf(index))].map((events) => JSON.stringify(events, null, 1));
      return here === there ? [] : [`${method} ${target} (${String(token)})\n--- kube-apiserver\n${there}\n--- pintle\n${here}`];
    });
    assert.equal(different.length, 0, `${different.length} of ${requests.length} differ; the first:\n${different[0]}`);
  });
});
