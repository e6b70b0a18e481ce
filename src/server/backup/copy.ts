// A copy from one place to another is a snapshot that is restored at once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { type StoreLocation, isElsewhere } from './place.ts';
import type { Progress } from './progress.ts';
import { type RestoreReport, restoreSnapshot } from './restore.ts';
import { takeSnapshot } from './snapshot.ts';

interface CopyRequest {
  readonly from: StoreLocation;
  readonly to: StoreLocation;
  readonly renumber?: boolean;
  readonly clock: Clock;
  readonly progress: { readonly read: Progress; readonly check: Progress; readonly write: Progress };
}

/** Copies through a file that is removed again; it is written beside a directory that is filled, and among temporary files for a store elsewhere. */
export async function copyStorage({ from, to, renumber, clock, progress }: CopyRequest): Promise<RestoreReport> {
  const scratch = mkdtempSync(join(isElsewhere(to) ? tmpdir() : dirname(resolve(to.dataDir)), '.pintle-copy-'));
  try {
    const file = join(scratch, 'snapshot');
    await takeSnapshot({ place: from, file, clock, progress: progress.read });
    return await restoreSnapshot({ file, place: to, bump: 0, ...(renumber !== undefined && { renumber }), clock, progress });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
