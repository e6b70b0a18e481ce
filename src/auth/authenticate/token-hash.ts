// A keyed hash takes the place of a token where tokens are kept or looked up, so that neither the time of a comparison nor a dump of the memory
// gives one away. The hash never leaves the process and the key comes first, in a block of its own: a construction that also resists callers that
// see hashes (HMAC) would cost several times as much on every request.
import { hash } from 'node:crypto';
import type { Random } from '../../base/index.ts';

/** Makes a function that names tokens; names of two functions have nothing in common. */
export function createTokenHash(random: Random): (token: string) => string {
  const key = Buffer.from(random.bytes(32)).toString('hex');
  return (token) => hash('sha256', key + token, 'base64');
}
