// The versions of an object that the server still has: exact reads find the oldest revision that is kept, and a watch from there replays the rest.
import { apiVersionOf, formatPath, selectName } from '../model/index.ts';
import type { Target } from './objects.ts';
import { findOldest } from './past.ts';
import { ApiError, call, open } from './request.ts';
import { readEvents } from './watch.ts';

/** One version. */
export interface ObjectVersion {
  readonly revision: string;
  readonly object: any;
  readonly isDeleted: boolean;
}

/** The versions, the latest first. */
export interface ObjectHistory {
  readonly versions: readonly ObjectVersion[];
  /** Whether there were earlier ones that the server no longer has. */
  readonly isCut: boolean;
}

const REPLAY_SECONDS = 2;
const MOST = 500;

/** The object as it was at a revision; undefined where there was none; 'gone' where the server has forgotten that revision. */
async function readAt(target: Target, revision: number, signal: AbortSignal): Promise<any> {
  const query = new URLSearchParams({ fieldSelector: selectName(target.name), resourceVersion: String(revision), resourceVersionMatch: 'Exact', limit: '1' });
  try {
    const { body } = await call(`${formatPath(target.kind, target.namespace)}?${query.toString()}`, { signal });
    return body.items[0];
  } catch (error) {
    if (error instanceof ApiError && error.code === 410) return 'gone';
    throw error;
  }
}

/** The versions of an object that are kept. Throws ApiError. */
export async function fetchHistory(target: Target, signal: AbortSignal): Promise<ObjectHistory> {
  const list = await call(`${formatPath(target.kind, target.namespace)}?limit=1&fieldSelector=${encodeURIComponent(selectName(target.name))}`, { signal });
  const newest = Number(list.body.metadata.resourceVersion);
  const oldest = await findOldest(newest, async (revision) => await readAt(target, revision, signal) !== 'gone');
  const first = await readAt(target, oldest, signal);
  const isThere = first !== undefined && first !== 'gone';
  const versions: ObjectVersion[] = isThere ? [{ revision: first.metadata.resourceVersion, object: named(target, first), isDeleted: false }] : [];
  const query = new URLSearchParams({
    watch: '1', fieldSelector: selectName(target.name), resourceVersion: String(oldest), timeoutSeconds: String(REPLAY_SECONDS),
  });
  const response = await open(`${formatPath(target.kind, target.namespace)}?${query.toString()}`, { signal });
  for await (const { type, object } of readEvents(response)) {
    versions.push({ revision: object.metadata.resourceVersion, object, isDeleted: type === 'DELETED' });
    if (versions.length > MOST) versions.shift();
    if (Number(object.metadata.resourceVersion) >= newest) break;
  }
  return { versions: versions.reverse(), isCut: isThere && oldest > 1 };
}

/** Members of a list do not name their kind. */
const named = ({ kind }: Target, object: any): any => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
