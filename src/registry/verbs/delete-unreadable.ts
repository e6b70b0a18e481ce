// Removal of a value that cannot be read, by `ignoreStoreReadErrorWithClusterBreakingPotential`: without admission, preconditions or finalizers,
// which all need the object. A name whose value can be read, or that has none, is refused in the words of upstream's unsafe deleter.
import { type StatusError, invalid, invalidValue } from '../../apimachinery/index.ts';
import type { DeleteRequest, DeleteResult } from '../contract.ts';
import { type Core, checkSignal } from '../core.ts';
import { objectKey } from '../objects/keys.ts';
import type { StoredRevision } from '../objects/stored-object.ts';

/** 422 of the option where nothing unreadable is; upstream names the resource in the place of the kind. */
function refuseReadable({ resource: { group, plural }, name }: DeleteRequest): StatusError {
  const why = 'is exclusively used to delete corrupt object(s), try again by removing this option';
  return invalid({ group, kind: plural }, name, [invalidValue('ignoreStoreReadErrorWithClusterBreakingPotential', true, why)]);
}

function isReadable(object: StoredRevision, apiVersion: string): boolean {
  try {
    object.object(apiVersion);
    return true;
  } catch {
    return false;
  }
}

/** Removes the value of a key that cannot be read; its object in the result cannot be either. */
export async function deleteUnreadable(core: Core, request: DeleteRequest): Promise<DeleteResult> {
  const { resource, version, namespace, name, context } = request;
  const { storage } = core.scope({ resource, version, namespace });
  const key = objectKey(core.root, storage.resource, { namespace, name });
  for (;;) {
    checkSignal(context.signal);
    const stored = await core.readValue(key);
    if (stored === undefined) throw refuseReadable(request);
    const object = storage.decode(stored);
    if (isReadable(object, storage.resource.storageVersion)) throw refuseReadable(request);
    const result = await core.store.txn({ key, expect: stored.modRevision });
    if (result.type === 'conflict') continue;
    context.noteRevision?.(result.revision);
    return { type: 'gone', object };
  }
}
