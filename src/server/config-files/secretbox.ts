// NaCl's secretbox (XSalsa20 and Poly1305), which node:crypto does not have, from its published specification. Values in a store are
// small: clarity comes before speed. A box is the 16 bytes of the tag and then the text.
import { timingSafeEqual } from 'node:crypto';

/** Length of a nonce. */
export const SECRETBOX_NONCE_BYTES = 24;
const TAG_BYTES = 16;
const sigma = Buffer.from('expand 32-byte k');
const PRIME = (1n << 130n) - 5n;
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn;

/** Encrypts; `nonce` (24 bytes) must never be used twice with a key (32 bytes). */
export function sealSecretbox(text: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer {
  const [pad, tagKey] = makePad(text.length, nonce, key);
  const sealed = xor(text, pad);
  return Buffer.concat([authenticate(sealed, tagKey), sealed]);
}

/** Decrypts; undefined when the box was not made with this nonce and key. */
export function openSecretbox(box: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer | undefined {
  if (box.length < TAG_BYTES) return undefined;
  const sealed = box.subarray(TAG_BYTES);
  const [pad, tagKey] = makePad(sealed.length, nonce, key);
  return timingSafeEqual(authenticate(sealed, tagKey), box.subarray(0, TAG_BYTES)) ? xor(sealed, pad) : undefined;
}

const xor = (bytes: Uint8Array, pad: Uint8Array): Buffer => Buffer.from(bytes.map((byte, index) => byte ^ (pad[index] as number)));

/** The first 32 bytes of the key stream are the key of the tag; what follows hides the text. */
function makePad(length: number, nonce: Uint8Array, key: Uint8Array): readonly [Buffer, Buffer] {
  const subkey = salsa(key, nonce.subarray(0, 16), true);
  const blocks: Buffer[] = [];
  for (let counter = 0; counter * 64 < length + 32; counter += 1) {
    const input = Buffer.alloc(16);
    input.set(nonce.subarray(16, 24));
    input.writeUInt32LE(counter, 8);
    blocks.push(salsa(subkey, input, false));
  }
  const stream = Buffer.concat(blocks);
  return [stream.subarray(32), stream.subarray(0, 32)];
}

const columns = [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]] as const;
const rows = [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]] as const;

/** The Salsa20 core on key and 16 bytes of input: 64 bytes of stream, or, as HSalsa20, 32 bytes of a new key. */
function salsa(key: Uint8Array, input: Uint8Array, asKey: boolean): Buffer {
  const [first, second, third, fourth] = [0, 4, 8, 12].map((at) => sigma.subarray(at, at + 4)) as [Buffer, Buffer, Buffer, Buffer];
  const block = Buffer.concat([first, key.subarray(0, 16), second, input, third, key.subarray(16, 32), fourth]);
  const start = Uint32Array.from({ length: 16 }, (_, index) => block.readUInt32LE(index * 4));
  const state = Uint32Array.from(start);
  for (let round = 0; round < 10; round += 1) {
    for (const quarter of columns) mix(state, quarter);
    for (const quarter of rows) mix(state, quarter);
  }
  const words = asKey
    ? [0, 5, 10, 15, 6, 7, 8, 9].map((index) => state[index] as number)
    : Array.from(state, (word, index) => (word + (start[index] as number)) >>> 0);
  const out = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => out.writeUInt32LE(word, index * 4));
  return out;
}

function mix(state: Uint32Array, [a, b, c, d]: readonly [number, number, number, number]): void {
  const turn = (to: number, from: readonly [number, number], by: number): void => {
    const sum = ((state[from[0]] as number) + (state[from[1]] as number)) | 0;
    state[to] = (state[to] as number) ^ ((sum << by) | (sum >>> (32 - by)));
  };
  turn(b, [a, d], 7);
  turn(c, [b, a], 9);
  turn(d, [c, b], 13);
  turn(a, [d, c], 18);
}

/** Poly1305. */
function authenticate(bytes: Uint8Array, key: Buffer): Buffer {
  const factor = readLittle(key.subarray(0, 16)) & CLAMP;
  let sum = 0n;
  for (let at = 0; at < bytes.length; at += 16) {
    const part = bytes.subarray(at, at + 16);
    sum = ((sum + readLittle(part) + (1n << BigInt(part.length * 8))) * factor) % PRIME;
  }
  const total = BigInt.asUintN(128, sum + readLittle(key.subarray(16, 32)));
  return Buffer.from(total.toString(16).padStart(32, '0'), 'hex').reverse();
}

function readLittle(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
