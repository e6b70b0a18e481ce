// The writers of versions, where the server keeps an audit and the user may read it: a path that Pintle has and other servers have not.
import type { Kind } from '../model/index.ts';
import { ApiError, call } from './request.ts';

/** The request that made a version. */
export interface AuditedWrite {
  readonly revision: string;
  readonly time: string;
  readonly verb: string;
  readonly subresource?: string;
  /** '' for a user without a name. */
  readonly user: string;
  /** The user that `user` spoke as. */
  readonly impersonatedUser?: string;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly auditID: string;
}

/** Those of them that the server still knows, by revision. None where there is no audit, or where the user may not read it. */
export async function fetchWriters({ group, plural }: Kind, revisions: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, AuditedWrite>> {
  if (revisions.length === 0) return new Map();
  const query = new URLSearchParams({ group, resource: plural, revisions: revisions.join() });
  try {
    const { body } = await call(`/audit/writes?${query.toString()}`, { signal });
    return new Map((body.items as readonly AuditedWrite[]).map((write) => [write.revision, write]));
  } catch (error) {
    if (error instanceof ApiError && error.code !== 0) return new Map();
    throw error;
  }
}
