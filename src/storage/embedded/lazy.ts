// The embedded Store as the door hands it out: the database library is loaded when one is opened or checked, and not before.
import type { Store } from '../store.ts';
import type { Clock } from '../../base/index.ts';
import type { StoreImage } from '../image.ts';
import type { EmbeddedStoreOptions } from './open.ts';
import type { CheckReport, RepairReport } from './reports.ts';
import type { RestoreRequest } from './restore.ts';
import type { SharedValues } from './tables/shared-values.ts';

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

/** The newest durable state of a data directory, whose server may be running. */
export async function openEmbeddedImage(options: { readonly directory: string; readonly clock: Clock }): Promise<StoreImage> {
  return (await import('./image.ts')).openEmbeddedImage(options);
}

/** Fills a new directory with keys and revisions of a backup. */
export async function restoreEmbeddedStore(request: RestoreRequest): Promise<void> {
  return (await import('./restore.ts')).restoreEmbeddedStore(request);
}

/** Values of a data directory that another process of this machine has open. */
export async function openSharedValues(directory: string): Promise<SharedValues> {
  return (await import('./tables/shared-values.ts')).openSharedValues(directory);
}
