// Hands the chunks of a copy to their owner in the background, a few milliseconds at a time, so that it can move their values closer together.
//
//   idle ──begin(a map not handed over yet)──▶ compacting ──every chunk handed over──▶ idle     slices: SLICE_MS of work, then PAUSE_MS of none
//
// A map is handed over again when something in it has to be done later.
import type { Chunk, Clock, SortedMap, Steps, Timer } from '../base/index.ts';
import type { Compaction, Entry } from './contract.ts';

const SLICE_MS = 4;
const PAUSE_MS = 2;
const all = { start: '', end: '\uffff' };

/** The compactor of one cache. */
export class ChunkCompactor<T> {
  readonly #clock: Clock;
  readonly #compactChunk: (chunk: readonly Entry<T>[]) => Steps<Compaction>;
  #done: SortedMap<Entry<T>> | undefined;
  #running: Iterator<Chunk<Entry<T>>> | undefined;
  /** The work on the chunk that is being handed over. */
  #steps: Steps<Compaction> | undefined;
  #timer: Timer | undefined;
  #closed = false;
  #isUnfinished = false;

  constructor(clock: Clock, compactChunk: (chunk: readonly Entry<T>[]) => Steps<Compaction>) {
    this.#clock = clock;
    this.#compactChunk = compactChunk;
  }

  /** Begins soon with this state of the copy, unless it was handed over before or another one is under way. */
  begin(map: SortedMap<Entry<T>>): void {
    if (this.#closed || this.#running !== undefined || map === this.#done) return;
    this.#done = map;
    this.#isUnfinished = false;
    this.#running = map.chunks(all)[Symbol.iterator]();
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#running = undefined;
    this.#steps = undefined;
  }

  #schedule(): void {
    this.#timer = this.#clock.after(PAUSE_MS, () => this.#slice());
  }

  #slice(): void {
    const endMs = this.#clock.monotonicMs() + SLICE_MS;
    for (;;) {
      const steps = this.#steps ?? this.#nextChunk();
      if (steps === undefined) return;
      const step = steps.next();
      this.#steps = step.done === true || this.#closed ? undefined : steps;
      if (step.value === 'later') this.#isUnfinished = true;
      if (step.value !== false && this.#clock.monotonicMs() >= endMs) return this.#schedule();
    }
  }

  #nextChunk(): Steps<Compaction> | undefined {
    const next = this.#running?.next();
    if (next !== undefined && next.done !== true) return this.#compactChunk(next.value.chunk);
    this.#running = undefined;
    if (this.#isUnfinished) this.#done = undefined;
    return undefined;
  }
}
