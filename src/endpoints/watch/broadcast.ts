// One watch for all streams that want the same of it and have seen the same: what comes is taken and encoded once, and a follower costs its
// write and nothing else. A stream joins when it has nothing left to send and is where the broadcast is; one whose receiver is behind leaves
// with a watch of its own that goes on where it stopped, so the others never wait for it and it costs nothing until it can go on.
import type { StatusError } from '../../apimachinery/index.ts';
import type { RegistryEvent, RegistryWatch, Resource } from '../../registry/index.ts';
import type { WriteThrottle } from './write-throttle.ts';
import { cutBatch } from './batch.ts';

/** Events taken at a time. */
export const BATCH_EVENTS = 256;

/** A stream as its broadcast sees it. Neither method may throw. */
export interface Follower {
  /** Takes the bytes of the first of `events`, or leaves the broadcast and takes all of `events` on itself. */
  deliver(bytes: Uint8Array, events: readonly RegistryEvent[]): void;
  /** There will be no more. */
  finish(end: 'expired' | 'closed', error: StatusError | undefined): void;
  /** The events cannot be shown. */
  fail(error: unknown): void;
}

/** What streams must agree in to follow one broadcast. */
export interface Topic {
  readonly resource: Resource;
  /** Equal for streams of the resource that select the same objects and write the same frames. */
  readonly key: string;
  readonly encode: (event: RegistryEvent) => Uint8Array;
}

/** What a follower knows of the broadcast that it has joined. */
export interface Broadcast {
  /** All followers have been sent everything up to here. */
  readonly revision: number;
  /** Sends what there is, without a rest. */
  flush(): void;
  /** Removes a follower. */
  leave(follower: Follower): void;
  /** A watch of its own for a follower that is about to leave: it goes on after the events that are being delivered. */
  fork(): RegistryWatch;
}

class SharedWatch implements Broadcast {
  readonly #watch: RegistryWatch;
  readonly #encode: Topic['encode'];
  readonly #writeThrottle: WriteThrottle;
  readonly #followers = new Set<Follower>();
  readonly #over: () => void;

  constructor(watch: RegistryWatch, { encode, writeThrottle, over }: { encode: Topic['encode']; writeThrottle: WriteThrottle; over: () => void }) {
    this.#watch = watch;
    this.#encode = encode;
    this.#writeThrottle = writeThrottle;
    this.#over = over;
  }

  get revision(): number {
    return this.#watch.revision;
  }

  get ended(): boolean {
    return this.#watch.end !== undefined;
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
      return this.#conclude((follower) => follower.fail(error));
    }
    const { end, error } = this.#watch;
    if (end === undefined) this.listen();
    else this.#conclude((follower) => follower.finish(end, error));
  };

  #send(events: readonly RegistryEvent[]): void {
    for (let left = events; left.length > 0;) {
      const { bytes, rest } = cutBatch(left, this.#encode);
      for (const follower of this.#followers) follower.deliver(bytes, left);
      left = rest;
    }
  }

  #conclude(tell: (follower: Follower) => void): void {
    const told = Array.from(this.#followers);
    this.#followers.clear();
    this.#close();
    for (const follower of told) tell(follower);
  }

  #close(): void {
    this.#watch.close();
    this.#over();
  }
}

/** The broadcasts of one server. */
export class Broadcasts {
  readonly #writeThrottle: WriteThrottle;
  /** By row: a row that was replaced has another watch. */
  readonly #byResource = new WeakMap<Resource, Map<string, SharedWatch>>();

  constructor(writeThrottle: WriteThrottle) {
    this.#writeThrottle = writeThrottle;
  }

  /**
   * Lets a stream that has sent all that `own` had follow the broadcast of its topic, which takes `own` or makes it needless. Undefined
   * while the broadcast is elsewhere.
   */
  join(follower: Follower, own: RegistryWatch, { resource, key, encode }: Topic): Broadcast | undefined {
    let topics = this.#byResource.get(resource);
    if (topics === undefined) this.#byResource.set(resource, (topics = new Map<string, SharedWatch>()));
    const known = topics.get(key);
    if (known !== undefined && !known.ended) {
      if (known.revision !== own.revision) return undefined;
      own.close();
      known.add(follower);
      return known;
    }
    const over = (): void => void (topics.get(key) === fresh && topics.delete(key));
    const fresh = new SharedWatch(own, { encode, writeThrottle: this.#writeThrottle, over });
    topics.set(key, fresh);
    fresh.add(follower);
    fresh.listen();
    return fresh;
  }
}
