// Carries durable changes from the journal into the tables: a while after they were acknowledged, many in one transaction. Until then reads
// find them here. A disk that is full stops it: waiting changes stay in the journal and here, and the next attempt continues with them.
import type { Clock, Timer } from '../../base/index.ts';
import type { StoreEvent } from '../store.ts';
import type { GroupCommit } from './group-commit.ts';
import { encodeLeaseKey, encodeOldKey, encodePointer } from './tables/record.ts';
import type { Tables } from './tables/tables.ts';

/** A change that is durable, with its log record. */
export interface DurableChange {
  readonly event: StoreEvent;
  readonly record: Buffer;
  readonly expiresAt: number | undefined;
}

interface CheckpointerOptions {
  readonly tables: Tables;
  readonly commits: GroupCommit;
  readonly clock: Clock;
  /** Revision of the tables. */
  readonly applied: number;
  readonly onApplied: (changes: readonly DurableChange[]) => void;
}

/** How long a change may wait for others to go into the tables with it. */
const GATHER_MS = 100;
/** Time after which changes that the disk refused are tried again. */
const RETRY_MS = 500;
/** Changes of one transaction, which are laid out in one turn of the loop. */
const CHANGES_PER_STEP = 128;

/** The changes between the tables and the journal's end. */
export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #waiting: DurableChange[] = [];
  #applied: number;
  #step: Promise<void> | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#applied = options.applied;
  }

  /** The newest revision that the tables are known to hold durably. */
  get applied(): number {
    return this.#applied;
  }

  /** Changes after `applied`, in revision order. */
  get waiting(): readonly DurableChange[] {
    return this.#waiting;
  }

  add(change: DurableChange): void {
    this.#waiting.push(change);
    this.#schedule(GATHER_MS);
  }

  /** Ends the background work; `drain` still puts changes into the tables. */
  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Resolves when everything added before the call, or up to `revision`, is in the tables; rejects when the disk refuses. */
  async drain(revision: number = this.#waiting.at(-1)?.event.kv.modRevision ?? 0): Promise<void> {
    while (this.#applied < revision && this.#waiting.length > 0) {
      this.#step ??= this.#apply(this.#waiting.slice(0, CHANGES_PER_STEP)).finally(() => (this.#step = undefined));
      await this.#step;
    }
  }

  #schedule(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer ??= this.#options.clock.after(delayMs, () => {
      this.#timer = undefined;
      // Changes that the disk refuses stay in the journal and here.
      void this.drain().catch(() => this.#schedule(RETRY_MS));
    });
  }

  #apply(changes: readonly DurableChange[]): Promise<void> {
    const { tables, commits, onApplied } = this.#options;
    const last = (changes.at(-1) as DurableChange).event.kv.modRevision;
    return new Promise((resolve, failed) => {
      const write = (): void => {
        for (const change of changes) putChange(tables, change);
        tables.putRevision(last);
      };
      const committed = (): void => {
        this.#waiting = this.#waiting.slice(changes.length);
        this.#applied = last;
        onApplied(changes);
        resolve();
      };
      commits.submit({ write, bytes: changes.reduce((sum, { record }) => sum + record.length, 0), committed, failed });
    });
  }
}

/** Puts one change into an open transaction; the revision is the caller's. */
export function putChange(tables: Tables, { event, record, expiresAt }: DurableChange): void {
  const { live, old, leases } = tables;
  const { kv, previous } = event;
  const keyBytes = Buffer.from(kv.key);
  tables.appendRecord(kv.modRevision, record);
  if (event.type === 'delete') void live.remove(keyBytes);
  else void live.put(keyBytes, encodePointer(kv));
  if (previous) void old.put(encodeOldKey(kv.key, kv.modRevision), encodePointer(previous));
  if (expiresAt !== undefined) void leases.put(encodeLeaseKey({ expiresAt, revision: kv.modRevision }), keyBytes);
}
