// One consistent state of a data directory whose server may be running, read by another process. LMDB lets other processes read: a read
// transaction keeps its pages from being written over until it ends. Newer changes, acknowledged and not in the tables yet, are in the journal: either
// the tables take it over within a moment, which is waited for, or they do not because no server runs or its disk is full, and then the
// journal does not change either and is laid over what the tables hold. Nothing is written but LMDB's table of readers, and the lock of the
// directory is not touched.
import { existsSync, realpathSync } from 'node:fs';
import { type Clock, delay, holdProcess } from '../../base/index.ts';
import { StorageCorruptError, StorageFormatError } from '../errors.ts';
import { computeTimesToLive } from '../expiry.ts';
import { type StoreImage, refuseDamage } from '../image.ts';
import type { KeyValue } from '../store.ts';
import { dataPath, entryLayout, inspectDirectory } from './directory.ts';
import { readJournal } from './journal.ts';
import type { EntryLayout, JournaledChange, ReadChange } from './journal-entry.ts';
import { readAhead } from './recovery.ts';
import { type Snapshot, Tables, toKeyValue } from './tables/tables.ts';

interface ImageOptions {
  readonly directory: string;
  readonly clock: Clock;
}

/** Time between two looks at tables that are behind the journal. */
const LOOK_MS = 50;
/** Tables that have not moved for so many looks, nor the journal, are not about to: a server moves them within 100 ms. */
const STILL_LOOKS = 10;
const LOOKS_LIMIT = 600;
const PAGE_KEYS = 500;
const LATEST_MS = Number.MAX_SAFE_INTEGER - 1;
const everything = { start: '\u0000', end: '\u{10ffff}\u{10ffff}' };

/** The newest durable state of a data directory; every write that was acknowledged before the call is in it. */
export async function openEmbeddedImage({ directory: given, clock }: ImageOptions): Promise<StoreImage> {
  if (!existsSync(given)) throw new StorageFormatError(given, 'does not exist');
  const directory = realpathSync(given);
  const found = inspectDirectory(directory);
  if (found === undefined) throw new StorageFormatError(directory, 'is not a data directory');
  const tables = new Tables({ file: dataPath(directory), readOnly: true });
  const release = holdProcess();
  try {
    const { snapshot, ahead } = await findNewest({ directory, clock, tables, layout: entryLayout(found.format) });
    return createImage({ tables, snapshot, ahead: new Map(ahead.map((change) => [change.key, change])), now: clock.now() });
  } catch (error) {
    await tables.close();
    throw error;
  } finally {
    release();
  }
}

interface Search {
  readonly directory: string;
  readonly clock: Clock;
  readonly tables: Tables;
  readonly layout: EntryLayout;
}

/** A snapshot of the tables, and the changes of the journal that continue it. */
async function findNewest({ directory, clock, tables, layout }: Search): Promise<{ snapshot: Snapshot; ahead: readonly JournaledChange[] }> {
  const read = (): Promise<readonly ReadChange[]> => readJournal(directory, layout);
  const wanted = (await read()).at(-1)?.modRevision ?? 0;
  let before = '';
  let still = 0;
  for (let look = 0; look < LOOKS_LIMIT; look += 1) {
    const snapshot = tables.snapshot();
    const { revision } = snapshot;
    if (revision >= wanted) return { snapshot, ahead: [] };
    const journal = await read();
    const state = `${revision} ${journal.map(({ modRevision }) => modRevision).join(' ')}`;
    still = state === before ? still + 1 : 0;
    before = state;
    if (still >= STILL_LOOKS) return { snapshot, ahead: readAhead(directory, snapshot, journal) };
    snapshot.done();
    tables.env.resetReadTxn();
    await delay(clock, LOOK_MS);
  }
  throw new StorageCorruptError(`data directory ${directory}: its tables do not follow its journal; stop the server and try again`);
}

interface ImageParts {
  readonly tables: Tables;
  readonly snapshot: Snapshot;
  /** Newest changes by key. */
  readonly ahead: ReadonlyMap<string, JournaledChange>;
  readonly now: number;
}

function createImage({ tables, snapshot, ahead, now }: ImageParts): StoreImage {
  const changes = [...ahead.values()];
  const leases = [
    ...snapshot.leases(LATEST_MS, Number.MAX_SAFE_INTEGER),
    ...changes.flatMap(({ key, modRevision, expiresAt }) => (expiresAt === undefined ? [] : [{ key, revision: modRevision, expiresAt }])),
  ];
  const added = changes.filter(({ key, isTombstone }) => !isTombstone && snapshot.pointer(key) === undefined).length;
  const removed = changes.filter(({ key, isTombstone }) => isTombstone && snapshot.pointer(key) !== undefined).length;
  return {
    revision: changes.reduce((newest, { modRevision }) => Math.max(newest, modRevision), snapshot.revision),
    keys: countKeys(snapshot) + added - removed,
    timesToLive: computeTimesToLive(leases, now),
    pages: () => readPages(snapshot, ahead),
    async close() {
      snapshot.done();
      await tables.close();
    },
  };
}

function countKeys(snapshot: Snapshot): number {
  let count = 0;
  for (count of snapshot.liveCounts(everything));
  return count;
}

async function* readPages(snapshot: Snapshot, ahead: ReadonlyMap<string, JournaledChange>): AsyncGenerator<readonly KeyValue[]> {
  let page: KeyValue[] = [];
  for (const version of snapshot.liveVersions(everything)) {
    if (version === undefined || ahead.has(version.key)) continue;
    page.push(refuseDamage(snapshot.read(version)));
    if (page.length < PAGE_KEYS) continue;
    yield page;
    page = [];
  }
  for (const change of ahead.values()) if (!change.isTombstone) page.push(toKeyValue(change));
  yield page;
}
