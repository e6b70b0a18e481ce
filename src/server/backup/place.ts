// Where a server keeps what it has, as the flags of a command name it: a store (a data directory, an etcd or a PostgreSQL) and a directory of certificates.
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Clock } from '../../base/index.ts';
import {
  type KeyRange, type PostgresStoreOptions, type Store, type StoreImage, openEmbeddedImage, openEtcdStore, openImage, openPostgresStore, prefixRange,
  redactPostgresUrl,
} from '../../storage/index.ts';
import { findCertificates, findStoreDirectory } from '../data-directory.ts';
import { findRoot, readDatastoreTls, readEtcdTls } from '../open-store.ts';
import { StartError } from '../options/options.ts';
import type { SettingsOf } from '../options/schema.ts';
import { servingOptions } from '../options/serving.ts';
import { storageOptions } from '../options/storage.ts';
import { USER_RECORDS } from '../tls/user-records.ts';
import type { SecretFile } from './snapshot-format.ts';

/** The flags of a place; those of a server that has its things there. */
export const placeSchema = {
  dataDir: servingOptions.dataDir,
  certDir: servingOptions.certDir,
  etcdServers: storageOptions.etcdServers,
  etcdPrefix: storageOptions.etcdPrefix,
  etcdCaFile: storageOptions.etcdCaFile,
  etcdCertFile: storageOptions.etcdCertFile,
  etcdKeyFile: storageOptions.etcdKeyFile,
  datastoreEndpoint: storageOptions.datastoreEndpoint,
  datastoreCaFile: storageOptions.datastoreCaFile,
  datastoreCertFile: storageOptions.datastoreCertFile,
  datastoreKeyFile: storageOptions.datastoreKeyFile,
} as const;

/** A store and a directory of certificates. */
export type StoreLocation = SettingsOf<typeof placeSchema>;

/** Files that are longer are none of keys and certificates; the record of users grows with each kubeconfig. */
const [SECRET_LIMIT_BYTES, RECORD_LIMIT_BYTES] = [2 ** 20, 2 ** 24];

/** How its user names the store of a place. */
export function describePlace({ datastoreEndpoint, etcdServers, dataDir }: StoreLocation): string {
  if (datastoreEndpoint !== '') return redactPostgresUrl(datastoreEndpoint);
  return etcdServers.length > 0 ? etcdServers.join(',') : resolve(dataDir);
}

/** Whether the store of a place is elsewhere, so that only the directory of certificates is here. */
export const isElsewhere = ({ datastoreEndpoint, etcdServers }: StoreLocation): boolean => datastoreEndpoint !== '' || etcdServers.length > 0;

/** The files of the directory of certificates; none where it does not exist. Leftovers of a write that was cut short are left out. */
export function readSecrets(place: StoreLocation): SecretFile[] {
  const directory = findCertificates(place);
  if (directory === '' || !existsSync(directory)) return [];
  return readdirSync(directory).sort().flatMap((name) => {
    const path = join(directory, name);
    const status = lstatSync(path);
    if (!status.isFile() || name.endsWith('.tmp') || name === 'admin.kubeconfig') return [];
    const limitBytes = name === USER_RECORDS ? RECORD_LIMIT_BYTES : SECRET_LIMIT_BYTES;
    if (status.size > limitBytes) throw new StartError(`${path} is too large for a key or a certificate`);
    return [{ name, text: readFileSync(path, 'utf8') }];
  });
}

/** Opens the store of a place for the means of its contract; never compacts it. */
export async function openEtcdAt(place: StoreLocation, clock: Clock): Promise<Store> {
  return openEtcdStore({ endpoints: place.etcdServers, clock, tls: readEtcdTls(place), compactionIntervalMs: 0 });
}

/** How the PostgreSQL of a place is reached. */
export function findPostgres(place: StoreLocation): Pick<PostgresStoreOptions, 'endpoint' | 'tls'> {
  if (place.etcdServers.length > 0) throw new StartError('--datastore-endpoint and --etcd-servers cannot be given together');
  return { endpoint: place.datastoreEndpoint, tls: readDatastoreTls(place) };
}

/** The keys of objects in a place. */
export const rangeOf = (place: StoreLocation): KeyRange => prefixRange(`${findRoot(place)}/`);

/** The state of a place, whose server may be running. */
export async function openImageAt(place: StoreLocation, clock: Clock): Promise<StoreImage> {
  if (!isElsewhere(place)) return openEmbeddedImage({ directory: findStoreDirectory(place.dataDir), clock });
  const isEtcd = place.datastoreEndpoint === '';
  const store = await (isEtcd ? openEtcdAt(place, clock) : openPostgresStore({ ...findPostgres(place), clock, compactionIntervalMs: 0 }));
  try {
    return await openImage(store, rangeOf(place));
  } catch (error) {
    await store.close();
    throw error;
  }
}
