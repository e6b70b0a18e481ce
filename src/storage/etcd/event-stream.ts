// Every change of every key of etcd, each revision once and in order, from a given one on, across lost connections and servers.
//
//   opening ──created──▶ open ──(connection lost, no leader, stalled)──▶ pausing ──▶ opening, after the last delivered revision
//      └──────────────────┴──────(the next revision was compacted)──▶ ended
//
// One watch of all keys has a property that watches of parts lack: each revision has a change in it, so that nothing can be missing
// unnoticed, and revision N is proof that everything before it has come. Requests for progress, which servers before
// 3.4.25 and 3.5.8 answer too early, are not needed.
import { type Timer, systemClock } from '../../base/index.ts';
import { StorageClosedError } from '../errors.ts';
import type { ChangeSink, ChangeStream } from '../remote/changes.ts';
import { Pauses } from '../remote/pauses.ts';
import type { StoreEvent } from '../store.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { type GrpcStream, GrpcError } from '../../grpc/index.ts';
import { type Change, type WatchAnswer, decodeWatch, encodeWatchEverything } from './grpc/messages.ts';

interface EventStreamOptions {
  readonly connection: EtcdConnection;
  /** The first revision wanted. */
  readonly from: number;
  readonly sink: ChangeSink;
  readonly report: (error: unknown) => void;
}

/** A server must confirm a watch within this time. */
const CONFIRM_MS = 2_000;

/** One watch of everything that resumes by itself until it is closed. */
export class EventStream implements ChangeStream {
  readonly #options: EventStreamOptions;
  /** All revisions up to this one were delivered. */
  #position: number;
  #stream: GrpcStream | undefined;
  /** Parts of a large answer. */
  #fragments: Change[] = [];
  readonly #pauses = new Pauses();
  #timer: Timer | undefined;
  #gapSeenAt = 0;
  #tornSeenAt = 0;
  #closed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    // Nothing ever happened at revision 1.
    this.#position = Math.max(1, options.from - 1);
    void this.#open();
  }

  get position(): number {
    return this.#position;
  }

  /** Gives the connection up for another one; for streams that bring nothing though there is something. */
  restart(): void {
    if (this.#stream === undefined) return;
    this.#options.connection.moveOn();
    this.#drop(new Error('the watch stalled'));
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#cancel();
  }

  async #open(): Promise<void> {
    try {
      const stream = await this.#options.connection.openWatch({
        message: (bytes) => this.#receive(bytes),
        ended: (status) => this.#drop(new GrpcError(status)),
      });
      if (this.#closed) return stream.cancel();
      this.#stream = stream;
      this.#fragments = [];
      this.#timer = systemClock.after(CONFIRM_MS, () => this.restart());
      // The last revision that is here is asked for again: a watch may start there exactly if nothing after it was compacted.
      stream.write(encodeWatchEverything(this.#position));
    } catch (error) {
      if (!(error instanceof StorageClosedError)) this.#pauseThenOpen(error);
    }
  }

  #receive(bytes: Buffer): void {
    try {
      const answer = decodeWatch(bytes);
      if (answer.created) this.#timer?.cancel();
      if (answer.canceled) this.#endBy(answer);
      else if (answer.changes.length > 0) this.#take(answer);
    } catch (error) {
      this.#drop(error);
    }
  }

  #endBy({ compactRevision, cancelReason }: WatchAnswer): void {
    if (compactRevision === 0) return this.#drop(new Error(`the watch was refused: ${cancelReason}`));
    this.#finish(compactRevision);
  }

  #finish(compactRevision: number): void {
    this.close();
    this.#options.sink.compacted(compactRevision);
  }

  #take({ fragment, changes }: WatchAnswer): void {
    for (const change of changes) if (change.kv.modRevision > this.#position) this.#fragments.push(change);
    if (fragment || this.#fragments.length === 0) return;
    const taken = this.#fragments;
    this.#fragments = [];
    const gap = findGap(taken, this.#position);
    if (gap !== undefined) return this.#handleGap(gap);
    const overtaken = taken.find(isTorn);
    if (overtaken !== undefined) return this.#handleTorn(overtaken.kv.modRevision);
    this.#pauses.reset();
    this.#position = (taken.at(-1) as Change).kv.modRevision;
    this.#options.sink.events(taken.map(toEvent), this.#position);
  }

  /** Another server is asked for what is missing; if it is missing there too (a restored backup skips revisions), all watches begin again. */
  #handleGap(revision: number): void {
    if (this.#gapSeenAt === revision) return this.#finish(revision - 1);
    this.#gapSeenAt = revision;
    this.restart();
  }

  /** Asked again, etcd names its compaction; if it does not, what could not be read is the least that is gone. */
  #handleTorn(revision: number): void {
    if (this.#tornSeenAt === revision) return this.#finish(revision);
    this.#tornSeenAt = revision;
    this.#drop(new Error('compaction has overtaken the watch'));
  }

  #drop(error: unknown): void {
    if (this.#closed) return;
    this.#cancel();
    this.#pauseThenOpen(error);
  }

  #pauseThenOpen(error: unknown): void {
    if (this.#closed) return;
    this.#options.report(error);
    this.#timer?.cancel();
    this.#timer = systemClock.after(this.#pauses.next(), () => void this.#open());
  }

  #cancel(): void {
    this.#stream?.cancel();
    this.#stream = undefined;
  }
}

/** The first revision that does not follow the one before. */
function findGap(changes: readonly Change[], position: number): number | undefined {
  let last = position;
  for (const { kv } of changes) {
    if (kv.modRevision > last + 1) return kv.modRevision;
    last = kv.modRevision;
  }
  return undefined;
}

/** Compaction overtook the watch: the version that the change replaced is gone. */
function isTorn({ type, kv, previous }: Change): boolean {
  return previous === undefined && (type === 'delete' || kv.version !== 1);
}

function toEvent({ type, kv, previous }: Change): StoreEvent {
  const { key, value, modRevision } = kv;
  const createRevision = type === 'put' ? kv.createRevision : previous?.createRevision ?? 0;
  return { type, kv: { key, value, createRevision, modRevision }, ...(previous !== undefined && { previous: withoutVersion(previous) }) };
}

function withoutVersion({ key, value, createRevision, modRevision }: NonNullable<Change['previous']>): NonNullable<StoreEvent['previous']> {
  return { key, value, createRevision, modRevision };
}
