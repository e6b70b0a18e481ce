// Plugins that hold the pods of a namespace to its annotations, or to the file of the server's configuration: PodNodeSelector and
// PodTolerationRestriction. Annotations and texts are upstream's.
import { isJsonObject } from '../../../base/index.ts';
import { type KubeObject, equalJson, forbidden, notFound } from '../../../apimachinery/index.ts';
import { JsonError, parseJson } from '../../../codec/index.ts';
import { type AdmissionAttributes, groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { internalProblem, writes } from '../../refusal.ts';
import { type PodSpec, type Toleration, podSpecOf } from './pod.ts';

type Labels = ReadonlyMap<string, string>;

const SELECTOR_ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const DEFAULT_TOLERATIONS = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const ALLOWED_TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';

/** Selectors of nodes by namespace, and `clusterDefaultNodeSelector` for namespaces without one. */
export type NodeSelectors = Readonly<Record<string, string>>;

/** Tolerations of pods in namespaces that say nothing about them. */
export interface TolerationRules {
  readonly default?: readonly Toleration[];
  readonly whitelist?: readonly Toleration[];
}

async function findNamespace(namespaces: RowReads, name: string): Promise<KubeObject> {
  const namespace = await namespaces.find(name);
  if (namespace === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
  return namespace;
}

/** Reads `a=b,c=d`. */
function parseLabels(text: string): Labels {
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split('='));
  const wrong = pairs.find((pair) => pair.length !== 2);
  if (wrong !== undefined) throw internalProblem(`invalid selector: [${wrong.join(' ')}]`);
  return new Map(pairs.map(([key = '', value = '']) => [key.trim(), value.trim()]));
}

const conflicts = (one: Labels, two: Labels): boolean => [...one].some(([key, value]) => two.has(key) && two.get(key) !== value);
const nodeSelectorOf = ({ nodeSelector }: PodSpec): Labels => new Map(Object.entries(nodeSelector ?? {}));

/** PodNodeSelector: pods run on the nodes that their namespace selects, and on no others. */
export function createPodNodeSelector(namespaces: RowReads, selectors: NodeSelectors = {}): AdmissionPlugin {
  const selectorOf = async (name: string): Promise<Labels> => {
    const { annotations = {} } = (await findNamespace(namespaces, name)).metadata;
    return parseLabels(annotations[SELECTOR_ANNOTATION] ?? selectors['clusterDefaultNodeSelector'] ?? '');
  };
  const check = async ({ object, namespace, resource }: AdmissionAttributes): Promise<Labels> => {
    const wanted = await selectorOf(namespace);
    const refuse = (why: string) => forbidden(groupResource(resource), object?.metadata.name ?? '', why);
    const given = nodeSelectorOf(podSpecOf(object));
    if (conflicts(wanted, given)) throw refuse('pod node label selector conflicts with its namespace node label selector');
    const merged = new Map([...wanted, ...given]);
    const allowed = parseLabels(Object.hasOwn(selectors, namespace) ? selectors[namespace] ?? '' : '');
    if (allowed.size > 0 && [...merged].some(([key, value]) => allowed.get(key) !== value)) {
      throw refuse('pod node label selector labels conflict with its namespace whitelist');
    }
    return merged;
  };
  return {
    name: 'PodNodeSelector',
    handles: (attributes) => writes(attributes, '/pods'),
    async mutate(attributes) {
      const merged = await check(attributes);
      if (merged.size > 0) podSpecOf(attributes.object).nodeSelector = Object.fromEntries(merged);
    },
    async validate(attributes) {
      await check(attributes);
    },
  };
}

function readTolerations({ metadata: { annotations = {} } }: KubeObject, annotation: string): readonly Toleration[] | undefined {
  const text = annotations[annotation];
  if (text === undefined || text === '') return text === undefined ? undefined : [];
  const read = parseAnnotation(text) ?? [];
  if (!Array.isArray(read)) throw internalProblem(`json: cannot unmarshal ${describeType(read)} into Go value of type []v1.Toleration`);
  const wrong = read.find((one) => one !== null && !isJsonObject(one)) as unknown;
  if (wrong !== undefined) throw internalProblem(`json: cannot unmarshal ${describeType(wrong)} into Go value of type v1.Toleration`);
  return read.map((one) => (one ?? {}) as Toleration);
}

const describeType = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);

function parseAnnotation(text: string): unknown {
  try {
    return parseJson(Buffer.from(text)).value;
  } catch (error) {
    throw error instanceof JsonError ? internalProblem(error.message) : error;
  }
}

/** Whether each taint that the second toleration tolerates is tolerated by the first. */
function covers(one: Toleration, two: Toleration): boolean {
  if (equalJson(one, two)) return true;
  if ((one.key ?? '') !== (two.key ?? '') && (one.key || one.operator !== 'Exists')) return false;
  if (one.effect && one.effect !== two.effect) return false;
  if (one.effect === 'NoExecute') {
    if (one.tolerationSeconds !== undefined && (two.tolerationSeconds === undefined || one.tolerationSeconds < two.tolerationSeconds)) return false;
  }
  if (one.operator === 'Exists') return true;
  // An absent operator of the second one means Equal as well, and is covered by its like alone all the same.
  return (one.operator || 'Equal') === 'Equal' && two.operator === 'Equal' && (one.value ?? '') === (two.value ?? '');
}

/** Both lists without tolerations that another one covers. */
function mergeTolerations(given: readonly Toleration[], more: readonly Toleration[]): Toleration[] {
  const all = [...given, ...more];
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered = merged.some((other) => covers(other, toleration))
      || all.slice(index + 1).some((other) => !equalJson(other, toleration) && covers(other, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
}

/** Whether a pod asks for no processor and no memory; other resources do not count. */
function isBestEffort(pod: KubeObject | undefined): boolean {
  const { qosClass } = (pod?.['status'] ?? {}) as { readonly qosClass?: string };
  if (qosClass) return qosClass === 'BestEffort';
  const { resources = {}, containers = [], initContainers = [] } = podSpecOf(pod);
  const holders = Object.keys(resources).length > 0 ? [{ resources }] : [...containers, ...initContainers];
  const amounts = holders.flatMap(({ resources: { requests, limits } = {} }) => [requests, limits]).flatMap((asked) => [asked?.['cpu'], asked?.['memory']]);
  return !amounts.some((amount) => /[1-9]/.test(amount ?? ''));
}

/** PodTolerationRestriction: pods get the tolerations that their namespace gives by default, and may have no more than it allows. */
export function createTolerationRestriction(namespaces: RowReads, rules: TolerationRules = {}): AdmissionPlugin {
  const check = async ({ object, namespace: name }: AdmissionAttributes): Promise<void> => {
    const tolerations = podSpecOf(object).tolerations ?? [];
    if (tolerations.length === 0) return;
    const own = readTolerations(await findNamespace(namespaces, name), ALLOWED_TOLERATIONS);
    const allowed = own ?? rules.whitelist ?? [];
    if (allowed.length === 0 || tolerations.every((toleration) => allowed.some((one) => covers(one, toleration)))) return;
    const whose = own === undefined ? 'cluster' : 'namespace';
    throw internalProblem(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`);
  };
  return {
    name: 'PodTolerationRestriction',
    handles: (attributes) => writes(attributes, '/pods', ['CREATE', 'UPDATE']),
    async mutate(attributes) {
      const { object, operation, namespace: name } = attributes;
      const defaults = operation === 'CREATE' ? readTolerations(await findNamespace(namespaces, name), DEFAULT_TOLERATIONS) ?? rules.default ?? [] : [];
      const spec = podSpecOf(object);
      const pressure: Toleration[] = isBestEffort(object) ? [] : [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }];
      const extra = [...defaults, ...pressure];
      if (extra.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], extra);
      await check(attributes);
    },
    validate: check,
  };
}
