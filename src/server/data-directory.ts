// The layout of a data directory: `store/` (the database), `pki/` (keys and certificates), `admin.kubeconfig`. Owner only.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type StaticToken, parseTokenFile } from '../auth/index.ts';
import { type ServerOptions, StartError } from './options/options.ts';
import { writePrivateFile } from './tls/pki.ts';

/** Paths inside; '' where nothing is written. */
export interface DataDirectory {
  readonly store: string;
  readonly certificates: string;
  /** Writes the kubeconfig, beside the certificates where there is no data directory, and answers where; '' when nothing is written. */
  writeKubeconfig(format: () => string): string;
}

const ours = new Set(['store', 'pki', 'admin.kubeconfig', 'admin.kubeconfig.tmp']);

/** The directory of certificates; '' where neither is named. */
export function findCertificates({ dataDir, certDir }: Pick<ServerOptions, 'dataDir' | 'certDir'>): string {
  if (certDir !== '') return resolve(certDir);
  return dataDir === '' ? '' : join(resolve(dataDir), 'pki');
}

/** Makes the directory if need be. Throws StartError when it holds other files. */
export function useDataDirectory({ dataDir, certDir }: Pick<ServerOptions, 'dataDir' | 'certDir'>): DataDirectory {
  const certificates = findCertificates({ dataDir, certDir });
  if (dataDir === '') return { store: '', certificates, writeKubeconfig: (format) => (certificates === '' ? '' : writeInto(certificates, format())) };
  const root = resolve(dataDir);
  try {
    prepareRoot(root);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`cannot use the data directory ${root}: ${(error as Error).message}`, { cause: error });
  }
  return {
    store: join(root, 'store'),
    certificates,
    writeKubeconfig: (format) => writeInto(root, format()),
  };
}

function writeInto(directory: string, text: string): string {
  const path = join(directory, 'admin.kubeconfig');
  writePrivateFile(path, text);
  return path;
}

function prepareRoot(root: string): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const names = readdirSync(root);
  const foreign = names.find((name) => !ours.has(name));
  if (foreign !== undefined && !names.includes('store')) {
    throw new StartError(`${root} holds ${JSON.stringify(foreign)} and no store, so it is not a data directory; choose an empty one`);
  }
}

/** The directory of the store inside a data directory; throws StartError when there is none. */
export function findStoreDirectory(dataDir: string): string {
  const path = join(resolve(dataDir), 'store');
  if (!existsSync(path)) throw new StartError(`${resolve(dataDir)} has no store`);
  return path;
}

/** The names in a directory are on disk when this returns. */
export function syncDirectory(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Reads a file that a flag names. */
export function readTextFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartError(`${flag}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`, { cause: error });
  }
}

/** Reads the static tokens. */
export function readStaticTokens(path: string): StaticToken[] {
  try {
    return parseTokenFile(readTextFile('--token-auth-file', path));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`--token-auth-file: ${path}: ${(error as Error).message}`, { cause: error });
  }
}
