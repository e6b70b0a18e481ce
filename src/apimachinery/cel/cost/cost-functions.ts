// What calls may cost at worst: Kubernetes' functions by name, the language's own by overload. A change here changes which definitions are
// accepted.
import { PATTERN_FACTOR, TRAVERSAL_FACTOR } from '../evaluate/call-cost.ts';
import type { CostNode, SizeHints } from './node.ts';
import { type Range, addRanges, exactly, multiplyRanges, scaleRange, UNBOUNDED, unionRanges, unknownSize, zero } from './ranges.ts';
import type { CelType } from '../values/types.ts';

/** What a call costs, and how large its result is. */
export interface CallEstimate {
  readonly cost: Range;
  /** Size of the result, where it follows from the arguments. */
  readonly size?: Range;
}

/** A call to estimate. */
interface EstimatedCall {
  readonly name: string;
  readonly id: string;
  readonly target: CostNode | undefined;
  readonly args: readonly CostNode[];
  readonly argCosts: readonly Range[];
}

type Estimate = (call: EstimatedCall, hints: SizeHints) => CallEstimate | undefined;

const one: Range = exactly(1);
const authorizationCheck = exactly(350_000);
const LONGEST_FORMAT_PATTERN = 128;
const addressBytes: Range = { min: 4, max: 16 };

const sizeOf = (node: CostNode | undefined): Range => node?.size ?? unknownSize;
const subject = (call: EstimatedCall): CostNode | undefined => call.target ?? call.args[0];
const fixed = (cost: Range): Estimate => () => ({ cost });
const traverse = (range: Range): Range => scaleRange(range, TRAVERSAL_FACTOR);

const transform: Estimate = (call) => ({ cost: traverse(sizeOf(subject(call))), size: sizeOf(subject(call)) });

function elementOf(list: CostNode, hints: SizeHints): CostNode | undefined {
  const type = list.type.params[0];
  if (type === undefined) return undefined;
  const path = list.path.length === 0 ? [] : [...list.path, '@items'];
  return { expr: undefined, type, path, size: path.length === 0 ? undefined : hints(path) };
}

/** One for every element, and for walking through those that are texts. */
const walkList: Estimate = (call, hints) => {
  if (call.target === undefined) return undefined;
  const size = sizeOf(call.target);
  const element = elementOf(call.target, hints);
  if (element === undefined) return { cost: traverse(size) };
  const text = element.type.kind === 'string' || element.type.kind === 'bytes';
  return { cost: multiplyRanges(size, text ? addRanges(one, traverse(sizeOf(element))) : one) };
};

const replace: Estimate = (call) => {
  if (call.target === undefined || call.args.length < 2) return undefined;
  const size = sizeOf(call.target);
  const [part, replacement] = call.args.map(sizeOf) as [Range, Range];
  const most = replacedAtMost(size, part, replacement);
  const least = replacedAtLeast(size, part, replacement);
  const count = { min: least.count, max: most.count };
  return { cost: scaleRange(size, 2 * TRAVERSAL_FACTOR), size: addRanges(multiplyRanges(count, replacement), { min: least.kept, max: most.kept }) };
};

interface Replaced { readonly count: number; readonly kept: number }

function replacedAtMost(size: Range, part: Range, replacement: Range): Replaced {
  if (part.min === 0) return { count: size.max < UNBOUNDED ? size.max + 1 : size.max, kept: size.max };
  if (replacement.max <= part.min) return { count: 0, kept: size.max };
  return { count: Math.ceil(size.max / part.min), kept: 0 };
}

function replacedAtLeast(size: Range, part: Range, replacement: Range): Replaced {
  if (part.max === 0) return { count: size.min + 1, kept: size.min };
  if (part.max <= replacement.min) return { count: 0, kept: size.min };
  return { count: Math.ceil(size.min / part.max), kept: 0 };
}

const split: Estimate = (call) => {
  if (call.target === undefined) return undefined;
  const size = sizeOf(call.target);
  const limit = call.args[1]?.expr;
  const bounded = limit?.type === 'literal' && typeof limit.value === 'number';
  const max = bounded ? (Number(limit.value) < 0 ? UNBOUNDED : Number(limit.value)) : size.max;
  return { cost: scaleRange(size, 2 * TRAVERSAL_FACTOR), size: { min: 0, max } };
};

const join: Estimate = (call, hints) => {
  if (call.target === undefined) return undefined;
  const list = sizeOf(call.target);
  const element = elementOf(call.target, hints);
  let size = element === undefined ? zero : multiplyRanges(list, sizeOf(element));
  const separators = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
  if (call.args.length > 0) size = addRanges(size, multiplyRanges(sizeOf(call.args[0]), separators));
  return { cost: traverse(size), size };
};

function patternCost(text: Range, pattern: Range): Range {
  return multiplyRanges(traverse(addRanges(text, one)), scaleRange(pattern, PATTERN_FACTOR));
}

const search: Estimate = (call) => {
  if (call.target === undefined || call.args.length === 0) return undefined;
  const size = sizeOf(call.target);
  return { cost: patternCost(size, sizeOf(call.args[0])), size: { min: 0, max: size.max } };
};

const selector: Estimate = (call) => {
  const size = sizeOf(call.args[0]);
  return { cost: addRanges(addRanges(exactly(10), traverse(size)), scaleRange(scaleRange(size, 0.5), 50)) };
};

const containsIp: Estimate = (call) => {
  const base = traverse(addRanges(addressBytes, addressBytes));
  return { cost: call.id === 'cidr_contains_ip_string' ? addRanges(base, traverse(sizeOf(call.args[0]))) : base };
};

const containsCidr: Estimate = (call) => {
  const base = addRanges(addRanges(traverse(addRanges(addressBytes, addressBytes)), traverse(addressBytes)), one);
  return { cost: call.id === 'cidr_contains_cidr_string' ? addRanges(base, traverse(sizeOf(call.args[0]))) : base };
};

const validate: Estimate = (call) => ({ cost: scaleRange(traverse(sizeOf(call.args[0])), LONGEST_FORMAT_PATTERN * PATTERN_FACTOR) });

const constantEquals: ReadonlySet<string> = new Set(['net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.Semver', 'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck', 'kubernetes.authorization.GroupCheck', 'kubernetes.authorization.ResourceCheck', 'kubernetes.authorization.Decision']);
const LONGEST_FORMAT_NAME = 64;

const equality: Estimate = ({ args }) => {
  const type = args[0]?.type;
  if (type === undefined || type.name !== args[1]?.type.name) return undefined;
  if (constantEquals.has(type.name)) return { cost: one };
  if (type.name === 'kubernetes.NamedFormat') return { cost: scaleRange({ min: 1, max: LONGEST_FORMAT_NAME }, TRAVERSAL_FACTOR) };
  return type.name === 'kubernetes.URL' ? { cost: scaleRange({ min: 1, max: args[1]?.size?.max ?? 1 }, TRAVERSAL_FACTOR) } : undefined;
};

const each = (names: readonly string[], estimate: Estimate): [string, Estimate][] => names.map((name) => [name, estimate]);

const byFunction = new Map<string, Estimate>([
  ['check', fixed(authorizationCheck)], ['fieldSelector', selector], ['labelSelector', selector],
  ...each(['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name', 'allowed', 'reason', 'error', 'errored', 'masked', 'prefixLength',
    'family', 'isUnspecified', 'isLoopback', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast', 'format.named', 'sign', 'asInteger', 'isInteger',
    'asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo', 'add', 'sub', 'major', 'minor', 'patch', 'getScheme', 'getHostname', 'getHost', 'getPort',
    'getEscapedPath', 'getQuery'], fixed(one)),
  ...each(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'], walkList),
  ['includes', (call, hints) => (call.id === 'dra_includes_dyn_dyn' ? { cost: { min: 0, max: 48 } } : walkList(call, hints))],
  ...each(['url', 'jsonpatch.escapeKey', 'lowerAscii', 'upperAscii', 'substring', 'trim'], transform),
  ...each(['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'], ({ args }) => ({ cost: traverse(sizeOf(args[0])) })),
  ['ip', (call) => (call.id === 'cidr_ip' ? { cost: one } : { cost: traverse(sizeOf(call.args[0])) })],
  ['ip.isCanonical', ({ args }) => ({ cost: scaleRange(sizeOf(args[0]), 2 * TRAVERSAL_FACTOR) })],
  ['replace', replace], ['split', split], ['join', join], ['find', search], ['findAll', search],
  ['containsIP', containsIp], ['containsCIDR', containsCidr], ['validate', validate], ['_==_', equality],
]);

const allocating = (factor: number, size: Range): CallEstimate => ({ cost: addRanges(scaleRange(size, factor), exactly(11)), size });

/** A whole number that stands in the expression, where negative ones count as zero. */
function literalNumber(node: CostNode | undefined, otherwise: number): number {
  const expr = node?.expr;
  const isNumber = expr?.type === 'literal' && (typeof expr.value === 'number' || typeof expr.value === 'bigint');
  return isNumber ? Math.max(0, Number(expr.value)) : otherwise;
}

/** The reference subtracts unsigned numbers: an end before the start is as good as no bound. */
const slice: Estimate = ({ target, args }) => {
  const length = literalNumber(args[1], sizeOf(target).max) - literalNumber(args[0], 0);
  return allocating(1, exactly(length < 0 ? UNBOUNDED : length));
};

function sortCost(node: CostNode | undefined, elements: CelType | undefined): CallEstimate {
  const size = sizeOf(node);
  const text = elements?.kind === 'string' || elements?.kind === 'bytes';
  return allocating(text ? 2 + TRAVERSAL_FACTOR : 2, multiplyRanges(size, size));
}

const sets = (factor: number): Estimate => ({ args }) => ({ cost: addRanges(scaleRange(multiplyRanges(sizeOf(args[0]), sizeOf(args[1])), factor), one) });

const comparison: Estimate = ({ args }) => {
  const max = Math.min(sizeOf(args[0]).max, sizeOf(args[1]).max);
  return { cost: traverse({ min: max > 0 ? 1 : 0, max }) };
};

const concatenation: Estimate = ({ id, args }) => {
  const size = addRanges(sizeOf(args[0]), sizeOf(args[1]));
  return { cost: id === 'add_list' ? one : traverse(size), size };
};

const byOverload = new Map<string, Estimate>([
  ['string_format', ({ target }) => ({ cost: traverse(sizeOf(target)) })],
  ['string_to_bytes', ({ args }) => ({ cost: traverse(sizeOf(args[0])), size: { min: sizeOf(args[0]).min, max: sizeOf(args[0]).max * 4 } })],
  ['bytes_to_string', ({ args }) => ({ cost: traverse(sizeOf(args[0])), size: { min: Math.floor(sizeOf(args[0]).min / 4), max: sizeOf(args[0]).max } })],
  ['strings_quote', ({ args }) => ({ cost: traverse(sizeOf(args[0])), size: { min: sizeOf(args[0]).min + 2, max: sizeOf(args[0]).max * 2 + 2 } })],
  ...each(['starts_with_string', 'ends_with_string'], ({ args }) => ({ cost: traverse(sizeOf(args[0])) })),
  ['in_list', ({ args }) => ({ cost: sizeOf(args[1]) })],
  ['matches_string', (call) => (call.target === undefined ? undefined : { cost: patternCost(sizeOf(call.target), sizeOf(call.args[0])) })],
  ['contains_string', ({ target, args }) => ({ cost: multiplyRanges(traverse(sizeOf(target)), traverse(sizeOf(args[0]))) })],
  ...each(['add_string', 'add_bytes', 'add_list'], concatenation),
  ...each(['less', 'less_equals', 'greater', 'greater_equals'].flatMap((op) => [`${op}_string`, `${op}_bytes`]), comparison),
  ...each(['equals', 'not_equals'], comparison),
  ['list_slice', slice],
  ['list_flatten', ({ target }) => allocating(1, sizeOf(target))],
  ['list_flatten_int', ({ target, args }) => allocating(literalNumber(args[0], UNBOUNDED), sizeOf(target))],
  ['lists_range', ({ args }) => allocating(1, exactly(literalNumber(args[0], UNBOUNDED)))],
  ['list_reverse', ({ target }) => allocating(1, sizeOf(target))],
  ['list_distinct', ({ target }) => allocating(2, multiplyRanges(sizeOf(target), sizeOf(target)))],
  ['list_sets_contains_list', sets(1)], ['list_sets_intersects_list', sets(1)], ['list_sets_equivalent_list', sets(2)],
]);

function byOverloadOf(call: EstimatedCall): CallEstimate | undefined {
  if (/^list_.*_sort$/.test(call.id)) return sortCost(call.target, call.target?.type.params[0]);
  if (/^list_.*_sortByAssociatedKeys$/.test(call.id)) return sortCost(call.args[0], call.args[0]?.type.params[0]);
  return undefined;
}

const libraryOverloads = /^(?:list_(?:slice|flatten|flatten_int|reverse|distinct|sets_.*)|lists_range)$/;

/** The cost of a call by one of its overloads, its arguments included (but not its target). */
export function estimateFunction(hints: SizeHints, call: EstimatedCall): CallEstimate {
  if (call.id === 'logical_and' || call.id === 'logical_or') {
    const [left, right] = call.argCosts as [Range, Range];
    return { cost: { min: left.min, max: addRanges(left, right).max } };
  }
  if (call.id === 'conditional') return conditional(call);
  const own = byOverloadOf(call) ?? (libraryOverloads.test(call.id) ? byOverload.get(call.id)!(call, hints) : undefined);
  const found = own ?? byFunction.get(call.name)?.(call, hints) ?? byOverload.get(call.id)?.(call, hints) ?? { cost: one };
  return { ...found, cost: call.argCosts.reduce(addRanges, found.cost) };
}

function conditional(call: EstimatedCall): CallEstimate {
  const [condition, yes, no] = call.argCosts as [Range, Range, Range];
  const size = unionRanges(sizeOf(call.args[1]), sizeOf(call.args[2]));
  return { cost: addRanges(condition, unionRanges(yes, no)), size };
}

