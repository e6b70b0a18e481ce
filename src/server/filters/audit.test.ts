// The audit filter with a handler that fails, a backend that fails, and a request that takes long.
import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { type StatusError, notFound } from '../../apimachinery/index.ts';
import type { AuditDecision } from '../../auth/index.ts';
import { createManualClock } from '../../base/index.ts';
import { type Handler, type Response, respondError } from '../../endpoints/index.ts';
import type { Audit } from '../audit/audit.ts';
import { createAuditMetrics } from '../audit/audit-metrics.ts';
import { RequestAudit, createWallTime } from '../audit/record.ts';
import { type ServerExchange, createExchange } from '../http/exchange.ts';
import { silentLogger } from '../observability/logger.ts';
import { auditRequests } from './audit.ts';

const ok: Response = { status: 200, headers: {}, body: new Uint8Array() };

interface Circumstances {
  readonly stores?: boolean;
  readonly tookMs?: number;
  readonly verb?: string;
  /** What happens before the backend writes the events. */
  readonly later?: (exchange: ServerExchange) => void;
}

/** Passes one request through the filter; answers the events, the outcome and the metrics. */
async function pass(handler: Handler, { stores = true, tookMs = 0, verb = 'get', later }: Circumstances = {}) {
  const [clock, metrics, waiting] = [createManualClock(), createAuditMetrics(silentLogger), [] as { readonly json: string }[]];
  const backend = {
    process: async (made: readonly { readonly json: string }[]) => {
      waiting.push(...made);
      return stores;
    },
    stop: () => Promise.resolve(),
  };
  const decision: AuditDecision = { level: 'Metadata', omitStages: new Set(), omitManagedFields: false };
  const parts = { backend, writes: { add() {} }, clock, wallTime: createWallTime(clock), metrics };
  const audit: Audit = {
    metrics, flush() {}, answer: () => undefined, rotateFor() {}, stop: () => Promise.resolve(),
    begin: (exchange, user) => new RequestAudit(parts, exchange, { user, decision }),
  };
  const wire = {
    input: Readable.from([]), output: new Writable(), isReceived: true, readBody: async () => new Uint8Array(), sendContinue() {}, start() {}, finish() {},
    destroy() {},
  };
  const head = { method: 'GET', target: '/a', headers: {}, remoteAddress: '::1', clientCertificate: undefined, connection: {}, auditId: 'id' };
  const exchange = createExchange(head, wire, clock);
  assert.ok(exchange);
  exchange.info = { ...exchange.info, verb };
  const slowly: Handler = (asked) => {
    clock.advance(tookMs);
    return handler(asked);
  };
  const outcome = await (async () => auditRequests({ audit, respondError })(exchange, slowly))().catch((error: unknown) => error as StatusError);
  later?.(exchange as ServerExchange);
  const events = waiting.map(({ json }) => JSON.parse(json) as Record<string, any>);
  return { events, outcome, rendered: metrics.render() };
}

describe('auditRequests', () => {
  it('records a Status that is thrown as the answer', async () => {
    const { events, outcome } = await pass(() => {
      throw notFound({ group: '', resource: 'pods' }, 'p');
    });
    assert.equal((outcome as Response).status, 404);
    const stages = events.map(({ stage, responseStatus }) => [stage, responseStatus?.reason]);
    assert.deepEqual(stages, [['RequestReceived', undefined], ['ResponseComplete', 'NotFound']]);
  });

  it('records how a request was given up, not what comes of its work later', async () => {
    const { events } = await pass((asked) => {
      (asked as ServerExchange).abort('given up');
      throw notFound({ group: '', resource: 'pods' }, 'p');
    }, { later: ({ audit }) => audit?.recordStatus({ code: 500, reason: 'InternalError' }) });
    assert.equal(events[1]?.['responseStatus'].reason, 'NotFound');
  });

  it('records a failure of the server as its last stage, and passes it on', async () => {
    const { events, outcome } = await pass(() => Promise.reject(new TypeError('broken')));
    assert.equal((outcome as Error).message, 'broken');
    assert.deepEqual(events.map(({ stage }) => stage), ['RequestReceived', 'Panic']);
    assert.deepEqual(events[1]?.['responseStatus'],
      { metadata: {}, status: 'Failure', message: 'APIServer panic\'d: broken', reason: 'InternalError', code: 500 });
  });

  it('fails a request whose first event is not stored', async () => {
    let asked = 0;
    const { outcome, rendered } = await pass(() => {
      asked += 1;
      return ok;
    }, { stores: false });
    assert.deepEqual([(outcome as StatusError).status.code, (outcome as StatusError).status.message, asked],
      [500, 'Internal error occurred: failed to store audit event', 0]);
    assert.ok(rendered.includes('apiserver_audit_requests_rejected_total 1'));
  });

  it('says where a request stayed that took longer than half a second', async () => {
    assert.equal((await pass(() => ok, { tookMs: 500 })).events[1]?.['annotations'], undefined);
    assert.deepEqual((await pass(() => ok, { tookMs: 1500 })).events[1]?.['annotations'], { 'apiserver.latency.k8s.io/total': '1.5s' });
  });

  it('annotates how long webhooks took: those that change objects together, of the others the longest', async () => {
    const { events } = await pass(({ audit }) => {
      for (const [isMutating, tookMs] of [[true, 200], [true, 300], [false, 600], [false, 400]] as const) audit?.recordWebhook({ isMutating, tookMs });
      return ok;
    }, { tookMs: 1500, verb: 'create' });
    assert.deepEqual(events[1]?.['annotations'], {
      'apiserver.latency.k8s.io/mutating-webhook': '500ms', 'apiserver.latency.k8s.io/validating-webhook': '600ms', 'apiserver.latency.k8s.io/total': '1.5s',
    });
  });

  it('says nothing of the kind of watches', async () => {
    const { events } = await pass(() => ok, { tookMs: 1500, verb: 'watch' });
    assert.deepEqual(events.map(({ stage, annotations }) => [stage, annotations]), [['RequestReceived', undefined], ['ResponseComplete', undefined]]);
  });
});
