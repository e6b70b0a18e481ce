// Writes of objects that hold something scarce: it is taken before the write and given back when nothing came of it. When a store fails so
// that the outcome is unknown, what was taken stays taken: two owners would be worse than a leak, which a controller mends.
import { type KubeObject, StatusError } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../contract.ts';
import type { Core } from '../core.ts';

interface Writing<T> {
  readonly write: () => Promise<T>;
  readonly isWritten: (result: T) => boolean;
}

/** Runs `write` with what the object needs reserved; `isWritten` reads from the result whether it was stored. */
export async function withReservation<T>({ options: { reserver } }: Core, attributes: AdmissionAttributes, { write, isWritten }: Writing<T>): Promise<T> {
  if (reserver === undefined || attributes.subresource !== '' || !reserver.holds(attributes.resource)) return write();
  const settle = await reserver.reserve(attributes);
  let result: T;
  try {
    result = await write();
  } catch (error) {
    if (error instanceof StatusError) await settle(false);
    throw error;
  }
  await settle(isWritten(result));
  return result;
}

/** Gives back what an object held that is gone from the store. */
export async function releaseRemoved(core: Core, resource: AdmissionAttributes['resource'], removed: () => KubeObject): Promise<void> {
  const { reserver } = core.options;
  if (reserver?.holds(resource) === true) await reserver.release(removed());
}
