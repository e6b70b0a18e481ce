// Leases in memory, sorted by the time at which they end.
import type { Lease, LeaseBook } from '../expiry.ts';

/** A LeaseBook that also takes new leases. */
export class MemoryLeases implements LeaseBook {
  readonly #leases: Lease[];

  /** The leases of `others` are its own too. */
  constructor(others?: MemoryLeases) {
    this.#leases = others === undefined ? [] : [...others.#leases];
  }

  add(lease: Lease): void {
    // Times to live are mostly alike, so that a new lease mostly belongs at the end.
    let at = this.#leases.length;
    if (at > 0 && (this.#leases[at - 1] as Lease).expiresAt > lease.expiresAt) at = this.#position(lease.expiresAt);
    this.#leases.splice(at, 0, lease);
  }

  all(): readonly Lease[] {
    return this.#leases;
  }

  earliest(): number | undefined {
    return this.#leases[0]?.expiresAt;
  }

  due(now: number, limit: number): readonly Lease[] {
    return this.#leases.slice(0, limit).filter((lease) => lease.expiresAt <= now);
  }

  async remove(leases: readonly Lease[]): Promise<void> {
    for (const lease of leases) {
      const at = this.#leases.indexOf(lease);
      if (at >= 0) this.#leases.splice(at, 1);
    }
  }

  /** The index after the last lease that ends at or before `expiresAt`. */
  #position(expiresAt: number): number {
    let low = 0;
    let high = this.#leases.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#leases[middle] as Lease).expiresAt <= expiresAt) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
