// What a Store elsewhere brings of its changes: each revision once and in order, from a given one on, until it is closed.
import type { StoreEvent } from '../store.ts';

/** Where changes are delivered to; all calls are synchronous. */
export interface ChangeSink {
  /** Whole revisions in order, the last of them `revision`. */
  events(events: readonly StoreEvent[], revision: number): void;
  /** The next revision is compacted; the changes are over. */
  compacted(compactRevision: number): void;
}

/** Changes as they come. Lost connections and servers are its own business. */
export interface ChangeStream {
  /** All revisions up to this one were delivered. */
  readonly position: number;
  /** There is a newer revision than the position: the stream should look for it, where it has to look. */
  hurry?(): void;
  /** It brings nothing though there is something: whatever connection it uses is given up for another one. */
  restart(): void;
  close(): void;
}

/** Begins changes with revision `from`. */
export type OpenChanges = (from: number, sink: ChangeSink) => ChangeStream;
