// Fan-out of one registry watch to many streams. A *topic* is a set of streams that select the same objects and write the same bytes; a
// *broadcast* is the one watch of a topic, whose events are taken and encoded once; a *follower* is a stream that the broadcast writes to.
//
//   stream with a watch of its own ──nothing left to send, and at the revision of the broadcast──▶ follower
//   follower ──its receiver is behind──▶ stream with a fork of the broadcast's watch, which continues after the last event it was sent
//
// So followers never wait for one another, and a stream that is behind costs nothing until its receiver has read.
import type { StatusError } from '../../apimachinery/index.ts';
import type { RegistryEvent, RegistryWatch, Resource } from '../../registry/index.ts';
import type { WriteThrottle } from './write-throttle.ts';
import { cutBatch } from './batch.ts';

/** Followers of one broadcast: it writes to all of them in one turn. More streams of a topic follow further broadcasts of it. */
const MOST_FOLLOWERS = 256;

/** Events taken at a time. */
export const BATCH_EVENTS = 256;

/** A stream as its broadcast sees it. No method may throw. */
export interface Follower {
  /** Writes the bytes of the first of `events`, or leaves the broadcast and sends all of `events` itself. */
  deliver(bytes: Uint8Array, events: readonly RegistryEvent[]): void;
  /** No event follows. */
  finish(end: 'expired' | 'closed', error: StatusError | undefined): void;
  /** An event cannot be encoded. */
  fail(error: unknown): void;
}

/** A set of streams that can follow one broadcast. */
export interface Topic {
  readonly resource: Resource;
  /** Equal for streams of the resource that select the same objects and write the same bytes. */
  readonly key: string;
  readonly encode: (event: RegistryEvent) => Uint8Array;
}

/** A broadcast as its followers see it. */
export interface Broadcast {
  /** Every follower has been sent all events up to this revision. */
  readonly revision: number;
  /** Sends the events that are waiting, even during a pause of the write throttle. */
  flush(): void;
  /** Removes a follower. */
  leave(follower: Follower): void;
  /** A watch for a follower that is about to leave: it continues after the events that are being delivered. */
  fork(): RegistryWatch;
}

class SharedWatch implements Broadcast {
  readonly #watch: RegistryWatch;
  readonly #encode: Topic['encode'];
  readonly #writeThrottle: WriteThrottle;
  readonly #followers = new Set<Follower>();
  readonly #onClose: () => void;

  constructor(watch: RegistryWatch, { encode, writeThrottle, onClose }: { encode: Topic['encode']; writeThrottle: WriteThrottle; onClose: () => void }) {
    this.#watch = watch;
    this.#encode = encode;
    this.#writeThrottle = writeThrottle;
    this.#onClose = onClose;
  }

  get revision(): number {
    return this.#watch.revision;
  }

  /** Whether a stream may follow. */
  get isOpen(): boolean {
    return this.#watch.end === undefined && this.#followers.size < MOST_FOLLOWERS;
  }

  add(follower: Follower): void {
    this.#followers.add(follower);
  }

  listen(): void {
    this.#watch.onReadable(this.#wake);
  }

  leave(follower: Follower): void {
    if (this.#followers.delete(follower) && this.#followers.size === 0) this.#close();
  }

  fork(): RegistryWatch {
    return this.#watch.fork();
  }

  readonly #wake = (): void => this.#writeThrottle.run(this.flush);

  readonly flush = (): void => {
    if (this.#followers.size === 0) return;
    try {
      for (let events = this.#watch.take(BATCH_EVENTS); events.length > 0; events = this.#watch.take(BATCH_EVENTS)) this.#send(events);
    } catch (error) {
      return this.#end((follower) => follower.fail(error));
    }
    const { end, error } = this.#watch;
    if (end === undefined) this.listen();
    else this.#end((follower) => follower.finish(end, error));
  };

  #send(events: readonly RegistryEvent[]): void {
    for (let unsent = events; unsent.length > 0;) {
      const { bytes, rest } = cutBatch(unsent, this.#encode);
      for (const follower of this.#followers) follower.deliver(bytes, unsent);
      unsent = rest;
    }
  }

  #end(notify: (follower: Follower) => void): void {
    const followers = Array.from(this.#followers);
    this.#followers.clear();
    this.#close();
    for (const follower of followers) notify(follower);
  }

  #close(): void {
    this.#watch.close();
    this.#onClose();
  }
}

/** The broadcasts of one server. */
export class Broadcasts {
  readonly #writeThrottle: WriteThrottle;
  /** The newest broadcast of each topic, by key for each resource; a resource that is replaced (a changed definition) begins without any. */
  readonly #byResource = new WeakMap<Resource, Map<string, SharedWatch>>();

  constructor(writeThrottle: WriteThrottle) {
    this.#writeThrottle = writeThrottle;
  }

  /**
   * Makes a stream that has sent all events of its watch `own` a follower of its topic's broadcast. The first stream of a topic hands `own`
   * over as the broadcast's watch; for the others `own` is closed. Returns undefined while the broadcast is at another revision.
   */
  join(follower: Follower, own: RegistryWatch, { resource, key, encode }: Topic): Broadcast | undefined {
    let topics = this.#byResource.get(resource);
    if (topics === undefined) this.#byResource.set(resource, (topics = new Map<string, SharedWatch>()));
    const known = topics.get(key);
    if (known?.isOpen === true) {
      if (known.revision !== own.revision) return undefined;
      own.close();
      known.add(follower);
      return known;
    }
    const onClose = (): void => void (topics.get(key) === fresh && topics.delete(key));
    const fresh = new SharedWatch(own, { encode, writeThrottle: this.#writeThrottle, onClose });
    topics.set(key, fresh);
    fresh.add(follower);
    fresh.listen();
    return fresh;
  }
}
