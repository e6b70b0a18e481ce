// A namespace as it was: the oldest revision that the server can read, the changes since then, and the objects of a revision.
import { type Change, type Kind, formatPath, timeOf } from '../model/index.ts';
import { ApiError, call, open } from './request.ts';
import { readEvents } from './watch.ts';

/** What the server still knows of a namespace. */
export interface Past {
  readonly oldest: number;
  readonly newest: number;
  /** The latest first. */
  readonly changes: readonly Change<Kind>[];
}

const AS_METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
const REPLAY_SECONDS = 1;
const TOGETHER = 12;
const MOST = 2000;

/** The first revision, by halving, of which `canRead` says yes. */
export async function findOldest(newest: number, canRead: (revision: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [1, newest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await canRead(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function canRead(path: string, revision: number, signal: AbortSignal): Promise<boolean> {
  try {
    await call(`${path}?limit=1&resourceVersion=${revision}&resourceVersionMatch=Exact`, { signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 410) return false;
    throw error;
  }
}

/** The changes of one kind; none where the user may not watch it. */
async function replay(kind: Kind, namespace: string, { oldest, signal }: { oldest: number; signal: AbortSignal }): Promise<Change<Kind>[]> {
  const found: Change<Kind>[] = [];
  try {
    const query = `watch=1&resourceVersion=${oldest}&timeoutSeconds=${REPLAY_SECONDS}`;
    for await (const { type, object } of readEvents(await open(`${formatPath(kind, namespace)}?${query}`, { accept: AS_METADATA, signal }))) {
      const { metadata } = object;
      found.push({ kind, name: metadata.name, revision: Number(metadata.resourceVersion), type, time: timeOf(metadata) });
      if (found.length >= MOST) break;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return found;
}

/** What the server still knows of a namespace, by the kinds that the user may list and watch. Throws ApiError where there is none. */
export async function fetchPast(kinds: readonly Kind[], namespace: string, signal: AbortSignal): Promise<Past> {
  let [path, newest, refusal]: [string, number, unknown] = ['', 0, new ApiError('the server has no kinds with a history')];
  for (const kind of kinds) {
    try {
      const { body } = await call(`${formatPath(kind, namespace)}?limit=1`, { signal });
      [path, newest] = [formatPath(kind, namespace), Number(body.metadata.resourceVersion)];
      break;
    } catch (error) {
      refusal = error;
    }
  }
  if (path === '') throw refusal;
  const oldest = await findOldest(newest, (revision) => canRead(path, revision, signal));
  const waiting = [...kinds];
  const changes: Change<Kind>[] = [];
  const work = async (): Promise<void> => {
    for (let kind = waiting.pop(); kind !== undefined && !signal.aborted; kind = waiting.pop()) {
      for (const change of await replay(kind, namespace, { oldest, signal })) changes.push(change);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return { oldest, newest, changes: changes.sort((a, b) => b.revision - a.revision) };
}
