// The bounds of a key, and of a request to write one.
import type { TxnRequest } from './store.ts';
import { invariant } from '../base/index.ts';

/** The longest key that every Store accepts, in UTF-8 bytes (the embedded engine's limit less its suffix). */
export const MAX_KEY_BYTES = 1900;

const loneSurrogate = /\p{Surrogate}/u;

/** Throws on a request that no Store can carry out; for bugs of the caller, whose user input was validated above. */
export function checkTxn(request: TxnRequest): void {
  invariant(request.value !== undefined || request.expect > 0, 'a delete expects a key that exists');
  invariant(Number.isSafeInteger(request.expect) && request.expect >= 0, 'expect is a revision or zero');
  invariant(request.ttlSeconds === undefined || request.ttlSeconds > 0, 'a ttl is positive');
  const { key } = request;
  if (key === '' || key.length > MAX_KEY_BYTES || Buffer.byteLength(key) > MAX_KEY_BYTES) {
    throw new RangeError(`a key has 1 to ${MAX_KEY_BYTES} bytes`);
  }
  if (loneSurrogate.test(key)) throw new RangeError('a key is valid Unicode');
}
