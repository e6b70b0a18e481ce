// Takes a snapshot of a server, which may be running and go on writing.
import { setPriority, constants } from 'node:os';
import { type Clock, delay, holdProcess } from '../../base/index.ts';
import type { StoreImage } from '../../storage/index.ts';
import { readPackageVersion } from '../cli/version.ts';
import { findRoot } from '../open-store.ts';
import type { Progress } from './progress.ts';
import { type StoreLocation, openImageAt, readSecrets } from './place.ts';
import { SNAPSHOT_VERSION } from './snapshot-format.ts';
import { SnapshotWriter } from './snapshot-writer.ts';

interface SnapshotRequest {
  readonly place: StoreLocation;
  /** The file to make. */
  readonly file: string;
  readonly clock: Clock;
  readonly progress: Progress;
}

/** Rests are so many times as long as the page before: a snapshot takes a quarter of a core, and of the time of the disk. */
const REST_SHARE = 3;
/** A machine that stood still is no reason to rest as long. */
const LONGEST_REST_MS = 250;

/** What a snapshot holds. */
export interface SnapshotReport {
  readonly revision: number;
  readonly keys: number;
  readonly bytes: number;
  readonly secrets: number;
}

/** The server comes first: where both want a core, this process waits. */
export function yieldToOthers(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system permits it.
  }
}

/** Writes the file, complete or not at all. Rejects with StartError, or with the error of the store. */
export async function takeSnapshot(request: SnapshotRequest): Promise<SnapshotReport> {
  const { place, file, clock } = request;
  const writer = new SnapshotWriter(file);
  const release = holdProcess();
  try {
    const image = await openImageAt(place, clock);
    try {
      const secrets = readSecrets(place);
      const { revision, keys } = image;
      const time = new Date(clock.now()).toISOString();
      writer.addHeader({ version: SNAPSHOT_VERSION, revision, root: findRoot(place), keys, time, program: readPackageVersion() });
      for (const secret of secrets) writer.addSecret(secret);
      await addKeys(writer, image, request);
      writer.finish();
      return { revision, keys, bytes: writer.bytes, secrets: secrets.length };
    } finally {
      await image.close();
    }
  } catch (error) {
    writer.abandon();
    throw error;
  } finally {
    release();
  }
}

type Pace = Pick<SnapshotRequest, 'clock' | 'progress'>;

async function addKeys(writer: SnapshotWriter, { timesToLive, keys, ...image }: StoreImage, { clock, progress }: Pace): Promise<void> {
  let done = 0;
  let startedMs = clock.monotonicMs();
  for await (const page of image.pages()) {
    for (const kv of page) writer.addKey({ ...kv, ttlSeconds: timesToLive.get(kv.modRevision) });
    done += page.length;
    progress.show({ done, total: keys });
    const restMs = Math.min(LONGEST_REST_MS, (clock.monotonicMs() - startedMs) * REST_SHARE);
    await delay(clock, restMs);
    startedMs = clock.monotonicMs();
  }
  progress.end();
}
