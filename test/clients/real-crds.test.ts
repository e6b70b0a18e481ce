// Definitions that others have published, all of them on one server: established, published, and objects of every kind created, applied, refused, shown
// and deleted. They are fetched by `go mod download`; without it, or without a network, the suite says that it skips.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type TestServer, requestUntil, startTestServer } from '../../src/test-support/index.ts';
import { makeInvalid, makeMinimal } from './minimal-object.ts';
import { type Json, downloadModule, publishedModules, readObjects } from './modules.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const applyHeaders = { 'content-type': 'application/apply-patch+yaml' };
const tableHeaders = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
/** Kinds with rules that ask for more than their schemas, and without examples. */
const madeByHand: Readonly<Record<string, Json>> = {
  Usage: { spec: { reason: 'kept', of: { apiVersion: 'v1', kind: 'ConfigMap', resourceRef: { name: 'a' } } } },
  WorkloadEntry: { spec: { address: '10.0.0.1' } },
};

interface Kind {
  readonly definition: Json;
  readonly version: Json;
  readonly path: string;
  readonly examples: readonly Json[];
}

function listKinds(found: readonly Json[], objects: readonly Json[]): Kind[] {
  return found.flatMap((definition) => {
    const { group, names, scope, versions } = definition['spec'];
    return (versions as Json[]).filter(({ served }) => served).map((version) => {
      const path = `/apis/${group}/${version['name']}/${scope === 'Namespaced' ? 'namespaces/default/' : ''}${names.plural}`;
      const examples = objects.filter(({ apiVersion, kind }) => apiVersion === `${group}/${version['name']}` && kind === names.kind);
      return { definition, version, path, examples };
    });
  });
}

const schemaOf = ({ version }: Kind): Json => version['schema']?.openAPIV3Schema ?? {};

function minimalObject(kind: Kind): Json {
  const { properties = {}, ...rest } = schemaOf(kind);
  const { metadata: _metadata, apiVersion: _apiVersion, kind: _kind, status: _status, ...own } = properties;
  return makeMinimal({ ...rest, properties: own, required: (rest['required'] ?? Object.keys(own)).filter((name: string) => name in own) }) as Json;
}

function complete(kind: Kind, object: Json): Json {
  const { group, names } = kind.definition['spec'];
  const { namespace: _namespace, generateName: _generateName, ...metadata } = object['metadata'] ?? {};
  return { ...object, apiVersion: `${group}/${kind.version['name']}`, kind: names.kind, metadata: { ...metadata, name: metadata.name ?? 'minimal' } };
}

async function createFirst(server: TestServer, kind: Kind): Promise<{ readonly object?: Json; readonly refused: readonly string[] }> {
  const refused: string[] = [];
  for (const each of [...kind.examples.slice(0, 20), madeByHand[kind.definition['spec'].names.kind] ?? minimalObject(kind)]) {
    const object = complete(kind, each);
    const { status, body } = await server.request({ method: 'POST', path: kind.path, body: object });
    if (status === 201) return { object, refused };
    assert.ok(status === 422 || status === 400, `${kind.path}: ${status} ${JSON.stringify(body)}`);
    refused.push(`${kind.path}: ${String(body.message).slice(0, 300)}`);
  }
  return { refused };
}

/** Nulls that a create passes over are refused in an apply, as by the reference. */
const withoutNulls = (object: Json): Json => JSON.parse(JSON.stringify(object, (_, value) => (value === null ? undefined : value))) as Json;

async function exercise(server: TestServer, kind: Kind, object: Json): Promise<void> {
  const at = `${kind.path}/${object['metadata'].name}`;
  const applied = await server.request({ method: 'PATCH', path: `${at}?fieldManager=test&force=true`, headers: applyHeaders, body: withoutNulls(object) });
  assert.equal(applied.status, 200, `${at}: ${JSON.stringify(applied.body).slice(0, 500)}`);
  const invalid = makeInvalid(schemaOf(kind), object);
  if (invalid !== undefined) {
    const { status, body } = await server.request({ method: 'POST', path: kind.path, body: { ...invalid, metadata: { name: 'invalid' } } });
    assert.equal(status, 422, `${kind.path}: ${JSON.stringify(body).slice(0, 300)}`);
    assert.ok(body.details.causes.length > 0);
  }
  const table = (await server.request({ path: kind.path, headers: tableHeaders })).body;
  const shown = kind.version['additionalPrinterColumns'];
  assert.equal(table.columnDefinitions.length, 1 + (shown?.length || 1), kind.path);
  assert.equal(table.rows[0].cells.length, table.columnDefinitions.length);
  assert.equal((await server.request({ method: 'DELETE', path: at })).status, 200);
}

async function checkPublished(server: TestServer, kinds: readonly Kind[]): Promise<void> {
  for (const name of new Set(kinds.map(({ definition, version }) => `${definition['spec'].group}/${version['name']}`))) {
    const listed = (await server.request({ path: `/apis/${name}` })).body.resources.map((resource: Json) => resource['name']);
    const { components } = (await server.request({ path: `/openapi/v3/apis/${name}` })).body;
    const published = Object.values(components.schemas as Json).flatMap((schema) => schema['x-kubernetes-group-version-kind'] ?? []);
    for (const { definition, version } of kinds) {
      const { group, names } = definition['spec'];
      if (`${group}/${version['name']}` !== name) continue;
      assert.ok(listed.includes(names.plural), `${names.plural} in ${name}`);
      assert.ok(published.some(({ kind }: Json) => kind === names.kind), `${names.kind} in OpenAPI of ${name}`);
    }
  }
}

function fetchAll(context: TestContext): { readonly found: Json[]; readonly objects: Json[] } {
  const cache = mkdtempSync(join(tmpdir(), 'pintle-modules-'));
  context.after(() => rmSync(cache, { recursive: true, force: true }));
  const found: Json[] = [];
  const objects: Json[] = [];
  for (const module of publishedModules) {
    const answer = downloadModule(module, cache);
    if ('missing' in answer) {
      context.diagnostic(answer.missing);
      continue;
    }
    found.push(...readObjects(join(answer.folder, module.definitions)).filter(({ kind }) => kind === 'CustomResourceDefinition'));
    for (const folder of module.examples) objects.push(...readObjects(join(answer.folder, folder)));
  }
  return { found, objects };
}

test('definitions that others have published are served, and objects of their kinds are validated by them', { timeout: 600_000 }, async (context) => {
  const { found, objects } = fetchAll(context);
  if (found.length === 0) return context.skip('no module could be fetched: go, or the network, is not there');
  const server = await startTestServer();
  context.after(() => server.close());
  const broken: string[] = [];
  for (const definition of found) {
    const { status, body } = await server.request({ method: 'POST', path: definitions, body: definition });
    if (status !== 201) broken.push(`${definition['metadata'].name}: ${JSON.stringify(body).slice(0, 1000)}`);
  }
  assert.deepEqual(broken, []);
  for (const { metadata } of found) {
    const isEstablished = (body: Json): boolean => body['status']?.conditions?.some(({ type, status }: Json) => type === 'Established' && status === 'True');
    await requestUntil(server, { path: `${definitions}/${metadata.name}` }, { until: ({ body }) => isEstablished(body) });
  }
  const kinds = listKinds(found, objects);
  await checkPublished(server, kinds);
  const failed: string[] = [];
  let fromExamples = 0;
  for (const kind of kinds) {
    const { object, refused } = await createFirst(server, kind);
    if (object === undefined) failed.push(...refused);
    else await exercise(server, kind, object);
    if (object !== undefined && refused.length < kind.examples.length) fromExamples++;
    for (const line of refused) context.diagnostic(line);
  }
  context.diagnostic(`${found.length} definitions, ${kinds.length} kinds in versions, ${fromExamples} with the module's own examples`);
  assert.deepEqual(failed, []);
});
