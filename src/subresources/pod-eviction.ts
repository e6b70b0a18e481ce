// pods/eviction: a deletion that the pod's PodDisruptionBudget must allow. Mirrors the reference's eviction: a budget that its controller has not
// read yet, or that allows no disruption, refuses with 429; otherwise the budget counts the pod, and the pod's conditions name the reason.
import type { Clock } from '../base/index.ts';
import {
  type JsonObject, type KubeObject, type MetaLabelSelector, StatusError, badRequest, conflict, failure, forbidden, internalError, labelSelectorOf, success,
} from '../apimachinery/index.ts';
import { type SpecialCreate, type SpecialRequest, validateDeleteOptions } from '../endpoints/index.ts';
import { type Catalog, type DeleteOptions, type Registry, type Resource, cloneJson, everything, formatTime } from '../registry/index.ts';

interface Dependencies {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

interface EvictionOptions extends DeleteOptions {
  readonly dryRun?: readonly string[];
}

interface BudgetStatus extends JsonObject {
  readonly observedGeneration?: number;
  readonly disruptionsAllowed?: number;
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Record<string, string>;
  readonly conditions?: JsonObject[];
}

const RETRY_SECONDS = 10;
const MAX_DISRUPTED = 2000;
/** Attempts to remove a pod that others write to at the same time. */
const MAX_ATTEMPTS = 20;

function find(catalog: Catalog, [group, version, plural]: readonly [string, string, string]): Resource {
  const row = catalog.find(group, version, plural);
  if (row === undefined) throw internalError(`${plural} are not served`);
  return row;
}

const phaseOf = (pod: KubeObject): unknown => (pod['status'] as JsonObject | undefined)?.['phase'];

/** Pods that do not run any more. */
const isOver = (pod: KubeObject): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod) as string) || pod.metadata.deletionTimestamp !== undefined;

/** Pods that do not run any more, or not yet, count in no budget. */
const isFree = (pod: KubeObject): boolean => isOver(pod) || phaseOf(pod) === 'Pending';

function refuseBudget(why: string, retryAfterSeconds?: number): StatusError {
  const details = { causes: [{ reason: 'DisruptionBudget', message: why }], ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  return failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", details);
}

const stillProcessed = (budget: string): string => `The disruption budget ${budget} is still being processed by the server.`;

const isReady = (pod: KubeObject): boolean => ((pod['status'] as { conditions?: JsonObject[] } | undefined)?.conditions ?? [])
  .some(({ type, status }) => type === 'Ready' && status === 'True');

const statusOf = (budget: KubeObject): BudgetStatus => (budget['status'] ?? {}) as BudgetStatus;

/** Whether a pod that is not ready may be evicted without being counted. */
function mayGoUnready(budget: KubeObject, pod: KubeObject): boolean {
  if (isReady(pod)) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = statusOf(budget);
  const policy = (budget['spec'] as JsonObject | undefined)?.['unhealthyPodEvictionPolicy'];
  return policy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** The budget with this pod counted; throws when it has nothing left. */
function countEviction(budget: KubeObject, pod: string, now: string): KubeObject {
  const status = statusOf(budget);
  const { name = '', generation = 0 } = budget.metadata;
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {}, desiredHealthy = 0, currentHealthy = 0, conditions = [] } = status;
  if (observedGeneration < generation) throw refuseBudget(stillProcessed(name), RETRY_SECONDS);
  if (disruptionsAllowed < 0) throw forbidden({ group: 'policy', resource: 'poddisruptionbudgets' }, name, 'pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > MAX_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbidden({ group: 'policy', resource: 'poddisruptionbudgets' }, name, why);
  }
  if (disruptionsAllowed === 0) {
    throw refuseBudget(`The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`);
  }
  const left = disruptionsAllowed - 1;
  const empty: JsonObject = {
    type: 'DisruptionAllowed', status: 'False', observedGeneration: generation, lastTransitionTime: now, reason: 'InsufficientPods', message: '',
  };
  return {
    ...budget,
    status: {
      ...status, disruptionsAllowed: left, disruptedPods: Object.fromEntries([...Object.entries(disruptedPods), [pod, now]]),
      ...(left === 0 && { conditions: [...conditions.filter(({ type }) => type !== 'DisruptionAllowed'), empty] }),
    },
  };
}

/** What a pod must be for its eviction; '' and undefined are any. */
type Preconditions = NonNullable<DeleteOptions['preconditions']>;

/** The pod; throws when it is not the one of the preconditions. */
function checkPreconditions(pod: KubeObject, { uid, resourceVersion }: Preconditions): KubeObject {
  const { name = '', uid: ownUid = '', resourceVersion: own = '' } = pod.metadata;
  const differs = (what: string, wanted: string, given: string, why: string): StatusError => conflict({ group: '', resource: 'Pod' }, name,
    `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${given}). The object might have been ${why}`);
  if (uid && uid !== ownUid) throw differs('UID', uid, ownUid, 'deleted and then recreated');
  if (resourceVersion && resourceVersion !== own) throw differs('ResourceVersion', resourceVersion, own, 'modified');
  return pod;
}

const isConflict = (error: unknown): boolean => error instanceof StatusError && error.code === 409;

/** The pod with a condition that names the reason of its deletion. */
function markTarget(pod: KubeObject, now: string): KubeObject {
  const status = (pod['status'] ?? {}) as { conditions?: JsonObject[] } & JsonObject;
  const condition = {
    type: 'DisruptionTarget', status: 'True', lastProbeTime: null, lastTransitionTime: now, reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  return { ...pod, status: { ...status, conditions: [...(status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget'), condition] } };
}

class Eviction {
  readonly #dependencies: Dependencies;
  readonly #request: SpecialRequest;
  readonly #options: EvictionOptions;
  readonly #pods: Resource;
  readonly #now: string;

  constructor(dependencies: Dependencies, request: SpecialRequest) {
    const { deleteOptions } = request.object as { deleteOptions?: EvictionOptions } & KubeObject;
    const named = request.object.metadata.name ?? '';
    if (named !== request.name) throw badRequest('name in URL does not match name in Eviction object');
    const dryRun = request.context.dryRun || (deleteOptions?.dryRun?.length ?? 0) > 0;
    this.#dependencies = dependencies;
    this.#request = { ...request, context: { ...request.context, dryRun } };
    this.#options = deleteOptions ?? {};
    this.#pods = find(dependencies.catalog, ['', 'v1', 'pods']);
    this.#now = formatTime(dependencies.clock.now());
  }

  async run(): Promise<KubeObject> {
    for (let attempts = 1; ; attempts++) {
      const { pod, revision } = await this.#readPod();
      if (!isFree(pod)) {
        await this.#evictRunning(pod, revision);
        break;
      }
      try {
        // A pod that is about to run could become one that its budget counts: it must be the pod that was looked at.
        await this.#remove(isOver(pod) ? undefined : revision);
        break;
      } catch (error) {
        if (attempts === MAX_ATTEMPTS || this.#options.preconditions?.resourceVersion !== undefined || !isConflict(error)) throw error;
      }
    }
    return { ...success(), code: 201 } as unknown as KubeObject;
  }

  async #readPod(): Promise<{ readonly pod: KubeObject; readonly revision: string }> {
    const found = await this.#dependencies.registry.get({ ...this.#pod(), name: this.#request.name }, {});
    return { pod: found.object('v1'), revision: String(found.revision) };
  }

  async #evictRunning(pod: KubeObject, revision: string): Promise<void> {
    const uncounted = await this.#askBudget(pod);
    try {
      await this.#remove(uncounted === undefined ? undefined : revision);
    } catch (error) {
      const isOwn = uncounted !== undefined && this.#options.preconditions?.resourceVersion === undefined;
      throw isOwn && isConflict(error) ? refuseBudget(stillProcessed(uncounted), RETRY_SECONDS) : error;
    }
  }

  #pod() {
    return { resource: this.#pods, version: 'v1', namespace: this.#request.target.namespace };
  }

  /** Has the budget of the pod count it; the answer is the name of a budget that lets it go uncounted, because it is not ready. */
  async #askBudget(pod: KubeObject): Promise<string | undefined> {
    const { registry, catalog } = this.#dependencies;
    const target = { resource: find(catalog, ['policy', 'v1', 'poddisruptionbudgets']), version: 'v1', namespace: this.#request.target.namespace };
    const list = await registry.list(target, { predicate: everything });
    const budgets = Array.from(list.items, (item) => item.object('v1')).filter((budget) => {
      const selector = (budget['spec'] as { selector?: MetaLabelSelector } | undefined)?.selector;
      return selector !== undefined && labelSelectorOf(selector)?.matches(pod.metadata.labels) === true;
    });
    if (budgets.length > 1) {
      throw failure(500, '', 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
    }
    const [budget] = budgets;
    if (budget === undefined) return undefined;
    if (mayGoUnready(budget, pod)) return budget.metadata.name ?? '';
    await registry.update({
      ...target, name: budget.metadata.name ?? '', subresource: 'status', createIfAbsent: false, context: this.#request.context,
      transform: (current) => countEviction(cloneJson(current as KubeObject), this.#request.name, this.#now),
    });
    return undefined;
  }

  /** Removes the pod; one with a `revision` only while it has it, unless the client asks for another. */
  async #remove(revision: string | undefined): Promise<void> {
    const { registry } = this.#dependencies;
    const { name, context } = this.#request;
    const { dryRun = [], gracePeriodSeconds, propagationPolicy } = this.#options;
    validateDeleteOptions({ ...this.#options, dryRun });
    const preconditions = { ...(revision !== undefined && { resourceVersion: revision }), ...this.#options.preconditions };
    const marked = await registry.update({
      ...this.#pod(), name, subresource: 'status', createIfAbsent: false, context, managedFields: 'keep',
      transform: (pod) => markTarget(checkPreconditions(cloneJson(pod as KubeObject), preconditions), this.#now),
    });
    // The mark has made a new revision.
    if (preconditions.resourceVersion && !context.dryRun) preconditions.resourceVersion = String(marked.object.revision);
    const options: DeleteOptions = {
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }), preconditions, ...(propagationPolicy && { propagationPolicy }),
    };
    await registry.delete({ ...this.#pod(), name, options, context });
  }
}

/** A dry run of the request is one of the delete, too; validating admission sees it so. */
function noteDryRun({ object, context: { dryRun } }: SpecialRequest): void {
  if (dryRun) object['deleteOptions'] = { ...(object['deleteOptions'] as EvictionOptions | undefined), dryRun: ['All'] };
}

/** The handler of the path, for createEndpoints' `special`. */
export function createPodEviction(dependencies: Dependencies): ReadonlyMap<string, SpecialCreate> {
  const evict = Object.assign((request: SpecialRequest) => new Eviction(dependencies, request).run(), { prepare: noteDryRun });
  return new Map([['/pods/eviction', evict]]);
}
