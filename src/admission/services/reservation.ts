// What one write of one Service takes and will give back, so that either all of it happens or none.
import type { Claims, Owner } from './pool.ts';

interface Item {
  readonly claims: Claims;
  readonly key: string;
}

/** Things taken for a write that is not through yet. */
export class Reservation {
  readonly owner: Owner;
  readonly #taken: Item[] = [];
  readonly #obsolete: Item[] = [];

  constructor(owner: Owner) {
    this.owner = owner;
  }

  /** Notes what is held from this moment on. */
  addTaken(claims: Claims, key: string): void {
    this.#taken.push({ claims, key });
  }

  /** Notes what is no longer needed once the write is stored. */
  addObsolete(claims: Claims, key: string): void {
    this.#obsolete.push({ claims, key });
  }

  /** Ends it: gives back what the write left behind, or all that was taken for it. */
  async settle(written: boolean): Promise<void> {
    for (const { claims, key } of written ? this.#obsolete : this.#taken) await claims.release(key, this.owner);
  }
}
