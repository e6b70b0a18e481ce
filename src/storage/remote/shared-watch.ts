// The live end of a Store elsewhere: one stream of all its changes, the last few thousand of them in memory, and all watches of this process
// on them.
//
//   watching ──(the next revision was compacted)──▶ relisting: new watches are held ──newest revision learned──▶ watching from there
//
// Relies on the stream (changes.ts) for every revision once and in order, on the hub of the other Stores for delivery.
import { RingBuffer, type Timer, createBoundsTest, delay, invariant, systemClock } from '../../base/index.ts';
import type { KeyRange, KeyValue, StoreEvent, WatchObserver } from '../store.ts';
import { type HistoryPart, type RevisionSpan, WatchHub } from '../watch-hub.ts';
import type { ChangeSink, ChangeStream, OpenChanges } from './changes.ts';
import { RemoteWatch } from './remote-watch.ts';
import { Replays } from './replay.ts';

interface SharedWatchOptions {
  /** Opens the stream that lasts. */
  readonly openLive: OpenChanges;
  /** Opens streams that bring watches up to what is in memory. */
  readonly openReplay: OpenChanges;
  /** The watch begins after this revision, which the store has. */
  readonly revision: number;
  /** The newest revision, linearizable. */
  readonly readRevision: () => Promise<number>;
  readonly report: (error: unknown) => void;
  /** What the changes in memory may take; REMEMBERED_BYTES when absent. */
  readonly rememberedBytes?: number;
}

const REMEMBERED_EVENTS = 10_000;
const REMEMBERED_BYTES = 32 << 20;
/** No change for so long after hearing that there is one: the watch hangs. */
const STALL_MS = 1_000;
const RETRY_MS = 200;
/** A new store is at revision 1, where nothing happened. */
const FIRST_CHANGE = 2;

type EndReason = Parameters<WatchObserver['ended']>[0];

interface Waiter {
  readonly revision: number;
  readonly resolve: (reached: boolean) => void;
}

/** Delivers changes to the watches of one Store. A stream that brings nothing for a second though the store is ahead is opened again. */
export class SharedWatch {
  readonly #options: SharedWatchOptions;
  readonly #memory = new RingBuffer<StoreEvent>();
  readonly #replays: Replays;
  readonly #waiters = new Set<Waiter>();
  #memoryBytes = 0;
  #hub: WatchHub;
  #stream: ChangeStream | undefined;
  /** Everything up to here was delivered. */
  #position: number;
  /** Every change after this revision, up to the position, is in memory. */
  #floor: number;
  /** The newest revision that an answer of the store has named. */
  #knownRevision: number;
  #compactRevision = 0;
  #stall: Timer | undefined;
  /** Watches that came while the newest state is looked for. */
  #held: RemoteWatch[] | undefined;
  #closed = false;

  constructor(options: SharedWatchOptions) {
    this.#options = options;
    this.#position = this.#floor = this.#knownRevision = options.revision;
    this.#hub = this.#createHub();
    this.#replays = new Replays({ open: options.openReplay, floor: () => this.#floor, join: (watch) => this.#start(watch) });
    this.#stream = this.#openStream();
  }

  get compactRevision(): number {
    return this.#compactRevision;
  }

  /** True when all changes that this Store knows of were delivered. */
  get isCurrent(): boolean {
    return this.#position >= this.#knownRevision;
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): RemoteWatch {
    const watch = new RemoteWatch({ range, from, observer, askProgress: (asking) => void this.#answerProgress(asking) });
    this.#start(watch);
    return watch;
  }

  /** The version that was written at `revision`, if that is in memory. */
  recall(revision: number): KeyValue | undefined {
    const event = this.#memory.at(this.#memory.search(({ kv }) => kv.modRevision < revision));
    return event?.kv.modRevision === revision ? event.kv : undefined;
  }

  /** The store has reached `revision`: the shared watch must get there. */
  noteRevision(revision: number): void {
    if (revision <= this.#knownRevision) return;
    this.#knownRevision = revision;
    if (revision <= this.#position) return;
    this.#stream?.hurry?.();
    this.#armStall();
  }

  noteCompaction(revision: number): void {
    this.#compactRevision = Math.max(this.#compactRevision, revision);
  }

  /** True once everything up to `revision` was delivered, false when `timeoutMs` passed first. */
  waitUntil(revision: number, timeoutMs: number): Promise<boolean> {
    if (this.#position >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = systemClock.after(timeoutMs, () => waiter.resolve(false));
      const waiter: Waiter = {
        revision,
        resolve: (reached) => {
          timer.cancel();
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    this.#end({ type: 'closed' });
  }

  /** The store can be used no more: all watches end, and those that come later. */
  fail(error: Error): void {
    this.#end({ type: 'failed', error });
  }

  #end(reason: EndReason): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stall?.cancel();
    this.#stream?.close();
    this.#replays.close(reason);
    for (const watch of this.#held ?? []) watch.end(reason);
    this.#held = undefined;
    this.#hub.end(reason);
    for (const waiter of this.#waiters) waiter.resolve(false);
  }

  #createHub(): WatchHub {
    return new WatchHub({
      revision: () => this.#position,
      compactRevision: () => this.#compactRevision,
      read: (range, span) => this.#readMemory(range, span),
    }, systemClock);
  }

  #openStream(): ChangeStream {
    const sink: ChangeSink = {
      events: (events, revision) => this.#take(events, revision),
      compacted: (compactRevision) => void this.#relist(compactRevision),
    };
    return this.#options.openLive(this.#position + 1, sink);
  }

  #start(watch: RemoteWatch): void {
    if (watch.isOver) return;
    const isLive = Math.max(watch.next, FIRST_CHANGE) > this.#floor || watch.next <= this.#compactRevision || this.#closed;
    if (this.#held !== undefined) this.#held.push(watch);
    else if (isLive) watch.goLive(this.#hub.add(watch.range, watch.next, watch.observer));
    else this.#replays.add(watch);
  }

  #take(events: readonly StoreEvent[], revision: number): void {
    for (const event of events) {
      this.#memory.push(event);
      this.#memoryBytes += sizeOf(event);
    }
    this.#position = revision;
    this.noteRevision(revision);
    if (this.isCurrent) this.#stall?.cancel();
    this.#hub.publish(events);
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.resolve(true);
    this.#trim();
  }

  /** Drops the oldest revisions, whole ones only, as long as there is too much. */
  #trim(): void {
    const { rememberedBytes = REMEMBERED_BYTES } = this.#options;
    while (this.#memory.size > REMEMBERED_EVENTS || this.#memoryBytes > rememberedBytes) {
      this.#floor = this.#shift();
      while (this.#memory.at(this.#memory.first)?.kv.modRevision === this.#floor) this.#shift();
    }
  }

  #shift(): number {
    const event = this.#memory.shift() as StoreEvent;
    this.#memoryBytes -= sizeOf(event);
    return event.kv.modRevision;
  }

  #readMemory(range: KeyRange, { from, through }: RevisionSpan): HistoryPart {
    invariant(Math.max(from, FIRST_CHANGE) > this.#floor, `revision ${from} is no longer in memory`);
    const holds = createBoundsTest(range);
    const events: StoreEvent[] = [];
    for (let at = this.#memory.search(({ kv }) => kv.modRevision < from); at < this.#memory.next; at += 1) {
      const event = this.#memory.at(at) as StoreEvent;
      if (event.kv.modRevision > through) break;
      if (holds(event.kv.key)) events.push(event);
    }
    return { events, through };
  }

  /** At once as far as this Store knows, and again with all that is acknowledged anywhere by the time of the call. */
  async #answerProgress(watch: RemoteWatch): Promise<void> {
    if (this.isCurrent) queueMicrotask(() => watch.answerProgress());
    else void this.waitUntil(this.#knownRevision, STALL_MS).then((reached) => reached && watch.answerProgress());
    try {
      const revision = await this.#options.readRevision();
      if (await this.waitUntil(revision, 5 * STALL_MS)) watch.answerProgress();
    } catch {
      // The watch's owner asks again; calls that need the store report that it cannot be reached.
    }
  }

  #armStall(): void {
    this.#stall?.cancel();
    const before = this.#position;
    this.#stall = systemClock.after(STALL_MS, () => {
      if (this.isCurrent || this.#closed) return;
      if (this.#position === before) this.#stream?.restart();
      this.#armStall();
    });
  }

  /** The next revision is gone: all watches end, and the shared watch continues from the newest state. */
  async #relist(compactRevision: number): Promise<void> {
    this.noteCompaction(compactRevision);
    this.#held = [];
    const hub = this.#hub;
    this.#hub = this.#createHub();
    hub.end({ type: 'compacted', compactRevision });
    const revision = await this.#awaitRevision();
    if (revision === undefined || this.#closed) return;
    while (this.#memory.size > 0) this.#shift();
    this.#position = this.#floor = Math.max(revision, this.#position);
    this.#stream = this.#openStream();
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const watch of held) this.#start(watch);
    for (const waiter of this.#waiters) if (waiter.revision <= this.#position) waiter.resolve(true);
  }

  async #awaitRevision(): Promise<number | undefined> {
    while (!this.#closed) {
      try {
        return await this.#options.readRevision();
      } catch (error) {
        this.#options.report(error);
        await delay(systemClock, RETRY_MS);
      }
    }
    return undefined;
  }
}

function sizeOf({ kv, previous }: StoreEvent): number {
  return 200 + kv.key.length + kv.value.length + (previous?.value.length ?? 0);
}
