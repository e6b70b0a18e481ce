// What the commands of storage share: progress on stderr, and errors as one line.
import { systemClock } from '../../../base/index.ts';
import type { StoreLocation } from '../../backup/place.ts';
import { type Progress, createProgress } from '../../backup/progress.ts';
import { findCertificates } from '../../data-directory.ts';
import { StartError } from '../../options/options.ts';

/** Progress of one task of this process. */
export const progressOf = (task: string, unit: string): Progress => createProgress({ task, unit, clock: systemClock, output: process.stderr });

/** An error of the store is one that the user of the command can mend. */
export async function withPlainErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof StartError ? error : new StartError((error as Error).message, { cause: error });
  }
}

/** For a place without keys. */
export function certificatesNote(place: StoreLocation): string {
  return `${findCertificates(place)} holds no keys or certificates: a server restored from this makes new ones, and trusts no kubeconfig or token of the old one`;
}
