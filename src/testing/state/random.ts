// Numbers that a seed decides: the same seed gives the same uids and generated names in the same order.
import type { Random } from '../../base/index.ts';

/** 32-bit FNV-1a of a text, begun with `basis`. */
function hashText(text: string, basis: number): number {
  let hash = basis >>> 0;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

/** Makes a Random of a seed (sfc32). It repeats itself with each equal seed, and is no source of secrets. */
export function createSeededRandom(seed: number | string): Random {
  const text = String(seed);
  const state = Uint32Array.of(hashText(text, 0x811c9dc5), hashText(text, 0x9e3779b9), hashText(text, 0x85ebca6b), 1);
  const next = (): number => {
    const [a = 0, b = 0, c = 0, d = 0] = state;
    const sum = (a + b + d) >>> 0;
    state.set([b ^ (b >>> 9), c + (c << 3), ((c << 21) | (c >>> 11)) + sum, d + 1]);
    return sum;
  };
  for (let round = 0; round < 12; round++) next();
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => next() & 0xff);
  return {
    bytes,
    below: (limit) => Math.floor((next() / 2 ** 32) * limit),
    uuid() {
      const digits = bytes(16);
      digits[6] = ((digits[6] as number) & 0x0f) | 0x40;
      digits[8] = ((digits[8] as number) & 0x3f) | 0x80;
      const hex = Buffer.from(digits).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}
