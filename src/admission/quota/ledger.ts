// Charges that quotas were given for objects that may not be stored yet. A count of the stored objects would forget them, so the controller that
// counts adds the charges of the last seconds whose object it has not seen.
import type { Clock } from '../../base/index.ts';
import { type Amounts, addAmounts } from './amounts.ts';

/** How long a charge is believed without its object: longer than a write takes from its admission to its commit. */
export const PENDING_MS = 10_000;

interface Charge {
  readonly usage: Amounts;
  readonly atMs: number;
}

/** A quota by name. */
export interface QuotaKey {
  readonly namespace: string;
  readonly quota: string;
}

/** The open charges: by namespace, by quota, by the uid of the object. */
export class QuotaLedger {
  readonly #clock: Clock;
  readonly #namespaces = new Map<string, Map<string, Map<string, Charge>>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes what a quota was charged for the object with this uid. */
  record({ namespace, quota }: QuotaKey, uid: string, usage: Amounts): void {
    const quotas = this.#namespaces.get(namespace) ?? new Map<string, Map<string, Charge>>();
    const charges = quotas.get(quota) ?? new Map<string, Charge>();
    this.#namespaces.set(namespace, quotas.set(quota, charges.set(uid, { usage, atMs: this.#clock.now() })));
  }

  /** Forgets the charges for an object: it is stored, it was deleted, or it was refused after all. */
  settle(namespace: string, uid: string): void {
    for (const charges of this.#namespaces.get(namespace)?.values() ?? []) charges.delete(uid);
  }

  /** Whether a quota was charged for objects that are not known to be stored. */
  hasOpen({ namespace, quota }: QuotaKey): boolean {
    return (this.#namespaces.get(namespace)?.get(quota)?.size ?? 0) > 0;
  }

  /** What a quota was charged for objects that are not among `stored`; undefined where no charge is open. */
  pending({ namespace, quota }: QuotaKey, stored: ReadonlySet<string>): Amounts | undefined {
    const quotas = this.#namespaces.get(namespace);
    const charges = quotas?.get(quota);
    if (quotas === undefined || charges === undefined) return undefined;
    const oldestMs = this.#clock.now() - PENDING_MS;
    for (const [uid, { atMs }] of charges) if (stored.has(uid) || atMs < oldestMs) charges.delete(uid);
    if (charges.size > 0) return Array.from(charges.values(), ({ usage }) => usage).reduce(addAmounts);
    quotas.delete(quota);
    if (quotas.size === 0) this.#namespaces.delete(namespace);
    return undefined;
  }
}
