// LimitRanger: the LimitRanges of a namespace give containers requests and limits that they leave out, and refuse pods and claims out of bounds.
import {
  type KubeObject, type ResourceList, TOTAL_ANNOTATION_BYTES, approximateQuantity, compareQuantities, invalid, parseQuantity, tooLong,
} from '../../../apimachinery/index.ts';
import { type Clock, createTimeSlice } from '../../../base/index.ts';
import { type AdmissionAttributes, checkSignal } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { amountsOfContainers, writeAmounts } from '../../quota/amounts.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

/** Amounts by the name of their resource, as objects have them. */
type Texts = Record<string, string>;
interface Resources {
  requests?: Texts | null;
  limits?: Texts | null;
}
interface Container {
  readonly name?: string;
  resources?: Resources;
  readonly restartPolicy?: string;
}
interface PodSpec {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[] | null;
  readonly resources?: Resources | null;
}
interface Limit {
  readonly type?: string;
  readonly min?: Texts | null;
  readonly max?: Texts | null;
  readonly default?: Texts | null;
  readonly defaultRequest?: Texts | null;
  readonly maxLimitRequestRatio?: Texts | null;
}

const ANNOTATION = 'kubernetes.io/limit-ranger';
/** Longest that bounds are checked before others have their turn. */
const SLICE_MS = 10;

const limitsOf = (range: KubeObject): readonly Limit[] => ((range['spec'] ?? {}) as { limits?: readonly Limit[] | null }).limits ?? [];
const podSpec = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

/** Fills in what is missing; answers what that was. */
function fill(resources: Resources, which: 'requests' | 'limits', defaults: Texts): string[] {
  const present = new Map(Object.entries(resources[which] ?? {}));
  const added = Object.keys(defaults).filter((name) => !present.has(name)).sort();
  for (const name of added) present.set(name, defaults[name] as string);
  if (added.length > 0) resources[which] = Object.fromEntries(present);
  return added;
}

function fillContainer(container: Container, kind: string, { requests, limits }: { readonly requests: Texts; readonly limits: Texts }): string[] {
  const resources = (container.resources ??= {});
  const addedLimits = fill(resources, 'limits', limits);
  const addedRequests = fill(resources, 'requests', requests);
  const describe = (added: readonly string[], what: string): string[] =>
    (added.length === 0 ? [] : [`${added.join(', ')} ${what} for ${kind} ${container.name ?? ''}`]);
  return [...describe(addedRequests, 'request'), ...describe(addedLimits, 'limit')];
}

/**
 * Fills in what a range gives to the containers of a pod; answers the length of what the annotation says of it. All ranges together may give no more
 * than the annotations of an object have room for: what they give grows with the containers times the resources.
 */
function fillPod(pod: KubeObject, range: KubeObject, room: number): number {
  const defaults = { requests: {} as Texts, limits: {} as Texts };
  for (const limit of limitsOf(range)) {
    if (limit.type !== 'Container') continue;
    defaults.requests = { ...defaults.requests, ...limit.defaultRequest };
    defaults.limits = { ...defaults.limits, ...limit.default };
  }
  const done: string[] = [];
  let length = 0;
  const { containers, initContainers } = podSpec(pod);
  for (const [kind, list] of [['container', containers], ['init container', initContainers]] as const) {
    for (const container of list ?? []) {
      const texts = fillContainer(container, kind, defaults);
      done.push(...texts);
      length += texts.join('').length;
      if (length > room) throw invalid({ group: '', kind: 'Pod' }, pod.metadata.name ?? '', [tooLong('metadata.annotations', TOTAL_ANNOTATION_BYTES)]);
    }
  }
  if (done.length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${done.join('; ')}` };
  return length;
}

/** The thing that a range bounds: a container, a pod, a claim. */
interface Subject {
  readonly type: string;
  readonly requests: Texts;
  readonly limits: Texts;
  /** Claims have requests only. */
  readonly requestsOnly?: boolean;
}

const exceeds = (one: string, two: string): boolean => compareQuantities(parseQuantity(one), parseQuantity(two)) > 0;
const toFloat = (text: string): number => approximateQuantity(parseQuantity(text));

function checkMin({ type, requests, limits }: Subject, name: string, bound: string): string | undefined {
  const says = `minimum ${name} usage per ${type} is ${bound}`;
  const [request, limit] = [requests[name], limits[name]];
  if (request === undefined) return `${says}.  No request is specified`;
  if (exceeds(bound, request)) return `${says}, but request is ${request}`;
  return limit !== undefined && exceeds(bound, limit) ? `${says}, but limit is ${limit}` : undefined;
}

function checkMax({ type, requests, limits, requestsOnly }: Subject, name: string, bound: string): string | undefined {
  const says = `maximum ${name} usage per ${type} is ${bound}`;
  const [request, limit] = [requests[name], limits[name]];
  if (requestsOnly === true) {
    if (request === undefined) return `${says}.  No request is specified`;
  } else {
    if (limit === undefined) return `${says}.  No limit is specified`;
    if (exceeds(limit, bound)) return `${says}, but limit is ${limit}`;
  }
  return request !== undefined && exceeds(request, bound) ? `${says}, but request is ${request}` : undefined;
}

function checkRatio({ type, requests, limits }: Subject, name: string, bound: string): string | undefined {
  const says = `${name} max limit to request ratio per ${type} is ${bound}`;
  const [request, limit] = [toFloat(requests[name] ?? '0'), toFloat(limits[name] ?? '0')];
  if (request === 0) return `${says}, but no request is specified or request is 0`;
  if (limit === 0) return `${says}, but no limit is specified or limit is 0`;
  return limit / request > toFloat(bound) ? `${says}, but provided ratio is ${(limit / request).toFixed(6)}` : undefined;
}

/** Says how a subject breaks a bound. */
type Bound = (subject: Subject) => string | undefined;

const checks = [['min', checkMin], ['max', checkMax], ['maxLimitRequestRatio', checkRatio]] as const;

const boundsOf = (limit: Limit): Bound[] => checks.flatMap(([field, check]) => Object.keys(limit[field] ?? {}).sort()
  .map((name) => (subject: Subject) => check(subject, name, limit[field]?.[name] as string)));

/** How subjects break limits, each text once; `pause` comes before each of the bounds, of which there may be millions. */
async function findProblems(limits: readonly Limit[], subjects: readonly Subject[], pause: () => Promise<void> | undefined): Promise<string[]> {
  const problems = new Set<string>();
  for (const limit of limits) {
    const bounds = boundsOf(limit);
    for (const subject of subjects.filter(({ type }) => type === limit.type)) {
      for (const bound of bounds) {
        const turn = pause();
        if (turn !== undefined) await turn;
        const problem = bound(subject);
        if (problem !== undefined) problems.add(problem);
      }
    }
  }
  return [...problems];
}

/** A pod, whose own cpu and memory take the place of those of its containers together. */
function readPod(spec: PodSpec): Subject {
  const total = (which: ResourceList): Texts => {
    const own = Object.entries(spec.resources?.[which] ?? {}).filter(([name]) => name === 'cpu' || name === 'memory');
    return { ...writeAmounts(amountsOfContainers(spec, which)), ...Object.fromEntries(own) };
  };
  return { type: 'Pod', requests: total('requests'), limits: total('limits') };
}

function listSubjects({ kind, object }: { readonly kind: string; readonly object: KubeObject }): Subject[] {
  const read = (type: string, resources: Resources | undefined): Subject => ({ type, requests: resources?.requests ?? {}, limits: resources?.limits ?? {} });
  const spec = podSpec(object);
  if (kind === 'PersistentVolumeClaim') return [{ ...read(kind, (spec as { resources?: Resources }).resources), requestsOnly: true }];
  return [...[...spec.containers ?? [], ...spec.initContainers ?? []].map(({ resources }) => read('Container', resources)), readPod(spec)];
}

/** Makes the plugin over reads of limitranges. */
export function createLimitRanger(ranges: RowReads, clock: Clock): AdmissionPlugin {
  // Both parts of a request are about the ranges that its first one has met.
  const known = new WeakMap<AdmissionAttributes, Promise<readonly KubeObject[]>>();
  const listFor = (attributes: AdmissionAttributes): Promise<readonly KubeObject[]> => {
    const listed = known.get(attributes) ?? ranges.list(attributes.namespace);
    known.set(attributes, listed);
    return listed;
  };
  return {
    name: 'LimitRanger',
    handles: (attributes) => writes(attributes, '/pods') || writes(attributes, '/persistentvolumeclaims', ['CREATE', 'UPDATE']),
    async mutate(attributes) {
      const { object, resource } = attributes;
      if (object === undefined || resource.kind !== 'Pod') return;
      let room = TOTAL_ANNOTATION_BYTES;
      for (const range of await listFor(attributes)) room -= fillPod(object, range, room);
    },
    async validate(attributes) {
      const { object, resource: { kind }, context: { signal } } = attributes;
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const limits = (await listFor(attributes)).flatMap(limitsOf);
      if (limits.length === 0) return;
      const pause = createTimeSlice(clock, SLICE_MS);
      const problems = await findProblems(limits, listSubjects({ kind, object }), () => pause()?.then(() => checkSignal(signal)));
      if (problems.length > 0) throw refuse(attributes, problems.length === 1 ? problems[0] as string : `[${problems.join(', ')}]`);
    },
  };
}
