// Objects that are refused for their size, by the store or before it: they are written without managedFields, which can take much space, before the
// client is refused.
import { type KubeObject, invalid, tooLong } from '../../apimachinery/index.ts';
import { MAX_KEY_BYTES } from '../../storage/index.ts';
import type { Resource } from '../resource.ts';
import { plainError } from '../options.ts';

/**
 * Stored bytes of one object, whatever the store would take. The reference has the limit of etcd, 1.5 MiB with etcd's defaults; a body of a request
 * may have 3 MiB, and what defaults and owners add fits in, but an object that grows by many requests ends here.
 */
const LIMIT_BYTES = 4 * 2 ** 20;

const REFUSAL = 'etcdserver: request is too large';
/** The texts by which etcd and its client refuse a request for its size. */
const refusals = [REFUSAL, 'trying to send message larger than max'];

const isTooLarge = (error: unknown): boolean => error instanceof Error && refusals.some((text) => error.message.includes(text));

/** Refuses, with the 500 and in the words that etcd's refusal has, what is too large for any store. */
export function checkSize(bytes: Uint8Array): void {
  if (bytes.length > LIMIT_BYTES) throw plainError(REFUSAL);
}

/** Refuses names that no store can hold in a key, where the rule of their kind has no bound (roles). */
export function checkNameLength(resource: Resource, name: string, key: string): void {
  const excess = Buffer.byteLength(key) - MAX_KEY_BYTES;
  if (excess > 0) throw invalid({ group: resource.group, kind: resource.kind }, name, [tooLong('metadata.name', Buffer.byteLength(name) - excess)]);
}

/**
 * Writes an object; once more, without managedFields, when it is too large with them. `write` encodes the object each time. An apply, which keeps
 * its managedFields, is refused instead: its owners are what it is for.
 */
export async function writeFitting<T>(
  object: KubeObject, { managedFields }: { readonly managedFields?: 'keep' | 'update' | undefined }, write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isTooLarge(error) || managedFields === 'keep' || object.metadata.managedFields === undefined) throw error;
    delete object.metadata.managedFields;
    return write();
  }
}
