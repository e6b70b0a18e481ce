// Registry.deleteCollection: a list, then a delete of each of its objects, a few at a time. Not atomic, as in the reference: the first
// error ends it, objects that are gone already do not count as one. The answer is the list as it was found.
import { StatusError } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import type { DeleteOptions, ListOptions, ListResult, StoredObject, Target, WriteContext } from '../contract.ts';
import type { Core } from '../core.ts';
import { deleteObject, warnOfOrphans } from './delete.ts';
import { listReady } from '../conversion/converted-reads.ts';
import { deleteProblems, refuseOptions } from '../options.ts';
import { nameOf } from './list.ts';

/** Deletes in flight at once; the reference has one (`--delete-collection-workers`), whose commits do not share an fsync. */
const WORKERS = 16;
/** How long the deletion holds the event loop at a time, where the store answers at once. */
const SLICE_MS = 5;

/** What a deleteCollection needs besides its target. */
interface CollectionDeletion {
  readonly list: ListOptions;
  readonly options: DeleteOptions;
  readonly context: WriteContext;
}

/** The list as the reference reads it: in pages, and pages of a revision are of exactly that one. */
function asPages(target: Target, list: ListOptions): ListOptions {
  const { resourceVersion = '', resourceVersionMatch = '', limit = 0, continue: token = '' } = list;
  const isAsAsked = resourceVersion === '' || resourceVersion === '0' || resourceVersionMatch !== '' || limit !== 0 || token !== '';
  return isAsAsked || nameOf(target, list.predicate) !== undefined ? list : { ...list, resourceVersionMatch: 'Exact' };
}

/** Deletes the objects that `list` selects. */
export async function deleteObjects(core: Core, target: Target, { list, options, context }: CollectionDeletion): Promise<ListResult> {
  refuseOptions('DeleteOptions', deleteProblems(options));
  warnOfOrphans({ resource: target.resource, options, context });
  const found = await listReady(core, target, asPages(target, list));
  const queue = found.items[Symbol.iterator]();
  const deleteOne = async (object: StoredObject, onAdmitted: () => void): Promise<void> => {
    try {
      await deleteObject(core, { ...target, namespace: object.namespace, name: object.name, options, context, inCollection: true, onAdmitted });
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
    }
  };
  const pause = createTimeSlice(core.clock, SLICE_MS);
  let failed = false;
  /** Resolves when the object before is admitted: after a refusal nothing else is removed, only commits overlap. */
  let turn = Promise.resolve();
  const work = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true && !failed; next = queue.next()) {
      const before = turn;
      let pass = (): void => undefined;
      turn = new Promise((resolve) => {
        pass = resolve;
      });
      try {
        await before;
        if (failed) return;
        await pause();
        await deleteOne(next.value, pass);
      } catch (error) {
        failed = true;
        throw error;
      } finally {
        pass();
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: Math.min(WORKERS, found.count) }, work));
  const refused = results.find((result) => result.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
  return found;
}
