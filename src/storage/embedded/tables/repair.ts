// Takes damaged records out of the tables and into a file, so that everything else is whole again:
//
//   a version that its index cannot reach   its index entry and its record are moved to the file; the key no longer exists
//   a damaged tombstone                     is moved to the file; the deletion stays
//   an older version that a damaged change superseded      is removed with it
//   a sound newest version without an index entry          gets one
//   a lease that names another key than its version has    is removed; the object stays until it is deleted
//
// History up to the newest revision is compacted by it: every older watch begins again with a list, none misses a change.
import type { MovedRecord } from '../reports.ts';
import { StorageCorruptError } from '../../errors.ts';
import type { Lease } from '../../expiry.ts';
import { encodeLeaseKey, encodeOldKey, encodePointer, encodeRevision } from './record.ts';
import type { ScannedVersion, Snapshot, Tables } from './tables.ts';

/** The changes of one repair. */
export interface RepairPlan {
  readonly moved: readonly MovedRecord[];
  readonly revision: number;
  readonly sweptRevision: number;
  /** Keys whose entry among the live ones is removed. */
  readonly dead: readonly string[];
  /** Versions that get an entry among the live ones. */
  readonly found: readonly ScannedVersion[];
  /** Entries of superseded versions that are removed. */
  readonly forgotten: readonly { readonly key: string; readonly supersededAt: number }[];
  /** Records that are removed. */
  readonly records: readonly number[];
  /** Leases that are removed. */
  readonly leases: readonly Lease[];
}

const everything = { start: '', end: '\u{10ffff}\u{10ffff}' };
const HEADER_BYTES = 32;

/** Finds what a repair has to change. Reads every record; throws StorageCorruptError when the revision itself cannot be read. */
export function planRepair(snapshot: Snapshot): RepairPlan {
  return new Repair(snapshot).plan();
}

/** Puts the changes of `plan` into one open transaction. */
export function applyRepair(tables: Tables, plan: RepairPlan): void {
  for (const key of plan.dead) void tables.live.remove(Buffer.from(key));
  for (const version of plan.found) void tables.live.put(Buffer.from(version.key), encodePointer(version));
  for (const { key, supersededAt } of plan.forgotten) void tables.old.remove(encodeOldKey(key, supersededAt));
  for (const revision of plan.records) void tables.log.remove(encodeRevision(revision));
  for (const lease of plan.leases) void tables.leases.remove(encodeLeaseKey(lease));
  tables.putCompaction({ compactRevision: plan.revision, sweptRevision: plan.sweptRevision });
}

class Repair {
  readonly #snapshot: Snapshot;
  readonly #moved = new Map<number, MovedRecord>();
  readonly #dead = new Set<string>();
  readonly #found = new Map<string, ScannedVersion>();
  readonly #forgotten: { readonly key: string; readonly supersededAt: number }[] = [];
  readonly #removed = new Set<number>();
  /** Revisions of versions that an index entry reaches. */
  readonly #reached = new Set<number>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  plan(): RepairPlan {
    const { revision, compaction: { sweptRevision } } = this.#snapshot;
    this.#checkLive();
    this.#checkOld();
    this.#checkLog();
    return {
      moved: [...this.#moved.values()], revision, sweptRevision, dead: [...this.#dead], found: [...this.#found.values()],
      forgotten: this.#forgotten, records: [...this.#removed], leases: [...this.#strayLeases()],
    };
  }

  #checkLive(): void {
    for (const entry of this.#snapshot.liveVersions(everything)) {
      if (!entry) continue;
      const cause = this.#causeOf(() => void this.#snapshot.version(entry));
      if (cause === undefined) this.#reached.add(entry.modRevision);
      else {
        this.#dead.add(entry.key);
        this.#move(entry, cause);
      }
    }
  }

  #checkOld(): void {
    for (const entry of this.#snapshot.oldVersions(everything)) {
      if (!entry) continue;
      const cause = this.#causeOf(() => void this.#snapshot.version(entry));
      const isSuperseded = this.#supersedes(entry);
      if (cause === undefined && isSuperseded) {
        this.#reached.add(entry.modRevision);
        continue;
      }
      this.#forgotten.push(entry);
      if (cause !== undefined) this.#move(entry, cause);
      else this.#removed.add(entry.modRevision);
    }
  }

  #supersedes({ key, supersededAt, modRevision }: ScannedVersion & { readonly supersededAt: number }): boolean {
    let isSuperseded = false;
    this.#causeOf(() => {
      const change = this.#snapshot.record(supersededAt);
      isSuperseded = change?.key === key && change.replaced === modRevision;
    });
    return isSuperseded;
  }

  /** Damaged records that no index reaches are moved; sound versions that none reaches are found again when they are the newest of their key. */
  #checkLog(): void {
    for (const revision of this.#snapshot.logRevisions()) {
      if (this.#reached.has(revision) || this.#removed.has(revision)) continue;
      const cause = this.#causeOf(() => this.#checkUnreached(revision));
      if (cause !== undefined) this.#move({ key: '', modRevision: revision }, cause);
    }
  }

  #checkUnreached(revision: number): void {
    const record = this.#snapshot.record(revision);
    if (record === undefined || record.isTombstone) return;
    const { key, createRevision, modRevision } = record;
    const other = this.#found.get(key);
    // Revisions come in order: a later version of the key takes the place of an earlier one.
    if (other !== undefined) this.#removed.add(other.modRevision);
    if (this.#dead.has(key) || this.#snapshot.pointer(key) !== undefined) this.#removed.add(revision);
    else this.#found.set(key, { key, createRevision, modRevision });
  }

  *#strayLeases(): Generator<Lease> {
    for (const lease of this.#snapshot.allLeases()) {
      if (lease && !this.#snapshot.hasVersionOf(lease)) yield lease;
    }
  }

  #move({ key, modRevision }: Pick<ScannedVersion, 'key' | 'modRevision'>, cause: string): void {
    const raw = this.#snapshot.rawRecord(modRevision) ?? Buffer.alloc(0);
    const isOfAnother = this.#causeOf(() => void this.#snapshot.record(modRevision)) === undefined;
    const keyBytes = raw.length < HEADER_BYTES ? 0 : raw.readUInt16LE(6);
    const value = raw.subarray(Math.min(raw.length, HEADER_BYTES + (key === '' ? keyBytes : Buffer.byteLength(key))));
    const moved = { key, modRevision, cause, value: isOfAnother ? '' : value.toString('base64'), record: raw.toString('base64') };
    if (!this.#moved.has(modRevision)) this.#moved.set(modRevision, moved);
    // A sound record belongs to another key, whose own entry reaches it or will.
    if (!isOfAnother) this.#removed.add(modRevision);
  }

  #causeOf(read: () => void): string | undefined {
    try {
      read();
      return undefined;
    } catch (error) {
      if (error instanceof StorageCorruptError) return error.message;
      throw error;
    }
  }
}
