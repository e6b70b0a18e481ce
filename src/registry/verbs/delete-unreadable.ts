// Removal of a value that cannot be read, by `ignoreStoreReadErrorWithClusterBreakingPotential`: without admission, preconditions or finalizers,
// which all need the object. A readable object is refused, as upstream's unsafe deleter refuses it.
import { notFound } from '../../apimachinery/index.ts';
import type { DeleteRequest, DeleteResult } from '../contract.ts';
import { type Core, checkSignal } from '../core.ts';
import { groupResource, preconditionConflict } from '../errors.ts';
import { objectKey } from '../objects/keys.ts';
import type { StoredRevision } from '../objects/stored-object.ts';

const READABLE = 'unsafe deletion is not allowed because the object is decodable from storage';

function isReadable(object: StoredRevision, apiVersion: string): boolean {
  try {
    object.object(apiVersion);
    return true;
  } catch {
    return false;
  }
}

/** Removes the value of a key that cannot be read; its object in the result cannot be either. */
export async function deleteUnreadable(core: Core, { resource, version, namespace, name, context }: DeleteRequest): Promise<DeleteResult> {
  const { storage } = core.scope({ resource, version, namespace });
  const key = objectKey(core.root, storage.resource, { namespace, name });
  for (;;) {
    checkSignal(context.signal);
    const stored = await core.readValue(key);
    if (stored === undefined) throw notFound(groupResource(resource), name);
    const object = storage.decode(stored);
    if (isReadable(object, storage.resource.storageVersion)) throw preconditionConflict({ resource, name, key, why: READABLE });
    const result = await core.store.txn({ key, expect: stored.modRevision });
    if (result.type === 'conflict') continue;
    context.noteRevision?.(result.revision);
    return { type: 'gone', object };
  }
}
