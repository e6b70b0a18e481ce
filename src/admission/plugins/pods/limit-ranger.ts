// LimitRanger: the LimitRanges of a namespace give containers requests and limits that they leave out, and refuse pods and claims out of bounds.
import { type KubeObject, type Quantity, addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../apimachinery/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

type Amounts = Record<string, string>;
interface Resources {
  requests?: Amounts | null;
  limits?: Amounts | null;
}
interface Container {
  readonly name?: string;
  resources?: Resources;
}
interface PodSpec {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[] | null;
}
interface Limit {
  readonly type?: string;
  readonly min?: Amounts | null;
  readonly max?: Amounts | null;
  readonly default?: Amounts | null;
  readonly defaultRequest?: Amounts | null;
  readonly maxLimitRequestRatio?: Amounts | null;
}

const ANNOTATION = 'kubernetes.io/limit-ranger';

const limitsOf = (range: KubeObject): readonly Limit[] => ((range['spec'] ?? {}) as { limits?: readonly Limit[] | null }).limits ?? [];
const podSpec = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

/** Fills in what is missing; answers what that was. */
function fill(resources: Resources, which: 'requests' | 'limits', defaults: Amounts): string[] {
  const present = new Map(Object.entries(resources[which] ?? {}));
  const added = Object.keys(defaults).filter((name) => !present.has(name)).sort();
  for (const name of added) present.set(name, defaults[name] as string);
  if (added.length > 0) resources[which] = Object.fromEntries(present);
  return added;
}

function fillContainer(container: Container, kind: string, { requests, limits }: { readonly requests: Amounts; readonly limits: Amounts }): string[] {
  const resources = (container.resources ??= {});
  const addedLimits = fill(resources, 'limits', limits);
  const addedRequests = fill(resources, 'requests', requests);
  const describe = (added: readonly string[], what: string): string[] =>
    (added.length === 0 ? [] : [`${added.join(', ')} ${what} for ${kind} ${container.name ?? ''}`]);
  return [...describe(addedRequests, 'request'), ...describe(addedLimits, 'limit')];
}

function fillPod(pod: KubeObject, range: KubeObject): void {
  const defaults = { requests: {} as Amounts, limits: {} as Amounts };
  for (const limit of limitsOf(range)) {
    if (limit.type !== 'Container') continue;
    defaults.requests = { ...defaults.requests, ...limit.defaultRequest };
    defaults.limits = { ...defaults.limits, ...limit.default };
  }
  const { containers, initContainers } = podSpec(pod);
  const done = [
    ...(containers ?? []).flatMap((one) => fillContainer(one, 'container', defaults)),
    ...(initContainers ?? []).flatMap((one) => fillContainer(one, 'init container', defaults)),
  ];
  if (done.length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${done.join('; ')}` };
}

/** The thing that a range bounds: a container, a pod, a claim. */
interface Subject {
  readonly type: string;
  readonly requests: Amounts;
  readonly limits: Amounts;
  /** Claims have requests only. */
  readonly requestsOnly?: boolean;
}

const exceeds = (one: string, two: string): boolean => compareQuantities(parseQuantity(one), parseQuantity(two)) > 0;
const toFloat = (text: string): number => {
  const quantity: Quantity = parseQuantity(text);
  const scaled = formatQuantity(quantity);
  const [, number = '0', suffix = ''] = /^([-+.\de]+?)([numkMGTPE]?i?)$/.exec(scaled) ?? [];
  const binary = 'KMGTPE'.indexOf(suffix.charAt(0)) + 1;
  return Number(number) * (suffix.endsWith('i') ? 1024 ** binary : 10 ** (3 * ('num kMGTPE'.indexOf(suffix || ' ') - 3)));
};

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

function checkSubject(subject: Subject, limit: Limit): string[] {
  const run = (bounds: Amounts | null | undefined, check: typeof checkMin): (string | undefined)[] =>
    Object.keys(bounds ?? {}).sort().map((name) => check(subject, name, bounds?.[name] as string));
  return [...run(limit.min, checkMin), ...run(limit.max, checkMax), ...run(limit.maxLimitRequestRatio, checkRatio)].filter((text) => text !== undefined);
}

function combine(lists: readonly Amounts[], join: (one: Quantity, two: Quantity) => Quantity): Amounts {
  const sums = new Map<string, Quantity>();
  for (const list of lists) {
    for (const [name, text] of Object.entries(list)) {
      const known = sums.get(name);
      sums.set(name, known === undefined ? parseQuantity(text) : join(known, parseQuantity(text)));
    }
  }
  return Object.fromEntries(Array.from(sums, ([name, quantity]) => [name, formatQuantity(quantity)]));
}

const larger = (one: Quantity, two: Quantity): Quantity => (compareQuantities(one, two) >= 0 ? one : two);

/** Containers run together, those that prepare run before, one after the other. */
function sumPod({ containers, initContainers }: PodSpec): Subject {
  const total = (which: 'requests' | 'limits'): Amounts => {
    const amounts = (list: readonly Container[] | null | undefined): Amounts[] => (list ?? []).map(({ resources }) => resources?.[which] ?? {});
    return combine([combine(amounts(containers), addQuantities), ...amounts(initContainers)], larger);
  };
  return { type: 'Pod', requests: total('requests'), limits: total('limits') };
}

function listSubjects({ kind, object }: { readonly kind: string; readonly object: KubeObject }): Subject[] {
  const read = (type: string, resources: Resources | undefined): Subject => ({ type, requests: resources?.requests ?? {}, limits: resources?.limits ?? {} });
  const spec = podSpec(object);
  if (kind === 'PersistentVolumeClaim') return [{ ...read(kind, (spec as { resources?: Resources }).resources), requestsOnly: true }];
  return [...[...spec.containers ?? [], ...spec.initContainers ?? []].map(({ resources }) => read('Container', resources)), sumPod(spec)];
}

/** Makes the plugin over reads of limitranges. */
export function createLimitRanger(ranges: RowReads): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    handles: (attributes) => writes(attributes, '/pods') || writes(attributes, '/persistentvolumeclaims', ['CREATE', 'UPDATE']),
    async mutate({ object, resource, namespace }) {
      if (object === undefined || resource.kind !== 'Pod') return;
      for (const range of await ranges.list(namespace)) fillPod(object, range);
    },
    async validate(attributes) {
      const { object, resource: { kind }, namespace } = attributes;
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
      const limits = (await ranges.list(namespace)).flatMap(limitsOf);
      if (limits.length === 0) return;
      const subjects = listSubjects({ kind, object });
      const problems = limits.flatMap((limit) => subjects.filter(({ type }) => type === limit.type).flatMap((subject) => checkSubject(subject, limit)));
      const [only] = problems;
      if (only !== undefined) throw refuse(attributes, problems.length === 1 ? only : `[${[...new Set(problems)].join(', ')}]`);
    },
  };
}
