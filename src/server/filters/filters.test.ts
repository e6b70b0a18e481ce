// The filters around a handler of our own: panics, limits in flight, deadlines.
import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { StatusError, internalError } from '../../apimachinery/index.ts';
import { type Decision, createAuthenticator } from '../../auth/index.ts';
import { type Clock, catchMaybe, createManualClock, systemClock } from '../../base/index.ts';
import { type Handler, type Response, respondError } from '../../endpoints/index.ts';
import { type HttpExchange, createExchange } from '../http/exchange.ts';
import { authenticateRequests } from './authenticate.ts';
import type { Lifecycle } from './filter.ts';
import { createFilterChain } from './filters.ts';
import { silentLogger } from '../observability/logger.ts';
import type { Resource } from '../../registry/index.ts';
import { createMetrics } from '../metrics/metrics.ts';

const ok: Response = { status: 200, headers: {}, body: new Uint8Array() };

interface Limits {
  reads?: number;
  timeoutMs?: number;
  groups?: string[];
  clock?: Clock;
  decision?: Decision;
  lifecycle?: Lifecycle;
  /** A resource that the server has. */
  resource?: Resource;
}

function createChain(handler: Handler, limits: Limits = {}) {
  const metrics = createMetrics();
  const chain = createFilterChain({
    logger: silentLogger, metrics, handler, respondError, clock: limits.clock ?? systemClock,
    authenticate: async () => ({ type: 'user', user: { name: 'u', groups: limits.groups ?? [] } }),
    authorize: () => limits.decision ?? { type: 'allow', reason: '' }, catalog: { findResource: () => limits.resource },
    impersonate: async ({ name }) => ({ user: { name, groups: [] }, constraint: '' }),
    requestTimeoutMs: limits.timeoutMs ?? 60_000, maxReadsInFlight: limits.reads ?? 400, maxMutationsInFlight: 200,
    ...(limits.lifecycle !== undefined && { lifecycle: limits.lifecycle }),
  });
  return { chain, metrics };
}

function makeExchange(target: string, options: { method?: string; clock?: Clock; body?: Promise<Uint8Array> } = {}): HttpExchange {
  const { body } = options;
  const wire = {
    input: Readable.from([]), output: new Writable(), isReceived: body === undefined, readBody: async () => body ?? new Uint8Array(), sendContinue() {},
    start() {}, finish() {}, destroy() {},
  };
  const head = { method: options.method ?? 'GET', target, headers: {}, remoteAddress: '', clientCertificate: undefined, connection: {}, auditId: 'id' };
  return createExchange(head, wire, options.clock ?? systemClock) as HttpExchange;
}

const read = (response: Response): string => new TextDecoder().decode(response.body as Uint8Array);
const hang: Handler = () => new Promise(() => {});

describe('createFilterChain', () => {
  it('answers 500 in plain text to a handler that breaks', async () => {
    const { chain } = createChain(async () => {
      throw new TypeError('our mistake');
    });
    const response = await chain(makeExchange('/api/v1/pods'));
    assert.equal(response.status, 500);
    assert.equal(read(response), 'This request caused apiserver to panic. Look in the logs for details.');
  });

  it('answers 503 instead of 404 until all paths are known', async () => {
    const missing: Response = { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from('404 page not found\n') };
    const lifecycle = { hasAllRoutes: false, sendsAway: false };
    const { chain } = createChain(async () => missing, { lifecycle });
    const early = await chain(makeExchange('/apis/late.example.com/v1/things'));
    assert.deepEqual([early.status, early.headers['retry-after'], JSON.parse(read(early)).reason, JSON.parse(read(early)).message], [503, '5',
      'ServiceUnavailable', 'the request has been made before all known HTTP paths have been installed, please try again']);
    lifecycle.hasAllRoutes = true;
    assert.equal(await chain(makeExchange('/apis/late.example.com/v1/things')), missing);
  });

  it('turns Status errors into answers', async () => {
    const { chain } = createChain(async () => {
      throw new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 418 });
    });
    assert.equal((await chain(makeExchange('/api/v1/pods'))).status, 418);
  });

  it('refuses reads above the limit until one is finished; watches and administrators pass', async () => {
    const { chain, metrics } = createChain(hang, { reads: 1 });
    const first = makeExchange('/api/v1/pods');
    void chain(first);
    await new Promise((resolve) => setImmediate(resolve));
    const refused = await chain(makeExchange('/api/v1/pods'));
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1']);
    void chain(makeExchange('/api/v1/pods?watch=1'));
    assert.equal(metrics.inFlight.readOnly, 1);
    first.close(true);
    assert.equal(metrics.inFlight.readOnly, 0);
    const admin = createChain(async () => ok, { reads: 1, groups: ['system:masters'] });
    admin.metrics.inFlight.readOnly = 1;
    assert.equal((await admin.chain(makeExchange('/api/v1/pods'))).status, 200);
  });

  it('answers 500 where an authorizer could not be asked and none allows the request', async () => {
    for (const type of ['none', 'deny'] as const) {
      const { chain } = createChain(async () => ok, { decision: { type, reason: 'because', error: 'nobody there' } });
      const { status, headers, body } = await chain(makeExchange('/api/v1/pods?limit=1'));
      assert.deepEqual([status, headers['content-type'], new TextDecoder().decode(body as Uint8Array)],
        [500, 'text/plain; charset=utf-8', 'Internal Server Error: "/api/v1/pods?limit=1": nobody there\n']);
    }
    const { chain } = createChain(async () => ok, { decision: { type: 'allow', reason: '', error: 'nobody there' } });
    assert.equal((await chain(makeExchange('/api/v1/pods'))).status, 200);
  });

  it('answers 500 to paths that end with the verb of old watches and proxies', async () => {
    const { chain } = createChain(async () => ok);
    for (const path of ['/api/v1/watch', '/apis/apps/v1/proxy?a=b%2fc']) {
      const { status, body } = await chain(makeExchange(path));
      assert.deepEqual([status, new TextDecoder().decode(body as Uint8Array)], [500,
        `Internal Server Error: "${path}": failed to create RequestInfo: unable to determine kind and namespace from url, ${path}\n`]);
    }
    assert.equal((await chain(makeExchange('/api/v1/watch/pods'))).status, 200);
  });

  it('ends a write whose client went away with the 504 that audit and metrics show; a read ends as it would have', async () => {
    const { chain } = createChain((exchange) => new Promise((_resolve, reject) => {
      exchange.signal.addEventListener('abort', () => reject(internalError('the hook failed')));
    }));
    const answerOf = async (method: string): Promise<string> => {
      const exchange = makeExchange('/api/v1/namespaces/x/pods/a', { method });
      const answer = chain(exchange);
      await new Promise((resolve) => setImmediate(resolve));
      exchange.close(false);
      return (JSON.parse(read(await answer)) as { message: string }).message;
    };
    for (const method of ['PUT', 'DELETE']) {
      assert.equal(await answerOf(method), 'Timeout: request did not complete within requested timeout - context canceled');
    }
    assert.equal(await answerOf('GET'), 'Internal error occurred: the hook failed');
  });

  it('answers 504 at the deadline of the request and aborts its signal; writes of one object have 34 seconds', async () => {
    for (const [method, target, afterMs, type, message] of [
      ['GET', '/api/v1/pods?timeout=5s', 5000, 'text/plain; charset=utf-8', 'Timeout: request did not complete within the allotted timeout'],
      ['POST', '/api/v1/namespaces/x/pods', 34_000, 'application/json', 'Timeout: request did not complete within requested timeout - context deadline exceeded'],
      ['DELETE', '/api/v1/namespaces/x/pods', 60_000, 'text/plain; charset=utf-8', 'Timeout: request did not complete within the allotted timeout'],
      ['GET', '/api/v1/pods?timeout=10h', 60_000, 'text/plain; charset=utf-8', 'Timeout: request did not complete within the allotted timeout'],
    ] as const) {
      const clock = createManualClock();
      const exchange = makeExchange(target, { method, clock });
      const answer = createChain(hang, { clock }).chain(exchange);
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(afterMs - 1);
      assert.ok(!exchange.signal.aborted);
      clock.advance(1);
      const response = await answer;
      assert.equal(response.status, 504);
      assert.equal(response.headers['content-type'], type);
      assert.equal(JSON.parse(read(response)).message, message);
      assert.ok(exchange.signal.aborted);
    }
  });

  it('waits for the body of a write as long as the request may take, and then lets it take as long again', async () => {
    for (const [method, target, afterMs] of [
      ['POST', '/api/v1/namespaces/x/pods', 34_000], ['POST', '/api/v1/namespaces/x/pods?timeout=5s', 5000], ['DELETE', '/api/v1/namespaces/x/pods', 60_000],
    ] as const) {
      const clock = createManualClock();
      const chainOf = (handler: Handler) => createChain(handler, { clock, resource: {} as Resource }).chain;
      let calls = 0;
      const handler: Handler = async () => {
        calls += 1;
        return ok;
      };
      const late = chainOf(handler)(makeExchange(target, { method, clock, body: new Promise(() => {}) }));
      let arrive = (_: Uint8Array): void => {};
      const body = new Promise<Uint8Array>((resolve) => (arrive = resolve));
      const inTime = chainOf(handler)(makeExchange(target, { method, clock, body }));
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(afterMs - 1);
      arrive(new Uint8Array());
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(1);
      assert.deepEqual([(await late).status, (await inTime).status, calls], [504, 200, 1]);
    }
  });
});

describe('authenticateRequests', () => {
  it('attack 48: takes the token of this machine from this machine only', async () => {
    const admin = { name: 'admin', groups: ['system:masters'] };
    const authenticate = createAuthenticator({
      tokens: [], localTokens: [(token) => (token === 'local' ? { type: 'user', user: admin } : undefined)], allowAnonymous: true,
    });
    const filter = authenticateRequests({ authenticate, metrics: createMetrics(), respondError: () => assert.fail('errors are thrown') });
    const wire = {
      input: Readable.from([]), output: new Writable(), isReceived: true, readBody: async () => new Uint8Array(), sendContinue() {}, start() {}, finish() {},
      destroy() {},
    };
    const ask = async (remoteAddress: string): Promise<number> => {
      const headers = { authorization: 'Bearer local', 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1', host: 'localhost' };
      const head = { method: 'GET', target: '/api', headers, remoteAddress, clientCertificate: undefined, connection: {}, auditId: 'id' };
      const exchange = createExchange(head, wire, systemClock) as HttpExchange;
      return (await catchMaybe(() => filter(exchange, () => ok), (error) => ({ ...ok, status: (error as StatusError).code }))).status;
    };
    for (const here of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) assert.equal(await ask(here), 200, here);
    for (const away of ['10.0.0.7', '192.168.127.1', '::ffff:10.127.0.1', '::2', 'fe80::1', '1127.0.0.1', '']) assert.equal(await ask(away), 401, away);
  });
});
