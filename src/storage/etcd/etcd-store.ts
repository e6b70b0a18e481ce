// The Store over etcd. State, history and durability are etcd's; this maps the contract onto its calls. Watches are those of remote/shared-watch.ts.
import { type Clock, invariant, systemClock } from '../../base/index.ts';
import { checkTxn } from '../keys.ts';
import { RunningCalls, SharedQuestion } from '../remote/calls.ts';
import type { OpenChanges } from '../remote/changes.ts';
import { Compactor } from '../remote/compactor.ts';
import { SharedWatch } from '../remote/shared-watch.ts';
import type { KeyRange, RangeRequest, RangeResult, Store, StoreWatch, TxnRequest, TxnResult, WatchObserver } from '../store.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { GrpcError, statusCode } from '../../grpc/index.ts';
import { StorageWriteError } from '../errors.ts';
import { EventStream } from './event-stream.ts';
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

/** Servers of this program and kube-apiserver count intervals as versions of this key. */
const INTERVAL_KEY = 'compact_rev_key';

const LEARN_MS = 3_000;
const ROUNDS = 5;
/** The largest message that etcd's own client sends. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

/** A Store on etcd; store.ts has its contract. */
export class EtcdStore implements Store {
  readonly #connection: EtcdConnection;
  readonly #shared: SharedWatch;
  readonly #leases: Leases;
  readonly #compactor: Compactor;
  readonly #report: (error: unknown) => void;
  readonly #calls = new RunningCalls();
  readonly #revision = new SharedQuestion(() => this.#readRevision());

  constructor({ connection, clock, compactionIntervalMs, revision, report }: EtcdStoreParts) {
    this.#connection = connection;
    this.#report = report;
    const open: OpenChanges = (from, sink) => new EventStream({ connection, report, from, sink });
    this.#shared = new SharedWatch({ openLive: open, openReplay: open, revision, report, readRevision: () => this.#revision.ask() });
    this.#leases = new Leases(connection, clock);
    this.#compactor = new Compactor({
      clock, report, intervalMs: compactionIntervalMs,
      race: (interval, mark) => countInterval(connection, interval, mark),
      compact: (at) => this.compact(at),
    });
  }

  range(request: RangeRequest): Promise<RangeResult> {
    return this.#calls.track(async () => {
      // Etcd reads an end of nothing as "this key alone", and an interval that ends before it starts as empty.
      if (request.start === '') return this.#readRange({ ...request, start: '\u0000' });
      return this.#readRange(request);
    });
  }

  txn(request: TxnRequest): Promise<TxnResult> {
    return this.#calls.track(async () => {
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
    return this.#calls.track(async () => {
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
    return this.#calls.track(() => readTimesToLive(this.#connection));
  }

  revision(): Promise<number> {
    return this.#calls.track(() => this.#revision.ask());
  }

  close(): Promise<void> {
    this.#compactor.stop();
    return this.#calls.close(async () => {
      this.#shared.close();
      this.#connection.close();
    });
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
        const revision = await this.#revision.ask();
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
      const isLeaseGone = request.ttlSeconds !== undefined && error instanceof GrpcError && error.code === statusCode.notFound;
      // What etcd refuses for good: a value that is too large, a database that is full.
      if (!isLeaseGone) throw error instanceof GrpcError ? new StorageWriteError(error.details, { cause: error }) : error;
      this.#leases.drop(request.ttlSeconds);
      return this.#tryWrite(request);
    }
  }

  async #tryWrite({ key, expect, value, ttlSeconds }: TxnRequest): Promise<TxnAnswer> {
    const lease = ttlSeconds === undefined ? 0n : await this.#leases.take(ttlSeconds);
    const bytes = encodeTxn({ key, compare: { target: 'modRevision', equals: expect }, lease, ...(value !== undefined && { value }) });
    // Etcd's own client refuses this before it sends; etcd would end the call in other words.
    if (bytes.length > MAX_MESSAGE_BYTES) {
      throw new StorageWriteError(`rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes.length} vs. ${MAX_MESSAGE_BYTES})`);
    }
    return decodeTxn(await this.#connection.call('/etcdserverpb.KV/Txn', bytes, { type: 'write' }));
  }

  async #readRevision(): Promise<number> {
    const revision = await readRevision(this.#connection);
    this.#shared.noteRevision(revision);
    return revision;
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

async function countInterval(connection: EtcdConnection, interval: number, mark: number) {
  const value = new TextEncoder().encode(String(mark));
  const call = encodeTxn({ key: INTERVAL_KEY, compare: { target: 'version', equals: interval }, value });
  const { succeeded, revision, current } = decodeTxn(await connection.call('/etcdserverpb.KV/Txn', call, { type: 'write' }));
  return { won: succeeded, interval: succeeded ? interval + 1 : current?.version ?? 0, revision };
}

/** Etcd's two refusals of a revision. */
function refusalOf(error: unknown): 'compacted' | 'future' | undefined {
  if (!(error instanceof GrpcError) || error.code !== statusCode.outOfRange) return undefined;
  return error.details.includes('compacted') ? 'compacted' : 'future';
}
