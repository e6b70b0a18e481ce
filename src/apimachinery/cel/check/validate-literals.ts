// Literals that a rule can be refused for before it ever runs: times, spans and patterns written into the text.
import { type CallExpr, type Expr, childrenOf } from '../parse/ast.ts';
import { validateFormat } from './validate-formats.ts';
import { patternProblem } from '../values/regex.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';
import { type CelType, dynType, formatType, sameType } from '../values/types.ts';

type Report = (expr: { id: number }, message: string) => void;

/** Functions that take lists of mixed types. */
const mixedFunctions: ReadonlySet<string> = new Set(['format']);

/** Reports the literal arguments of timestamp, duration and matches that cannot be read, and list and map literals of mixed types. */
export function validateLiterals(expr: Expr, types: ReadonlyMap<number, CelType>, report: Report): void {
  validateNode(expr, { types, report, mixed: false });
}

function validateNode(expr: Expr, context: { types: ReadonlyMap<number, CelType>; report: Report; mixed: boolean }): void {
  if (expr.type === 'call') {
    validateCall(expr, context.report);
    validateFormat(expr, context.types, context.report);
  }
  if (!context.mixed && expr.type === 'list') validateSameType(expr.elements, expr.optional, context);
  if (!context.mixed && expr.type === 'map') {
    const optional = expr.entries.flatMap((entry, i) => (entry.optional ? [i] : []));
    validateSameType(expr.entries.map((entry) => entry.key), [], context);
    validateSameType(expr.entries.map((entry) => entry.value), optional, context);
  }
  const mixed = context.mixed || (expr.type === 'call' && mixedFunctions.has(expr.name));
  for (const child of childrenOf(expr)) validateNode(child, { ...context, mixed });
}

function validateSameType(exprs: readonly Expr[], optional: readonly number[], context: { types: ReadonlyMap<number, CelType>; report: Report }): void {
  let first: CelType | undefined;
  for (const [i, expr] of exprs.entries()) {
    const given = context.types.get(expr.id) ?? dynType;
    const type = optional.includes(i) ? given.params[0] ?? dynType : given;
    first ??= type;
    if (sameType(first, type)) continue;
    context.report(expr, `expected type '${formatType(first)}' but found '${formatType(type)}'`);
    return;
  }
}

function validateCall(expr: CallExpr, report: Report): void {
  const arg = expr.args.at(-1);
  if (arg?.type !== 'literal' || typeof arg.value !== 'string') return;
  if (expr.name === 'matches' && patternProblem(arg.value) !== undefined) report(arg, 'invalid matches argument');
  if (expr.args.length !== 1) return;
  if (expr.name === 'timestamp' && parseTimestamp(arg.value) === undefined) report(arg, 'invalid timestamp argument');
  if (expr.name === 'duration' && parseDuration(arg.value) === undefined) report(arg, 'invalid duration argument');
}
