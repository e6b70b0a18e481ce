// Numbers to be given out once: a pool says which there are, claims say which are taken. The lock is the claim itself, made where all replicas
// see it, so that two servers on one store never give out the same.
import { InvariantError, type Random } from '../../base/index.ts';

/** The holder of a claim: a Service. */
export interface Owner {
  readonly namespace: string;
  readonly name: string;
}

/** The claims that are taken, durably and for all replicas. */
export interface Claims {
  /** Takes a key; false when it is taken. */
  claim(key: string, owner: Owner): Promise<boolean>;
  isTaken(key: string): Promise<boolean>;
  /** Gives a key back, if this owner has it. */
  release(key: string, owner: Owner): Promise<void>;
  /** Everything taken, with its holder ('' where it is not for a Service); allocation asks only when guessing did not help. */
  taken(): Promise<ReadonlyMap<string, Owner>>;
}

/** Keys in order. The first `reserved` are for requests by name: they are given out last. */
export interface Pool {
  readonly size: number;
  readonly reserved: number;
  at(index: number): string;
}

/** How many guesses come before everything taken is listed. */
const GUESSES = 8;

/** Claims of a dry run, which looks at what is taken, takes nothing and gives nothing back. */
export function createDryClaims(claims: Claims): Claims {
  return {
    ...claims,
    claim: () => Promise.reject(new InvariantError('a dry run takes nothing')),
    release: () => Promise.resolve(),
  };
}

/** A wish to take something. */
interface Taking {
  readonly claims: Claims;
  readonly owner: Owner;
  readonly random: Random;
}

/** Takes a free key, undefined when there is none. */
export async function takeAny({ claims, owner, random }: Taking, pool: Pool): Promise<string | undefined> {
  const open = pool.size - pool.reserved;
  for (let guess = 0; guess < GUESSES && open > 0; guess++) {
    const key = pool.at(pool.reserved + random.below(open));
    if (await claims.claim(key, owner)) return key;
  }
  const taken = await claims.taken();
  for (const [from, count] of [[pool.reserved, open], [0, pool.reserved]] as const) {
    const start = random.below(Math.max(count, 1));
    for (let step = 0; step < count; step++) {
      const key = pool.at(from + ((start + step) % count));
      if (!taken.has(key) && await claims.claim(key, owner)) return key;
    }
  }
  return undefined;
}
