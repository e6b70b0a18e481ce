// Watches: a read that does not end. The initial state (when asked for), then every change, as the predicate sees it:
//
//   before \ after   matches     does not    deleted
//   matches          MODIFIED    DELETED     DELETED     (DELETED shows the state before, at the revision of the change)
//   did not          ADDED       —           —
//
//   starting ──snapshot at R──▶ initial state, in key order ──▶ [bookmark: initial events end] ──▶ changes after R ──▶ end
import { StatusError, timeoutError } from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';
import type { CacheEvent, WatchedRange, Watcher } from '../../cache/index.ts';
import type { Predicate, RegistryEvent, RegistryWatch, Target, WatchOptions } from '../contract.ts';
import { type Core, type RequestScope, FRESHNESS_LIMIT_MS } from '../core.ts';
import { expiredWatch } from '../errors.ts';
import { awaitRevision } from './get.ts';
import { collectionPrefix, readRange } from '../objects/keys.ts';
import type { StoredRevision } from '../objects/stored-object.ts';
import { pageOfSnapshot } from '../reads/page.ts';
import { UnreadableObject, unreadableEvent } from '../objects/unreadable-object.ts';
import { parseResourceVersion, plainError } from '../options.ts';

interface WatchPlan {
  readonly scope: RequestScope;
  readonly predicate: Predicate;
  readonly range: WatchedRange;
  /** Changes after this revision are wanted. */
  readonly after: number;
  readonly endBookmark: boolean;
  /** Changes carry the object before them. */
  readonly withPrevious: boolean;
}

/**
 * The objects of deletions, so that all watchers of one change share one object and its bytes. Held weakly, since history keeps what was deleted for
 * minutes: of 20,000 ConfigMaps the second objects took 3 MB beside their bytes.
 */
const lastStates = new WeakMap<StoredRevision, WeakRef<StoredRevision>>();

function lastState(previous: StoredRevision, revision: number): StoredRevision {
  const known = lastStates.get(previous)?.deref();
  if (known?.revision === revision) return known;
  const version = previous.at(revision);
  lastStates.set(previous, new WeakRef(version));
  return version;
}

/** Changes that a watch looks at in one turn of the event loop: with a selector that takes few of them, history alone would fill a turn of 80 ms. */
const MOST_CHANGES_PER_TURN = 2048;

class StreamingWatch implements RegistryWatch {
  readonly #plan: WatchPlan;
  readonly #watcher: Watcher<StoredRevision>;
  #initial: Iterator<StoredRevision> | undefined;
  #bookmarkDue: boolean;
  /** take() may find something. */
  #readable = true;
  /** Changes looked at since there were no more, or since the last pause. */
  #looked = 0;
  /** The rest is for the next turn. */
  #isPausing = false;
  /** The watch came to a value that cannot be read, where it ends. */
  #failed: StatusError | undefined;
  #wake: (() => void) | undefined;

  /**
   * `initial` is the state to begin with, as the predicate sees it. It is let go once it is sent: a snapshot that is kept holds all that was replaced
   * since.
   */
  constructor(plan: WatchPlan, initial: Iterable<StoredRevision> | undefined) {
    this.#plan = plan;
    this.#initial = initial?.[Symbol.iterator]();
    this.#bookmarkDue = plan.endBookmark;
    this.#watcher = plan.scope.storage.cache.watch(plan.range, plan.after, () => this.#becomeReadable());
  }

  get revision(): number {
    return this.#initial !== undefined || this.#bookmarkDue ? 0 : this.#watcher.revision;
  }

  get end(): 'expired' | 'closed' | undefined {
    if (this.#failed !== undefined) return 'expired';
    return this.#initial === undefined ? this.#watcher.end : undefined;
  }

  get error(): StatusError | undefined {
    if (this.#failed !== undefined) return this.#failed;
    return this.end === 'expired' ? expiredWatch(this.#plan.after, this.#plan.scope.storage.cache.revision) : undefined;
  }

  take(limit: number): readonly RegistryEvent[] {
    const events: RegistryEvent[] = [];
    this.#takeInitial(limit, events);
    while (this.#initial === undefined && events.length < limit && this.#failed === undefined && !this.#isPausing) {
      const wanted = limit - events.length;
      const changes = this.#watcher.take(wanted);
      for (const change of changes) {
        this.#failed = unreadableChange(change);
        if (this.#failed !== undefined) break;
        const event = this.#toEvent(change);
        if (event !== undefined) events.push(event);
      }
      this.#looked += changes.length;
      if (changes.length < wanted) {
        this.#readable = this.end !== undefined;
        this.#looked = 0;
        break;
      }
      if (this.#looked >= MOST_CHANGES_PER_TURN) this.#pause();
    }
    return events;
  }

  #pause(): void {
    this.#isPausing = true;
    this.#readable = false;
    this.#looked = 0;
    setImmediate(() => {
      this.#isPausing = false;
      this.#becomeReadable();
    });
  }

  onReadable(wake: () => void): void {
    if (this.#readable) wake();
    else this.#wake = wake;
  }

  fork(): RegistryWatch {
    invariant(this.#initial === undefined && !this.#bookmarkDue, 'a watch is forked after its initial state');
    return new StreamingWatch({ ...this.#plan, after: this.#watcher.revision, endBookmark: false }, undefined);
  }

  close(): void {
    this.#wake = undefined;
    this.#initial = undefined;
    this.#watcher.close();
  }

  #becomeReadable(): void {
    if (this.#isPausing) return;
    this.#readable = true;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #takeInitial(limit: number, events: RegistryEvent[]): void {
    const { scope, after } = this.#plan;
    while (this.#initial !== undefined && events.length < limit) {
      const next = this.#initial.next();
      if (next.done === true) {
        this.#initial = undefined;
        if (this.#bookmarkDue) events.push({ type: 'BOOKMARK', revision: after, initialEventsEnd: true });
        this.#bookmarkDue = false;
        return;
      }
      const object = scope.show(next.value);
      events.push({ type: 'ADDED', object, revision: object.revision });
    }
  }

  #toEvent({ revision, value, previous }: CacheEvent<StoredRevision>): RegistryEvent | undefined {
    const { predicate, scope, withPrevious } = this.#plan;
    const object = value === undefined ? undefined : scope.show(value);
    const matches = object !== undefined && predicate.matches(object);
    const matched = previous !== undefined && !(previous instanceof UnreadableObject) && (predicate.everything || predicate.matches(scope.show(previous)));
    if (matches && matched && withPrevious) return { type: 'MODIFIED', object, revision, previous: scope.show(lastState(previous, revision)) };
    if (matches) return { type: matched ? 'MODIFIED' : 'ADDED', object, revision };
    return matched ? { type: 'DELETED', object: scope.show(lastState(previous, revision)), revision } : undefined;
  }
}

/** The error of a change from or to a value that cannot be read; a readable value may replace one that is not. */
function unreadableChange({ value, previous }: CacheEvent<StoredRevision>): StatusError | undefined {
  if (value instanceof UnreadableObject) return unreadableEvent(value, false);
  return value === undefined && previous instanceof UnreadableObject ? unreadableEvent(previous, true) : undefined;
}

/** A watch that cannot begin: the error is the stream's only event. */
function failedWatch(error: StatusError): RegistryWatch {
  return { take: () => [], onReadable: (wake) => wake(), revision: 0, end: 'expired', error, fork: () => failedWatch(error), close: () => undefined };
}

/** The keys that are watched, and what is left to test of their objects. */
function watchedRange(core: Core, scope: RequestScope, predicate: Predicate): { readonly range: WatchedRange; readonly predicate: Predicate } {
  const { target, storage } = scope;
  const byNamespace = target.namespace === '' && predicate.namespace !== undefined && storage.resource.namespaced;
  const namespace = byNamespace ? predicate.namespace : target.namespace;
  const name = namespace !== '' || !storage.resource.namespaced ? predicate.name : undefined;
  return {
    // Fields of a viewed row are not those of the row that stores.
    range: { ...readRange(collectionPrefix(core.root, storage.resource, namespace), name), only: scope.viewed ? undefined : predicate.only },
    predicate: predicate.beyond?.({ name: name !== undefined, namespace: byNamespace }) ?? predicate,
  };
}

/** Waits for the state that a watch with initial events begins with. */
async function awaitState(scope: RequestScope, wanted: number | undefined, text: string): Promise<StatusError | undefined> {
  try {
    if (wanted === undefined) {
      if (!(await scope.storage.cache.waitUntilCurrent(FRESHNESS_LIMIT_MS))) return timeoutError('the state of the store is not known in time', 1);
    } else if (wanted > 0) await awaitRevision(scope, wanted, text);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

/** Registry.watch. */
export async function watchObjects(core: Core, target: Target, options: WatchOptions & { readonly withPrevious?: boolean }): Promise<RegistryWatch> {
  const text = options.resourceVersion ?? '';
  const wanted = parseResourceVersion(text, plainError);
  const scope = await core.readyScope(target);
  const { range, predicate } = watchedRange(core, scope, options.predicate);
  // The watch begins now; with the state, unless that is declined. Only watches that ask for the state get the bookmark at its end.
  const fromNow = wanted === undefined || wanted === 0;
  const withState = options.sendInitialEvents ?? fromNow;
  if (withState || fromNow) {
    const failed = await awaitState(scope, withState ? wanted : undefined, text);
    if (failed !== undefined) return failedWatch(failed);
  }
  if (!withState && !fromNow && (await core.isBeforeDefinition(scope.storage, wanted))) return failedWatch(expiredWatch(wanted, scope.storage.cache.revision));
  const snapshot = scope.storage.cache.latest();
  const after = withState || fromNow ? snapshot.revision : wanted;
  const state = pageOfSnapshot(snapshot, { scope, predicate, range, limit: 0 }, after);
  const initial = withState ? (await core.readInSlices(state, core.paceFirstState())).items : undefined;
  const endBookmark = options.sendInitialEvents === true && options.allowWatchBookmarks === true;
  return new StreamingWatch({ scope, predicate, range, after, endBookmark, withPrevious: options.withPrevious === true }, initial);
}
