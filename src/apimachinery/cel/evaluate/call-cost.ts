// What calls cost at run time, in units of the reference: one for most, and by the sizes of arguments where time depends on them.
// Kubernetes' functions are filed by name, the language's own by overload.
import { CelList, CelMap, CelOpaque, type Value, sizeOf } from '../values/values.ts';

/** Cost of one call, from its arguments (the target first) and its result. */
export type CallCost = (args: readonly Value[], result: Value) => number;

/** Cost of reading one character, element or byte. */
export const traversalFactor = 0.1;
/** Cost of one character of a pattern. */
export const patternFactor = 0.25;
const authorizationCheckCost = 350_000;

const scaled = (size: number, factor: number): number => Math.ceil(size * factor);
const traverse = (factor: number): CallCost => (args) => scaled(sizeOf(args[0]!), factor);
const one: CallCost = () => 1;

const equality: CallCost = ([left, right]) => {
  if (left instanceof CelOpaque) return 1;
  return scaled(Math.min(sizeOf(left!), sizeOf(right!)), traversalFactor);
};
const comparison: CallCost = ([left, right]) => scaled(Math.min(sizeOf(left!), sizeOf(right!)), traversalFactor);
const joining: CallCost = ([left, right]) => scaled(sizeOf(left!) + sizeOf(right!), traversalFactor);
const matching: CallCost = ([text, pattern]) => scaled(1 + sizeOf(text!), traversalFactor) * scaled(sizeOf(pattern!), patternFactor);
const containing: CallCost = ([text, part]) => scaled(sizeOf(text!), traversalFactor) * scaled(sizeOf(part!), traversalFactor);

/** Cost of walking through a value. */
function traversal(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.floor(byteSize(value) * traversalFactor);
  let cost = 0;
  if (value instanceof CelList) {
    for (let i = 0; i < value.size; i++) cost += traversal(value.get(i));
    return cost;
  }
  if (!(value instanceof CelMap)) return 1;
  for (const key of value.keys()) cost += traversal(key) + traversal(value.find(key)!);
  return cost;
}

const byteSize = (value: string | Uint8Array): number => (typeof value === 'string' ? new TextEncoder().encode(value).length : value.length);

const allocation = (size: number, factor: number): number => Math.floor(size * factor) + 11;
const outputSized: CallCost = (_, result) => allocation(sizeOf(result), 1);

function selfComparison(list: Value): number {
  const size = sizeOf(list);
  const first = list instanceof CelList && size > 0 ? list.get(0) : undefined;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + traversalFactor : 2;
  return allocation(size * size, factor);
}

const setsCost = (factor: number): CallCost => ([left, right]) => 1 + Math.floor(sizeOf(left!) * sizeOf(right!) * factor);

const selectorCost: CallCost = ([, selector]) => {
  const size = sizeOf(selector!);
  return 10 + scaled(size, traversalFactor) + scaled(scaled(size, 0.5), 50);
};

/** A named format bounds the length of its pattern. */
function formatCost([format, text]: readonly Value[]): number {
  const patternSize = (format as unknown as { patternSize?: number }).patternSize ?? 1;
  return scaled(1 + sizeOf(text!), traversalFactor) * scaled(patternSize, patternFactor);
}

const containsIpCost = (text: boolean): CallCost => ([cidr, other]) =>
  scaled(2 * addressSize(cidr!), traversalFactor) + (text ? scaled(sizeOf(other!), traversalFactor) : 0);
const containsCidrCost = (text: boolean): CallCost => ([cidr, other]) =>
  scaled(2 * addressSize(cidr!), traversalFactor) + scaled(addressSize(cidr!), traversalFactor) + 1 + (text ? scaled(sizeOf(other!), traversalFactor) : 0);
const addressSize = (value: Value): number => (value as unknown as { byteLength?: number }).byteLength ?? 1;

const byOverload = new Map<string, CallCost>([
  ['in_list', ([, list]) => sizeOf(list!)],
  ['equals', equality], ['not_equals', comparison], ['add_string', joining], ['add_bytes', joining],
  ['matches_string', matching], ['matches', one], ['contains_string', containing],
  ...['starts_with_string', 'ends_with_string', 'string_to_bytes', 'bytes_to_string', 'strings_quote', 'string_format'].map((id) => [id,
    traverse(traversalFactor)] as const),
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((op) => [[`${op}_string`, comparison], [`${op}_bytes`, comparison]] as const),
  ['list_slice', outputSized], ['lists_range', outputSized], ['list_reverse', outputSized],
  ['list_flatten', ([list]) => allocation(sizeOf(list!), 1)], ['list_flatten_int', ([list, depth]) => allocation(sizeOf(list!), Number(depth))],
  ['list_distinct', ([list]) => selfComparison(list!)],
  ['list_sets_contains_list', setsCost(1)], ['list_sets_intersects_list', setsCost(1)], ['list_sets_equivalent_list', setsCost(2)],
  ['cidr_ip', one], ['cidr_contains_ip_string', containsIpCost(true)], ['cidr_contains_ip_ip', containsIpCost(false)],
  ['cidr_contains_cidr_string', containsCidrCost(true)], ['cidr_contains_cidr', containsCidrCost(false)],
]);

const byFunction = new Map<string, CallCost>([
  ['check', () => authorizationCheckCost], ['fieldSelector', selectorCost], ['labelSelector', selectorCost],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf', 'includes'].map((name) => [name, ([list]: readonly Value[]) => traversal(list!)] as const),
  ...['url', 'lowerAscii', 'upperAscii', 'substring', 'trim', 'jsonpatch.escapeKey', 'cidr', 'isIP', 'isCIDR', 'ip', 'quantity', 'isQuantity', 'semver',
    'isSemver']
    .map((name) => [name, traverse(traversalFactor)] as const),
  ...['replace', 'split', 'ip.isCanonical'].map((name) => [name, traverse(2 * traversalFactor)] as const),
  ['join', (_, result) => scaled(sizeOf(result), 2 * traversalFactor)], ['find', matching], ['findAll', matching], ['validate', formatCost],
]);

/** The cost of calls of an overload, or of any of several; undefined where every call costs one. */
export function callCostOf(name: string, overloadId: string | undefined): CallCost | undefined {
  if (overloadId !== undefined && /^list_.*_(?:sort|sortByAssociatedKeys)$/.test(overloadId)) return (args) => selfComparison(args.at(-1)!);
  const filed = overloadId === undefined ? undefined : byOverload.get(overloadId);
  const cost = filed ?? byFunction.get(name);
  return cost === one ? undefined : cost;
}

/** What a call with these arguments is about to build: elements of lists, or ten characters of text. */
export type BuiltSize = (args: readonly Value[]) => number;

const lengthOf = (value: Value | undefined): number => (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0);

const addition: BuiltSize = ([left, right]) => {
  if (left instanceof CelList && right instanceof CelList) return left.size + right.size;
  return (lengthOf(left) + lengthOf(right)) * traversalFactor;
};

function sumOfTexts(list: Value | undefined, between: number): number {
  if (!(list instanceof CelList)) return 0;
  let length = 0;
  for (let i = 0; i < list.size; i++) length += lengthOf(list.get(i)) + between;
  return length * traversalFactor;
}

const replacement: BuiltSize = ([text, part, by]) => {
  if (typeof text !== 'string' || typeof part !== 'string') return 0;
  let count = part === '' ? text.length + 1 : 0;
  if (part !== '') for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return (text.length + count * lengthOf(by)) * traversalFactor;
};

const builders = new Map<string, BuiltSize>([
  ['_+_', addition], ['replace', replacement], ['join', ([list, separator]) => sumOfTexts(list, lengthOf(separator))],
  ['format', ([text, args]) => lengthOf(text) * traversalFactor + sumOfTexts(args, 0)],
]);

/** How much the calls of a function build; undefined where that is no more than what they are charged for. */
export const builtSizeOf = (name: string): BuiltSize | undefined => builders.get(name);
