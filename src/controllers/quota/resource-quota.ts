// Keeps the status of ResourceQuotas right: the limits of the spec, and what the objects of the namespace use. A quota is counted when it changes,
// when an object that it counts is deleted or releases what it held, and every five minutes. Mirrors the reference's resourcequota controller.
import { type KubeObject, type Quantity, equalJson } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import {
  type Amounts, type Evaluator, type EvaluatorOf, none, PENDING_MS, type QuotaLedger, addAmounts, addTo, countOf, isSameAmounts, maskAmounts, readAmounts,
  readScopes, writeAmounts,
} from '../../admission/index.ts';
import {
  type Reflector, type Resource, type StoredObject, WorkQueue, createClientOf, createSystemClient, startReflector,
} from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';

const NAME = 'resourcequota';
const MANAGER = 'kube-controller-manager';
const RESYNC_MS = 300_000;
const SLICE_MS = 10;

interface QuotaState {
  readonly hard?: Readonly<Record<string, string>>;
  readonly used?: Readonly<Record<string, string>>;
}

/** A row whose objects count, with its rules. */
interface Counted {
  readonly resource: Resource;
  readonly evaluator: Evaluator;
}

interface Usage {
  readonly usage: Amounts;
  readonly uids: ReadonlySet<string>;
}

const nothing: Amounts = new Map();
const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const hardOf = (quota: KubeObject): Readonly<Record<string, string>> => ((quota['spec'] ?? {}) as QuotaState).hard ?? {};
const statusOf = (quota: KubeObject): QuotaState => (quota['status'] ?? {}) as QuotaState;

/** Whether an object that is still there may count for less than before. */
function mayRelease({ plural, group }: Resource, object: StoredObject): boolean {
  if (group !== '') return false;
  if (plural === 'services' || plural === 'persistentvolumeclaims') return true;
  if (plural !== 'pods') return false;
  const pod = object.object('v1');
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string };
  return phase === 'Failed' || phase === 'Succeeded' || pod.metadata.deletionTimestamp !== undefined;
}

/** What the loop shares with the plugin that charges. */
export interface QuotaParts {
  readonly ledger: QuotaLedger;
  readonly evaluatorOf: EvaluatorOf;
}

/** Starts the loop. */
export function createResourceQuotas(context: ControllerContext, parts: QuotaParts): Controller {
  return new ResourceQuotas(context, parts);
}

class ResourceQuotas implements Controller {
  readonly #context: ControllerContext;
  readonly #ledger: QuotaLedger;
  readonly #evaluatorOf: EvaluatorOf;
  /** The names that each quota limits, by namespace and name. */
  readonly #quotas = new Map<string, Map<string, readonly string[]>>();
  readonly #tracked = new Map<string, { readonly resource: Resource; readonly reflector: Reflector }>();
  readonly #queue: WorkQueue;
  readonly #reflector: Reflector;
  readonly #ignoreCatalog: () => void;
  readonly #client;
  #stopResync: () => void = () => undefined;

  constructor(context: ControllerContext, { ledger, evaluatorOf }: QuotaParts) {
    this.#context = context;
    this.#ledger = ledger;
    this.#evaluatorOf = evaluatorOf;
    this.#client = createSystemClient(context, ['', 'v1', 'resourcequotas'], MANAGER);
    this.#queue = new WorkQueue({
      observer: context.observeQueue?.('resource_quota'),
      clock: context.clock, concurrency: 4, work: (key) => this.#count(key), onError: (key, error) => context.report(NAME, key, error) });
    this.#reflector = startReflector({
      registry: context.registry, clock: context.clock, target: this.#client.target(''),
      onError: (error) => context.report(NAME, '', error), onReset: () => this.#quotas.clear(), onListed: () => this.#track(),
      onChange: (type, quota) => this.#onQuota(type, quota),
    });
    this.#ignoreCatalog = context.catalog.onChange(() => this.#track());
    this.#resyncLater();
  }

  ready(): Promise<void> {
    return this.#reflector.synced;
  }

  async stop(): Promise<void> {
    this.#stopResync();
    this.#ignoreCatalog();
    this.#reflector.stop();
    for (const { reflector } of this.#tracked.values()) reflector.stop();
    await this.#queue.stop();
  }

  #resyncLater(): void {
    const timer = this.#context.clock.after(RESYNC_MS, () => {
      for (const [namespace, quotas] of this.#quotas) for (const name of quotas.keys()) this.#queue.add(keyOf(namespace, name));
      this.#resyncLater();
    });
    this.#stopResync = () => timer.cancel();
  }

  #onQuota(type: 'present' | 'deleted', quota: StoredObject): void {
    const { namespace, name } = quota;
    const quotas = this.#quotas.get(namespace) ?? new Map<string, readonly string[]>();
    if (type === 'deleted') {
      quotas.delete(name);
      if (quotas.size === 0) this.#quotas.delete(namespace);
      this.#track();
      return;
    }
    const object = quota.object('v1');
    const [hard, status] = [hardOf(object), statusOf(object)];
    const limited = Object.keys(hard);
    const isSame = equalJson(quotas.get(name), limited);
    this.#quotas.set(namespace, quotas.set(name, limited));
    // A charge changes the status only; what is watched depends on the names.
    if (!isSame) this.#track();
    if (status.used === undefined || !equalJson(hard, status.hard ?? {})) this.#queue.add(keyOf(namespace, name));
  }

  /** The rows whose objects are counted under some of these names, each with what it counts for. */
  #rowsOf(names: Iterable<string>): Counted[] {
    const limited = [...new Set(names)];
    const rows = this.#context.catalog.resources().filter(({ namespaced, virtual, storedAs, verbs }) =>
      namespaced && virtual !== true && storedAs === undefined && verbs.includes('list') && verbs.includes('watch'));
    return rows.map((resource) => ({ resource, evaluator: this.#evaluatorOf(resource) }))
      .filter(({ evaluator }) => limited.some((name) => evaluator.matches(name)));
  }

  /** The same rows with the evaluators of this moment. */
  async #currentRowsOf(names: readonly string[], namespace: string): Promise<Counted[]> {
    const rows = await Promise.all(this.#rowsOf(names).map(async ({ resource, evaluator }) => (
      { resource, evaluator: await evaluator.current?.(namespace) ?? evaluator })));
    return rows.filter(({ evaluator }) => names.some((name) => evaluator.matches(name)));
  }

  /** Watches what the quotas count, and nothing else. */
  #track(): void {
    const wanted = new Map(this.#rowsOf([...this.#quotas.values()].flatMap((quotas) => [...quotas.values()].flat()))
      .map(({ resource }) => [`${resource.group}/${resource.plural}`, resource]));
    for (const [key, { resource, reflector }] of this.#tracked) {
      if (wanted.get(key) === resource) continue;
      reflector.stop();
      this.#tracked.delete(key);
    }
    for (const [key, resource] of wanted) {
      if (!this.#tracked.has(key)) this.#tracked.set(key, { resource, reflector: this.#watch(resource) });
    }
  }

  #watch(resource: Resource): Reflector {
    const { registry, catalog, clock, report } = this.#context;
    let lists = 0;
    return startReflector({
      registry, clock, target: { resource, version: resource.storageVersion, namespace: '' }, listFrom: '0',
      isNeeded: () => catalog.findResource(resource.group, resource.plural) === resource,
      onError: (error) => report(NAME, resource.plural, error),
      onListed: () => void (lists++ > 0 && this.#addAll(resource, undefined)),
      onChange: (type, object) => {
        if (!this.#quotas.has(object.namespace)) return;
        this.#ledger.settle(object.namespace, object.uid);
        if (type === 'deleted' || mayRelease(resource, object)) this.#addAll(resource, object.namespace);
      },
    });
  }

  /** Counts the quotas of a namespace (of all without one) that count objects of a row. */
  #addAll(resource: Resource, namespace: string | undefined): void {
    const evaluator = this.#evaluatorOf(resource);
    for (const space of namespace === undefined ? this.#quotas.keys() : [namespace]) {
      for (const [name, limited] of this.#quotas.get(space) ?? []) {
        if (limited.some((resourceName) => evaluator.matches(resourceName))) this.#queue.add(keyOf(space, name));
      }
    }
  }

  /** Counts one quota; asks for another look while charges are open whose object is not stored. */
  async #count(key: string): Promise<number | void> {
    const [namespace, name] = key.split('/') as [string, string];
    if (this.#quotas.get(namespace)?.has(name) !== true) return;
    let isPending = false;
    const quota = await this.#client.get({ namespace, name });
    if (quota === undefined) return;
    const { usage, uids } = await this.#usageOf(quota);
    await this.#client.update({ namespace, name }, 'status', (current) => {
      if (current.metadata.resourceVersion !== quota.metadata.resourceVersion) {
        isPending = true;
        return current;
      }
      const pending = this.#ledger.pending({ namespace, quota: name }, uids);
      isPending ||= pending !== undefined;
      return withStatus(current, pending === undefined ? usage : addAmounts(usage, maskAmounts(pending, new Set(usage.keys()))));
    });
    return isPending ? PENDING_MS / 10 : undefined;
  }

  /** What the stored objects of a namespace use of a quota, and, where charges are open, which objects these are. */
  async #usageOf(quota: KubeObject): Promise<Usage> {
    const names = Object.keys(hardOf(quota));
    const { namespace = '', name = '' } = quota.metadata;
    // A charge from now on changes the quota, so that this count is not used.
    const isCharged = this.#ledger.hasOpen({ namespace, quota: name });
    const rows = await this.#currentRowsOf(names, namespace);
    // A name that one row counts for is counted for all of them: upstream masks the sum, not what each row adds.
    const counted = new Set(names.filter((each) => rows.some(({ evaluator }) => evaluator.matches(each))));
    const found = { usage: new Map<string, Quantity>(Array.from(counted, (each) => [each, none])), uids: new Set<string>() };
    const pause = createTimeSlice(this.#context.clock, SLICE_MS);
    for (const { resource, evaluator } of rows) {
      const client = createClientOf(this.#context.registry, resource, MANAGER);
      const amountsOf = this.#readerOf({ resource, evaluator }, readScopes(quota));
      if (typeof amountsOf !== 'function' && !isCharged) {
        const count = countOf(await client.count(namespace));
        addTo(found.usage, new Map(Array.from(maskAmounts(amountsOf, counted).keys(), (each) => [each, count])));
        continue;
      }
      for await (const stored of client.each(namespace, pause)) {
        if (isCharged) found.uids.add(stored.uid);
        addTo(found.usage, maskAmounts(typeof amountsOf === 'function' ? amountsOf(stored) : amountsOf, counted));
      }
    }
    return found;
  }

  /** How what an object counts for is read; the amounts themselves where they are the same for all. */
  #readerOf({ resource, evaluator }: Counted, scopes: ReturnType<typeof readScopes>): Amounts | ((stored: StoredObject) => Amounts) {
    if (evaluator.constantUsage !== undefined && scopes.length === 0) return evaluator.constantUsage;
    return (stored) => {
      const object = stored.object(resource.storageVersion);
      return scopes.every((selector) => evaluator.matchesScope(selector, object)) ? evaluator.usage(object, this.#context.clock.now()) : nothing;
    };
  }
}

/** A quota with this usage in its status; the same object where the status says so already. */
function withStatus(quota: KubeObject, used: Amounts): KubeObject {
  const [hard, status] = [hardOf(quota), statusOf(quota)];
  const isRight = status.hard !== undefined && status.used !== undefined
    && isSameAmounts(readAmounts(status.hard), readAmounts(hard)) && isSameAmounts(readAmounts(status.used), used);
  return isRight ? quota : { ...quota, status: { hard: { ...hard }, used: writeAmounts(used) } };
}
