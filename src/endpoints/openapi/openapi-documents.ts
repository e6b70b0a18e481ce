// Encoded OpenAPI documents. Requests for a document that is being made share the work, which is done in steps so that other requests have their
// turn, and which ends when none of its clients waits any more. Making the v2 document as JSON takes 170 ms, one of the 47 of v3 4 ms.
import { BoundedCache, type Clock, type Steps, createTimeSlice, guardSteps, runStepsInSlices } from '../../base/index.ts';
import { timeoutError } from '../../apimachinery/index.ts';

/** A document in bytes. `gzip` compresses it once. */
export interface EncodedDocument {
  readonly bytes: Uint8Array;
  gzip(): Promise<Uint8Array>;
}

/** A request that waits for a document. */
interface Waiter {
  readonly aborted: boolean;
}

interface Entry {
  readonly document: Promise<EncodedDocument>;
  readonly waiters: Set<Waiter>;
  isMade: boolean;
}

/** Number of documents kept, those requested last. The largest, v2 as JSON, takes 4 MB, and 0.4 MB compressed. */
const MAX_KEPT = 8;
/** The longest turn of work on a document, unless a single step takes longer. */
const TURN_MS = 8;

/** Documents by key. */
export class DocumentCache {
  readonly #clock: Clock;
  readonly #gzip: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly #entries = new BoundedCache<string, Entry>({ limit: MAX_KEPT });

  constructor({ clock, gzip }: { readonly clock: Clock; readonly gzip: (bytes: Uint8Array) => Promise<Uint8Array> }) {
    this.#clock = clock;
    this.#gzip = gzip;
  }

  /** Forgets all documents; those that are being made are finished for their clients, but not kept. */
  clear(): void {
    this.#entries.clear();
  }

  /** The document of a key: kept, being made, or made now. */
  get(key: string, waiter: Waiter, make: () => Steps<Uint8Array>): Promise<EncodedDocument> {
    const entry = this.#entries.getOrMake(key, () => this.#start(key, make));
    if (!entry.isMade) entry.waiters.add(waiter);
    return entry.document;
  }

  #start(key: string, make: () => Steps<Uint8Array>): Entry {
    const waiters = new Set<Waiter>();
    const entry: Entry = { document: this.#make(make, waiters), waiters, isMade: false };
    const forget = (): void => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key);
    };
    entry.document.then(() => {
      entry.isMade = true;
      waiters.clear();
    }, forget);
    return entry;
  }

  async #make(make: () => Steps<Uint8Array>, waiters: Set<Waiter>): Promise<EncodedDocument> {
    const pause = createTimeSlice(this.#clock, TURN_MS);
    // The work begins after this turn, so that all requests of the turn have joined the waiters.
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
