// Restores keys into a store by the means of its contract alone, whatever it is: written one after the other, each is given the next revision.
// So that a key gets the revision that it had, the revisions before it are used up by writes of keys that say nothing, beside the objects. Order is all
// that counts among those: many are written at once. A store that another program writes to at the same time is noticed, since a revision is missing then.
import { type RestoredKey, type Store, type TxnResult } from '../../storage/index.ts';
import { StartError } from '../options/options.ts';
import type { Progress } from './progress.ts';

interface ReplayRequest {
  readonly store: Store;
  /** In ascending order of their modRevision. */
  readonly keys: Iterable<RestoredKey>;
  /** The revision that the store has at the end, or a little more; undefined: keys get new revisions, whatever they had. */
  readonly revision: number | undefined;
  readonly progress: Progress;
}

/** Servers agree on compactions by it; it says nothing in another store. */
const sharedKeys: ReadonlySet<string> = new Set(['compact_rev_key']);
const everything = { start: '\u0001', end: '\u{10ffff}' };
const LANES = 64;
const laneKey = (lane: number): string => `pintle-restore/${lane}`;
/** At some thousands a second, what may be used up in half an hour. */
const FILL_LIMIT = 10_000_000;

/** Writes all keys, compacts what was written between, and answers the store's revision. Rejects with StartError where that cannot be done. */
export async function replayKeys(request: ReplayRequest): Promise<number> {
  const { store, progress } = request;
  const found = await store.range({ ...everything, limit: sharedKeys.size + 1 });
  if (found.type !== 'ok' || found.kvs.some(({ key }) => !sharedKeys.has(key))) throw new StartError('the store is not empty');
  const revision = request.revision === undefined ? await renumber(request) : await repeat(request, request.revision);
  progress.end();
  await store.compact(revision);
  return revision;
}

async function repeat({ store, keys, progress }: ReplayRequest, revision: number): Promise<number> {
  const filler = new RevisionFiller(store, await store.revision(), (done) => progress.show({ done, total: revision }));
  if (revision - filler.revision > FILL_LIMIT) {
    const count = revision - filler.revision;
    throw new StartError(`${count} revisions would have to be used up, one write each; the limit is ${FILL_LIMIT}; --new-revisions does without`);
  }
  for (const key of keys) {
    if (key.modRevision <= filler.revision) {
      throw new StartError(`the store is at revision ${filler.revision}, and ${key.key} had revision ${key.modRevision}: restore into a new store`);
    }
    await filler.fillTo(key.modRevision - 1);
    filler.note(await putKey(store, key));
  }
  await filler.fillTo(revision);
  await filler.clear();
  return filler.revision;
}

async function renumber({ store, keys, progress }: ReplayRequest): Promise<number> {
  let batch: Promise<TxnResult>[] = [];
  let done = 0;
  const settle = async (): Promise<void> => {
    const results = await Promise.all(batch);
    if (results.some(({ type }) => type !== 'committed')) throw new StartError('another program writes to the store');
    done += batch.length;
    batch = [];
    progress.show({ done, total: done });
  };
  for (const key of keys) {
    batch.push(putKey(store, key));
    if (batch.length >= LANES) await settle();
  }
  await settle();
  return store.revision();
}

function putKey(store: Store, { key, value, ttlSeconds }: RestoredKey): Promise<TxnResult> {
  return store.txn({ key, expect: 0, value, ...(ttlSeconds !== undefined && { ttlSeconds }) });
}

/** Uses up revisions of a store that no other program writes to. */
class RevisionFiller {
  readonly #store: Store;
  readonly #lanes: number[] = Array.from({ length: LANES }, () => 0);
  readonly #show: (revision: number) => void;
  revision: number;

  constructor(store: Store, revision: number, show: (revision: number) => void) {
    this.#store = store;
    this.revision = revision;
    this.#show = show;
  }

  /** The next write. Throws StartError when there was another one before it. */
  note(result: TxnResult): number {
    if (result.type !== 'committed' || result.revision !== this.revision + 1) throw this.#disturbed();
    this.revision = result.revision;
    this.#show(this.revision);
    return this.revision;
  }

  async fillTo(revision: number): Promise<void> {
    while (this.revision < revision) await this.#writeAtOnce(Math.min(LANES, revision - this.revision), new Uint8Array(0));
  }

  /** Removes the keys that were written; each removal uses up a revision too. */
  async clear(): Promise<void> {
    const used = this.#lanes.filter((revision) => revision > 0).length;
    if (used > 0) await this.#writeAtOnce(used, undefined);
  }

  async #writeAtOnce(count: number, value: Uint8Array | undefined): Promise<void> {
    const lanes = Array.from({ length: count }, (_, lane) => lane);
    const results = await Promise.all(lanes.map((lane) => (
      this.#store.txn({ key: laneKey(lane), expect: this.#lanes[lane] as number, ...(value !== undefined && { value }) })
    )));
    for (const [lane, { type, revision }] of results.entries()) {
      if (type !== 'committed') throw this.#disturbed();
      this.#lanes[lane] = revision;
    }
    const newest = Math.max(...results.map(({ revision }) => revision));
    if (newest !== this.revision + count) throw this.#disturbed();
    this.revision = newest;
    this.#show(newest);
  }

  #disturbed(): StartError {
    return new StartError('another program writes to the store');
  }
}
