// Where the commands about users find the authority and its records.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartError } from '../../options/options.ts';
import { servingOptions } from '../../options/serving.ts';

/** The flags that name it. */
export const usersSchema = { dataDir: servingOptions.dataDir, certDir: servingOptions.certDir } as const;

/** The directory of certificates; throws StartError where there is no authority. */
export function findCertificates({ dataDir, certDir }: { readonly dataDir: string; readonly certDir: string }): string {
  const directory = certDir === '' ? join(resolve(dataDir), 'pki') : resolve(certDir);
  if (!existsSync(join(directory, 'ca.crt'))) throw new StartError(`${directory} holds no authority; start the server once, or name its --data-dir`);
  return directory;
}
