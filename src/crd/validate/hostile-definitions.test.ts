// Definitions and objects that are made to hurt: refused or answered, in a bounded number of steps and in turns.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ClientResponse, type TestServer, createTurnClock, requestUntil, startStepCounter, startTestServer } from '../../test-support/index.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/**
 * What a request to these definitions may cost the main thread: three times what the dearest takes, and far below what unbounded work would.
 */
const MAX_STEPS = 40_000_000;
/** The same for what takes turns or leaves the thread. */
const MAX_MOVED_STEPS = 10_000_000;

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

const countSteps = await startStepCounter();

describe('hostile definitions', () => {
  const clock = createTurnClock(0.05);
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ clock });
    // The machinery for patterns and rules is loaded by the first definition that needs it.
    const properties = { a: { type: 'string', pattern: '^a$', maxLength: 5 } };
    const warm = { type: 'object', properties, 'x-kubernetes-validations': [{ rule: 'self.a == "a"' }] };
    for (let i = 0; i < 20; i++) await server.request({ method: 'POST', path, body: define(`warm${i}`, warm) });
    const body = { apiVersion: 'example.com/v1', kind: 'Kwarm0', metadata: { name: 'a' }, spec: { a: 'a' } };
    await requestUntil(server, { method: 'POST', path: '/apis/example.com/v1/warm0', body }, { until: ({ status }) => status === 201 });
  });
  after(() => server.close());

  /** Sends it, and counts the steps and turns of the thread that answers. */
  async function measure(body: Json, at = path): Promise<ClientResponse & { readonly steps: number; readonly turns: number }> {
    const [text, before] = [JSON.stringify(body), clock.turns];
    let response: ClientResponse | undefined;
    const steps = await countSteps(async () => {
      response = await server.request({ method: 'POST', path: at, body: text });
    });
    return { ...response as ClientResponse, steps, turns: clock.turns - before };
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
    it(`are validated in few steps: ${name}`, async (context) => {
      const { status, steps, turns, body } = await measure(define(name, spec));
      context.diagnostic(`${status} ${steps} steps, ${turns} turns ${String(body?.message ?? '').slice(0, 160)}`);
      assert.ok([201, 400, 413, 422].includes(status), String(status));
      assert.ok(steps < MAX_STEPS, `${steps} steps`);
    });
  }

  for (const [name, spec] of longDefinitions) {
    it(`have their validation in turns, or in a worker: ${name}`, async (context) => {
      const { status, steps, turns } = await measure(define(name, spec));
      context.diagnostic(`${status} ${steps} steps, ${turns} turns`);
      assert.equal(status, 201);
      assert.ok(turns > 50 || steps < MAX_MOVED_STEPS, `${steps} steps in ${turns} turns`);
    });
  }

  it('have objects that are validated in few steps', async (context) => {
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
      const { status, steps } = await measure(object('x', fields), at);
      context.diagnostic(`${status} ${steps} steps`);
      assert.ok([201, 400, 422].includes(status), String(status));
      assert.ok(steps < MAX_STEPS, `${steps} steps`);
    }
  });

  it('have objects that a worker validates when it takes long: large patterns, costly rules, many alternatives', async (context) => {
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
      const { status, steps, turns } = await measure(object('good', good), at);
      context.diagnostic(`${plural} ${status} ${steps} steps, ${turns} turns`);
      assert.equal(status, 201);
      assert.ok(steps < MAX_MOVED_STEPS, `${steps} steps`);
      assert.equal((await measure(object('bad', bad), at)).status, 422);
    }
  });
});
