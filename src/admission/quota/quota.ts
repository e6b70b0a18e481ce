// ResourceQuota: what a namespace may hold in all. A request that would exceed a quota is refused; one that fits is charged by an update of the
// quota's status that holds only while the status is what was read, so that any number of writers together never exceed it. The requests of a
// namespace that wait at the same time are charged in one update. Mirrors upstream's plugin, texts included.
//
//   validate ─▶ waiting (by namespace) ─▶ batch ─▶ for each quota: read, decide for each request in order, write status ─▶ admitted or refused
//                                          ▲                                            └── conflict: read again
//                                          └── requests that came meanwhile
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import type { AdmissionPlugin } from '../chain.ts';
import { refuse } from '../refusal.ts';
import {
  type Amounts, addAmounts, dropZeros, findExceeded, formatAmounts, maskAmounts, readAmounts, subtractAmounts, writeAmounts,
} from './amounts.ts';
import { type LimitedResource, findUncovered } from './coverage.ts';
import type { Evaluator } from './evaluator.ts';
import type { EvaluatorOf } from './evaluators.ts';
import type { QuotaLedger } from './ledger.ts';
import { readScopes } from './scopes.ts';

/** Access to the quotas of namespaces. */
export interface QuotaStore {
  /** The quotas of a namespace as this server knows them at this moment. */
  list(namespace: string): readonly KubeObject[];
  /**
   * Writes the status of a quota: `change` gets the newest state and returns the next one (the same object for no change), and is called again when
   * another writer was faster. What it throws ends the write. Resolves to false when the quota does not exist.
   */
  updateStatus(key: { readonly namespace: string; readonly name: string }, change: (quota: KubeObject) => KubeObject): Promise<boolean>;
}

/** What the plugin is given. */
export interface QuotaOptions {
  readonly store: QuotaStore;
  readonly ledger: QuotaLedger;
  readonly evaluatorOf: EvaluatorOf;
  readonly clock: Clock;
  /** What may be consumed only where a quota covers it; nothing unless given. */
  readonly limited?: readonly LimitedResource[] | undefined;
}

/** A request that waits for its charge. */
interface Waiting {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: Evaluator;
  /** What its object counts for. */
  readonly usage: Amounts;
  /** What the write adds to what its object counted for. */
  readonly added: Amounts;
  admit(): void;
  refuse(error: unknown): void;
}

interface QuotaStatus {
  readonly hard?: Readonly<Record<string, string>>;
  readonly used?: Readonly<Record<string, string>>;
}

const statusOf = (quota: KubeObject): QuotaStatus => (quota['status'] ?? {}) as QuotaStatus;
const nameOf = (quota: KubeObject): string => quota.metadata.name ?? '';

/** Makes the plugin. */
export function createResourceQuota(options: QuotaOptions): AdmissionPlugin {
  const waiting = new Map<string, Waiting[]>();
  const run = async (namespace: string, first: Waiting): Promise<void> => {
    for (let batch = [first]; batch.length > 0; batch = waiting.get(namespace) as Waiting[]) {
      waiting.set(namespace, []);
      await chargeBatch(options, namespace, batch);
    }
    waiting.delete(namespace);
  };
  const wait = (attributes: AdmissionAttributes, evaluator: Evaluator): Promise<void> => new Promise((resolve, reject) => {
    const request: Waiting = { attributes, evaluator, ...measure(options, attributes, evaluator), admit: resolve, refuse: reject };
    const queue = waiting.get(attributes.namespace);
    if (queue === undefined) void run(attributes.namespace, request);
    else queue.push(request);
  });
  return {
    name: 'ResourceQuota',
    handles: ({ operation, namespace, resource }) =>
      (operation === 'CREATE' || operation === 'UPDATE') && namespace !== '' && resource.namespaced,
    validate(attributes) {
      const { namespace, resource } = attributes;
      if (options.store.list(namespace).length === 0 && (options.limited?.length ?? 0) === 0) return undefined;
      const evaluator = options.evaluatorOf(resource);
      if (!evaluator.handles(attributes)) return undefined;
      if (evaluator.current === undefined) return wait(attributes, evaluator);
      return evaluator.current(namespace, objectsOf(attributes)).then((current) => wait(attributes, current));
    },
  };
}

const objectsOf = ({ object, oldObject }: AdmissionAttributes): KubeObject[] => [object, oldObject].filter((each) => each !== undefined);

/** Charges the requests of one namespace that wait at the same time, in the order in which they came. */
async function chargeBatch(options: QuotaOptions, namespace: string, batch: readonly Waiting[]): Promise<void> {
  const charged = new Map<Waiting, KubeObject[]>();
  const quotas = options.store.list(namespace);
  let open = batch.filter((request) => isCovered(options, quotas, request));
  for (const quota of quotas) {
    try {
      const outcome = await chargeQuota(options, quota, open);
      for (const request of outcome.charged) charged.set(request, [...charged.get(request) ?? [], quota]);
      for (const [request, error] of outcome.refused) {
        request.refuse(error);
        await giveBack(options, request, charged.get(request) ?? []);
      }
      open = open.filter((request) => !outcome.refused.has(request));
    } catch (error) {
      for (const request of open) request.refuse(error);
      for (const request of open) await giveBack(options, request, charged.get(request) ?? []);
      return;
    }
  }
  for (const request of open) request.admit();
}

/** Whether quotas cover what a request consumes, as far as they must; refuses it where they do not. */
function isCovered({ limited = [] }: QuotaOptions, quotas: readonly KubeObject[], request: Waiting): boolean {
  if (limited.length === 0) return true;
  try {
    const matching = quotas.map((quota) => ({ quota, names: matchingNames(quota, request) })).filter(({ names }) => names.length > 0);
    const adds = matching.length === 0 ? request.added.size > 0 : matching.some(({ quota }) => chargeFor(quota, request).size > 0);
    const covered = new Set(matching.flatMap(({ names }) => names));
    const refusal = adds ? findUncovered(limited, { ...request, quotas, covered }) : undefined;
    if (refusal === undefined) return true;
    request.refuse(refusal);
  } catch (error) {
    request.refuse(error);
  }
  return false;
}

interface Outcome {
  readonly charged: ReadonlySet<Waiting>;
  readonly refused: ReadonlyMap<Waiting, unknown>;
}

/** Decides all requests about one quota and writes its status once. */
async function chargeQuota(options: QuotaOptions, quota: KubeObject, batch: readonly Waiting[]): Promise<Outcome> {
  const namespace = quota.metadata.namespace ?? '';
  let outcome = decide(quota, batch);
  if (outcome.used !== undefined) {
    await options.store.updateStatus({ namespace, name: nameOf(quota) }, (current) => {
      outcome = decide(current, batch);
      return outcome.used === undefined ? current : withUsed(current, outcome.used);
    });
  }
  for (const request of outcome.charged) {
    options.ledger.record({ namespace, quota: nameOf(quota) }, request.attributes.object?.metadata.uid ?? '', chargeFor(quota, request));
  }
  return outcome;
}

const withUsed = (quota: KubeObject, used: Amounts): KubeObject => ({ ...quota, status: { ...statusOf(quota), used: writeAmounts(used) } });

/** Which requests fit into a quota, one after the other, and what is used then; undefined where nothing changes. */
function decide(quota: KubeObject, batch: readonly Waiting[]): Outcome & { readonly used: Amounts | undefined } {
  const charged = new Set<Waiting>();
  const refused = new Map<Waiting, unknown>();
  let used = readAmounts(statusOf(quota).used);
  for (const request of batch) {
    try {
      const requested = requestOf(quota, request);
      if (requested.size === 0) continue;
      used = fit(quota, { request, requested, used });
      if (request.attributes.context.dryRun) used = subtractAmounts(used, requested);
      else charged.add(request);
    } catch (error) {
      refused.set(request, error);
    }
  }
  return { charged, refused, used: charged.size === 0 ? undefined : used };
}

/** Whether a quota's scopes let it count an object. */
const isInScope = (quota: KubeObject, evaluator: Evaluator, object: KubeObject): boolean =>
  readScopes(quota).every((selector) => evaluator.matchesScope(selector, object));

/** The names in a quota that the object of a request counts for; throws where the quota cannot decide. */
function matchingNames(quota: KubeObject, { attributes, evaluator }: Waiting): readonly string[] {
  const object = attributes.object as KubeObject;
  const { hard = {}, used = {} } = statusOf(quota);
  const names = Object.keys(hard).filter((name) => evaluator.matches(name)).sort();
  if (names.length === 0 || !isInScope(quota, evaluator, object)) return [];
  const problem = evaluator.check(names, object);
  if (problem !== undefined) throw refuse(attributes, `failed quota: ${nameOf(quota)}: ${problem}`);
  const unknown = names.filter((name) => !Object.hasOwn(used, name));
  if (unknown.length > 0) throw refuse(attributes, `status unknown for quota: ${nameOf(quota)}, resources: ${names.join(',')}`);
  return names;
}

/** What a write is charged for: what it adds, or all of it where the quota did not count the object before. */
function chargeFor(quota: KubeObject, { attributes: { operation, oldObject }, evaluator, usage, added }: Waiting): Amounts {
  return operation !== 'UPDATE' || oldObject === undefined || isInScope(quota, evaluator, oldObject) ? added : dropZeros(usage);
}

/** What a request takes from a quota; nothing where the quota does not count its object. Throws where the quota cannot decide. */
function requestOf(quota: KubeObject, request: Waiting): Amounts {
  return matchingNames(quota, request).length === 0 ? new Map() : maskAmounts(chargeFor(quota, request), new Set(Object.keys(statusOf(quota).hard ?? {})));
}

/** What an object counts for, and what its write adds to what it counted for before. */
function measure({ clock }: QuotaOptions, { object, oldObject, operation }: AdmissionAttributes, evaluator: Evaluator): Pick<Waiting, 'usage' | 'added'> {
  const usage = evaluator.usage(object as KubeObject, clock.now());
  const before = operation === 'UPDATE' && oldObject !== undefined ? evaluator.usage(oldObject, clock.now()) : new Map();
  return { usage, added: dropZeros(subtractAmounts(usage, before)) };
}

/** The usage with a request in it; throws where that exceeds the quota. */
function fit(quota: KubeObject, { request, requested, used }: { readonly request: Waiting; readonly requested: Amounts; readonly used: Amounts }): Amounts {
  const limits = readAmounts(statusOf(quota).hard);
  const next = addAmounts(used, requested);
  // What a status reports is in use already.
  if (request.attributes.subresource === 'status') return next;
  const exceeded = new Set(findExceeded(maskAmounts(next, new Set(requested.keys())), limits));
  if (exceeded.size === 0) return next;
  const [asked, held, limited] = [requested, used, limits].map((amounts) => formatAmounts(maskAmounts(amounts, exceeded)));
  throw refuse(request.attributes, `exceeded quota: ${nameOf(quota)}, requested: ${asked}, used: ${held}, limited: ${limited}`);
}

/** Takes back what a request was charged before another quota refused it. Where the store refuses too, the next count of the quota does it. */
async function giveBack({ store, ledger }: QuotaOptions, request: Waiting, quotas: readonly KubeObject[]): Promise<void> {
  const { namespace, object } = request.attributes;
  ledger.settle(namespace, object?.metadata.uid ?? '');
  for (const quota of quotas) {
    const charge = chargeFor(quota, request);
    const written = store.updateStatus({ namespace, name: nameOf(quota) }, (current) => {
      const used = readAmounts(statusOf(current).used);
      return withUsed(current, new Map([...used, ...subtractAmounts(maskAmounts(used, new Set(charge.keys())), charge)]));
    });
    await written.catch(() => undefined);
  }
}
