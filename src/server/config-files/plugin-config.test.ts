// Configurations of admission plugins from their file: what each plugin is given, and what ends the start.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { requestUntil, startTestServer } from '../../test-support/index.ts';
import { type Logger, silentLogger } from '../observability/logger.ts';
import { readPluginConfigurations } from './plugin-config.ts';

const read = (plugin: string, fields: object) => readPluginConfigurations(new Map([[plugin, fields as Record<string, unknown>]]));

describe('readPluginConfigurations', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pintle-plugins-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let files = 0;
  /** Writes an AdmissionConfiguration with these plugins. */
  const writeConfiguration = (plugins: string): string => {
    const file = join(folder, `admission-${++files}.yaml`);
    writeFileSync(file, `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:${plugins}`);
    return file;
  };

  it('reads the levels and exemptions of PodSecurity', () => {
    const { podSecurity } = read('PodSecurity', {
      apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration',
      defaults: { enforce: 'baseline', 'enforce-version': 'v1.30' }, exemptions: { namespaces: ['kube-system'] } });
    assert.deepEqual(podSecurity?.defaults.enforce, { level: 'baseline', minor: 30 });
    assert.deepEqual(podSecurity?.defaults.warn, { level: 'privileged', minor: 'latest' });
    assert.deepEqual(podSecurity?.exemptions, { usernames: [], namespaces: ['kube-system'], runtimeClasses: [] });
  });

  const podSecurityKind = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };
  const limitKind = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' };
  const quotaKind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'ResourceQuotaConfiguration' };

  it('refuses bad values and other kinds', () => {
    assert.throws(() => read('PodSecurity', { ...podSecurityKind, defaults: { enforce: 'strict' } }), /PodSecurity: defaults.enforce: Invalid value: "strict"/);
    const limit = (more: object) => read('EventRateLimit', { ...limitKind, limits: [{ type: 'Server', qps: 1, burst: 1, ...more }] });
    assert.throws(() => limit({ qps: 0 }), /limits\[0\].qps: Invalid value: 0: must be positive/);
    assert.throws(() => limit({ qps: 1.5 }), /limits\[0\].qps: Invalid value: 1.5: must be a whole number/);
    assert.throws(() => limit({ type: 'server' }), /limits\[0\].type: Unsupported value: "server": supported values: "Namespace", "Server"/);
    assert.doesNotThrow(() => limit({ cacheSize: -1 }));
    assert.throws(() => read('EventRateLimit', limitKind), /limits: Invalid value: null: must not be empty/);
    for (const plugin of ['PodSecurity', 'EventRateLimit', 'PodTolerationRestriction', 'ResourceQuota']) {
      assert.throws(() => read(plugin, {}), /Object 'Kind' is missing/);
      assert.throws(() => read(plugin, { kind: 'Configuration', apiVersion: 'v1' }), /no kind "Configuration" is registered for version "v1"/);
    }
  });

  it('reads node selectors leniently, as the reference does', () => {
    assert.deepEqual(read('PodNodeSelector', { kind: 'x', podNodeSelectorPluginConfig: null }).nodeSelectors, {});
  });

  it('passes over entries of plugins that do not run, and of those that there are none of', async (context) => {
    const file = writeConfiguration(`
- {name: PodSecurityPolicy, configuration: {a: 1}}
- {name: EventRateLimit, configuration: {a: 1}}
- {name: LimitRanger, configuration: {a: 1}}
- {name: PodNodeSelector, path: none.yaml}
`);
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (message, fields) => warnings.push(`${message}: ${fields?.['plugin']}`) };
    const server = await startTestServer({ admissionControlConfigFile: file, logger });
    context.after(() => server.close());
    const passedOver = warnings.filter((warning) => warning.startsWith('an entry of the admission configuration is passed over'));
    assert.deepEqual(passedOver.map((warning) => warning.split(': ')[1]), ['PodSecurityPolicy', 'EventRateLimit', 'PodNodeSelector']);
    assert.ok(warnings.includes('the configuration of an admission plugin has no effect: it takes none: LimitRanger'));
    await assert.rejects(startTestServer({ admissionControlConfigFile: file, enableAdmissionPlugins: ['EventRateLimit'] }), /Object 'Kind' is missing/);
    await assert.rejects(startTestServer({ admissionControlConfigFile: file, enableAdmissionPlugins: ['PodNodeSelector'] }), /none\.yaml/);
    await assert.rejects(startTestServer({ enableAdmissionPlugins: ['EventRateLimit'] }),
      /couldn't init admission plugin "EventRateLimit": limits: Invalid value: null: must not be empty/);
  });

  it('reads what needs a quota', () => {
    const { limitedResources } = read('ResourceQuota', { ...quotaKind, limitedResources: [{ resource: 'pods', matchContains: ['cpu'] }] });
    assert.deepEqual(limitedResources, [{ apiGroup: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] }]);
    assert.throws(() => read('ResourceQuota', { ...quotaKind, limitedResources: [{ matchContains: ['cpu'] }] }),
      /limitedResources\[0\].resource: Required value/);
  });

  it('lets nothing be consumed that needs a quota and has none', async (context) => {
    const server = await startTestServer({ admissionControlConfigFile: writeConfiguration(`
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - {resource: secrets, matchContains: [secrets]}
    - {resource: pods, matchScopes: [{scopeName: PriorityClass, operator: In, values: [system-node-critical]}]}
`) });
    context.after(() => server.close());
    const post = (plural: string, body: object) => server.request({ method: 'POST', path: `/api/v1/namespaces/default/${plural}`, body });
    const secret = { metadata: { name: 's' } };
    assert.equal((await post('secrets', secret)).body.message, 'secrets "s" is forbidden: insufficient quota to consume: count/secrets,secrets');
    const spec = { automountServiceAccountToken: false, priorityClassName: 'system-node-critical', containers: [{ name: 'c', image: 'i' }] };
    const { status, body: { message } } = await post('pods', { metadata: { name: 'p' }, spec });
    assert.deepEqual([status, message], [500, 'insufficient quota to match these scopes: [{PriorityClass In [system-node-critical]}]']);
    await post('resourcequotas', { metadata: { name: 'q' }, spec: { hard: { secrets: '5', 'count/secrets': '5' } } });
    const covered = await requestUntil(server, { method: 'POST', path: '/api/v1/namespaces/default/secrets', body: secret },
      { until: (answer) => answer.status === 201 });
    assert.equal(covered.status, 201);
  });

  it('ends the start where ImagePolicyWebhook is on without its configuration', async () => {
    await assert.rejects(startTestServer({ enableAdmissionPlugins: ['ImagePolicyWebhook'] }), /"ImagePolicyWebhook": no config specified/);
    const start = (fields: string) => startTestServer({
      enableAdmissionPlugins: ['ImagePolicyWebhook'],
      admissionControlConfigFile: writeConfiguration(`\n- {name: ImagePolicyWebhook, configuration: ${fields}}\n`) });
    await assert.rejects(start('{imagePolicy: {allowTTL: 1801}}'),
      /imagePolicy.kubeConfigFile: Required value, imagePolicy.allowTTL: Invalid value: 1801: must be -1, 0, or from 1 to 1800/);
  });

  it('gives a server the configuration of its file', async (context) => {
    const file = writeConfiguration(`
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
