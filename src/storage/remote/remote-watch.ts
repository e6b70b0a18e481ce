// A watch of the Store as its parts hand it to one another: replayed first if it starts far back, live afterwards.
import { createBoundsTest } from '../../base/index.ts';
import type { KeyRange, StoreEvent, StoreWatch, WatchObserver } from '../store.ts';

type EndReason = Parameters<WatchObserver['ended']>[0];

/**
 * replaying ──(joins)──▶ live ──▶ ended
 *     └───────────────────────────▶ ended
 */
export class RemoteWatch implements StoreWatch {
  readonly range: KeyRange;
  readonly observer: WatchObserver;
  /** While replaying: the lowest revision not delivered yet. */
  next: number;
  readonly #holds: (key: string) => boolean;
  readonly #askProgress: (watch: RemoteWatch) => void;
  #live: StoreWatch | undefined;
  #wantsProgress = false;
  #over = false;

  constructor(options: { range: KeyRange; from: number; observer: WatchObserver; askProgress: (watch: RemoteWatch) => void }) {
    this.range = options.range;
    this.next = options.from;
    this.observer = options.observer;
    this.#holds = createBoundsTest(options.range);
    this.#askProgress = options.askProgress;
  }

  get isOver(): boolean {
    return this.#over;
  }

  requestProgress(): void {
    if (!this.#over) this.#askProgress(this);
  }

  close(): void {
    this.#over = true;
    this.#live?.close();
  }

  /** Delivers what belongs to this watch of whole revisions up to `through`. */
  replay(events: readonly StoreEvent[], through: number): void {
    if (this.#over) return;
    const own = events.filter(({ kv }) => kv.modRevision >= this.next && this.#holds(kv.key));
    this.next = Math.max(this.next, through + 1);
    const last = own.at(-1);
    if (last !== undefined) this.observer.events(own, last.kv.modRevision);
  }

  /** From here on `live` delivers. */
  goLive(live: StoreWatch): void {
    if (this.#over) return live.close();
    this.#live = live;
    if (this.#wantsProgress) live.requestProgress();
  }

  /** Reports how far the watch is, once it is live. */
  answerProgress(): void {
    if (this.#live === undefined) this.#wantsProgress = true;
    else this.#live.requestProgress();
  }

  end(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    this.observer.ended(reason);
  }
}
