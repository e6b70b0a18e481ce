// Outcomes of the store, and of comparing with what is stored, as the Status that the reference answers.
import {
  type GroupResource, StatusError, alreadyExists, conflict, failure, internalError, serviceUnavailable, timeoutError, tooManyRequests,
} from '../apimachinery/index.ts';
import { StorageClosedError, StorageCorruptError, StorageUnavailableError, StorageWriteError } from '../storage/index.ts';
import type { Resource } from './resource.ts';

/** The row as messages name it. */
export const groupResource = (resource: Resource): GroupResource => ({ group: resource.group, resource: resource.plural });

const EXPIRED_CONTINUE_MESSAGE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** 410 for a page of a list whose state is gone; `token` continues in the newest state. */
export function expiredContinue(token: string): StatusError {
  const error = failure(410, 'Expired', EXPIRED_CONTINUE_MESSAGE);
  return new StatusError({ ...error.status, metadata: { continue: token } });
}

/** 410 for an exact version that is gone. */
export const expiredRevision = (): StatusError => failure(410, 'Expired', 'The resourceVersion for the provided list is too old.');

/** 410 of a watch that starts, or has fallen, behind what is kept. */
export const expiredWatch = (wanted: number, oldest: number): StatusError => failure(410, 'Expired', `too old resource version: ${wanted} (${oldest})`);

/** 429 while a cache is filled, or cannot be. */
export const initializing = (cause?: string): StatusError => tooManyRequests(`storage is (re)initializing${cause === undefined ? '' : `: ${cause}`}`, 1);

/** 409 of a write whose resourceVersion is not that of the stored object. */
export const modifiedConflict = (resource: Resource, name: string): StatusError =>
  conflict(groupResource(resource), name, 'the object has been modified; please apply your changes to the latest version and try again');

/** 409 of a precondition that the stored object does not meet, as the storage layer of the reference words it. */
export function preconditionConflict({ resource, name, key, why }: {
  readonly resource: Resource; readonly name: string; readonly key: string; readonly why: string;
}): StatusError {
  return conflict(groupResource(resource), name, `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`);
}

/** 409 of a create: the name is taken, perhaps by an object that is on its way out, perhaps though it was generated. */
export function nameTaken({ resource, name, generated, terminating }: {
  readonly resource: Resource; readonly name: string; readonly generated: boolean; readonly terminating: boolean;
}): StatusError {
  const { status } = alreadyExists(groupResource(resource), name);
  const suffix = generated ? ', the server was not able to generate a unique name for the object' : '';
  return new StatusError({
    ...status,
    message: `${terminating ? 'object is being deleted: ' : ''}${status.message}${suffix}`,
    details: { ...status.details, ...(generated && { retryAfterSeconds: 1 }) },
  });
}

/** Throws a failure of the store as a Status: 503 where trying again is safe, 504 where it is unknown whether a write happened; others as they are. */
export function throwAsStatus(error: unknown): never {
  if (error instanceof StorageUnavailableError) {
    throw error.outcomeKnown ? serviceUnavailable(error.message) : timeoutError(`request did not complete within the allotted timeout: ${error.message}`);
  }
  if (error instanceof StorageClosedError) throw serviceUnavailable('the server is shutting down');
  // The reference passes on what its store says of a write.
  if (error instanceof StorageWriteError) throw failure(500, '', error.message);
  if (error instanceof StorageCorruptError) throw internalError(error.message);
  throw error;
}
