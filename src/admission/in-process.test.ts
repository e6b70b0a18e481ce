// Admission hooks and conversions of the embedding program, on whole servers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestUntil, startTestServer } from '../test-support/index.ts';
import { type HookRequest, createInProcessPlugin, defineAdmission } from './in-process.ts';
import type { AdmissionAttributes } from '../registry/index.ts';

const maps = '/api/v1/namespaces/team/configmaps';
const team = { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'team' } } };

describe('createInProcessPlugin', () => {
  it('handles the resources, operations and namespaces that a hook names', () => {
    const handles = (match: object, more: object = {}): boolean => createInProcessPlugin({ name: 'h', match }).handles({
      operation: 'CREATE', resource: { group: 'apps', plural: 'deployments' }, subresource: '', namespace: 'ns', ...more } as unknown as AdmissionAttributes);
    assert.equal(handles({}), true);
    assert.equal(handles({ resources: ['deployments.apps'] }), true);
    assert.equal(handles({ resources: ['deployments'] }), false);
    assert.equal(handles({ resources: ['*'] }), true);
    assert.equal(handles({ resources: ['*.apps'] }, { subresource: 'scale' }), false);
    assert.equal(handles({ resources: ['*.apps/*'] }, { subresource: 'scale' }), true);
    assert.equal(handles({}, { operation: 'DELETE' }), false);
    assert.equal(handles({ operations: ['DELETE'], namespaces: ['ns'] }, { operation: 'DELETE' }), true);
    assert.equal(handles({ namespaces: ['other'] }), false);
  });

  it('lets a hook change any part of an object, also one that an update leaves as it was', async (context) => {
    let count = 0;
    const hook = defineAdmission<{ spec?: { template: { spec: { containers: { image: string }[] } } } }>({
      name: 'h.example.com', match: { resources: ['deployments.apps'], operations: ['UPDATE'] },
      mutate({ object }) {
        const [container] = object?.spec?.template.spec.containers ?? [];
        if (container !== undefined) container.image = `hooked:${++count}`;
      },
    });
    const server = await startTestServer({ admission: [hook] });
    context.after(() => server.close());
    await server.request(team);
    const path = '/apis/apps/v1/namespaces/team/deployments';
    const labels = { app: 'a' };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'plain' }] } } };
    await server.request({ method: 'POST', path, body: { metadata: { name: 'a' }, spec } });
    const patch = (value: string) => server.request({
      method: 'PATCH', path: `${path}/a`, headers: { 'content-type': 'application/merge-patch+json' }, body: { metadata: { labels: { value } } },
    });
    for (const [value, generation] of [['1', 2], ['2', 3], ['3', 4]] as const) {
      const { spec: { template }, metadata } = JSON.parse((await patch(value)).text);
      assert.deepEqual([template.spec.containers[0].image, metadata.generation], [`hooked:${generation - 1}`, generation]);
    }
  });

  it('sees each write with its old object, changes it, warns, and refuses in the words of webhooks', async (context) => {
    const seen: string[] = [];
    const note = ({ operation, name, object, oldObject, dryRun }: HookRequest): void =>
      void seen.push([operation, name, object !== undefined, oldObject !== undefined, dryRun].join(' '));
    const hook = defineAdmission({
      name: 'h.example.com', match: { resources: ['configmaps'], operations: ['CREATE', 'UPDATE', 'DELETE'], namespaces: ['team'] },
      mutate: ({ object }) => void (object !== undefined && Object.assign(object, { data: { by: 'hook' } })),
      validate(request) {
        if (request.name.startsWith('kube-')) return;
        note(request);
        request.warn('looked at');
        if (request.name === 'bad') request.deny('no', { code: 418 });
        if (request.name === 'broken') throw new Error('oops');
      },
    });
    const server = await startTestServer({ admission: [hook] });
    context.after(() => server.close());
    await server.request(team);
    const write = (method: string, path: string, name: string) =>
      server.request({ method, path, ...(method !== 'DELETE' && { body: { metadata: { name } } }) });
    const created = await write('POST', maps, 'a');
    assert.deepEqual([created.status, created.body.data, created.headers['warning']], [201, { by: 'hook' }, '299 - "looked at"']);
    assert.equal((await write('PATCH', `${maps}/a?dryRun=All`, 'a')).status, 200);
    assert.equal((await write('DELETE', `${maps}/a`, 'a')).status, 200);
    const bad = await write('POST', maps, 'bad');
    assert.deepEqual([bad.status, bad.body.message], [418, 'admission webhook "h.example.com" denied the request: no']);
    const broken = await write('POST', maps, 'broken');
    assert.deepEqual([broken.status, broken.body.message], [500, 'Internal error occurred: failed calling webhook "h.example.com": oops']);
    assert.deepEqual(seen.slice(0, 3), ['CREATE a true false false', 'UPDATE a true true true', 'DELETE a false true false']);
  });

  it('is not passed by requests that are large', async (context) => {
    const hook = defineAdmission({ name: 'h', match: { resources: ['configmaps'], namespaces: ['team'] }, validate: ({ deny }) => deny('never') });
    const server = await startTestServer({ admission: [hook] });
    context.after(() => server.close());
    await server.request(team);
    const data = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, '']));
    assert.equal((await server.request({ method: 'POST', path: maps, body: { metadata: { name: 'wide' }, data } })).status, 403);
  });
});

describe('convertInProcess', () => {
  it('converts custom kinds in place of the webhook that the definition names', async (context) => {
    const server = await startTestServer({ conversions: {
      'widgets.example.com': (object, apiVersion) => ({ ...object, spec: { size: apiVersion.endsWith('v2') ? 'two' : 'one' } }) } });
    context.after(() => server.close());
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'string' } } } } } };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } } };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.request({ method: 'POST', path, body: { metadata: { name: 'widgets.example.com' }, spec: {
      group: 'example.com', scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, conversion,
      versions: [{ name: 'v1', served: true, storage: true, schema }, { name: 'v2', served: true, storage: false, schema }] } } });
    const created = { method: 'POST', path: '/apis/example.com/v1/widgets', body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } } };
    await requestUntil(server, created, { until: ({ status }) => status === 201 });
    assert.deepEqual((await server.request({ path: '/apis/example.com/v2/widgets/w' })).body.spec, { size: 'two' });
  });
});
