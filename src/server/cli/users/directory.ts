// Where the commands about users find the authority and its records.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCertificates } from '../../data-directory.ts';
import { StartError } from '../../options/options.ts';
import { servingOptions } from '../../options/serving.ts';
import { type UserCertificate, describeUserCertificate, readUserCertificates } from '../../tls/user-records.ts';

/** The flags that name it. */
export const usersSchema = { dataDir: servingOptions.dataDir, certDir: servingOptions.certDir } as const;

/** The directory of certificates; throws StartError where the needed files of an authority are missing. */
export function findAuthority(place: { readonly dataDir: string; readonly certDir: string }, needed: readonly string[] = ['ca.crt']): string {
  const directory = findCertificates(place);
  const isThere = directory !== '' && needed.every((name) => existsSync(join(directory, name)));
  if (!isThere) throw new StartError(`${directory} holds no authority; start the server once, or name its --data-dir`);
  return directory;
}

/** The administrator's certificate, if there is one, and those on record. */
export function readAllCertificates(directory: string): UserCertificate[] {
  const admin = readAdministrator(directory);
  return [...(admin === undefined ? [] : [admin]), ...readUserCertificates(directory)];
}

/** The administrator's certificate. */
export function readAdministrator(directory: string): UserCertificate | undefined {
  const path = join(directory, 'admin.crt');
  return existsSync(path) ? describeUserCertificate(readFileSync(path, 'utf8')) : undefined;
}
