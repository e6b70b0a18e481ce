// Admission webhooks over real sockets: an HTTPS service of ours is called for writes, over connections that are kept, with credentials from files.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';
import { silentLogger } from '../observability/logger.ts';
import { readAdmissionConfiguration, readWebhookCredentials } from '../config-files/admission-config.ts';
import { createCertificate } from '../tls/certificates.ts';

interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly name: string; readonly object: { readonly metadata: { readonly labels?: Record<string, string> } } };
}

const context = { clock: systemClock, random: systemRandom };
const lifetimeMs = 3_600_000;
const authority = createCertificate({ commonName: 'test-ca', lifetimeMs }, context);
const serving = createCertificate({ commonName: 'webhook', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs }, context);
const registration = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const caBundle = Buffer.from(authority.certificate).toString('base64');
const selector = { matchExpressions: [{ key: 'hook', operator: 'Exists' }] };

describe('admission webhooks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  const asked: { readonly path: string; readonly review: Review; readonly authorization: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  let server: TestServer;
  let service: Server;
  let port = 0;

  /** Labels decide: `deny` is refused, everything else gets a mark from the mutating webhook. */
  function answer(path: string, { apiVersion, request: { uid, object } }: Review): object {
    const kind = object.metadata.labels?.['hook'];
    const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data/marked', value: 'yes' }])).toString('base64');
    const response = path.startsWith('/mutate') ? { allowed: true, patchType: 'JSONPatch', patch }
      : { allowed: kind !== 'deny', status: { code: 418, message: 'no' }, warnings: ['seen'] };
    return { apiVersion, kind: 'AdmissionReview', response: { uid, ...response } };
  }

  async function read(request: IncomingMessage): Promise<Review> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return JSON.parse(Buffer.concat(chunks).toString()) as Review;
  }

  const create = (name: string, hook: string) => server.request({ method: 'POST', path: configMaps, body: {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { hook } }, data: { k: 'v' },
  } });

  const configure = (kind: 'Mutating' | 'Validating', path: string, more: object = {}) => server.request({
    method: 'POST', path: `${registration}/${kind.toLowerCase()}webhookconfigurations`, body: {
      apiVersion: 'admissionregistration.k8s.io/v1', kind: `${kind}WebhookConfiguration`, metadata: { name: path },
      webhooks: [{
        name: `${path}.example.com`, clientConfig: { url: `https://127.0.0.1:${port}/${path}`, caBundle }, objectSelector: selector, sideEffects: 'None',
        admissionReviewVersions: ['v1'], rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }], ...more,
      }],
    },
  });

  before(async () => {
    service = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
      void read(request).then((review) => {
        asked.push({ path: request.url ?? '', review, authorization: request.headers.authorization });
        if (request.url?.startsWith('/slow')) return;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(request.url ?? '', review)));
      });
    });
    service.on('secureConnection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    port = (service.address() as AddressInfo).port;
    const kubeconfig = join(folder, 'kubeconfig.yaml');
    const users = [{ name: `127.0.0.1:${port}`, user: { token: 'shown' } }, { name: '*.svc', user: { token: 'svc' } }];
    writeFileSync(kubeconfig, JSON.stringify({ users }));
    const plugin = { kind: 'WebhookAdmissionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', kubeConfigFile: kubeconfig };
    writeFileSync(join(folder, 'webhook.yaml'), JSON.stringify(plugin));
    writeFileSync(join(folder, 'admission.yaml'), JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins: [{ name: 'ValidatingAdmissionWebhook', path: 'webhook.yaml' }],
    }));
    server = await startTestServer({ admissionControlConfigFile: join(folder, 'admission.yaml') });
    assert.equal((await configure('Mutating', 'mutate')).status, 201);
    assert.equal((await configure('Validating', 'validate')).status, 201);
    const probe = { metadata: { name: 'probe', labels: { hook: 'deny' } }, data: { k: 'v' } };
    await requestUntil(server, { method: 'POST', path: `${configMaps}?dryRun=All`, body: probe },
      { until: ({ status }) => status === 418 });
  });

  after(async () => {
    await server.close();
    service.close();
    rmSync(folder, { recursive: true });
  });

  it('change and refuse what is written', async () => {
    const { status, body, headers } = await create('a', 'allow');
    assert.deepEqual([status, body.data, headers['warning']], [201, { k: 'v', marked: 'yes' }, '299 - "seen"']);
    const refused = await create('b', 'deny');
    assert.deepEqual([refused.status, refused.body.message], [418, 'admission webhook "validate.example.com" denied the request: no']);
  });

  it('are not called for what they do not select', async () => {
    asked.length = 0;
    await server.request({ method: 'POST', path: configMaps, body: { metadata: { name: 'plain' } } });
    assert.deepEqual(asked, []);
  });

  it('are called over connections that are kept, and once more when such a connection turns out to be closed', async () => {
    const before = sockets.size;
    for (let i = 0; i < 5; i++) assert.equal((await create(`kept-${i}`, 'allow')).status, 201);
    assert.equal(sockets.size, before);
    for (const socket of sockets) socket.destroy();
    assert.equal((await create('fresh', 'allow')).status, 201);
    assert.ok(sockets.size > before);
  });

  it('are shown the credentials that the configuration of their plugin has for them', async () => {
    asked.length = 0;
    await create('shown', 'allow');
    assert.deepEqual(asked.map(({ path, authorization }) => [path, authorization]),
      [['/mutate?timeout=10s', undefined], ['/validate?timeout=10s', 'Bearer shown']]);
    const flags = { admissionControlConfigFile: join(folder, 'admission.yaml'), enableAdmissionPlugins: [], disableAdmissionPlugins: [],
      logger: silentLogger };
    const { validating } = await readWebhookCredentials(await readAdmissionConfiguration(flags));
    assert.deepEqual(['hook.ns.svc:443', 'hook.ns.svc:8443', 'other:443'].map((target) => validating(target).headers?.['authorization']),
      ['Bearer svc', undefined, undefined]);
  });

  it('that cannot be reached fail the request, or are passed over, as their failure policy says', async () => {
    const labelled = { objectSelector: { matchLabels: { hook: 'unreachable' } }, clientConfig: { url: 'https://127.0.0.1:1/x', caBundle } };
    await configure('Validating', 'absent', { ...labelled, failurePolicy: 'Ignore' });
    assert.equal((await create('open', 'unreachable')).status, 201);
    await configure('Validating', 'closed', labelled);
    const { body } = await requestUntil(server, { method: 'POST', path: `${configMaps}?dryRun=All`, body: {
      metadata: { name: 'c', labels: { hook: 'unreachable' } }, data: { k: 'v' } } }, { until: ({ status }) => status === 500 });
    assert.equal(body.message, 'Internal error occurred: failed calling webhook "closed.example.com": failed to call webhook: ' +
      'Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused');
  });

  it('that answer too late for the request leave it the answer that late requests have', async () => {
    await configure('Validating', 'slow', { objectSelector: { matchLabels: { hook: 'slow' } } });
    const body = { metadata: { name: 's', labels: { hook: 'slow' } }, data: { k: 'v' } };
    const late = await requestUntil(server, { method: 'POST', path: `${configMaps}?dryRun=All&timeout=100ms`, body }, { until: ({ status }) => status >= 500 });
    assert.deepEqual([late.status, late.headers['content-type'], JSON.parse(late.text)], [504, 'text/plain; charset=utf-8', {
      metadata: {}, status: 'Failure', message: 'Timeout: request did not complete within the allotted timeout', reason: 'Timeout', details: {}, code: 504,
    }]);
    assert.ok(asked.some(({ path }) => path === '/slow?timeout=1s'));
  });

  it('that cannot be called with the configuration that they have are named by an event', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/x', caBundle: Buffer.from('no certificate').toString('base64') };
    await configure('Validating', 'unusable', { objectSelector: { matchLabels: { hook: 'unusable' } }, clientConfig });
    const body = { metadata: { name: 'u', labels: { hook: 'unusable' } }, data: { k: 'v' } };
    const refused = await requestUntil(server, { method: 'POST', path: `${configMaps}?dryRun=All`, body }, { until: ({ status }) => status === 500 });
    assert.match(refused.body.message, /unable to load root certificates/);
    assert.equal((await create('u', 'unusable')).status, 500);
    const path = '/api/v1/namespaces/default/events?fieldSelector=reason%3DUnusableWebhook';
    const { body: { items } } = await requestUntil(server, { path }, { until: (answer) => answer.body.items.length > 0 });
    assert.deepEqual(items.map(({ involvedObject: { kind, name }, message }: Record<string, any>) => [kind, name, message]), [[
      'ValidatingWebhookConfiguration', 'unusable', refused.body.message.replace('Internal error occurred: ', ''),
    ]]);
  });

  it('are counted under the names of the reference', async () => {
    const { text } = await server.request({ path: '/metrics' });
    for (const line of [
      'apiserver_admission_webhook_rejection_count{error_type="no_error",name="validate.example.com",operation="CREATE",rejection_code="418",type="validating"}',
      'apiserver_admission_webhook_request_total{code="200",name="mutate.example.com",operation="CREATE",rejected="false",type="admit"}',
      'apiserver_admission_webhook_fail_open_count{name="absent.example.com",type="validating"}',
      'apiserver_admission_webhook_admission_duration_seconds_count{name="mutate.example.com",operation="CREATE",rejected="false",type="admit"}',
      'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="validate"}',
      'apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="false",type="admit"}',
    ]) assert.ok(text.includes(line), line);
    for (const line of [
      /^rest_client_requests_total\{code="200",host="[^"]+",method="POST"\} [1-9]/m,
      /^rest_client_requests_total\{code="<error>",host="[^"]+",method="POST"\} [1-9]/m,
      /^rest_client_request_duration_seconds_count\{host="[^"]+",verb="POST"\} [1-9]/m,
      /^rest_client_request_size_bytes_sum\{host="[^"]+",verb="POST"\} [1-9]/m, /^rest_client_response_size_bytes_sum\{host="[^"]+",verb="POST"\} [1-9]/m,
    ]) assert.match(text, line);
  });
});

describe('a webhook that refuses everything', () => {
  it('does not keep a server with unchanged objects from starting again', { timeout: 60_000 }, async (context) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'broken-webhook-'));
    context.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await startTestServer({ dataDir });
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    const webhook = {
      name: 'broken.example.com', rules, clientConfig: { service: { namespace: 'default', name: 'absent' } }, failurePolicy: 'Fail', sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const body = { metadata: { name: 'broken' }, webhooks: [webhook] };
    assert.equal((await first.request({ method: 'POST', path: `${registration}/validatingwebhookconfigurations`, body })).status, 201);
    await first.close();
    const second = await startTestServer({ dataDir });
    context.after(() => second.close());
    await second.ready;
    const refused = await second.request({ method: 'POST', path: configMaps, body: { metadata: { name: 'x' } } });
    assert.match(refused.body.message, /^Internal error occurred: failed calling webhook "broken.example.com"/);
  });
});
