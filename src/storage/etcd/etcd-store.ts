// The Store over etcd. State, history and durability are etcd's; this maps the contract onto its calls. Watches are those of shared-watch.ts.
import { type Clock, invariant, systemClock } from '../../base/index.ts';
import { StorageClosedError } from '../errors.ts';
import { checkTxn } from '../keys.ts';
import type { KeyRange, RangeRequest, RangeResult, Store, StoreWatch, TxnRequest, TxnResult, WatchObserver } from '../store.ts';
import { Compactor } from './compactor.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { EtcdError, statusCode } from './grpc/etcd-error.ts';
import { EventStream } from './event-stream.ts';
import { SharedWatch } from './shared-watch.ts';
import { Leases, readTimesToLive } from './leases.ts';
import { type TxnAnswer, decodeRange, decodeTxn, encodeCompaction, encodeRange, encodeTxn } from './grpc/messages.ts';
import { readRange } from './range.ts';

interface EtcdStoreParts {
  readonly connection: EtcdConnection;
  readonly clock: Clock;
  readonly compactionIntervalMs: number;
  /** Etcd's revision as the Store opens. */
  readonly revision: number;
  readonly report: (error: unknown) => void;
}

const LEARN_MS = 3_000;
const ROUNDS = 5;

/** A Store on etcd; store.ts has its contract. */
export class EtcdStore implements Store {
  readonly #connection: EtcdConnection;
  readonly #shared: SharedWatch;
  readonly #leases: Leases;
  readonly #compactor: Compactor;
  readonly #report: (error: unknown) => void;
  /** A question for the revision that is not sent yet: all callers until then share its answer. */
  #upcoming: Promise<number> | undefined;
  #asking: Promise<unknown> = Promise.resolve();
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor({ connection, clock, compactionIntervalMs, revision, report }: EtcdStoreParts) {
    this.#connection = connection;
    this.#report = report;
    this.#shared = new SharedWatch({ connection, revision, report, readRevision: () => this.#learnRevision() });
    this.#leases = new Leases(connection, clock);
    this.#compactor = new Compactor({ connection, clock, report, intervalMs: compactionIntervalMs, compact: (at) => this.compact(at) });
  }

  range(request: RangeRequest): Promise<RangeResult> {
    return this.#track(async () => {
      // Etcd reads an end of nothing as "this key alone", and an interval that ends before it starts as empty.
      if (request.start === '') return this.#readRange({ ...request, start: '\u0000' });
      return this.#readRange(request);
    });
  }

  txn(request: TxnRequest): Promise<TxnResult> {
    return this.#track(async () => {
      checkTxn(request);
      const answer = await this.#write(request);
      const { revision, current } = answer;
      this.#shared.noteRevision(revision);
      if (answer.succeeded) return { type: 'committed', revision };
      if (current === undefined) return { type: 'conflict', revision };
      const { key, value, createRevision, modRevision } = current;
      return { type: 'conflict', revision, current: { key, value, createRevision, modRevision } };
    });
  }

  watch(range: KeyRange, from: number, observer: WatchObserver): StoreWatch {
    return this.#shared.watch(range, from, observer);
  }

  compact(revision: number): Promise<{ readonly compactRevision: number }> {
    return this.#track(async () => {
      try {
        await this.#connection.call('/etcdserverpb.KV/Compact', encodeCompaction(revision), { type: 'read' });
        this.#shared.noteCompaction(revision);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === 'future') throw new RangeError(`revision ${revision} is in the future`, { cause: error });
        if (refusal === undefined) throw error;
        if (this.#shared.compactRevision < revision) this.#shared.noteCompaction(await this.#learnCompaction(revision));
      }
      return { compactRevision: this.#shared.compactRevision };
    });
  }

  timesToLive(): Promise<ReadonlyMap<number, number>> {
    return this.#track(() => readTimesToLive(this.#connection));
  }

  revision(): Promise<number> {
    return this.#track(() => this.#learnRevision());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#compactor.stop();
    await Promise.allSettled(this.#running);
    this.#shared.close();
    this.#connection.close();
  }

  /** Calls that began before close are answered; later ones are refused. */
  #track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new StorageClosedError());
    const running = run();
    this.#running.add(running);
    const forget = (): void => void this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  async #readRange(request: RangeRequest): Promise<RangeResult> {
    for (let round = 0; round < ROUNDS; round += 1) {
      try {
        const { revision, kvs, more, count } = await readRange(this.#connection, request);
        this.#shared.noteRevision(revision);
        return { type: 'ok', revision, kvs, more, count };
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === undefined) throw error;
        const revision = await this.#learnRevision();
        if (refusal === 'future' && (request.revision ?? 0) > revision) return { type: 'future', revision };
        // Without a revision, the pages after the first were overtaken by a compaction: the read begins again.
        if (refusal === 'compacted' && request.revision !== undefined) {
          return { type: 'compacted', compactRevision: await this.#findCompaction(request.revision), revision };
        }
      }
    }
    throw new Error('etcd compacts faster than a range can be read');
  }

  async #write(request: TxnRequest): Promise<TxnAnswer> {
    try {
      return await this.#tryWrite(request);
    } catch (error) {
      const isLeaseGone = request.ttlSeconds !== undefined && error instanceof EtcdError && error.code === statusCode.notFound;
      if (!isLeaseGone) throw error;
      this.#leases.drop(request.ttlSeconds);
      return this.#tryWrite(request);
    }
  }

  async #tryWrite({ key, expect, value, ttlSeconds }: TxnRequest): Promise<TxnAnswer> {
    const lease = ttlSeconds === undefined ? 0n : await this.#leases.take(ttlSeconds);
    const bytes = encodeTxn({ key, compare: { target: 'modRevision', equals: expect }, lease, ...(value !== undefined && { value }) });
    return decodeTxn(await this.#connection.call('/etcdserverpb.KV/Txn', bytes, { type: 'write' }));
  }

  #learnRevision(): Promise<number> {
    this.#upcoming ??= this.#asking.then(() => {
      this.#upcoming = undefined;
      const answer = readRevision(this.#connection);
      this.#asking = answer.catch(() => undefined);
      return answer.then((revision) => {
        this.#shared.noteRevision(revision);
        return revision;
      });
    });
    return this.#upcoming;
  }

  async #findCompaction(revision: number): Promise<number> {
    if (this.#shared.compactRevision <= revision) this.#shared.noteCompaction(await this.#learnCompaction(revision));
    return this.#shared.compactRevision;
  }

  /** Etcd reports its compaction only to a watch of something compacted. */
  #learnCompaction(revision: number): Promise<number> {
    invariant(revision > 0, 'a revision was refused as compacted');
    return new Promise((resolve, reject) => {
      const sink = { events: () => finish(() => resolve(revision)), compacted: (at: number) => finish(() => resolve(at)) };
      const stream = new EventStream({ connection: this.#connection, from: revision + 1, sink, report: this.#report });
      const timer = systemClock.after(LEARN_MS, () => finish(() => reject(new Error('etcd does not report its compaction'))));
      const finish = (settle: () => void): void => {
        timer.cancel();
        stream.close();
        settle();
      };
    });
  }
}

/** The newest revision by a read that all servers agree on. */
export async function readRevision(connection: EtcdConnection): Promise<number> {
  const bytes = encodeRange({ key: 'compact_rev_key', countOnly: true });
  return decodeRange(await connection.call('/etcdserverpb.KV/Range', bytes, { type: 'read', attemptMs: 1_500 })).revision;
}

/** Etcd's two refusals of a revision. */
function refusalOf(error: unknown): 'compacted' | 'future' | undefined {
  if (!(error instanceof EtcdError) || error.code !== statusCode.outOfRange) return undefined;
  return error.details.includes('compacted') ? 'compacted' : 'future';
}
