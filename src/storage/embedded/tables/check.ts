// Verifies a whole data file: every record against its checksum, the indexes against the log and the log against them, and leases against the log.
import { StorageCorruptError } from '../../errors.ts';
import type { CheckReport } from '../reports.ts';
import type { TimeSlice } from './sliced-range.ts';
import type { ScannedVersion, Snapshot } from './tables.ts';

const PROBLEMS_LIMIT = 100;
const everything = { start: '', end: '\u{10ffff}\u{10ffff}' };

/** Collects problems; a StorageCorruptError is one. A check that meets a damaged page cannot go on with its snapshot, and rejects. */
class Findings {
  readonly problems: string[] = [];

  add(problem: string): void {
    if (this.problems.length < PROBLEMS_LIMIT) this.problems.push(problem);
  }

  attempt<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof StorageCorruptError)) throw error;
      this.add(error.message);
      return undefined;
    }
  }
}

interface Check {
  readonly snapshot: Snapshot;
  readonly findings: Findings;
  readonly timeSlice: TimeSlice;
  readonly revision: number;
  readonly swept: number;
}

/** Checks everything at `snapshot`, in slices that `timeSlice` measures. */
export async function checkTables(snapshot: Snapshot, timeSlice: TimeSlice): Promise<CheckReport> {
  const findings = new Findings();
  const revision = findings.attempt(() => snapshot.revision) ?? 0;
  const compaction = findings.attempt(() => snapshot.compaction) ?? { compactRevision: 0, sweptRevision: 0 };
  if (compaction.sweptRevision > compaction.compactRevision || compaction.compactRevision > revision) {
    findings.add(`compaction record out of order: swept ${compaction.sweptRevision}, compacted ${compaction.compactRevision}, revision ${revision}`);
  }
  const check = { snapshot, findings, timeSlice, revision, swept: compaction.sweptRevision };
  const versions = await checkLog(check);
  const live = await checkIndex(check, () => snapshot.liveVersions(everything));
  const old = await checkIndex(check, () => snapshot.oldVersions(everything));
  await checkLeases(check);
  if (live + old !== versions) findings.add(`the log holds ${versions} versions, the indexes point at ${live} and ${old}`);
  return { ok: findings.problems.length === 0, problems: findings.problems, keys: live, revision };
}

/** Answers the number of versions (not tombstones) in the log. */
async function checkLog({ snapshot, findings, timeSlice, revision, swept }: Check): Promise<number> {
  let versions = 0;
  for (const modRevision of snapshot.logRevisions()) {
    if (timeSlice.isDue) await timeSlice.pause();
    if (modRevision > revision) findings.add(`revision ${modRevision} is in the log, beyond the counter ${revision}`);
    const record = findings.attempt(() => snapshot.record(modRevision));
    if (!record) continue;
    if (record.isTombstone && modRevision <= swept) findings.add(`the tombstone of revision ${modRevision} should have been swept`);
    if (record.replaced >= modRevision || record.createRevision > modRevision) findings.add(`revision ${modRevision} is older than what it replaced`);
    if (!record.isTombstone) versions += 1;
  }
  return versions;
}

/** Answers the number of entries; each must point at a version in the log. */
async function checkIndex(check: Check, entries: () => Iterable<(ScannedVersion & { readonly supersededAt?: number }) | undefined>): Promise<number> {
  let count = 0;
  try {
    for (const entry of entries()) {
      if (check.timeSlice.isDue) await check.timeSlice.pause();
      if (!entry) continue;
      count += 1;
      check.findings.attempt(() => check.snapshot.version(entry));
      if (entry.supersededAt !== undefined) checkSuperseded(check, entry, entry.supersededAt);
    }
  } catch (error) {
    if (!(error instanceof StorageCorruptError)) throw error;
    check.findings.add(error.message);
  }
  return count;
}

function checkSuperseded({ snapshot, findings, swept }: Check, entry: ScannedVersion, supersededAt: number): void {
  if (supersededAt <= swept) findings.add(`the version ${entry.modRevision} of ${JSON.stringify(entry.key)} should have been swept`);
  const change = findings.attempt(() => snapshot.record(supersededAt));
  if (change?.key === entry.key && change.replaced === entry.modRevision) return;
  findings.add(`revision ${supersededAt} does not supersede ${entry.modRevision} of ${JSON.stringify(entry.key)}`);
}

async function checkLeases({ snapshot, findings, timeSlice }: Check): Promise<void> {
  for (const lease of snapshot.allLeases()) {
    if (timeSlice.isDue) await timeSlice.pause();
    if (lease && !snapshot.hasVersionOf(lease)) findings.add(`the lease of ${JSON.stringify(lease.key)} is of revision ${lease.revision}, which is not a version of it`);
  }
}
