// Static manifests on a whole server: in force from the start, followed, out of the reach of clients.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { eventually, requestUntil, startTestServer } from '../../test-support/index.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const gate = 'ManifestBasedAdmissionControlConfig=true';

/** A policy with its binding that refuses objects of a resource that are marked. */
const policy = (name: string, group: string, resource: string): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ${name}.static.k8s.io}
spec:
  matchConstraints: {resourceRules: [{operations: ["*"], apiGroups: ["${group}"], apiVersions: ["*"], resources: ["${resource}"]}]}
  validations: [{expression: "!has(object.metadata.labels) || !('marked' in object.metadata.labels)", message: ${name} says no}]
---
apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: ${name}-binding.static.k8s.io}
  spec: {policyName: ${name}.static.k8s.io, validationActions: [Deny]}
`;

describe('static manifests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;

  /** A directory with a file, and the options of a server that uses it. */
  function prepare(text: string, plugin = 'ValidatingAdmissionPolicy') {
    const directory = join(folder, String(++count));
    mkdirSync(directory);
    writeFileSync(join(directory, 'a.yaml'), text);
    const admissionControlConfigFile = join(folder, `${count}.yaml`);
    const kind = plugin.endsWith('Webhook') ? 'WebhookAdmissionConfiguration' : `${plugin}Configuration`;
    writeFileSync(admissionControlConfigFile, JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration',
      plugins: [{ name: plugin, configuration: { apiVersion: 'apiserver.config.k8s.io/v1', kind, staticManifestsDir: directory } }],
    }));
    return { directory, options: { admissionControlConfigFile, featureGates: [gate] } };
  }
  const marked = { metadata: { name: 'x', labels: { marked: 'yes' } } };

  it('are in force at the start, and follow their files', async (context) => {
    const { directory, options } = prepare(policy('maps', '', 'configmaps'));
    const server = await startTestServer(options);
    context.after(() => server.close());
    const post = (plural: string) => ({ method: 'POST', path: `/api/v1/namespaces/default/${plural}?dryRun=All`, body: marked });
    const refused = await server.request(post('configmaps'));
    assert.match(refused.body.message, /ValidatingAdmissionPolicy 'maps.static.k8s.io' with binding 'maps-binding.static.k8s.io' denied request: maps says no/);
    assert.equal((await server.request(post('secrets'))).status, 201);
    writeFileSync(join(directory, 'b.yml'), policy('secrets', '', 'secrets'));
    await requestUntil(server, post('secrets'), { until: ({ status }) => status === 422 });
    writeFileSync(join(directory, 'a.yaml'), 'kind: Nonsense');
    rmSync(join(directory, 'b.yml'));
    writeFileSync(join(directory, 'a.yaml'), '');
    await requestUntil(server, post('configmaps'), { until: ({ status }) => status === 201 });
  });

  it('count their loads, and name the files in use by a hash', async (context) => {
    const { directory, options } = prepare(policy('maps', '', 'configmaps'));
    const server = await startTestServer(options);
    context.after(() => server.close());
    const prefix = 'apiserver_manifest_admission_config_controller_';
    const loads = async (): Promise<readonly string[]> => {
      const { text } = await server.request({ path: '/metrics' });
      return text.split('\n').filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
    };
    const first = await loads();
    const labels = 'apiserver_id_hash="sha256:[0-9a-f]{64}",';
    assert.match(first[0]!, new RegExp(`^automatic_reloads_total{${labels}plugin="ValidatingAdmissionPolicy",status="success"} 1$`));
    assert.match(first[1]!, new RegExp(`^automatic_reload_last_timestamp_seconds{${labels}plugin="ValidatingAdmissionPolicy",status="success"} [0-9.e+]+$`));
    assert.match(first[2]!, new RegExp(`^last_config_info{${labels}hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionPolicy"} 1$`));
    writeFileSync(join(directory, 'a.yaml'), 'kind: Nonsense');
    await eventually(async () => {
      const now = await loads();
      assert.match(now.join('\n'), /automatic_reloads_total\{.*status="failure"\} 1/);
      assert.equal(now.at(-1), first.at(-1));
    });
  });

  it('see the objects that configure admission, which clients cannot give their names', async (context) => {
    const { options } = prepare(policy('guard', 'admissionregistration.k8s.io', '*'));
    const server = await startTestServer(options);
    context.after(() => server.close());
    const create = (name: string, labels?: object) => server.request({
      method: 'POST', path: `${registration}/validatingwebhookconfigurations`, body: { metadata: { name, labels }, webhooks: [] } });
    assert.match((await create('marked', { marked: 'yes' })).body.message, /guard says no/);
    const { status, body } = await create('mine.static.k8s.io');
    assert.equal(status, 422);
    assert.match(body.message, /metadata.name: Invalid value: "mine.static.k8s.io": names ending with ".static.k8s.io" are reserved/);
    assert.equal((await create('plain')).status, 201);
  });

  it('end the start where they cannot be used', async () => {
    const start = (text: string, plugin?: string, gates = [gate]) => startTestServer({ ...prepare(text, plugin).options, featureGates: gates });
    await assert.rejects(start('', undefined, []), /staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled/);
    await assert.rejects(start('kind: ConfigMap\napiVersion: v1'), /error loading .*a.yaml: unsupported resource type v1, Kind=ConfigMap/);
    const maps = policy('maps', '', 'configmaps');
    await assert.rejects(start(maps.replaceAll('maps.static.k8s.io', 'maps')), /"maps" must have a name ending with ".static.k8s.io"/);
    await assert.rejects(start(maps.replace('policyName: maps', 'policyName: other')), /references policy "other.static.k8s.io" which/);
    const hook = { name: 'a.b.c', clientConfig: { service: { name: 's', namespace: 'n' } }, sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const type = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
    const webhook = JSON.stringify({ ...type, metadata: { name: 'w.static.k8s.io' }, webhooks: [hook] });
    await assert.rejects(start(webhook, 'ValidatingAdmissionWebhook'),
      /webhook "a.b.c" in "w.static.k8s.io": clientConfig.url is required for static manifests/);
  });

  it('leave their names to anybody, with a warning, while they are off', async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const body = { metadata: { name: 'mine.static.k8s.io' }, webhooks: [] };
    const { status, headers } = await server.request({ method: 'POST', path: `${registration}/validatingwebhookconfigurations`, body });
    assert.equal(status, 201);
    assert.match(String(headers['warning']), /^299 - "metadata.name: names ending with \\".static.k8s.io\\" are reserved/);
  });
});
