// What calls cost at run time, in units of the reference: one for most, and by the sizes of arguments where time depends on them.
// Kubernetes' functions are filed by name, the language's own by overload.
import { byteLength } from '../../names.ts';
import { type Meter, VISIT_WORK } from '../values/meter.ts';
import { CelList, CelMap, CelOpaque, type Value, sizeOf } from '../values/values.ts';

/** Cost of one call by its arguments, the target first: charged before the function runs. */
type ArgumentCost = (args: readonly Value[], meter: Meter) => number;

/** Cost of one call. Without `before` and `after` it is one. */
export interface CallCost {
  readonly before?: ArgumentCost;
  /** For functions whose cost is the size of their result; they count the work of building it themselves. */
  readonly after?: (result: Value) => number;
}

/** Cost of reading one character, element or byte. */
export const TRAVERSAL_FACTOR = 0.1;
/** Cost of one character of a pattern. */
export const PATTERN_FACTOR = 0.25;
const AUTHORIZATION_CHECK_COST = 350_000;

const scaled = (size: number, factor: number): number => Math.ceil(size * factor);
const traverse = (factor: number): ArgumentCost => (args) => scaled(sizeOf(args[0]!), factor);
const one: ArgumentCost = () => 1;

const equality: ArgumentCost = ([left, right]) => {
  if (left instanceof CelOpaque) return 1;
  return scaled(Math.min(sizeOf(left!), sizeOf(right!)), TRAVERSAL_FACTOR);
};
const comparison: ArgumentCost = ([left, right]) => scaled(Math.min(sizeOf(left!), sizeOf(right!)), TRAVERSAL_FACTOR);
const joining: ArgumentCost = ([left, right]) => scaled(sizeOf(left!) + sizeOf(right!), TRAVERSAL_FACTOR);
const matching: ArgumentCost = ([text, pattern]) => scaled(1 + sizeOf(text!), TRAVERSAL_FACTOR) * scaled(sizeOf(pattern!), PATTERN_FACTOR);
const containing: ArgumentCost = ([text, part]) => scaled(sizeOf(text!), TRAVERSAL_FACTOR) * scaled(sizeOf(part!), TRAVERSAL_FACTOR);

/** Cost of walking through a value. The walk takes time itself: a nested list can be read along very many paths. */
function traversal(value: Value, meter: Meter): number {
  meter.work(VISIT_WORK);
  if (typeof value === 'string') return Math.floor(byteLength(value) * TRAVERSAL_FACTOR);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL_FACTOR);
  let cost = 0;
  if (value instanceof CelList) {
    for (let i = 0; i < value.size; i++) cost += traversal(value.get(i), meter);
    return cost;
  }
  if (!(value instanceof CelMap)) return 1;
  for (const key of value.keys()) cost += traversal(key, meter) + traversal(value.find(key)!, meter);
  return cost;
}

const isInt = (value: Value | undefined): boolean => typeof value === 'number' || typeof value === 'bigint';
const allocation = (size: number, factor: number): number => Math.floor(size * factor) + 11;
const outputSized = (result: Value): number => allocation(sizeOf(result), 1);

function selfComparison(list: Value): number {
  const size = sizeOf(list);
  const first = list instanceof CelList && size > 0 ? list.get(0) : undefined;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + TRAVERSAL_FACTOR : 2;
  return allocation(size * size, factor);
}

const setsCost = (factor: number): ArgumentCost => ([left, right]) => 1 + Math.floor(sizeOf(left!) * sizeOf(right!) * factor);

const selectorCost: ArgumentCost = ([, selector]) => {
  const size = sizeOf(selector!);
  return 10 + scaled(size, TRAVERSAL_FACTOR) + scaled(scaled(size, 0.5), 50);
};

/** A named format bounds the length of its pattern. */
function formatCost([format, text]: readonly Value[]): number {
  const patternSize = (format as unknown as { patternSize?: number }).patternSize ?? 1;
  return scaled(1 + sizeOf(text!), TRAVERSAL_FACTOR) * scaled(patternSize, PATTERN_FACTOR);
}

const containsIpCost = (text: boolean): ArgumentCost => ([cidr, other]) =>
  scaled(2 * addressSize(cidr!), TRAVERSAL_FACTOR) + (text ? scaled(sizeOf(other!), TRAVERSAL_FACTOR) : 0);
const containsCidrCost = (text: boolean): ArgumentCost => ([cidr, other]) =>
  scaled(2 * addressSize(cidr!), TRAVERSAL_FACTOR) + scaled(addressSize(cidr!), TRAVERSAL_FACTOR) + 1 + (text ? scaled(sizeOf(other!), TRAVERSAL_FACTOR) : 0);
const addressSize = (value: Value): number => (value as unknown as { byteLength?: number }).byteLength ?? 1;

const each = (names: readonly string[], cost: ArgumentCost): [string, ArgumentCost][] => names.map((name) => [name, cost]);

const byOverload = new Map<string, ArgumentCost>([
  ['in_list', ([, list]) => sizeOf(list!)],
  ['equals', equality], ['not_equals', comparison], ['add_string', joining], ['add_bytes', joining],
  ['matches_string', matching], ['matches', one], ['contains_string', containing],
  ...['starts_with_string', 'ends_with_string', 'string_to_bytes', 'bytes_to_string', 'strings_quote', 'string_format'].map((id) => [id,
    traverse(TRAVERSAL_FACTOR)] as const),
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((op) => [[`${op}_string`, comparison], [`${op}_bytes`, comparison]] as const),
  ['list_flatten', ([list]) => allocation(sizeOf(list!), 1)],
  ['list_flatten_int', ([list, depth]) => allocation(sizeOf(list!), isInt(depth) ? Number(depth) : 1)],
  ['list_distinct', ([list]) => selfComparison(list!)],
  ['list_sets_contains_list', setsCost(1)], ['list_sets_intersects_list', setsCost(1)], ['list_sets_equivalent_list', setsCost(2)],
  ['cidr_ip', one], ['cidr_contains_ip_string', containsIpCost(true)], ['cidr_contains_ip_ip', containsIpCost(false)],
  ['cidr_contains_cidr_string', containsCidrCost(true)], ['cidr_contains_cidr', containsCidrCost(false)],
]);

const byFunction = new Map<string, ArgumentCost>([
  ['check', () => AUTHORIZATION_CHECK_COST], ['fieldSelector', selectorCost], ['labelSelector', selectorCost],
  ...each(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'], ([list], meter) => traversal(list!, meter)),
  ...each(['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey', 'cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver',
    'isSemver'], traverse(TRAVERSAL_FACTOR)),
  ...each(['replace', 'split', 'ip.isCanonical'], traverse(2 * TRAVERSAL_FACTOR)),
  ['find', matching], ['findAll', matching], ['validate', formatCost],
]);

const byResult = new Map<string, NonNullable<CallCost['after']>>([
  ['list_slice', outputSized], ['lists_range', outputSized], ['list_reverse', outputSized],
  ...['list_join', 'list_join_string'].map((id) => [id, (result: Value) => scaled(sizeOf(result), 2 * TRAVERSAL_FACTOR)] as const),
]);

/** The cost of calls of an overload, or of any of several (undefined). */
export function callCostOf(name: string, overloadId: string | undefined): CallCost {
  if (overloadId !== undefined && sorting.test(overloadId)) return { before: (args) => selfComparison(args.at(-1)!) };
  const after = overloadId === undefined ? undefined : byResult.get(overloadId);
  if (after !== undefined) return { after };
  const filed = overloadId === undefined ? undefined : byOverload.get(overloadId);
  const before = filed ?? byFunction.get(name);
  return before === undefined || before === one ? {} : { before };
}

/** Overloads of the functions that sort: one for each type of elements. */
const sorting = /^list_[\w.]*_(?:sort|sortByAssociatedKeys)$/;
