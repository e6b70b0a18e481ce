// What became of one object: every version that the store keeps, with the request that wrote it.
import { objectKey } from '../../registry/index.ts';
import type { KubernetesObject, LocalClient } from '../../client/index.ts';
import type { Located } from '../objects.ts';
import type { ObservedStore } from '../state/observed-store.ts';
import { readObjectAt } from './past.ts';
import type { RequestRecord, RequestRecorder } from './requests.ts';

/** One version of an object. */
export interface ObjectVersion {
  readonly resourceVersion: string;
  /** `deleted`: the object was removed, and is shown as it was last. */
  readonly type: 'created' | 'updated' | 'deleted';
  readonly object: KubernetesObject;
  /** Managers of fields at this version. */
  readonly managers: readonly string[];
  /** The request that wrote it; undefined for writes of the server itself. */
  readonly request: RequestRecord | undefined;
}

/** The kept versions of an object, oldest first. */
export async function readHistory(at: Located, { client, store, recorder, root = '/registry' }: {
  readonly client: LocalClient; readonly store: ObservedStore; readonly recorder: RequestRecorder; readonly root?: string;
}): Promise<ObjectVersion[]> {
  const key = objectKey(root, at.resource, at);
  const history: ObjectVersion[] = [];
  for (const { kv: { modRevision, createRevision }, isTombstone } of store.memory.versions(key)) {
    const object = isTombstone ? history.at(-1)?.object : await readObjectAt(client, at, modRevision);
    if (object === undefined) continue;
    const entries = (object.metadata?.['managedFields'] ?? []) as { manager?: string }[];
    history.push({
      resourceVersion: String(modRevision), type: isTombstone ? 'deleted' : createRevision === modRevision ? 'created' : 'updated', object,
      managers: [...new Set(entries.map(({ manager = '' }) => manager))], request: recorder.writerOf(modRevision),
    });
  }
  return history;
}
