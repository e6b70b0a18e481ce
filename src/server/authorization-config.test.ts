// A whole server under an AuthorizationConfiguration: its order, its conditions, its failures, and files that are refused.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startTestServer } from '../testing/index.ts';

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
    unauthorizedTTL: '1s',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile }, matchConditions: [{ expression: 'request.user == "alice"' }],
};

describe('readAuthorizationConfiguration', () => {
  it('asks in order, and a webhook only about what matches', async () => {
    const file = describeFile({ type: 'Webhook', name: 'w', webhook }, { type: 'RBAC', name: 'r' }, { type: 'AlwaysAllow', name: 'a' });
    const server = await startTestServer({ authorizationConfig: write('good.yaml', file) });
    const statusFor = async (token: string) => (await server.request({ path: '/api/v1/nodes', token })).status;
    assert.deepEqual([await statusFor('bob-token'), await statusFor('alice-token'), await statusFor('admin-token')], [200, 403, 200]);
    await server.close();
  });

  it('refuses what it does not understand', async () => {
    const using = (more: object) => describeFile({ type: 'Webhook', name: 'w', webhook: { ...webhook, ...more } });
    const rows: readonly (readonly [object, RegExp])[] = [
      [describeFile(), /at least one/], [describeFile({ type: 'ABAC', name: 'a' }), /authorizers\[0\]\.type must be one of/],
      [describeFile({ type: 'RBAC', name: 'a' }, { type: 'RBAC', name: 'b' }), /given twice/], [describeFile({ type: 'Webhook', name: 'w' }), /must be given/],
      [using({ failurePolicy: 'Maybe' }), /failurePolicy must be one of/], [using({ timeout: '31s' }), /at most 30s/],
        [using({ surprise: 1 }), /surprise is not/],
      [using({ matchConditions: [{ expression: 'request.nothing' }] }), /matchConditions\[0\]\.expression: /],
    ];
    for (const [file, message] of rows) await assert.rejects(startTestServer({ authorizationConfig: write('broken.yaml', file) }), message);
    await assert.rejects(startTestServer({ authorizationConfig: 'x', authorizationMode: ['AlwaysAllow'] }), /cannot be given together/);
  });
});
