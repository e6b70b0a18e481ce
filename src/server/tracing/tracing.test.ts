// Spans as a collector gets them: a request with all that belongs to it, which callers may have it traced, the trace continued by a webhook.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Http2Server, createServer } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { MessageReader, frameMessage } from '../../grpc/index.ts';
import { type TestServer, eventually, startTestServer } from '../../test-support/index.ts';
import { createCertificate } from '../tls/certificates.ts';
import { readTracingConfiguration } from './configuration.ts';
import { currentSpan, inShortSpan, inSpan } from './spans.ts';
import { reachesAbstractSockets } from '../config-files/config-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'pintle-tracing-'));
const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});
after(() => rmSync(directory, { recursive: true }));

interface CollectedSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Record<string, string | number | boolean>;
  readonly events: string[];
  readonly status: number;
  readonly links: string[];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function readFields(reader: MessageReader, take: Readonly<Record<number, (reader: MessageReader) => void>>): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) (take[field] ?? ((rest: MessageReader) => rest.skip()))(reader);
}

function readAttribute(reader: MessageReader, attributes: CollectedSpan['attributes']): void {
  let name = '';
  readFields(reader.nested(), {
    1: (entry) => void (name = entry.text()),
    2: (entry) => readFields(entry.nested(), {
      1: (any) => void (attributes[name] = any.text()), 2: (any) => void (attributes[name] = any.number() === 1),
      3: (any) => void (attributes[name] = any.number()),
    }),
  });
}

function readSpan(reader: MessageReader): CollectedSpan {
  const span = { traceId: '', id: '', parent: '', name: '', kind: 0, attributes: {}, events: [] as string[], status: 0, links: [] as string[] };
  readFields(reader, {
    1: (field) => void (span.traceId = hex(field.bytes())), 2: (field) => void (span.id = hex(field.bytes())),
    4: (field) => void (span.parent = hex(field.bytes())),
    5: (field) => void (span.name = field.text()), 6: (field) => void (span.kind = field.number()), 9: (field) => readAttribute(field, span.attributes),
    11: (field) => readFields(field.nested(), { 2: (event) => void span.events.push(event.text()) }),
    13: (field) => readFields(field.nested(), { 1: (link) => void span.links.push(hex(link.bytes())) }),
    15: (field) => readFields(field.nested(), { 3: (status) => void (span.status = status.number()) }),
  });
  return span;
}

/** A collector, what it has got, and the file that leads to it. */
async function startCollector(more = ''): Promise<{ readonly spans: CollectedSpan[]; readonly resource: CollectedSpan['attributes']; readonly file: string }> {
  const spans: CollectedSpan[] = [];
  const resource: CollectedSpan['attributes'] = {};
  const server: Http2Server = createServer();
  server.on('session', (session) => ending.push(() => session.destroy()));
  server.on('stream', (stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
    stream.on('end', () => {
      readFields(new MessageReader(Buffer.concat(chunks).subarray(5)), { 1: (all) => readFields(all.nested(), {
        1: (described) => readFields(described.nested(), { 1: (attribute) => readAttribute(attribute, resource) }),
        2: (scoped) => readFields(scoped.nested(), { 2: (span) => void spans.push(readSpan(span.nested())) }),
      }) });
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(frameMessage(Buffer.alloc(0)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ending.push(() => void server.close());
  const file = join(directory, `${(server.address() as AddressInfo).port}.yaml`);
  writeFileSync(file, `apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${(server.address() as AddressInfo).port}\n${more}`);
  return { spans, resource, file };
}

/** Asks, stops the server, which sends the last spans, and answers those of one trace. */
async function start(file: string): Promise<TestServer> {
  const server = await startTestServer({ tracingConfigFile: file });
  ending.push(() => server.close());
  return server;
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

test('a request that an administrator traces has spans of its filters, its verb and its calls of the store, under their names', async () => {
  const { spans, resource, file } = await startCollector();
  const server = await start(file);
  const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } };
  const headers = { traceparent, 'user-agent': 'tracer' };
  assert.equal((await server.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body, headers })).status, 201);
  await server.request({ path: '/api/v1/namespaces/default/configmaps/a' });
  await server.close();
  assert.deepEqual(new Set(spans.map((span) => span.traceId)), new Set([traceId]), 'requests that no tracer follows have none');
  assert.deepEqual([resource['service.name'], typeof resource['service.instance.id']], ['apiserver', 'string']);
  const named = (name: string): CollectedSpan => {
    const found = spans.find((span) => span.name === name);
    assert.ok(found, `${name} is not among ${spans.map((span) => span.name).join()}`);
    return found;
  };
  const request = named('POST /api/v1/namespaces/{:namespace}/configmaps');
  assert.deepEqual([request.parent, request.kind, request.attributes['http.response.status_code'], request.attributes['user_agent.original']],
    ['b7ad6b7169203331', 2, 201, 'tracer']);
  assert.ok(request.attributes['audit-id']);
  for (const filter of ['impersonation', 'priorityandfairness', 'authorization']) assert.equal(named(filter).parent, request.id);
  const create = named('Create');
  assert.deepEqual([create.parent, create.attributes['url'], create.attributes['client']], [request.id, '/api/v1/namespaces/default/configmaps', '127.0.0.1']);
  const stored = named('Create store');
  assert.deepEqual([stored.attributes['key'], stored.attributes['resource'], stored.events], ['/configmaps/default/a', 'configmaps', ['Txn call succeeded']]);
  assert.deepEqual([named('Txn').parent, named('Txn').kind], [stored.id, 3]);
});

test('a trace of another caller is linked to and not continued; anonymous requests have no spans unless chance has it', async () => {
  const { spans, file } = await startCollector('samplingRatePerMillion: 1000000\n');
  const server = await start(file);
  await server.request({ path: '/version', token: 'alice-token', headers: { traceparent } });
  await server.close();
  const [span] = spans.filter(({ attributes }) => attributes['url.path'] === '/version');
  assert.deepEqual([span?.name, span?.links, span?.traceId === traceId], ['GET', [traceId], false]);
});

test('a webhook gets the trace, and its call is a span of the request', async () => {
  const { spans, file } = await startCollector();
  const context = { clock: systemClock, random: systemRandom };
  const authority = createCertificate({ commonName: 'ca', lifetimeMs: 1e9 }, context);
  const { certificate: cert, key } = createCertificate({ commonName: 's', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs: 1e9 }, context);
  const seen: (string | undefined)[] = [];
  const webhook = createSecureServer({ cert, key }, (request, response) => {
    seen.push(request.headers['traceparent'] as string | undefined);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const { request: { uid } } = JSON.parse(Buffer.concat(chunks).toString());
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }));
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  ending.push(() => void webhook.close());
  const server = await start(file);
  const { status, text } = await server.request({
    method: 'POST', path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', body: {
      apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: 'w' },
      webhooks: [{
        name: 'w.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'],
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        clientConfig: { url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`, caBundle: Buffer.from(authority.certificate).toString('base64') },
      }],
    },
  });
  assert.equal(status, 201, text);
  const make = (name: string) => server.request({
    method: 'POST', path: '/api/v1/namespaces/default/configmaps', headers: { traceparent }, body: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } },
  });
  let count = 0;
  await eventually(async () => {
    assert.equal((await make(`a-${(count += 1)}`)).status, 201);
    assert.ok(seen.length > 0);
  });
  await server.close();
  const call = spans.find(({ name }) => name === 'Call validating webhook');
  const sent = spans.find(({ parent }) => parent === call?.id);
  assert.deepEqual([sent?.name, sent?.kind, sent?.attributes['http.response.status_code']], ['HTTP POST', 3, 200]);
  assert.ok(seen.includes(`00-${traceId}-${sent?.id}-01`), String(seen));
});

test('readTracingConfiguration reads the names of collectors and refuses what the reference refuses', async () => {
  const read = (fields: string, version = 'v1') => readTracingConfiguration(`apiVersion: apiserver.config.k8s.io/${version}\nkind: TracingConfiguration\n${fields}`);
  assert.deepEqual(await read(''), { collector: { host: 'localhost:4317' }, samplingRatePerMillion: 0 });
  assert.deepEqual(await read('endpoint: collector:4317\nsamplingRatePerMillion: 100', 'v1beta1'),
    { collector: { host: 'collector:4317' }, samplingRatePerMillion: 100 });
  for (const [endpoint, collector] of [
    ['dns:///collector:1', { host: 'collector:1' }], ['unix:///run/otel.sock', { socketPath: '/run/otel.sock' }], ['collector', { host: 'collector:443' }],
  ] as const) assert.deepEqual((await read(`endpoint: ${endpoint}`)).collector, collector);
  await assert.rejects(read('endpoint: https://collector:4317'), /endpoint: Invalid value: "https:\/\/collector:4317": unsupported scheme: https\./);
  await assert.rejects(read('endpoint: "a b"'), /endpoint: Invalid value: "dns:\/\/a b": parse "dns:\/\/a b": invalid character " " in host name/);
  const abstract = read('endpoint: unix-abstract:///otel');
  if (reachesAbstractSockets()) assert.deepEqual((await abstract).collector, { socketPath: '\0otel' });
  else await assert.rejects(abstract, /abstract sockets cannot be reached by this release of Node\.js/);
  assert.deepEqual(['1.46.0', '1.51.0', '1.52.1', '2.0.0'].map(reachesAbstractSockets), [false, true, true, true]);
  await assert.rejects(read('samplingRatePerMillion: -1'), /Invalid value: -1: sampling rate must be positive/);
  await assert.rejects(read('samplingRatePerMillion: 1000001'), /must be less than or equal to one million/);
  await assert.rejects(read('sampleRate: 1'), /unknown field "sampleRate"/);
});

test('inSpan and inShortSpan just run where nothing is traced', async () => {
  const describe = (): never => assert.fail();
  assert.equal(await inSpan(describe, () => 1), 1);
  assert.equal(inShortSpan(describe, () => 1), 1);
  await assert.rejects(inSpan(describe, () => Promise.reject(new Error('x'))), /x/);
  assert.equal(currentSpan(), undefined);
});
