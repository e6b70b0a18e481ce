// Watches that start before the shared watch's memory are brought up to it by a stream of their own, which they share: a thousand
// clients that resume after a restart cost one replay, not a thousand.
import type { ChangeStream, OpenChanges } from './changes.ts';
import type { RemoteWatch } from './remote-watch.ts';

interface ReplayOptions {
  readonly open: OpenChanges;
  /** The shared watch remembers every change after this revision. */
  readonly floor: () => number;
  /** Takes a watch over that has reached the floor. */
  readonly join: (watch: RemoteWatch) => void;
}

interface Group {
  readonly stream: ChangeStream;
  readonly members: Set<RemoteWatch>;
}

/** Replays at the same time; more wait, and share one then. */
const GROUP_LIMIT = 4;

/** All replays of one Store. */
export class Replays {
  readonly #options: ReplayOptions;
  readonly #groups = new Set<Group>();
  #waiting: RemoteWatch[] = [];
  #closed = false;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  add(watch: RemoteWatch): void {
    this.#waiting.push(watch);
    if (this.#waiting.length === 1) queueMicrotask(() => this.#start());
  }

  /** Ends all watches that are not live yet. */
  close(reason: Parameters<RemoteWatch['end']>[0]): void {
    this.#closed = true;
    for (const watch of this.#waiting.splice(0)) watch.end(reason);
    for (const group of this.#groups) {
      group.stream.close();
      for (const watch of group.members) watch.end(reason);
    }
    this.#groups.clear();
  }

  /** Waiting watches join a replay that has not come to their start yet, or begin one. */
  #start(): void {
    const waiting = this.#waiting.filter((watch) => !watch.isOver);
    this.#waiting = [];
    const rest = waiting.filter((watch) => !this.#joinGroup(watch));
    if (rest.length === 0 || this.#closed) return;
    if (this.#groups.size >= GROUP_LIMIT) this.#waiting = rest;
    else this.#begin(rest);
  }

  #joinGroup(watch: RemoteWatch): boolean {
    for (const { stream, members } of this.#groups) {
      if (stream.position >= watch.next) continue;
      members.add(watch);
      return true;
    }
    return false;
  }

  #begin(watches: readonly RemoteWatch[]): void {
    const members = new Set(watches);
    const from = watches.reduce((lowest, watch) => Math.min(lowest, watch.next), Infinity);
    const stream = this.#options.open(from, {
      events: (events, revision) => {
        for (const watch of members) watch.replay(events, revision);
        this.#review(group, revision);
      },
      compacted: (compactRevision) => this.#fail(group, compactRevision),
    });
    const group: Group = { stream, members };
    this.#groups.add(group);
  }

  #review(group: Group, revision: number): void {
    for (const watch of group.members) if (watch.isOver) group.members.delete(watch);
    const isThere = revision >= this.#options.floor();
    if (!isThere && group.members.size > 0) return;
    this.#leave(group);
    for (const watch of group.members) this.#options.join(watch);
  }

  /** Only watches whose start is compacted end; the others begin again after it. */
  #fail(group: Group, compactRevision: number): void {
    this.#leave(group);
    for (const watch of group.members) {
      if (watch.next <= compactRevision) watch.end({ type: 'compacted', compactRevision });
      else this.add(watch);
    }
  }

  #leave(group: Group): void {
    group.stream.close();
    this.#groups.delete(group);
    if (this.#waiting.length > 0) queueMicrotask(() => this.#start());
  }
}
