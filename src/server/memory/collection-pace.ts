// What requests over HTTP/2 leave to full collections. Node makes the values of their headers as strings over memory of nghttp2, which V8 puts among the
// old objects at once, and keeps a weak handle for each stream. V8 counts neither: the fewer other objects grow old, the more of both have gathered when
// it collects, and it gives them back within one pause. 400,000 gets of 64 clients, beside 50,000 Pods: pauses of up to 180 ms; with a collection for
// each 250,000 lines 15 to 21 ms, for each 500,000 27 to 35, and about 4 % more CPU for each get. 100,000 creates: pauses of 40 to 75 ms; with a
// collection for each 300,000 lines 24 to 41, for each 500,000 25 to 55, and no more CPU.
import { provokeCollection } from './provoke-collection.ts';

/** The lines of headers that add as much to a pause as a stream does. */
const LINES_OF_A_STREAM = 7;
/** Lines of headers after which a collection is begun. */
const LINES = 250_000;

/** Lets V8 collect before one collection has too much to give back. */
export class CollectionPace {
  readonly #provoke: () => void;
  readonly #collections = new FinalizationRegistry<undefined>(() => this.#begin());
  #lines = 0;

  constructor(provoke = provokeCollection) {
    this.#provoke = provoke;
    this.#begin();
  }

  /** Counts a request and the lines of its headers. */
  count(headers: number): void {
    this.#lines += LINES_OF_A_STREAM + headers;
    if (this.#lines < LINES) return;
    this.#lines = 0;
    this.#provoke();
  }

  /** Begins to count; the next full collection, whatever has begun it, frees an object that nothing refers to. */
  #begin(): void {
    this.#lines = 0;
    this.#collections.register({}, undefined);
  }
}
