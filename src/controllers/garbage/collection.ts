// The acts on one object of the graph: it is collected when its owners are gone, cut off from those that are gone, kept while one lives; and the
// acts that owners wait for. Mirrors attemptToDeleteItem and orphanDependents of the reference's garbage collector:
// every decision to delete is taken on live objects, under the precondition that they stay what they were.
import { BoundedCache } from '../../base/index.ts';
import { type KubeObject, type OwnerReference, parseGroupVersion, formatGroupVersion } from '../../apimachinery/index.ts';
import { type Resource, type SystemClient, createClientOf, createSystemClient, formatTime, hasReason, versionIn } from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';
import type { GarbageGraph, GarbageItem } from './graph.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER, waitOf } from './item.ts';

const MANAGER = 'kube-controller-manager';
/** Namespaces that are looked into for an owner that is not in its dependent's. */
const NAMESPACES_LIMIT = 1000;
/** Owners of one object that are looked for in other namespaces: each costs a read of every namespace. */
const MOST_REPORTED = 10;

/** Dependents that are set free at once, so that their commits share an fsync; the reference has no bound. */
const ORPHANS_AT_ONCE = 16;

/** How an owner is: `unknown` kinds and owners that cannot be are left alone. */
type OwnerState = 'solid' | 'absent' | 'waiting' | 'unknown' | 'misplaced';

/** What came of one look at an item. */
type Outcome = 'done' | 'unresolved';

/** What the collector's acts need of its queue. */
interface GarbageQueue {
  /** Asks for a look at an item. */
  readonly enqueue: (key: string) => void;
  /** Awaited between steps: many looks are under way at once, and none may take a turn of the event loop for all of its steps. */
  readonly pause: () => Promise<void> | undefined;
}

/** The acts of the collector. */
export class GarbageCollection {
  readonly #context: ControllerContext;
  readonly #graph: GarbageGraph;
  readonly #queue: GarbageQueue;
  /** Dependents whose owner in another namespace was reported. */
  readonly #reported = new BoundedCache<string, true>({ limit: NAMESPACES_LIMIT });

  constructor(context: ControllerContext, graph: GarbageGraph, queue: GarbageQueue) {
    this.#context = context;
    this.#graph = graph;
    this.#queue = queue;
  }

  /** One look at an item. Throws what should be tried again. */
  async look(item: GarbageItem): Promise<Outcome> {
    const client = this.#clientOf(item);
    if (client === undefined) return 'done';
    if (item.waits === 'orphan') return this.#setDependentsFree(item, client);
    if (item.waits === 'foreground') return this.#endForeground(item, client);
    if (item.deleting || item.owners.length === 0) return 'done';
    return this.#collect(item, client);
  }

  #clientOf({ group, plural }: GarbageItem): SystemClient | undefined {
    const { catalog, registry } = this.#context;
    const row = catalog.findResource(group, plural);
    return row && createClientOf(registry, row, MANAGER);
  }

  /** The finalizer is removed when no dependent blocks; those that do are looked at, once, when the waiting begins. */
  async #endForeground(item: GarbageItem, client: SystemClient): Promise<Outcome> {
    if (this.#graph.isBlocked(item.uid)) return 'done';
    await this.#removeFinalizer(item, client, FOREGROUND_FINALIZER);
    return 'done';
  }

  async #setDependentsFree(item: GarbageItem, client: SystemClient): Promise<Outcome> {
    const dependents = [...this.#graph.dependentsOf(item.uid)].values();
    const owner = new Set([item.uid]);
    const setSomeFree = async (): Promise<void> => {
      for (const dependent of dependents) {
        const other = this.#clientOf(dependent);
        await this.#queue.pause();
        if (other !== undefined) await this.#cutOwners(dependent, other, owner);
      }
    };
    await Promise.all(Array.from({ length: ORPHANS_AT_ONCE }, setSomeFree));
    await this.#removeFinalizer(item, client, ORPHAN_FINALIZER);
    return 'done';
  }

  async #removeFinalizer(item: GarbageItem, client: SystemClient, finalizer: string): Promise<void> {
    await this.#change(item, client, ({ metadata: { finalizers = [], ...metadata }, ...object }) =>
      ({ ...object, metadata: { ...metadata, finalizers: finalizers.filter((one) => one !== finalizer) } }));
  }

  async #cutOwners(item: GarbageItem, client: SystemClient, uids: ReadonlySet<string>): Promise<void> {
    await this.#change(item, client, ({ metadata: { ownerReferences = [], ...metadata }, ...object }) =>
      ({ ...object, metadata: { ...metadata, ownerReferences: ownerReferences.filter(({ uid }) => !uids.has(uid)) } }));
  }

  /** Changes the item itself, not another of its name. */
  async #change({ namespace, name, uid }: GarbageItem, client: SystemClient, change: (current: KubeObject) => KubeObject): Promise<void> {
    await client.update({ namespace, name }, '', (current) => (current.metadata.uid === uid ? change(current) : current));
  }

  async #collect(item: GarbageItem, client: SystemClient): Promise<Outcome> {
    if (await this.#allSolid(item)) return 'done';
    await this.#queue.pause();
    const live = await client.get(item);
    if (live?.metadata.uid !== item.uid || live.metadata.deletionTimestamp !== undefined) return 'done';
    const owners = live.metadata.ownerReferences ?? [];
    const states = new Map<string, OwnerState>();
    for (const owner of owners) {
      await this.#queue.pause();
      states.set(owner.uid, await this.#stateOf(item, owner, false));
    }
    const having = (state: OwnerState): OwnerReference[] => owners.filter(({ uid }) => states.get(uid) === state);
    if (owners.length === 0 || having('misplaced').length > 0) return 'done';
    if (having('unknown').length > 0) return 'unresolved';
    const [waiting, absent] = [having('waiting'), having('absent')];
    // An Event that cannot be written is no reason to keep the object.
    if (absent.length > 0) await this.#reportMisplaced(item, absent).catch((error: unknown) => this.#context.report('garbage-collector', item.key, error));
    if (having('solid').length > 0) {
      if (waiting.length + absent.length > 0) await this.#cutOwners(item, client, new Set([...waiting, ...absent].map(({ uid }) => uid)));
      return 'done';
    }
    await this.#queue.pause();
    await this.#remove(live, item, { client, isWaitedFor: waiting.length > 0 });
    return 'done';
  }

  /** A first look at what the caches have, which is enough for objects whose owners are well. */
  async #allSolid(item: GarbageItem): Promise<boolean> {
    for (const owner of item.owners) {
      await this.#queue.pause();
      if ((await this.#stateOf(item, owner, true)) !== 'solid') return false;
    }
    return true;
  }

  async #remove(live: KubeObject, item: GarbageItem, { client, isWaitedFor }: { client: SystemClient; isWaitedFor: boolean }): Promise<void> {
    const dependents = this.#graph.dependentsOf(item.uid);
    const inForeground = isWaitedFor && dependents.size > 0;
    const isCircle = inForeground && [...dependents].some(({ waits }) => waits === 'foreground');
    if (isCircle) await this.#unblock(item, client);
    const { uid = '', resourceVersion = '', finalizers = [] } = live.metadata;
    const own = finalizers.includes(ORPHAN_FINALIZER) ? 'Orphan' : finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
    const preconditions = { uid, ...(!isCircle && { resourceVersion }) };
    const gone = await client.remove(item, { propagationPolicy: inForeground ? 'Foreground' : own, preconditions });
    if (!gone) this.#queue.enqueue(item.key);
  }

  /** In a circle one object has to stop waiting. */
  #unblock(item: GarbageItem, client: SystemClient): Promise<void> {
    const release = (owner: OwnerReference): OwnerReference => (owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner);
    return this.#change(item, client, ({ metadata, ...object }) =>
      ({ ...object, metadata: { ...metadata, ownerReferences: (metadata.ownerReferences ?? []).map(release) } }));
  }

  /** `cached`: as the cache has it, which may be old. */
  async #stateOf(item: GarbageItem, owner: OwnerReference, cached: boolean): Promise<OwnerState> {
    const row = this.#rowOf(owner);
    if (row === undefined) return 'unknown';
    if (row.namespaced && item.namespace === '') return 'misplaced';
    const found = await readOwner(this.#context, row, { namespace: row.namespaced ? item.namespace : '', name: owner.name, cached });
    if (found?.metadata.uid !== owner.uid) return 'absent';
    return waitOf(found.metadata) === 'foreground' ? 'waiting' : 'solid';
  }

  #rowOf({ apiVersion, kind }: OwnerReference): Resource | undefined {
    const parsed = parseGroupVersion(apiVersion);
    const row = parsed && this.#context.catalog.findKind(parsed.group, kind);
    return row && versionIn(row, parsed?.version)?.served === true ? row : undefined;
  }

  /** An owner of that uid in another namespace: the dependent is collected all the same, and an Event says why. */
  async #reportMisplaced(item: GarbageItem, absent: readonly OwnerReference[]): Promise<void> {
    for (const owner of absent.slice(0, MOST_REPORTED)) {
      const row = this.#rowOf(owner);
      if (row?.namespaced !== true || this.#reported.peek(`${item.uid} ${owner.uid}`) === true) continue;
      if (!(await this.#isElsewhere(item, owner, row))) continue;
      this.#reported.set(`${item.uid} ${owner.uid}`, true);
      await this.#recordMisplaced(item, owner);
    }
  }

  async #isElsewhere(item: GarbageItem, owner: OwnerReference, row: Resource): Promise<boolean> {
    const namespaces = await createSystemClient(this.#context, ['', 'v1', 'namespaces'], MANAGER).names(NAMESPACES_LIMIT);
    for (const namespace of namespaces) {
      if (namespace === item.namespace) continue;
      await this.#queue.pause();
      const found = await readOwner(this.#context, row, { namespace, name: owner.name, cached: true });
      if (found?.metadata.uid === owner.uid) return true;
    }
    return false;
  }

  async #recordMisplaced(item: GarbageItem, { apiVersion, kind, name, uid }: OwnerReference): Promise<void> {
    const { catalog, clock } = this.#context;
    const row = catalog.findResource(item.group, item.plural);
    if (row === undefined) return;
    const namespace = item.namespace === '' ? 'default' : item.namespace;
    const time = formatTime(clock.now());
    const involved = { kind: row.kind, apiVersion: formatGroupVersion({ group: row.group, version: row.storageVersion }), name: item.name, uid: item.uid };
    const owner = `[${apiVersion}/${kind}, namespace: ${item.namespace}, name: ${name}, uid: ${uid}]`;
    await createSystemClient(this.#context, ['', 'v1', 'events'], MANAGER).createIfAbsent(namespace, {
      apiVersion: 'v1', kind: 'Event', metadata: { name: `${item.name}.${(BigInt(clock.now()) * 1_000_000n).toString(16)}`, namespace },
      involvedObject: { ...involved, ...(item.namespace && { namespace: item.namespace }) },
      reason: 'OwnerRefInvalidNamespace', message: `ownerRef ${owner} does not exist in namespace ${JSON.stringify(item.namespace)}`,
      type: 'Warning', source: { component: 'garbage-collector-controller' }, reportingComponent: 'garbage-collector-controller',
      firstTimestamp: time, lastTimestamp: time, count: 1,
    });
  }
}

async function readOwner(
  { registry }: ControllerContext, resource: Resource, { namespace, name, cached }: { namespace: string; name: string; cached: boolean },
): Promise<KubeObject | undefined> {
  try {
    const target = { resource, version: resource.storageVersion, namespace, name };
    return (await registry.get(target, cached ? { resourceVersion: '0' } : {})).object(resource.storageVersion);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
