// Seeded mutations of bytes: flips, cuts, repetitions and words of the format, over a corpus of good inputs. The same seed gives the same inputs.

/** Random numbers of a seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

/** No mutation makes an input longer: the limits of bodies are tested elsewhere. */
const LONGEST_BYTES = 20_000;

type Mutation = (input: Buffer, dice: Dice, words: readonly string[]) => Buffer;

const insert = (input: Buffer, at: number, bytes: Buffer): Buffer => Buffer.concat([input.subarray(0, at), bytes, input.subarray(at)]);

const mutations: readonly Mutation[] = [
  (input, dice) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[dice.below(copy.length)] = dice.below(256);
    return copy;
  },
  (input, dice, words) => insert(input, dice.below(input.length + 1), Buffer.from(dice.pick(words), 'latin1')),
  (input, dice) => {
    const from = dice.below(input.length + 1);
    return Buffer.concat([input.subarray(0, from), input.subarray(Math.min(input.length, from + 1 + dice.below(20)))]);
  },
  (input, dice) => {
    const from = dice.below(input.length + 1);
    const part = input.subarray(from, Math.min(input.length, from + 1 + dice.below(40)));
    return insert(input, from, Buffer.concat(Array.from({ length: 1 + dice.below(60) }, () => part)));
  },
  (input, dice, words) => insert(input, dice.below(input.length + 1), Buffer.from(dice.pick(words).repeat(1 + dice.below(300)), 'latin1')),
  (input, dice) => input.subarray(0, dice.below(input.length + 1)),
];

/** A seed of the corpus with some mutations. */
export function mutate(dice: Dice, corpus: readonly Buffer[], words: readonly string[]): Buffer {
  let input = dice.pick(corpus);
  for (let count = 1 + dice.below(4); count > 0; count--) input = dice.pick(mutations)(input, dice, words).subarray(0, LONGEST_BYTES);
  return input;
}
