// The webhooks of cert-manager, called by real objects: PINTLE_CERT_MANAGER_WEBHOOK names the program that `go build` makes in test/clients/go-cert-manager
// (two minutes of a processor, so that no suite builds it by itself). Definitions come from the published module.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '../../src/base/index.ts';
import { createCertificate } from '../../src/server/tls/certificates.ts';
import { type TestServer, createTestClient, eventually, findPorts, requestUntil, startTestServer } from '../../src/test-support/index.ts';
import { downloadModule, publishedModules, readObjects } from './modules.ts';

const program = process.env['PINTLE_CERT_MANAGER_WEBHOOK'] ?? '';
const manifests = join(fileURLToPath(new URL('../../../', import.meta.url)), 'test', 'clients', 'manifests');
const registration = '/apis/admissionregistration.k8s.io/v1';
const pathOf = (plural: string, name = ''): string => `/apis/cert-manager.io/v1/namespaces/default/${plural}${name}`;

interface Webhook {
  readonly url: string;
  readonly caBundle: string;
}

/** Starts cert-manager's webhook server; it ends with the test. */
async function startWebhook(context: TestContext, folder: string, server: TestServer): Promise<Webhook> {
  const [port] = await findPorts(1) as [number];
  const certificates = { clock: systemClock, random: systemRandom };
  const { certificate, key } = createCertificate({ commonName: 'webhook', hosts: ['127.0.0.1'], lifetimeMs: 3_600_000 }, certificates);
  const files = Object.entries({ 'tls.crt': certificate, 'tls.key': key, kubeconfig: server.kubeconfig }).map(([name, text]) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  });
  const child: ChildProcess = spawn(program, [String(port), ...files], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4000);
  });
  child.on('exit', (code) => code === null || code === 0 || process.stderr.write(log));
  context.after(() => void child.kill('SIGKILL'));
  return { url: `https://127.0.0.1:${port}`, caBundle: Buffer.from(certificate).toString('base64') };
}

/** Definitions, and the configurations of the chart with a URL in place of the service. */
async function install(server: TestServer, definitions: string, { url, caBundle }: Webhook): Promise<void> {
  const post = (path: string, body: object) => server.request({ method: 'POST', path, body });
  for (const definition of readObjects(definitions)) {
    const { status, text } = await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    assert.equal(status, 201, text);
  }
  const common = { name: 'webhook.cert-manager.io', admissionReviewVersions: ['v1'], matchPolicy: 'Equivalent', failurePolicy: 'Fail', sideEffects: 'None' };
  const groups = ['cert-manager.io', 'acme.cert-manager.io'];
  const validating = { apiGroups: groups, apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['*/*'] };
  const mutating = { apiGroups: ['cert-manager.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['certificaterequests'] };
  for (const [sort, path, rule] of [['validating', '/validate', validating], ['mutating', '/mutate', mutating]] as const) {
    const body = { metadata: { name: 'cert-manager-webhook' }, webhooks: [{ ...common, rules: [rule], clientConfig: { url: url + path, caBundle } }] };
    assert.equal((await post(`${registration}/${sort}webhookconfigurations`, body)).status, 201);
  }
  await requestUntil(server, { path: pathOf('issuers') }, { until: ({ status }) => status === 200 });
}

const issuer = (name: string, spec: object): object => ({ apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: { name }, spec });
const certificate = (name: string, spec: object): object =>
  ({ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', metadata: { name }, spec: { secretName: name, issuerRef: { name: 'own' }, ...spec } });

async function checkObjects(server: TestServer): Promise<void> {
  const post = (plural: string, body: object) => server.request({ method: 'POST', path: pathOf(plural), body });
  const refused = ({ status, body }: Awaited<ReturnType<typeof post>>, message: RegExp): void => {
    assert.equal(status, 403, body.message);
    assert.match(body.message, /^admission webhook "webhook.cert-manager.io" denied the request: /);
    assert.match(body.message, message);
  };
  // The program needs a moment before it answers.
  await eventually(async () => assert.equal((await post('issuers', issuer('own', { selfSigned: {} }))).status, 201));
  refused(await post('issuers', issuer('two', { selfSigned: {}, ca: { secretName: 's' } })),
    /spec\.selfSigned: Forbidden: may not specify more than one issuer type/);
  refused(await post('certificates', certificate('none', {})), /spec: Invalid value: "": at least one of commonName/);
  assert.equal((await post('certificates', certificate('site', { dnsNames: ['example.com'] }))).status, 201);
  const change = { method: 'PATCH', path: pathOf('certificates', '/site'), headers: { 'content-type': 'application/merge-patch+json' } };
  refused(await server.request({ ...change, body: { spec: { duration: '1m' } } }),
    /spec\.duration: Invalid value: 1m0s: certificate duration must be greater than/);
  assert.equal((await server.request({ ...change, body: { spec: { duration: '2160h' } } })).status, 200);
}

/** The mutating webhook names the requester; the validating one asks the server whether a user may approve, and lets the request not change. */
async function checkRequests(context: TestContext, server: TestServer, request: string): Promise<void> {
  const post = (path: string, body: object) => server.request({ method: 'POST', path, body });
  const type = { apiVersion: 'cert-manager.io/v1', kind: 'CertificateRequest' };
  const body = { ...type, metadata: { name: 'asked' }, spec: { issuerRef: { name: 'own' }, request } };
  const created = await post(pathOf('certificaterequests'), body);
  assert.equal(created.status, 201, created.body.message);
  assert.deepEqual([created.body.spec.username, created.body.spec.uid], ['admin', 'admin-uid']);
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterrole';
  await post(`${roles}s`, {
    metadata: { name: 'requests' }, rules: [{ apiGroups: ['cert-manager.io'], resources: ['certificaterequests', 'certificaterequests/status'], verbs: ['*'] }],
  });
  await post(`${roles}bindings`, {
    metadata: { name: 'requests' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'requests' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
  const alice = createTestClient(server.url, 'alice-token');
  context.after(() => alice.close());
  const approval = { type: 'Approved', status: 'True', reason: 'Checked', message: 'yes', lastTransitionTime: '2024-01-01T00:00:00Z' };
  const approve = {
    method: 'PATCH', path: pathOf('certificaterequests', '/asked/status'), headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: { conditions: [approval] } },
  };
  await eventually(async () => {
    const { body: answer } = await alice.request(approve);
    assert.match(answer.message, /user "alice" does not have permissions to set approved\/denied conditions for issuer/);
  });
  assert.equal((await server.request(approve)).status, 200);
  const { body: changed } = await server.request({ ...approve, path: pathOf('certificaterequests', '/asked'), body: { spec: { username: 'other' } } });
  assert.match(changed.message, /webhook.cert-manager.io.*spec.username: Forbidden: username identity cannot be changed/s);
}

test('the webhooks of cert-manager validate, refuse and change real objects', { timeout: 300_000 }, async (context) => {
  if (program === '') return context.skip('PINTLE_CERT_MANAGER_WEBHOOK does not name the program of test/clients/go-cert-manager');
  const folder = mkdtempSync(join(tmpdir(), 'pintle-cert-manager-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const published = publishedModules.find(({ path }) => path.endsWith('/cert-manager'))!;
  const module = downloadModule(published, folder);
  if ('missing' in module) return context.skip(module.missing);
  const server = await startTestServer();
  context.after(() => server.close());
  await install(server, join(module.folder, published.definitions), await startWebhook(context, folder, server));
  await checkObjects(server);
  const example = readObjects(manifests).find(({ kind }) => kind === 'CertificateSigningRequest');
  await checkRequests(context, server, example?.['spec'].request);
});
