// The embedded Store as the door hands it out: the database library is loaded when one is opened or checked, and not before.
import type { Store } from '../store.ts';
import type { CheckReport } from './tables/check.ts';
import type { EmbeddedStoreOptions, RepairReport } from './open.ts';

/** Opens the durable Store in a directory; rejects with StorageFormatError or StorageLockedError when it must not be used. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  return (await import('./open.ts')).openEmbeddedStore(options);
}

/** Verifies a data directory that is not open, or an open embedded Store, after its journal was carried into the tables. */
export async function checkEmbeddedStore(target: string | Store): Promise<CheckReport> {
  return (await import('./open.ts')).checkEmbeddedStore(target);
}

/** Moves damaged records of a directory that is not open into a file beside its tables. */
export async function repairEmbeddedStore(directory: string): Promise<RepairReport> {
  return (await import('./open.ts')).repairEmbeddedStore(directory);
}

/** Raises the revision of a directory that is not open and compacts everything before; returns the new revision. */
export async function bumpRevision(directory: string, by: number): Promise<number> {
  return (await import('./open.ts')).bumpRevision(directory, by);
}
