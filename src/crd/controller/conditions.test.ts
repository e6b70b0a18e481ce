// What definitions say of themselves when something is wrong: an unusable caBundle, objects that cannot be deleted. And the table of a Scale.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../base/index.ts';
import { type TestServer, requestUntil, startTestServer } from '../../test-support/index.ts';
import { createCertificate } from '../../server/tls/certificates.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const patchHeaders = { 'content-type': 'application/merge-patch+json' };
const { certificate } = createCertificate({ commonName: 'ca', lifetimeMs: 3_600_000 }, { clock: systemClock, random: systemRandom });
const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

const conditionOf = (definition: { status?: { conditions?: Condition[] } }, type: string): Condition | undefined =>
  definition.status?.conditions?.find((each) => each.type === type);

function define(plural: string, spec: object = {}): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = (name: string, storage: boolean): object => ({ name, served: true, storage, schema,
    subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } });
  const kind = `K${plural}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.example.com` },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural, kind }, versions: [version('v1', true), version('v2', false)], ...spec },
  };
}

const webhook = (caBundle: string): object => ({ conversion: { strategy: 'Webhook', webhook: {
  conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/', caBundle },
} } });

describe('conditions of definitions', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.close());

  it('keep a row that cannot be trusted from being served, until it can be', async () => {
    await server.request({ method: 'POST', path, body: define('untrusted', webhook(toBase64('nothing'))) });
    const one = { path: `${path}/untrusted.example.com` };
    const told = await requestUntil(server, one, { until: ({ body }) => conditionOf(body, 'Established')?.reason === 'InvalidCABundle' });
    assert.deepEqual([conditionOf(told.body, 'Established')?.status, conditionOf(told.body, 'Established')?.message],
      ['False', 'The conversion webhook CABundle is invalid']);
    assert.equal((await server.request({ path: '/apis/example.com/v1/untrusted' })).status, 404);
    await server.request({ method: 'PATCH', ...one, headers: patchHeaders, body: { spec: webhook(toBase64(certificate)) } });
    await requestUntil(server, one, { until: ({ body }) => conditionOf(body, 'Established')?.status === 'True' });
    const worse = await server.request({ method: 'PATCH', ...one, headers: patchHeaders, body: { spec: webhook(toBase64('nothing')) } });
    assert.equal(worse.status, 422);
    assert.equal(worse.body.details.causes[0].field, 'spec.conversion.webhookClientConfig.caBundle');
  });

  it('say that objects cannot be deleted', async () => {
    await server.request({ method: 'POST', path, body: define('stuck', webhook('')) });
    const at = (version: string): string => `/apis/example.com/${version}/namespaces/default/stuck`;
    const one = `${path}/stuck.example.com`;
    const body = { apiVersion: 'example.com/v1', kind: 'Kstuck', metadata: { name: 'a' } };
    await requestUntil(server, { method: 'POST', path: at('v1'), body }, { until: ({ status }) => status === 201 });
    const stored = [{ op: 'replace', path: '/spec/versions/0/storage', value: false }, { op: 'replace', path: '/spec/versions/1/storage', value: true }];
    await server.request({ method: 'PATCH', path: one, headers: { 'content-type': 'application/json-patch+json' }, body: stored });
    await server.request({ method: 'DELETE', path: one });
    const told = await requestUntil(server, { path: one }, { until: (reply) => conditionOf(reply.body, 'Terminating')?.reason === 'InstanceDeletionFailed' });
    const message = conditionOf(told.body, 'Terminating')?.message ?? '';
    assert.match(message, /^could not list instances: conversion webhook for example.com\/v1, Kind=Kstuck failed: /);
    await server.request({ method: 'PATCH', path: one, headers: patchHeaders, body: { spec: { conversion: { strategy: 'None', webhook: null } } } });
    await requestUntil(server, { path: one }, { until: ({ status }) => status === 404 });
  });

  it('print a Scale as a table', async () => {
    await server.request({ method: 'POST', path, body: define('scaled') });
    const at = '/apis/example.com/v1/namespaces/default/scaled';
    const body = { apiVersion: 'example.com/v1', kind: 'Kscaled', metadata: { name: 'a' }, spec: { replicas: 3 } };
    await requestUntil(server, { method: 'POST', path: at, body }, { until: ({ status }) => status === 201 });
    const table = await server.request({ path: `${at}/a/scale`, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    assert.deepEqual((table.body.columnDefinitions as { name: string }[]).map(({ name }) => name), ['Name', 'Desired', 'Available', 'Age']);
    assert.deepEqual(table.body.rows[0].cells.slice(0, 3), ['a', 3, 0]);
  });
});
