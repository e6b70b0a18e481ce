// Definitions and objects that are made to hurt: refused or answered, without keeping everybody else waiting.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, recordLongestTurn, requestUntil, startTestServer } from '../../test-support/index.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/**
 * Longest stall of the event loop, which the client of these tests shares: far above what a quiet machine shows (33 ms at most), far below what
 * unbounded work would take.
 */
const limitMs = 500;

type Json = Record<string, unknown>;

function define(plural: string, spec: Json): Json {
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com', scope: 'Cluster', names: { plural, kind: `K${plural}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
}

function nest(depth: number, wrap: (inner: Json) => Json): Json {
  let schema: Json = { type: 'string' };
  for (let i = 0; i < depth; i++) schema = wrap(schema);
  return schema;
}

const fields = (count: number, schema: (i: number) => Json): Json => ({
  type: 'object', properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, schema(i)])),
});

/** Definitions whose validation is long, and has to be done in turns: at once they hold the loop for hundreds of milliseconds to seconds. */
const longDefinitions: readonly (readonly [string, Json])[] = [
  ['longpatterns', fields(2000, (i) => ({ type: 'string', pattern: `a{1,900}${i}` }))],
  ['longrules', { ...fields(1, () => ({ type: 'string', maxLength: 5 })),
    'x-kubernetes-validations': Array.from({ length: 6000 }, (_, i) => ({ rule: `self.field0 != "${i}"` })) }],
  ['longspread', fields(4000, (i) => ({ type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: `self != "${i}"` }] }))],
  ['longdefaults', fields(10_000, (i) => ({ type: 'string', default: `x${i}` }))],
  ['longfields', fields(20_000, () => ({ type: 'string' }))],
];

/** How long this machine takes, as busy as it is, for work that takes 10 to 20 ms on a quiet one. */
function calibrate(): number {
  const text = JSON.stringify(fields(20_000, () => ({ type: 'string' })));
  const measure = (): number => {
    const startedMs = performance.now();
    JSON.parse(JSON.stringify(JSON.parse(text)));
    return performance.now() - startedMs;
  };
  return Math.min(measure(), measure(), measure());
}

describe('hostile definitions', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    // The machinery for patterns and rules is loaded by the first definition that needs it.
    const properties = { a: { type: 'string', pattern: '^a$', maxLength: 5 } };
    const warm = { type: 'object', properties, 'x-kubernetes-validations': [{ rule: 'self.a == "a"' }] };
    for (let i = 0; i < 20; i++) await server.request({ method: 'POST', path, body: define(`warm${i}`, warm) });
    const body = { apiVersion: 'example.com/v1', kind: 'Kwarm0', metadata: { name: 'a' }, spec: { a: 'a' } };
    await requestUntil(server, { method: 'POST', path: '/apis/example.com/v1/warm0', body }, { until: ({ status }) => status === 201 });
  });
  after(() => server.close());

  /** Sends it and answers with the longest stall meanwhile. */
  async function stall(body: Json, at = path): Promise<ClientResponse & { readonly stallMs: number }> {
    const text = JSON.stringify(body);
    const longestTurn = recordLongestTurn();
    const response = await server.request({ method: 'POST', path: at, body: text });
    await new Promise((resolve) => setTimeout(resolve, 30));
    return { ...response, stallMs: longestTurn() };
  }

  const cases: readonly (readonly [string, Json])[] = [
    ['deep', nest(400, (inner) => ({ type: 'object', properties: { a: inner } }))],
    ['deeplists', nest(400, (inner) => ({ type: 'array', items: inner }))],
    ['deepbranches', { type: 'object', properties: { a: { type: 'string' } }, ...nest(200, (inner) => ({ allOf: [inner, inner].slice(0, 1) })) }],
    ['wide', { type: 'object', properties: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`f${i}`, { type: 'string' }])) }],
    ['patterns', { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' }, b: { type: 'string', pattern: '(x{1,500}){1,500}' } } }],
    ['cost', { type: 'array', items: { type: 'array', items: { type: 'string' } }, 'x-kubernetes-validations': [
      { rule: 'self.all(a, self.all(b, a.all(x, b.all(y, x.matches(y)))))' }] }],
    ['longrule', { type: 'object', 'x-kubernetes-validations': [{ rule: `${'('.repeat(500)}true${')'.repeat(500)}` }] }],
    ['manyrules', { type: 'object', properties: { a: { type: 'string', maxLength: 10 } },
      'x-kubernetes-validations': Array.from({ length: 200 }, (_, i) => ({ rule: `self.a != "${i}"` })) }],
  ];
  for (const [name, spec] of cases) {
    it(`are judged in short turns: ${name}`, async (context) => {
      const { status, stallMs, body } = await stall(define(name, spec));
      context.diagnostic(`${status} ${stallMs.toFixed(1)} ms ${String(body?.message ?? '').slice(0, 160)}`);
      assert.ok([201, 400, 413, 422].includes(status), String(status));
      assert.ok(stallMs < limitMs, `${stallMs} ms`);
    });
  }

  for (const [name, spec] of longDefinitions) {
    it(`have their validation in turns: ${name}`, async (context) => {
      const unitMs = Math.max(calibrate(), 10);
      const { status, stallMs } = await stall(define(name, spec));
      context.diagnostic(`${status} ${stallMs.toFixed(1)} ms, ${(stallMs / unitMs).toFixed(1)} units`);
      assert.equal(status, 201);
      assert.ok(stallMs < 20 * unitMs, `${stallMs} ms, ${stallMs / unitMs} units`);
    });
  }

  it('have objects that are judged in short turns', async (context) => {
    const spec = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(a+)+$' }, list: { type: 'array', maxItems: 1000, items: { type: 'string', maxLength: 10 } } },
      'x-kubernetes-validations': [{ rule: '!has(self.list) || self.list.all(x, x != "b")' }],
    };
    await server.request({ method: 'POST', path, body: define('victims', spec) });
    const at = '/apis/example.com/v1/victims';
    await requestUntil(server, { path: at }, { until: ({ status }) => status === 200 });
    const object = (name: string, fields: Json): Json => ({ apiVersion: 'example.com/v1', kind: 'Kvictims', metadata: { name }, spec: fields });
    await server.request({ method: 'POST', path: at, body: object('warm', { a: 'a', list: ['a'] }) });
    for (const fields of [{ a: `${'a'.repeat(100_000)}b` }, { list: Array.from({ length: 1000 }, () => 'a') }, nest(500, (inner) => ({ a: inner }))]) {
      const { status, stallMs } = await stall(object('x', fields), at);
      context.diagnostic(`${status} ${stallMs.toFixed(1)} ms`);
      assert.ok([201, 400, 422].includes(status), String(status));
      assert.ok(stallMs < limitMs, `${stallMs} ms`);
    }
  });

  it('have objects that are judged aside when it takes long: large patterns, costly rules, many alternatives', async (context) => {
    const long = fields(300, (i) => ({ type: 'string', pattern: `a{1,900}${i}` }));
    const rule = { rule: 'self.all(x, x < 10)' };
    await server.request({ method: 'POST', path, body: define('patterned', long) });
    await server.request({ method: 'POST', path, body: define('ruled', { type: 'array', maxItems: 100_000, items: { type: 'integer' },
      'x-kubernetes-validations': [rule] }) });
    const either = Array.from({ length: 300 }, (_, i) => ({ required: [`k${i}`] }));
    await server.request({ method: 'POST', path, body: define('chosen', { type: 'array', items: { type: 'object',
      'x-kubernetes-preserve-unknown-fields': true, oneOf: either } }) });
    const allowed = Array.from({ length: 30_000 }, (_, i) => `e${i}`);
    await server.request({ method: 'POST', path, body: define('allowed', { type: 'array', items: { type: 'string', enum: allowed } }) });
    const specs: readonly (readonly [string, unknown, unknown])[] = [
      ['chosen', Array.from({ length: 3000 }, (_, i) => ({ [`k${i % 300}`]: 1 })), [{ k1: 1, k2: 2 }]],
      ['allowed', Array.from({ length: 30_000 }, () => 'e29999'), ['e30000']],
      ['patterned', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field${i}`, `a${i}`])), { field1: 'b' }],
      ['ruled', Array.from({ length: 50_000 }, () => 1), Array.from({ length: 50_000 }, (_, i) => i)],
    ];
    for (const [plural, good, bad] of specs) {
      const at = `/apis/example.com/v1/${plural}`;
      await requestUntil(server, { path: at }, { until: ({ status }) => status === 200 });
      const object = (name: string, spec: unknown): Json => ({ apiVersion: 'example.com/v1', kind: `K${plural}`, metadata: { name }, spec });
      const unitMs = Math.max(calibrate(), 10);
      const { status, stallMs } = await stall(object('good', good), at);
      context.diagnostic(`${plural} ${status} ${stallMs.toFixed(1)} ms, ${(stallMs / unitMs).toFixed(1)} units`);
      assert.equal(status, 201);
      assert.ok(stallMs < 20 * unitMs, `${stallMs} ms, ${stallMs / unitMs} units`);
      assert.equal((await stall(object('bad', bad), at)).status, 422);
    }
  });
});
