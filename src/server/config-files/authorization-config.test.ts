// A whole server under an AuthorizationConfiguration: its order, its webhooks and their conditions, its failures, files that are refused, and files
// that change.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type TestServer, eventually, requestUntil, startTestServer } from '../../test-support/index.ts';
import { readReloads, recordWarnings, startTestService } from '../testing.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-authorization-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const write = (name: string, value: unknown): string => {
  writeFileSync(join(directory, name), JSON.stringify(value));
  return join(directory, name);
};
const describeFile = (...authorizers: readonly unknown[]) => ({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });
const kubeConfigFile = write('kubeconfig', { clusters: [{ name: 'nobody', cluster: { server: 'https://127.0.0.1:1' } }] });
const webhook = {
  subjectAccessReviewVersion: 'v1', matchConditionSubjectAccessReviewVersion: 'v1', failurePolicy: 'Deny', timeout: '1s', authorizedTTL: '1m',
  unauthorizedTTL: '1s', connectionInfo: { type: 'KubeConfigFile', kubeConfigFile }, matchConditions: [{ expression: 'request.user == "alice"' }],
};
const statusOf = async (server: TestServer, path: string, token: string) => (await server.request({ path, token })).status;

/** A webhook that decides, and a kubeconfig that leads to it. */
async function startWebhook(name: string, decide: (spec: any) => object | undefined) {
  const service = await startTestService((_path, { apiVersion, kind, spec }) => {
    const status = decide(spec);
    return status && { apiVersion, kind, status };
  });
  const cluster = { server: `${service.url}/authorize`, 'certificate-authority-data': Buffer.from(service.authority).toString('base64') };
  return { ...service, connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: write(name, { clusters: [{ name, cluster }] }) } };
}

describe('readAuthorizationConfiguration', () => {
  it('asks in order, and a webhook only about what matches', async () => {
    const file = describeFile({ type: 'Webhook', name: 'w', webhook }, { type: 'RBAC', name: 'rbac' }, { type: 'AlwaysAllow', name: 'alwaysallow' });
    const server = await startTestServer({ authorizationConfig: write('good.yaml', file) });
    const statusFor = (token: string) => statusOf(server, '/api/v1/nodes', token);
    assert.deepEqual([await statusFor('bob-token'), await statusFor('alice-token'), await statusFor('admin-token')], [200, 500, 200]);
    await server.close();
  });

  it('asks several webhooks, each by its own rules', async () => {
    const first = await startWebhook('first', ({ user }) => (user === 'bob' ? { allowed: false, denied: true, reason: 'not bob' } : { allowed: false }));
    const second = await startWebhook('second', ({ resourceAttributes }) => ({ allowed: resourceAttributes?.resource === 'nodes' }));
    const conditions = ['has(request.resourceAttributes)', '!("system:serviceaccounts" in request.groups)', 'request.resourceAttributes.verb != "delete"'];
    const matchConditions = conditions.map((expression) => ({ expression }));
    const file = describeFile(
      { type: 'Webhook', name: 'first', webhook: { ...webhook, connectionInfo: first.connectionInfo, matchConditions, cacheUnauthorizedRequests: false } },
      { type: 'Webhook', name: 'second', webhook: { ...webhook, subjectAccessReviewVersion: 'v1beta1', connectionInfo: second.connectionInfo,
        matchConditions } },
      { type: 'RBAC', name: 'rbac' },
    );
    const server = await startTestServer({ authorizationConfig: write('several.yaml', file) });
    const ask = (path: string, token = 'alice-token') => statusOf(server, path, token);
    assert.deepEqual([await ask('/api/v1/nodes'), await ask('/api/v1/nodes'), await ask('/api/v1/pods')], [200, 200, 403]);
    assert.deepEqual([first.asked.length, second.asked.length], [3, 2], 'what is refused is not kept by the first, what is allowed is kept by the second');
    assert.deepEqual([first.asked[0].apiVersion, second.asked[0].apiVersion], ['authorization.k8s.io/v1', 'authorization.k8s.io/v1beta1']);
    assert.deepEqual([first.asked[0].spec.groups, second.asked[0].spec.group], [['devs', 'system:authenticated'], ['devs', 'system:authenticated']]);
    const refused = await server.request({ path: '/api/v1/nodes', token: 'bob-token' });
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /: not bob$/);
    assert.equal(second.asked.length, 2, 'a denial ends the asking');
    assert.equal(await ask('/healthz'), 200);
    assert.equal((await server.request({ method: 'DELETE', path: '/api/v1/nodes/x', token: 'alice-token' })).status, 403);
    assert.equal(first.asked.length, 4, 'paths and deletions match no condition');
    await Promise.all([server.close(), first.close(), second.close()]);
  });

  it('counts a condition that cannot be evaluated, and a webhook that fails, as the failure policy says', async () => {
    const service = await startWebhook('broken', () => undefined);
    const using = (name: string, more: object) => ({ type: 'Webhook', name, webhook: { ...webhook, connectionInfo: service.connectionInfo, ...more } });
    const fails = [{ expression: 'request.resourceAttributes.namespace == ""' }];
    const always = [{ expression: 'true' }];
    const rows = [[{ failurePolicy: 'Deny', matchConditions: fails }, 500, 0], [{ failurePolicy: 'NoOpinion', matchConditions: fails }, 404, 0],
      [{ failurePolicy: 'Deny', matchConditions: always }, 500, 1], [{ failurePolicy: 'NoOpinion', matchConditions: always }, 404, 1]] as const;
    for (const [more, status, calls] of rows) {
      const file = describeFile(using('w', more), { type: 'AlwaysAllow', name: 'alwaysallow' });
      const server = await startTestServer({ authorizationConfig: write('failing.yaml', file) });
      service.asked.length = 0;
      assert.equal(await statusOf(server, '/nowhere', 'alice-token'), status, JSON.stringify(more));
      assert.equal(service.asked.length, calls);
      await server.close();
    }
    await service.close();
  });

  it('takes a file that changes, and stays with the one before when it cannot', async () => {
    const service = await startWebhook('later', () => ({ allowed: true }));
    const rbac = { type: 'RBAC', name: 'rbac' };
    const path = write('changing.yaml', describeFile(rbac));
    const { logger, warnings } = recordWarnings();
    const warned = (of: RegExp) => eventually(() => assert.match(warnings.join('\n'), of));
    const server = await startTestServer({ authorizationConfig: path, logger });
    const until = (status: number) => requestUntil(server, { path: '/api/v1/nodes', token: 'bob-token' }, { until: (found) => found.status === status });
    await until(403);
    const later = { type: 'Webhook', name: 'later', webhook: { ...webhook, connectionInfo: service.connectionInfo, matchConditions: [] } };
    write('changing.yaml', describeFile(rbac, later));
    await until(200);
    write('changing.yaml', describeFile(later));
    await warned(/the one before stays: .*types other than Webhook/);
    await until(200);
    assert.equal(await statusOf(server, '/version', 'alice-token'), 200);
    write('changing.yaml', { broken: true });
    await warned(/the one before stays: .*Object 'Kind' is missing/);
    await until(200);
    write('changing.yaml', describeFile(rbac));
    await until(403);
    assert.deepEqual(readReloads((await server.request({ path: '/metrics' })).text, 'authorization', readFileSync(path, 'utf8')), [2, 2, true, true]);
    await Promise.all([server.close(), service.close()]);
  });

  it('refuses what it does not understand, and names every field', async () => {
    const using = (more: object) => describeFile({ type: 'Webhook', name: 'w', webhook: { ...webhook, ...more } });
    const at = 'authorizers\\[0\\]\\.';
    const rows: readonly (readonly [object, RegExp])[] = [
      [describeFile(), /: authorizers: Required value: at least one/], [describeFile({ name: 'a' }), /authorizers\[0\]\.type: Required value/],
      [describeFile({ type: 'Nope', name: 'a' }), /authorizers\[0\]\.type: Unsupported value: "Nope": supported values: "ABAC", "AlwaysAllow"/],
      [describeFile({ type: 'ABAC', name: 'a' }), /authorizers\[0\]\.type: ABAC needs --authorization-policy-file/],
      [describeFile({ type: 'RBAC' }), /authorizers\[0\]\.name: Required value/], [describeFile({ type: 'RBAC', name: 'A b' }), /name: Invalid value: "A b"/],
      [describeFile({ type: 'RBAC', name: 'a' }, { type: 'RBAC', name: 'a' }), /: authorizers\[1\]\.type: Duplicate value: "RBAC"$/],
      [describeFile({ type: 'RBAC', name: 'a' }, { type: 'Node', name: 'Node.b' }), /authorizers\[1\]\.name: Invalid value: "Node.b"/],
      [describeFile({ type: 'RBAC', name: 'a' }, { type: 'Node', name: 'node' }), /: expected name rbac for authorizer RBAC instead of a$/],
      [{ kind: 'AuthorizationConfiguration', apiVersion: 'apiserver.k8s.io/v1alpha1', authorizers: [] }, /no kind "AuthorizationConfiguration" is registered/],
      [describeFile({ type: 'Webhook', name: 'w' }), /authorizers\[0\]\.webhook: Required value: required when type=Webhook/],
      [describeFile({ type: 'RBAC', name: 'w', webhook }), /authorizers\[0\]\.webhook: Invalid value: "non-null": may only/],
      [using({ failurePolicy: 'Maybe' }), new RegExp(`${at}failurePolicy: Unsupported value`)], [using({ timeout: '31s' }),
        /timeout: .* must be > 0s and <= 30s/],
      [using({ timeout: undefined }), new RegExp(`${at}timeout: Required value`)], [using({ timeout: 'soon' }),
        new RegExp(`${at}timeout: Invalid value: "soon"`)],
      [using({ authorizedTTL: '' }), new RegExp(`${at}authorizedTTL: Invalid value: "": time: invalid duration ""`)],
      [using({ authorizedTTL: '-1s' }), new RegExp(`${at}authorizedTTL: .*must be > 0s`)],
      [using({ subjectAccessReviewVersion: 'v2' }), new RegExp(`${at}subjectAccessReviewVersion: Unsupported value: "v2"`)],
      [using({ matchConditionSubjectAccessReviewVersion: '' }), new RegExp(`${at}matchConditionSubjectAccessReviewVersion: Required value: required if`)],
      [using({ surprise: 1 }), /strict decoding error: unknown field "authorizers\[0\]\.webhook\.surprise"/],
      [using({ connectionInfo: { type: 'InClusterConfig' } }), new RegExp(`${at}connectionInfo\\.type: Unsupported value`)],
      [using({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'relative' } }),
        /kubeConfigFile: Invalid value: "relative": must be an absolute path/],
      [using({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/nowhere' } }), /kubeConfigFile: .*error loading file/],
      [using({ matchConditions: [{ expression: 'request.nothing' }] }), new RegExp(`${at}matchConditions\\[0\\]\\.expression: .*compilation failed`)],
      [using({ matchConditions: [{ expression: 'request.user' }] }), /expression: Invalid value: "request\.user": must evaluate to bool/],
      [using({ matchConditions: [{ expression: ' ' }] }), new RegExp(`${at}matchConditions\\[0\\]\\.expression: Required value`)],
      [using({ matchConditions: [{ expression: 'true' }, { expression: 'true' }] }), /matchConditions\[1\]\.expression: Duplicate value/],
      [using({ matchConditions: Array.from({ length: 65 }, (_, i) => ({ expression: `${i} == 0` })) }), /matchConditions: Too many: 65: must have at most 64/],
    ];
    for (const [file, message] of rows) await assert.rejects(startTestServer({ authorizationConfig: write('broken.yaml', file) }), message);
    await assert.rejects(startTestServer({ authorizationConfig: 'x', authorizationMode: ['AlwaysAllow'] }), /cannot be given together/);
    await assert.rejects(startTestServer({ authorizationConfig: 'x', authorizationWebhookConfigFile: 'y' }), /cannot be given together/);
    await assert.rejects(startTestServer({ authorizationConfig: '/nowhere' }), /cannot read \/nowhere: ENOENT/);
  });
});
