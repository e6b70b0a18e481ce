// Objects that the store refuses for their size: they are written without managedFields, which can take much space, before the client is refused.
import type { KubeObject } from '../../apimachinery/index.ts';

/** The texts by which etcd and its client refuse a request for its size. */
const refusals = ['etcdserver: request is too large', 'trying to send message larger than max'];

const isTooLarge = (error: unknown): boolean => error instanceof Error && refusals.some((text) => error.message.includes(text));

/** Writes an object; once more, without managedFields, when it is too large with them. `write` encodes the object each time. */
export async function writeFitting<T>(object: KubeObject, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isTooLarge(error) || object.metadata.managedFields === undefined) throw error;
    delete object.metadata.managedFields;
    return write();
  }
}
