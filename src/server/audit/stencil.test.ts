// Every line that the log writes is the JSON of its event, whether it was filled into a stencil or not.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { parseRequestInfo } from '../../endpoints/index.ts';
import { createAuditMetrics } from './audit-metrics.ts';
import { AuditEvent } from './event.ts';
import { Caller, type EventFields, noAnnotations, noteDecision, writeAnnotations } from './event-text.ts';
import { createLogBackend } from './log-backend.ts';
import { silentLogger } from '../observability/logger.ts';

const origin = { headers: { 'user-agent': 'kubectl' }, remoteAddress: '::1' };
let alice: Caller;
const ok = { code: 200 };
const pods = '/api/v1/namespaces/default/pods';
let made = 0;

function makeEvent(target: string, others: Partial<EventFields> = {}, request: Partial<EventFields['request']> = {}): AuditEvent {
  made += 1;
  const [path, query] = target.split('?') as [string, string | undefined];
  const receivedMs = Date.UTC(2030, 0, 2, 3, 4, 5) + made * 137.0625;
  return AuditEvent.of({
    request: {
      auditId: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`, requestUri: target, receivedMs, caller: alice,
      info: parseRequestInfo({ method: 'GET', path: decodeURIComponent(path), query: new URLSearchParams(query) }), ...request,
    },
    level: 'Metadata', stage: 'ResponseComplete', impersonated: undefined, found: undefined, status: ok, requestObject: undefined,
    responseObject: undefined, stageMs: receivedMs + 0.999, annotations: noteDecision('allow', ''), revisions: undefined, ...others,
  });
}

/** Writes events, some at a time; answers how many lines were filled in. */
function check(events: readonly AuditEvent[]): number {
  const written: string[] = [];
  const file = { write: (bytes: Uint8Array) => void written.push(Buffer.from(bytes).toString()), close: () => Promise.resolve() };
  const backend = createLogBackend({ file, format: 'json', isStrict: false, metrics: createAuditMetrics(silentLogger) });
  const bytes = Buffer.alloc(16 * 1024);
  let filled = 0;
  for (const [index, event] of events.entries()) {
    const end = event.fill(bytes, 7);
    if (end > 7) {
      filled += 1;
      assert.equal(bytes.toString('utf8', 7, end), `${event.json}\n`);
    }
    backend.process([event]);
    if (index % 3 === 2) backend.flush?.();
  }
  backend.flush?.();
  assert.deepEqual(written.join('').split('\n').slice(0, -1), events.map(({ json }) => json));
  return filled;
}

describe('Stencils', () => {
  beforeEach(() => {
    alice = new Caller(origin, { name: 'alice', groups: ['a', 'b"c'] });
  });

  it('fill in names of any length, audit IDs and times', () => {
    const names = ['a', 'web-0', 'a-name-that-is-a-good-deal-longer', 'b', ...Array.from({ length: 12 }, (_, index) => `pod-${index}`)];
    assert.equal(check(names.map((name) => makeEvent(`${pods}/${name}`))), names.length - 2);
  });

  it('fit stages, verbs, collections and other paths, each on its own', () => {
    const targets = [pods, `${pods}/a`, '/version', `${pods}?watch=1`];
    const events = Array.from({ length: 4 }, () => targets.map((target) => makeEvent(target))).flat();
    assert.ok(check(events) >= events.length / 2);
    const stages = Array.from({ length: 6 }, () => [
      makeEvent(`${pods}/a`, { stage: 'RequestReceived', status: undefined, annotations: noAnnotations }), makeEvent(`${pods}/a`),
    ]).flat();
    assert.ok(check(stages) >= 8);
  });

  it('do not fit what looks alike', () => {
    const events = [
      ...['one', 'two', 'default'].map((name) => `/api/v1/namespaces/${name}`), `${pods}/a%22b`, `${pods}/a`, `${pods}/b`, `${pods}/b?x=b`, `${pods}/b?x=c`,
      `${pods}/c/status`, `${pods}/status/status`, `${pods}/status`, '/api/v1/namespaces/kube-system/pods/b', `${pods}?fieldSelector=metadata.name=a`,
      `${pods}?fieldSelector=metadata.name=b`, `${pods}/d`,
    ].flatMap((target) => [makeEvent(target), makeEvent(target)]);
    check(events);
    const refused = { code: 404, reason: 'NotFound' } as const;
    const annotations = writeAnnotations([['k', 'v"']]);
    check([
      {}, {}, { status: refused }, { status: refused }, { status: { ...refused, code: 403 } }, { annotations }, { annotations }, { level: 'Request' } as const,
      { found: { uid: 'u' } }, { found: { uid: 'w' } }, { requestObject: '{"a":1}' }, { responseObject: '[2]' }, {},
      { impersonated: { user: { name: 'bob', groups: [] }, constraint: '' } }, { impersonated: { user: { name: 'eve', groups: [] }, constraint: '' } },
    ].map((others) => makeEvent(`${pods}/a`, others)));
  });

  it('do not fit audit IDs that need escapes or are of another length', () => {
    const ids = ['"'.repeat(36), 'é'.repeat(36), 'short', 'x'.repeat(36), '<'.repeat(36)];
    assert.equal(check([makeEvent(`${pods}/a`), makeEvent(`${pods}/a`), ...ids.map((auditId) => makeEvent(`${pods}/a`, {}, { auditId }))]), 1);
  });

  it('are not cut from lines with characters of several bytes, or from very long ones', () => {
    const caller = new Caller({ ...origin, headers: { 'user-agent': 'größer' } }, { name: 'ö', groups: [] });
    assert.equal(check(Array.from({ length: 4 }, () => makeEvent(`${pods}/a`, {}, { caller }))), 0);
    assert.equal(check(Array.from({ length: 4 }, () => makeEvent(`${pods}?labelSelector=${'x'.repeat(5000)}`))), 0);
  });

  it('leave a line alone that has no room', () => {
    check(Array.from({ length: 3 }, () => makeEvent(`${pods}/a`)));
    const event = makeEvent(`${pods}/a`);
    const { length } = event.json;
    assert.equal(event.fill(Buffer.alloc(length), 0), 0);
    assert.equal(event.fill(Buffer.alloc(length + 1), 0), length + 1);
  });
});
