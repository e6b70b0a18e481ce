// The versions that compaction forgets, and the times at which it happens by itself. Both Stores with their own history follow the same rule:
//
//   compact(7)   key a: put@3 put@5 del@6   key b: put@4 put@9     kept: b@4 (current at 7) and everything after 7
//
// A change at or before the compact revision makes the version that it replaced unreachable; a tombstone is unreachable itself.
// So walking the changes in (old, new] once, and forgetting what each of them replaced, forgets exactly those.
import type { Clock, Timer } from '../base/index.ts';
import type { StoreEvent } from './store.ts';

/** How long superseded versions and tombstones are kept when the options do not say. */
const DEFAULT_HISTORY_MS = 5 * 60_000;

/** Time between automatic compactions when the options do not say. */
const DEFAULT_COMPACTION_INTERVAL_MS = 5 * 60_000;

/** Also bounds what a timer can hold, whatever interval is asked for. */
const LONGEST_SAMPLE_MS = 60 * 60_000;

/** The revisions that are unreachable once `change` is at or before the compact revision. */
export function forgottenBy(change: Pick<StoreEvent, 'type' | 'kv' | 'previous'>): readonly number[] {
  const forgotten = change.previous ? [change.previous.modRevision] : [];
  if (change.type === 'delete') forgotten.push(change.kv.modRevision);
  return forgotten;
}

interface AutomaticCompactionOptions {
  readonly clock: Clock;
  readonly historyMs?: number | undefined;
  readonly intervalMs?: number | undefined;
  readonly revision: () => number;
  readonly compact: (revision: number) => Promise<unknown>;
}

/**
 * Compacts at every interval to the newest revision that is older than `historyMs`. Age is measured on the monotonic clock from
 * samples taken while running: a clock that jumps forgets nothing early, and after a start history is kept for a full span.
 */
export class AutomaticCompaction {
  readonly #options: AutomaticCompactionOptions;
  readonly #historyMs: number;
  readonly #intervalMs: number;
  readonly #sampleMs: number;
  readonly #samples: { readonly at: number; readonly revision: number }[] = [];
  #timer: Timer | undefined;
  #lastRun: number;
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(options: AutomaticCompactionOptions) {
    this.#options = options;
    this.#historyMs = options.historyMs ?? DEFAULT_HISTORY_MS;
    this.#intervalMs = options.intervalMs ?? DEFAULT_COMPACTION_INTERVAL_MS;
    const wantedMs = Math.max(Math.min(this.#historyMs, this.#intervalMs) / 10, this.#intervalMs / 100, 1);
    this.#sampleMs = Math.min(wantedMs, LONGEST_SAMPLE_MS);
    this.#lastRun = options.clock.monotonicMs();
    this.#tick();
  }

  /** Stops; resolves when a compaction under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #tick(): void {
    if (this.#stopped) return;
    const at = this.#options.clock.monotonicMs();
    this.#samples.push({ at, revision: this.#options.revision() });
    // Of the samples that are old enough the newest is all that a run needs.
    while (this.#samples[1] && at - this.#samples[1].at >= this.#historyMs) this.#samples.shift();
    if (at - this.#lastRun >= this.#intervalMs) this.#run(at);
    this.#timer = this.#options.clock.after(this.#sampleMs, () => this.#tick());
  }

  #run(now: number): void {
    this.#lastRun = now;
    const oldest = this.#samples[0];
    if (!oldest || now - oldest.at < this.#historyMs) return;
    const { revision } = oldest;
    // A failure is the disk's; writers get it too, and the next interval continues where this one stopped.
    this.#running = this.#running.then(() => this.#options.compact(revision)).catch(() => undefined);
  }
}
