// Encoded forms of runs of neighbouring objects: protobuf items, metadata, rows of tables. Chunks are shared between lists, so what was made
// from one is kept and the next list is a few views. What is kept is bounded: when it is full, only one chunk in eight gets in, so
// that a list that is larger than the bound still finds a part of itself; and what nobody asked for during a minute is given back.
import { type Clock, type Steps, allocateLasting } from '../../base/index.ts';
import type { ListRun, StoredObject } from '../../registry/index.ts';
import { byteLength } from './encoding.ts';

/** The items of a whole chunk, one after the other. */
export interface EncodedChunk {
  readonly bytes: Uint8Array;
  /** Where each item begins, and where the last one ends. */
  readonly offsets: Uint32Array;
}

/** Where a form is kept, and under what. */
interface FormPlace {
  readonly forms: EncodedChunkCache;
  readonly key: string;
}

type Chunk = ListRun['chunk'];

const LIMIT_BYTES = 192 * 1024 * 1024;
const ADMIT_EVERY = 8;
/** What an entry costs besides its bytes. */
const ENTRY_BYTES = 1024;
/** Between two looks at what has not been asked for since the one before. */
const SWEEP_EVERY_MS = 30_000;

interface Kept {
  readonly forms: Map<string, EncodedChunk>;
  cost: number;
  /** Number of the sweep before which it was last asked for. */
  sweep: number;
}

/** The forms of one server by chunk; the least recently used chunk is dropped first. */
export class EncodedChunkCache {
  readonly #clock: Clock;
  readonly #chunks = new Map<Chunk, Kept>();
  #size = 0;
  #refused = 0;
  #sweep = 0;
  #scheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(chunk: Chunk, key: string): EncodedChunk | undefined {
    const entry = this.#chunks.get(chunk);
    if (entry === undefined) return undefined;
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, entry);
    entry.sweep = this.#sweep;
    return entry.forms.get(key);
  }

  keep(chunk: Chunk, key: string, form: EncodedChunk): void {
    const cost = form.bytes.length + ENTRY_BYTES;
    if (this.#size + cost > LIMIT_BYTES && ++this.#refused % ADMIT_EVERY !== 0) return;
    while (this.#size + cost > LIMIT_BYTES && this.#chunks.size > 0) this.#dropOldest();
    let entry = this.#chunks.get(chunk);
    if (entry === undefined) this.#chunks.set(chunk, (entry = { forms: new Map(), cost: 0, sweep: this.#sweep }));
    entry.forms.set(key, form);
    entry.cost += cost;
    this.#size += cost;
    this.#schedule();
  }

  #dropOldest(): void {
    const [oldest] = this.#chunks.keys();
    this.#size -= this.#chunks.get(oldest as Chunk)?.cost ?? 0;
    this.#chunks.delete(oldest as Chunk);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#clock.after(SWEEP_EVERY_MS, () => {
      this.#scheduled = false;
      this.#dropUnused();
      if (this.#chunks.size > 0) this.#schedule();
    });
  }

  #dropUnused(): void {
    for (const { sweep } of this.#chunks.values()) {
      if (sweep >= this.#sweep) break;
      this.#dropOldest();
    }
    this.#sweep += 1;
  }
}

/** Puts items, each in parts, one after the other. */
export function joinRun(items: readonly (readonly Uint8Array[])[]): EncodedChunk {
  const offsets = new Uint32Array(items.length + 1);
  for (const [i, parts] of items.entries()) offsets[i + 1] = (offsets[i] as number) + byteLength(parts);
  const bytes = allocateLasting(offsets[items.length] as number);
  let at = 0;
  for (const parts of items) {
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
  }
  return { bytes, offsets };
}

/** What `make` makes of each object of a chunk, a step each. */
export function* stepsOfChunk<T>(chunk: Chunk, make: (item: StoredObject) => T): Steps<T[]> {
  const made: T[] = [];
  for (const { value } of chunk) {
    made.push(make(value));
    yield;
  }
  return made;
}

/** The form of the chunk of `run`: kept in its place, or made now. */
export function* formOfRun<F extends EncodedChunk>({ chunk }: ListRun, { forms, key }: FormPlace, make: (chunk: Chunk) => Steps<F>): Steps<F> {
  const known = forms.get(chunk, key) as F | undefined;
  if (known !== undefined) return known;
  const made = yield* make(chunk);
  const meanwhile = forms.get(chunk, key) as F | undefined;
  if (meanwhile !== undefined) return meanwhile;
  forms.keep(chunk, key, made);
  return made;
}

/** The part of a run's items, each made by `encode` with whatever separates it from the one before. */
export function* encodeRun(run: ListRun, under: FormPlace, encode: (item: StoredObject) => readonly Uint8Array[]): Steps<Uint8Array> {
  const { bytes, offsets } = yield* formOfRun(run, under, function* (chunk) {
    return joinRun(yield* stepsOfChunk(chunk, encode));
  });
  return bytes.subarray(offsets[run.from] as number, offsets[run.to] as number);
}
