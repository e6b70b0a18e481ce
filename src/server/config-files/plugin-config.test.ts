// Configurations of admission plugins from their file: what each plugin is given, and what ends the start.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startTestServer } from '../../test-support/index.ts';
import { readPluginConfigurations } from './plugin-config.ts';

const read = (plugin: string, fields: object) => readPluginConfigurations(new Map([[plugin, fields as Record<string, unknown>]]));

describe('readPluginConfigurations', () => {
  it('reads the levels and exemptions of PodSecurity', () => {
    const { podSecurity } = read('PodSecurity', {
      apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration',
      defaults: { enforce: 'baseline', 'enforce-version': 'v1.30' }, exemptions: { namespaces: ['kube-system'] } });
    assert.deepEqual(podSecurity?.defaults.enforce, { level: 'baseline', minor: 30 });
    assert.deepEqual(podSecurity?.defaults.warn, { level: 'privileged', minor: 'latest' });
    assert.deepEqual(podSecurity?.exemptions, { usernames: [], namespaces: ['kube-system'], runtimeClasses: [] });
  });

  it('refuses bad values, unknown plugins and plugins that take no configuration here', () => {
    assert.throws(() => read('PodSecurity', { defaults: { enforce: 'strict' } }), /PodSecurity: defaults.enforce: Invalid value: "strict"/);
    assert.throws(() => read('EventRateLimit', { limits: [{ type: 'Server', qps: 0, burst: 1 }] }), /limits\[0\].qps: Invalid value: 0: must be positive/);
    assert.throws(() => read('NoSuch', {}), /plugin "NoSuch" is unknown/);
    assert.throws(() => read('ResourceQuota', { limitedResources: [] }), /a configuration of ResourceQuota is not supported/);
  });

  it('gives a server the configuration of its file', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'pintle-plugins-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'admission.yaml');
    writeFileSync(file, `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {enforce: baseline}}
- name: PodNodeSelector
  path: selectors.yaml
`);
    writeFileSync(join(folder, 'selectors.yaml'), 'podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: pool=a}\n');
    const server = await startTestServer({ admissionControlConfigFile: file, enableAdmissionPlugins: ['PodNodeSelector'] });
    context.after(() => server.close());
    const create = (name: string, spec: object) => server.request({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: {
      metadata: { name }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec } } });
    assert.match((await create('host', { hostPID: true })).body.message, /violates PodSecurity "baseline:latest": host namespaces/);
    assert.deepEqual((await create('plain', {})).body.spec.nodeSelector, { pool: 'a' });
  });
});
