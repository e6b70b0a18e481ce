// How keys compare and what a key may be. Keys are strings to everybody; their order is that of their UTF-8 bytes.
import type { KeyRange, TxnRequest } from './store.ts';
import { invariant } from '../base/index.ts';

/** The longest key that every Store accepts, in UTF-8 bytes (the embedded engine's limit less its suffix). */
export const maxKeyBytes = 1900;

const aboveSurrogates = /[\ud800-\uffff]/;
const loneSurrogate = /\p{Surrogate}/u;

/** Orders keys by their UTF-8 bytes: negative, zero or positive. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  const byCodeUnit = left < right ? -1 : 1;
  // UTF-16 and UTF-8 order differ only where a surrogate pair meets a character from U+E000 to U+FFFF.
  if (!aboveSurrogates.test(left) || !aboveSurrogates.test(right)) return byCodeUnit;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** Whether `key` lies in `range`. */
export function isInRange(key: string, range: KeyRange): boolean {
  return compareKeys(key, range.start) >= 0 && compareKeys(key, range.end) < 0;
}

/** Throws on a request that no Store can carry out; for bugs of the caller, whose user input was validated above. */
export function checkTxn(request: TxnRequest): void {
  invariant(request.value !== undefined || request.expect > 0, 'a delete expects a key that exists');
  invariant(Number.isSafeInteger(request.expect) && request.expect >= 0, 'expect is a revision or zero');
  invariant(request.ttlSeconds === undefined || request.ttlSeconds > 0, 'a ttl is positive');
  const { key } = request;
  if (key === '' || key.length > maxKeyBytes || Buffer.byteLength(key) > maxKeyBytes) {
    throw new RangeError(`a key has 1 to ${maxKeyBytes} bytes`);
  }
  if (loneSurrogate.test(key)) throw new RangeError('a key is valid Unicode');
}
