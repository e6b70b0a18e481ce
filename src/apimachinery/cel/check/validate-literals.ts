// Literals that a rule can be refused for before it ever runs: times, spans and patterns written into the text.
import { remember } from '../../../base/index.ts';
import { type CallExpr, type Expr, type MapExpr, childrenOf } from '../parse/ast.ts';
import { validateFormat } from './validate-formats.ts';
import { patternProblem } from '../values/regex.ts';
import { parseDuration, parseTimestamp, timestampOfSeconds } from '../values/time.ts';
import { type CelType, dynType, formatType, sameType } from '../values/types.ts';
import { CelError } from '../values/values.ts';

type Report = (expr: { id: number }, message: string) => void;

/** Functions that take lists of mixed types. */
const mixedFunctions: ReadonlySet<string> = new Set(['format']);

/** Nodes that are looked at in one part of resumable work. */
const VALIDATED_AT_ONCE = 1000;

/** The nodes of an expression, each before its parts. */
interface Nodes {
  readonly all: Expr[];
  /** Those within the arguments of a function that takes mixed types. */
  readonly mixed: Set<Expr>;
}

interface Context {
  readonly types: ReadonlyMap<number, CelType>;
  readonly report: Report;
}

/** Reports the literal arguments of timestamp, duration and matches that cannot be read, and list and map literals of mixed types. */
export function validateLiterals(expr: Expr, types: ReadonlyMap<number, CelType>, report: Report): void {
  const nodes = remember(() => listNodes(expr, { all: [], mixed: new Set() }, false));
  for (let at = 0; at < nodes.all.length; at += VALIDATED_AT_ONCE) {
    const some = nodes.all.slice(at, at + VALIDATED_AT_ONCE);
    remember(() => {
      for (const node of some) validateNode(node, nodes.mixed.has(node), { types, report });
    }, some.length);
  }
}

function listNodes(expr: Expr, nodes: Nodes, isMixed: boolean): Nodes {
  nodes.all.push(expr);
  if (isMixed) nodes.mixed.add(expr);
  const holdsMixed = isMixed || (expr.type === 'call' && mixedFunctions.has(expr.name));
  for (const child of childrenOf(expr)) listNodes(child, nodes, holdsMixed);
  return nodes;
}

function validateNode(expr: Expr, isMixed: boolean, context: Context): void {
  if (expr.type === 'call') {
    validateCall(expr, context.report);
    validateFormat(expr, context.types, context.report);
  }
  if (isMixed) return;
  if (expr.type === 'list') validateElements(expr.elements, expr.optional, context);
  if (expr.type === 'map') validateEntries(expr.entries, context);
}

const unwrapOptional = (type: CelType): CelType => type.params[0] ?? dynType;

/** Reports the first element whose type is not the one of the elements before it. */
function validateElements(exprs: readonly Expr[], optional: readonly number[], { types, report }: Context): void {
  const optionals = new Set(optional);
  let first: CelType | undefined;
  for (const [i, expr] of exprs.entries()) {
    const given = types.get(expr.id) ?? dynType;
    const type = optionals.has(i) ? unwrapOptional(given) : given;
    first ??= type;
    if (reportMismatch(expr, [first, type], report)) return;
  }
}

/** Reports every key and every value whose type is not that of the first. */
function validateEntries(entries: MapExpr['entries'], { types, report }: Context): void {
  const typeOf = (expr: Expr): CelType => types.get(expr.id) ?? dynType;
  let first: { key: CelType; value: CelType } | undefined;
  for (const { key, value, optional } of entries) {
    const found = { key: typeOf(key), value: optional ? unwrapOptional(typeOf(value)) : typeOf(value) };
    first ??= found;
    reportMismatch(key, [first.key, found.key], report);
    reportMismatch(value, [first.value, found.value], report);
  }
}

function reportMismatch(expr: Expr, [expected, found]: readonly [CelType, CelType], report: Report): boolean {
  if (sameType(expected, found)) return false;
  report(expr, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  return true;
}

function validateCall(expr: CallExpr, report: Report): void {
  const arg = expr.args.at(-1);
  if (arg?.type !== 'literal') return;
  if (typeof arg.value === 'number' || typeof arg.value === 'bigint') {
    const isTime = expr.name === 'timestamp' && expr.args.length === 1;
    if (isTime && timestampOfSeconds(arg.value) instanceof CelError) report(arg, 'invalid timestamp argument');
    return;
  }
  if (typeof arg.value !== 'string') return;
  if (expr.name === 'matches' && patternProblem(arg.value) !== undefined) report(arg, 'invalid matches argument');
  if (expr.args.length !== 1) return;
  if (expr.name === 'timestamp' && parseTimestamp(arg.value) === undefined) report(arg, 'invalid timestamp argument');
  if (expr.name === 'duration' && parseDuration(arg.value) === undefined) report(arg, 'invalid duration argument');
}
