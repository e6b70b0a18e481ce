// The PostgreSQL Store as the door hands it out: its modules, and the client's, are loaded when one is opened, and not before.
import type { Store } from '../store.ts';
import type { PostgresRestore, PostgresStoreOptions } from './open.ts';

/** Connects to PostgreSQL; rejects with StorageUnavailableError when that is not possible, RangeError for what is no endpoint. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  return (await import('./open.ts')).openPostgresStore(options);
}

/** Raises the revision of a stopped store by `by`, so that clients list again; answers the new one. */
export async function bumpPostgresRevision(options: Pick<PostgresStoreOptions, 'endpoint' | 'tls'>, by: number): Promise<number> {
  return (await import('./open.ts')).bumpPostgresRevision(options, by);
}

/** Fills an empty store with the keys of a backup, each at its revisions: all of them or none. */
export async function restorePostgresStore(request: PostgresRestore): Promise<void> {
  return (await import('./open.ts')).restorePostgresStore(request);
}
