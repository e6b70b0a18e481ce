// Documents that are made once for all who ask: in steps, so that others have their turn, and kept in the forms in which they were asked for. Work
// on a document ends when none of its clients waits any more.
import { type Clock, type Steps, createTimeSlice, guardSteps, runStepsInSlices } from '../../base/index.ts';
import { timeoutError } from '../../apimachinery/index.ts';

/** A document in bytes. `gzip` compresses it once. */
export interface EncodedDocument {
  readonly bytes: Uint8Array;
  gzip(): Promise<Uint8Array>;
}

/** One who waits for a document. */
interface Waiter {
  readonly aborted: boolean;
}

interface Entry {
  readonly document: Promise<EncodedDocument>;
  readonly waiters: Set<Waiter>;
  isMade: boolean;
}

/** Documents kept; a document that is asked for again counts as new. The largest, v2 as JSON, takes 4 MB, and 0.4 MB compressed. */
const MAX_KEPT = 8;
/** The longest turn of work on a document, as far as its steps allow. */
const TURN_MS = 8;

/** Documents by key. */
export class DocumentCache {
  readonly #clock: Clock;
  readonly #gzip: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly #entries = new Map<string, Entry>();

  constructor({ clock, gzip }: { readonly clock: Clock; readonly gzip: (bytes: Uint8Array) => Promise<Uint8Array> }) {
    this.#clock = clock;
    this.#gzip = gzip;
  }

  /** Documents that are being made are finished for their clients, but not kept. */
  clear(): void {
    this.#entries.clear();
  }

  /** The document of a key; it is made where it is not known. */
  get(key: string, waiter: Waiter, make: () => Steps<Uint8Array>): Promise<EncodedDocument> {
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known ?? this.#start(key, make);
    if (!entry.isMade) entry.waiters.add(waiter);
    this.#entries.set(key, entry);
    if (this.#entries.size > MAX_KEPT) this.#entries.delete(this.#entries.keys().next().value as string);
    return entry.document;
  }

  #start(key: string, make: () => Steps<Uint8Array>): Entry {
    const waiters = new Set<Waiter>();
    const entry: Entry = { document: this.#make(make, waiters), waiters, isMade: false };
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    entry.document.then(() => {
      entry.isMade = true;
      waiters.clear();
    }, forget);
    return entry;
  }

  async #make(make: () => Steps<Uint8Array>, waiters: Set<Waiter>): Promise<EncodedDocument> {
    const pause = createTimeSlice(this.#clock, TURN_MS);
    // The first turn ends before the work begins: all who ask in this turn wait for the same document.
    await Promise.resolve();
    const steps = guardSteps(make(), (step) => {
      if (Array.from(waiters).every(({ aborted }) => aborted)) throw timeoutError('request did not complete within the allotted timeout');
      return step();
    });
    const bytes = await runStepsInSlices(steps, pause);
    let zipped: Promise<Uint8Array> | undefined;
    return { bytes, gzip: () => (zipped ??= this.#gzip(bytes)) };
  }
}
