// Makes of a snapshot what a server starts from: a data directory, or an empty etcd or PostgreSQL with a directory of certificates.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/index.ts';
import { type RestoredKey, restoreEmbeddedStore, restorePostgresStore } from '../../storage/index.ts';
import { findCertificates, syncDirectory } from '../data-directory.ts';
import { findRoot } from '../open-store.ts';
import { StartError } from '../options/options.ts';
import { writePrivateFile } from '../tls/pki.ts';
import { type StoreLocation, findPostgres, isElsewhere, openEtcdAt } from './place.ts';
import { type Progress } from './progress.ts';
import { replayKeys } from './replay.ts';
import type { SecretFile } from './snapshot-format.ts';
import { SnapshotReader } from './snapshot-reader.ts';

interface RestoreRequest {
  readonly file: string;
  readonly place: StoreLocation;
  /** How far the revision of the store is raised beyond that of the snapshot; undefined: as far as is usual for the place. */
  readonly bump: number | undefined;
  /** Objects in an etcd get new revisions, whatever they had. */
  readonly renumber?: boolean;
  readonly clock: Clock;
  /** For the check of the file, then for the keys that are written. */
  readonly progress: { readonly check: Progress; readonly write: Progress };
}

/** The outcome of a restore. */
export interface RestoreReport {
  readonly keys: number;
  readonly secrets: number;
  /** The revision of the snapshot, and the one from which the restored store continues; watches from before it begin again. */
  readonly snapshotRevision: number;
  readonly revision: number;
}

/** More than a server writes between a backup and its loss. */
const USUAL_BUMP = 1_000_000_000;
/** The name under which a directory is filled until it is complete. */
const PARTIAL = 'restore.partial';

/** Restores; rejects with StartError for a file that is not whole and for a place that holds something, of which nothing is changed then. */
export async function restoreSnapshot(request: RestoreRequest): Promise<RestoreReport> {
  const { place } = request;
  const isEtcd = place.etcdServers.length > 0;
  if (isElsewhere(place)) checkEmpty(findCertificates(place));
  else checkEmpty(resolve(place.dataDir), place.certDir === '' ? undefined : findCertificates(place));
  const { check } = request.progress;
  const snapshot = new SnapshotReader(request.file, (done, total) => check.show({ done, total }));
  check.end();
  try {
    const { keys, root, revision: from } = snapshot.header;
    if (!Number.isSafeInteger(from + (request.bump ?? USUAL_BUMP))) throw new StartError(`revision ${from} cannot be raised by ${request.bump ?? USUAL_BUMP}`);
    if (root !== findRoot(place)) {
      const advice = isEtcd ? `give --etcd-prefix ${root}` : 'all stores but etcd have them under /registry';
      throw new StartError(`the snapshot has its objects under ${root}; ${advice}`);
    }
    const restore = isEtcd ? restoreToEtcd : place.datastoreEndpoint === '' ? restoreToDirectory : restoreToPostgres;
    const revision = await restore(request, snapshot);
    return { keys, secrets: snapshot.secrets.length, snapshotRevision: snapshot.header.revision, revision };
  } finally {
    snapshot.close();
  }
}

function checkEmpty(...directories: readonly (string | undefined)[]): void {
  for (const directory of directories) {
    if (directory === undefined || directory === '' || !existsSync(directory)) continue;
    const found = readdirSync(directory).find((name) => name !== PARTIAL);
    if (found !== undefined) throw new StartError(`${directory} is not empty: it holds ${JSON.stringify(found)}`);
  }
}

/** Everything is made beside its place first: what an interruption leaves is no data directory, and the next attempt removes it. */
async function restoreToDirectory({ place, bump = USUAL_BUMP, clock, progress }: RestoreRequest, snapshot: SnapshotReader): Promise<number> {
  const root = resolve(place.dataDir);
  const partial = join(root, PARTIAL);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const revision = snapshot.header.revision + bump;
  await restoreEmbeddedStore({ directory: join(partial, 'store'), clock, revision, keys: countKeys(snapshot, progress.write) });
  writeSecrets(findCertificates(place), snapshot.secrets);
  renameSync(join(partial, 'store'), join(root, 'store'));
  rmSync(partial, { recursive: true });
  syncDirectory(root);
  return revision;
}

async function restoreToPostgres({ place, bump = USUAL_BUMP, progress }: RestoreRequest, snapshot: SnapshotReader): Promise<number> {
  const revision = snapshot.header.revision + bump;
  await restorePostgresStore({ ...findPostgres(place), revision, keys: countKeys(snapshot, progress.write) });
  writeSecrets(findCertificates(place), snapshot.secrets);
  return revision;
}

async function restoreToEtcd({ place, bump = 0, renumber = false, clock, progress }: RestoreRequest, snapshot: SnapshotReader): Promise<number> {
  const store = await openEtcdAt(place, clock);
  try {
    const wanted = renumber ? undefined : snapshot.header.revision + bump;
    const revision = await replayKeys({ store, keys: snapshot.keys(), revision: wanted, progress: progress.write });
    writeSecrets(findCertificates(place), snapshot.secrets);
    return revision;
  } finally {
    await store.close();
  }
}

function* countKeys(snapshot: SnapshotReader, progress: Progress): Generator<RestoredKey> {
  let done = 0;
  for (const key of snapshot.keys()) {
    yield key;
    done += 1;
    progress.show({ done, total: snapshot.header.keys });
  }
  progress.end();
}

function writeSecrets(directory: string, secrets: readonly SecretFile[]): void {
  if (directory === '' || secrets.length === 0) return;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const { name, text } of secrets) writePrivateFile(join(directory, name), text);
}
