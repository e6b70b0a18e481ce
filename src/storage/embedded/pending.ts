// Writes that have a revision and are not in the tables yet: checks of later writes look here before they look at the tables.
import { PassingMap } from '../../base/index.ts';
import type { KeyValue, StoreEvent } from '../store.ts';

/** The newest version of a key: a put, or a deletion at `revision`. */
export interface PendingHead {
  readonly revision: number;
  readonly kv: KeyValue | undefined;
}

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Pending heads by key, and the reads that wait for a revision to become durable. */
export class PendingState {
  readonly #heads = new PassingMap<string, PendingHead>();
  #waiters: Waiter[] = [];
  #durable: number;

  constructor(durable: number) {
    this.#durable = durable;
  }

  /** The newest revision known to be on disk. */
  get durable(): number {
    return this.#durable;
  }

  head(key: string): PendingHead | undefined {
    return this.#heads.get(key);
  }

  set(key: string, head: PendingHead): void {
    this.#heads.set(key, head);
  }

  /** Everything up to `revision` is on disk. */
  markDurable(revision: number): void {
    this.#durable = revision;
  }

  /** The write of `key` at `revision` is in the tables. */
  settle(key: string, revision: number): void {
    if (this.#heads.get(key)?.revision === revision) this.#heads.delete(key);
  }

  /** Resolves the waiting reads whose revision is durable. */
  wake(): void {
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.revision > this.#durable);
    for (const waiter of waiters) {
      if (waiter.revision <= this.#durable) waiter.resolve();
    }
  }

  /** Forgets everything that is not durable; `durable` are the changes that are, and not in the tables. */
  fail(error: Error, durable: readonly StoreEvent[]): void {
    this.#heads.clear();
    for (const { type, kv } of durable) this.#heads.set(kv.key, { revision: kv.modRevision, kv: type === 'put' ? kv : undefined });
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }

  /** Resolves when `revision` is durable; rejects when it never will be. */
  whenDurable(revision: number): Promise<void> {
    if (revision <= this.#durable) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ revision, resolve, reject }));
  }
}
