// The writers of revisions: what the audit has said lately of requests that changed the store, by revision. The console shows it beside the versions of
// an object. It is kept in memory, within a bound, and the right to read its path is one of its own.
//
//   GET /audit/writes?group=apps&resource=deployments&revisions=120,131
import { badRequest } from '../../apimachinery/index.ts';
import { BoundedCache } from '../../base/index.ts';
import type { Exchange, Response } from '../../endpoints/index.ts';
import type { AuditEvent } from './event.ts';

/** The path. */
export const WRITES_PATH = '/audit/writes';

/** Bytes of the texts that are kept, about: those of some 30,000 writes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of an entry besides its text. */
const ENTRY_BYTES = 200;
/** Revisions of one question. */
const MAX_ASKED = 500;

/** Keeps what events say of writes, and answers it. */
export interface RecentWrites {
  /** Keeps an event that ends a request with revisions. */
  add(event: AuditEvent): void;
  /** Answers the path; undefined for all others. Throws a 400 for a question without revisions, and for one that names too many. */
  answer(exchange: Exchange): Response | undefined;
}

/** Servers may keep some kinds in other stores, which count revisions of their own. */
const keyOf = (group: string, resource: string, revision: number): string => `${revision} ${resource}.${group}`;

function describeWrite({ fields: { request, impersonated } }: AuditEvent): string {
  const { auditId, receivedMs, info: { verb, subresource }, caller: { user, sourceIps, userAgent } } = request;
  return JSON.stringify({
    time: new Date(receivedMs).toISOString(), verb, ...(subresource && { subresource }), user: user?.name ?? '',
    ...(impersonated !== undefined && { impersonatedUser: impersonated.user.name }), sourceIPs: sourceIps, userAgent, auditID: auditId,
  }).slice(1);
}

function readRevisions({ query }: Exchange): number[] {
  const revisions = (query.get('revisions') ?? '').split(',', MAX_ASKED + 1).map(Number);
  if (revisions.every((revision) => Number.isSafeInteger(revision) && revision > 0) && revisions.length <= MAX_ASKED) return revisions;
  throw badRequest(`revisions must be 1 to ${MAX_ASKED} positive numbers, separated by commas`);
}

/** Makes it; it is empty. */
export function createRecentWrites(): RecentWrites {
  const kept = new BoundedCache<string, string>({ limit: MAX_BYTES, sizeOf: (text, key) => text.length + key.length + ENTRY_BYTES });
  const encoder = new TextEncoder();
  return {
    add(event) {
      const { stage, request: { info }, revisions } = event.fields;
      if (stage !== 'ResponseComplete' || revisions === undefined) return;
      const text = describeWrite(event);
      for (const revision of revisions) kept.set(keyOf(info.group, info.resource, revision), text);
    },
    answer(exchange) {
      if (exchange.path !== WRITES_PATH) return undefined;
      const [group, resource] = ['group', 'resource'].map((name) => exchange.query.get(name) ?? '') as [string, string];
      const items = readRevisions(exchange).flatMap((revision) => {
        const text = kept.peek(keyOf(group, resource, revision));
        return text === undefined ? [] : [`{"revision":"${revision}",${text}`];
      });
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      return { status: 200, headers, body: encoder.encode(`{"items":[${items.join()}]}\n`) };
    },
  };
}
