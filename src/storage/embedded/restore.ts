// Fills a new directory with keys that have revisions already: those of a backup.
import { readdirSync } from 'node:fs';
import type { Clock } from '../../base/index.ts';
import { StorageFormatError } from '../errors.ts';
import { type RestoredKey, formBatches } from '../image.ts';
import { dataPath, prepareDirectory, restrictRights, writeFormat } from './directory.ts';
import { takeLock } from './lock.ts';
import { encodeLeaseKey, encodePointer, encodeRecord } from './tables/record.ts';
import { Tables } from './tables/tables.ts';

/** What a restored directory holds. */
export interface RestoreRequest {
  /** Is made; must be empty when it exists. */
  readonly directory: string;
  readonly clock: Clock;
  /** The revision from which the store continues; everything before is compacted. */
  readonly revision: number;
  /** In ascending order of their modRevision, which is at most `revision`. */
  readonly keys: Iterable<RestoredKey>;
}

/** Fills the directory; it is complete when this resolves, and no data directory when it rejects or never ends. */
export async function restoreEmbeddedStore({ directory: given, clock, revision, keys }: RestoreRequest): Promise<void> {
  const directory = prepareDirectory(given);
  if (readdirSync(directory).length > 0) throw new StorageFormatError(directory, 'is not empty');
  const release = takeLock(directory);
  try {
    const tables = new Tables({ file: dataPath(directory) });
    try {
      restrictRights(directory);
      const createdAt = clock.now();
      for (const batch of formBatches(keys)) await tables.write(() => batch.forEach((key) => putKey(tables, key, createdAt)));
      await tables.write(() => {
        tables.putRevision(revision);
        tables.putCompaction({ compactRevision: revision, sweptRevision: revision });
        tables.putCreated(createdAt);
      });
      writeFormat(directory, createdAt);
    } finally {
      await tables.close();
    }
  } finally {
    release();
  }
}

function putKey(tables: Tables, { key, value, modRevision, createRevision, ttlSeconds }: RestoredKey, now: number): void {
  const keyBytes = Buffer.from(key);
  tables.appendRecord(modRevision, encodeRecord({ key, value, modRevision, createRevision, replaced: 0, isTombstone: false }));
  void tables.live.put(keyBytes, encodePointer({ modRevision, createRevision }));
  if (ttlSeconds !== undefined) void tables.leases.put(encodeLeaseKey({ expiresAt: now + Math.ceil(ttlSeconds * 1000), revision: modRevision }), keyBytes);
}
