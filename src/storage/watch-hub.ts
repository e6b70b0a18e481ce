// All watches of one Store: replay of history, then live changes, each revision once and in order. Shared by the Stores
// that keep their own log; they hand in a reader of history and publish durable changes.
import type { Clock } from '../base/index.ts';
import { KeyIndex } from './key-index.ts';
import type { KeyRange, StoreEvent, StoreWatch, WatchObserver } from './store.ts';

/** The part of a Store that the hub uses. All answers concern durable state only. */
interface HistorySource {
  revision(): number;
  compactRevision(): number;
  /** The changes of `range` in `span`, in order, as many as fit into one turn. */
  read(range: KeyRange, span: RevisionSpan): HistoryPart;
}

/** Revisions from `from` to `through`, both inclusive. */
export interface RevisionSpan {
  readonly from: number;
  readonly through: number;
}

/** Changes, complete up to and including revision `through`. */
export interface HistoryPart {
  readonly events: readonly StoreEvent[];
  readonly through: number;
  /** The change of the next revision cannot be read: a watch that needs it ends, as if the revision were compacted. */
  readonly isDamagedThere?: boolean;
}

type EndReason = Parameters<WatchObserver['ended']>[0];

/** Revisions that a watch may be sent at once while it catches up. */
const REVISIONS_PER_SLICE = 250;
/** How long catching up, of all watches together, may hold the loop in one turn. */
const TURN_MS = 5;

/**
 * A watch in one of three states:
 *
 *   lagging ──(its slice reaches the Store's revision)──▶ synced ──▶ ended
 *      └──(its next revision is compacted, or reading fails)────────▶ ended
 *
 * Only synced watches are in the index; `next` makes sure that a revision is delivered once whatever the route.
 */
class Watch implements StoreWatch {
  state: 'lagging' | 'synced' | 'ended' = 'lagging';
  /** The lowest revision not delivered yet. */
  next: number;
  wantsProgress = false;
  readonly range: KeyRange;
  readonly observer: WatchObserver;
  readonly #hub: WatchHub;

  constructor(hub: WatchHub, options: { range: KeyRange; from: number; observer: WatchObserver }) {
    this.#hub = hub;
    this.range = options.range;
    this.next = options.from;
    this.observer = options.observer;
  }

  requestProgress(): void {
    this.wantsProgress = true;
    queueMicrotask(() => this.#hub.answerProgress(this));
  }

  delivered(): number | undefined {
    return this.#hub.deliveredTo(this);
  }

  close(): void {
    this.#hub.remove(this);
  }
}

/** The watches of one Store. */
export class WatchHub {
  readonly #source: HistorySource;
  readonly #index = new KeyIndex<Watch>();
  readonly #watches = new Set<Watch>();
  /** Watches of the future whose request for progress waits for their start. */
  readonly #early = new Set<Watch>();
  readonly #queue: (readonly StoreEvent[])[] = [];
  #draining = false;
  /** Lagging watches, served in turns: one slice each. */
  #lagging: Watch[] = [];
  #pumping = false;
  #over: EndReason | undefined;

  readonly #clock: Clock;

  constructor(source: HistorySource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  add(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    const watch = new Watch(this, { range, from, observer });
    this.#watches.add(watch);
    if (this.#over) queueMicrotask(() => this.end(this.#over as EndReason));
    else if (from > this.#source.revision()) this.#sync(watch);
    else this.#queueLagging(watch);
    return watch;
  }

  remove(watch: Watch): void {
    if (watch.state === 'synced') this.#index.remove(watch);
    watch.state = 'ended';
    this.#watches.delete(watch);
    this.#early.delete(watch);
  }

  /** Delivers changes in revision order; the Store's revision must already be that of the last one. */
  publish(events: readonly StoreEvent[]): void {
    this.#queue.push(events);
    if (this.#draining) return; // An observer wrote: its change comes after everything that is being delivered.
    this.#draining = true;
    for (let batch = this.#queue.shift(); batch; batch = this.#queue.shift()) this.#deliver(batch);
    this.#draining = false;
    for (const watch of this.#early) this.answerProgress(watch);
  }

  /** Ends every watch in this turn, and those that are added later right after they are. */
  end(reason: EndReason): void {
    this.#over = reason;
    for (const watch of this.#watches) this.#finish(watch, reason);
  }

  answerProgress(watch: Watch): void {
    if (watch.state !== 'synced' || !watch.wantsProgress) return;
    const revision = this.#source.revision();
    if (revision < watch.next - 1) {
      this.#early.add(watch);
      return;
    }
    watch.wantsProgress = false;
    this.#early.delete(watch);
    call(() => watch.observer.progress(revision));
  }

  /** Undefined while changes are being delivered: some watches have them, others do not. */
  deliveredTo(watch: Watch): number | undefined {
    if (watch.state !== 'synced' || this.#draining) return undefined;
    const revision = this.#source.revision();
    return revision < watch.next - 1 ? undefined : revision;
  }

  #deliver(batch: readonly StoreEvent[]): void {
    const batches = new Map<Watch, StoreEvent[]>();
    for (const event of batch) {
      this.#index.visit(event.kv.key, (watch) => {
        if (event.kv.modRevision < watch.next) return;
        const own = batches.get(watch);
        if (own) own.push(event);
        else batches.set(watch, [event]);
      });
    }
    const through = batch[batch.length - 1]?.kv.modRevision ?? 0;
    for (const [watch, own] of batches) {
      if (watch.state === 'synced') this.#emit(watch, own, through);
    }
  }

  #emit(watch: Watch, events: readonly StoreEvent[], through: number): void {
    watch.next = through + 1;
    const last = events[events.length - 1];
    if (last) call(() => watch.observer.events(events, last.kv.modRevision));
  }

  #queueLagging(watch: Watch): void {
    this.#lagging.push(watch);
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => this.#pump());
  }

  /** One slice for each lagging watch, as far as the time of this turn allows. */
  #pump(): void {
    const started = this.#clock.monotonicMs();
    const round = this.#lagging;
    this.#lagging = [];
    let served = 0;
    while (served < round.length && (served === 0 || this.#clock.monotonicMs() - started < TURN_MS)) {
      this.#catchUp(round[served] as Watch);
      served += 1;
    }
    this.#lagging = [...round.slice(served), ...this.#lagging];
    this.#pumping = this.#lagging.length > 0;
    if (this.#pumping) setImmediate(() => this.#pump());
  }

  #catchUp(watch: Watch): void {
    if (watch.state !== 'lagging') return;
    const compactRevision = this.#source.compactRevision();
    if (watch.next <= compactRevision) {
      this.#finish(watch, { type: 'compacted', compactRevision });
      return;
    }
    const part = this.#read(watch, Math.min(watch.next + REVISIONS_PER_SLICE - 1, this.#source.revision()));
    if (!part) return;
    this.#emit(watch, part.events, part.through);
    if (part.isDamagedThere === true) this.#finish(watch, { type: 'compacted', compactRevision: part.through + 1 });
    else if (watch.next > this.#source.revision()) this.#sync(watch);
    else this.#lagging.push(watch);
  }

  #read(watch: Watch, through: number): HistoryPart | undefined {
    try {
      return this.#source.read(watch.range, { from: watch.next, through });
    } catch (error) {
      this.#finish(watch, { type: 'failed', error: error as Error });
      return undefined;
    }
  }

  #sync(watch: Watch): void {
    if (watch.state !== 'lagging') return;
    watch.state = 'synced';
    this.#index.add(watch);
    if (watch.wantsProgress) this.answerProgress(watch);
  }

  #finish(watch: Watch, reason: EndReason): void {
    if (watch.state === 'ended') return;
    this.remove(watch);
    call(() => watch.observer.ended(reason));
  }
}

/** An observer that throws is a bug of its owner; it must not take the Store's bookkeeping or other watches with it. */
function call(notify: () => void): void {
  try {
    notify();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
