// A client certificate with its key, from two files that are read again when they change, as rotated certificates are. Files that do not belong
// together, as between the two writes of a rotation, change nothing.
import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../base/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type Logger, describeError } from '../observability/logger.ts';

/** Texts in PEM. */
export interface ClientKeyPair {
  readonly certificate: string;
  readonly key: string;
}

interface KeyPairFiles {
  readonly certificateFlag: string;
  readonly certificateFile: string;
  readonly keyFlag: string;
  readonly keyFile: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The files are looked at so often at most, and only where the pair is used. */
const LOOK_MS = 1000;

/** Reads the pair and returns how to get it as it is at the moment. Throws StartError when it cannot be read at first; without files there is none. */
export function followKeyPair(files: KeyPairFiles): () => ClientKeyPair | undefined {
  const { certificateFile, keyFile, clock, logger } = files;
  if (certificateFile === '' || keyFile === '') return () => undefined;
  const describe = (): string => [certificateFile, keyFile].map((file) => {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  }).join();
  const read = (): ClientKeyPair => {
    const pair = { certificate: readTextFile(files.certificateFlag, certificateFile), key: readTextFile(files.keyFlag, keyFile) };
    createSecureContext({ cert: pair.certificate, key: pair.key });
    return pair;
  };
  let pair = read();
  let [state, lookedMs] = [describe(), clock.monotonicMs()];
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lookedMs < LOOK_MS) return pair;
    lookedMs = nowMs;
    try {
      const now = describe();
      if (now !== state) pair = read();
      state = now;
    } catch (error) {
      logger.warn('a client certificate cannot be used; the one before stays', { file: certificateFile, ...describeError(error) });
    }
    return pair;
  };
}
