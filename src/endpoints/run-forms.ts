// Encoded forms of runs of neighbouring objects: protobuf items, metadata, rows of tables. Chunks are shared between lists, so what was made
// from one is kept and the next list is a few views. What is kept is bounded: when it is full, only one chunk in eight gets in, so
// that a list that is larger than the bound still finds a part of itself.
import type { ListRun, ObjectVersion } from '../registry/index.ts';
import { joinBytes } from './encoding.ts';

/** The items of a whole chunk, one after the other. */
export interface RunForm {
  readonly bytes: Uint8Array;
  /** Where each item begins, and where the last one ends. */
  readonly offsets: Uint32Array;
}

type Chunk = ListRun['chunk'];

const LIMIT_BYTES = 48 * 1024 * 1024;
const ADMIT_EVERY = 8;
/** What an entry costs besides its bytes. */
const ENTRY_BYTES = 1024;

/** Forms by chunk; the least recently used chunk is dropped first. */
class RunForms {
  readonly #chunks = new Map<Chunk, Map<string, RunForm>>();
  #size = 0;
  #refused = 0;

  get(chunk: Chunk, key: string): RunForm | undefined {
    const forms = this.#chunks.get(chunk);
    if (forms === undefined) return undefined;
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, forms);
    return forms.get(key);
  }

  keep(chunk: Chunk, key: string, form: RunForm): void {
    const cost = form.bytes.length + ENTRY_BYTES;
    if (this.#size + cost > LIMIT_BYTES && ++this.#refused % ADMIT_EVERY !== 0) return;
    while (this.#size + cost > LIMIT_BYTES && this.#chunks.size > 0) this.#dropOldest();
    const forms = this.#chunks.get(chunk);
    if (forms === undefined) this.#chunks.set(chunk, new Map([[key, form]]));
    else forms.set(key, form);
    this.#size += cost;
  }

  #dropOldest(): void {
    const [oldest] = this.#chunks.keys();
    for (const { bytes } of this.#chunks.get(oldest as Chunk)?.values() ?? []) this.#size -= bytes.length + ENTRY_BYTES;
    this.#chunks.delete(oldest as Chunk);
  }
}

const kept = new RunForms();

/** Puts items one after the other. */
export function joinRun(items: readonly Uint8Array[]): RunForm {
  const offsets = new Uint32Array(items.length + 1);
  for (const [i, item] of items.entries()) offsets[i + 1] = (offsets[i] as number) + item.length;
  return { bytes: joinBytes(items), offsets };
}

/** The form of the chunk of `run` under `key`: kept, or made now. */
export function formOfRun<F extends RunForm>({ chunk }: ListRun, key: string, make: (chunk: Chunk) => F): F {
  let form = kept.get(chunk, key) as F | undefined;
  if (form === undefined) kept.keep(chunk, key, (form = make(chunk)));
  return form;
}

/** The part of a run's items, each made by `encode` with whatever separates it from the one before. */
export function encodeRun(run: ListRun, key: string, encode: (item: ObjectVersion) => Uint8Array): Uint8Array {
  const { bytes, offsets } = formOfRun(run, key, (chunk) => joinRun(chunk.map(({ value }) => encode(value))));
  return bytes.subarray(offsets[run.from] as number, offsets[run.to] as number);
}
