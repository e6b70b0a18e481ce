// How a server is called among those of its store: as kube-apiserver on this machine would be.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { ServerIdentity } from '../controllers/index.ts';
import type { ServerOptions } from './options/options.ts';

const NAME_BYTES = 16;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_OF_LETTER = 5;

/** `apiserver-` and a hash of words, as the reference writes it: each word behind its length, in base 32 without padding. */
function hashName(...words: readonly string[]): string {
  const hash = createHash('sha256');
  for (const word of words) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(word));
    hash.update(length).update(word);
  }
  const bits = Array.from(hash.digest().subarray(0, NAME_BYTES), (byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{1,5}/g)?.map((five) => LETTERS[Number.parseInt(five.padEnd(BITS_OF_LETTER, '0'), 2)]) ?? [];
  return `apiserver-${letters.join('')}`;
}

/** The name of the server of a machine, the reference's. */
export const nameServer = (host: string = hostname()): string => hashName(host, 'kube-apiserver');

/** What the Lease of this server says. */
export function identifyServer({ random, advertiseAddress }: ServerOptions, port: number): ServerIdentity {
  return {
    name: nameServer(), nameBesideAnother: hashName(hostname(), 'kube-apiserver', String(port)), start: random.uuid(),
    hostname: hostname(), port, address: advertiseAddress === '' ? '' : `${advertiseAddress}:${port}`,
  };
}
