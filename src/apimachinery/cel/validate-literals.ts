// Literals that a rule can be refused for before it ever runs: times, spans and patterns written into the text.
import { type CallExpr, type Expr, childrenOf } from './ast.ts';
import { compilePattern } from './regex.ts';
import { parseDuration, parseTimestamp } from './time.ts';

type Report = (expr: Expr, message: string) => void;

/** Reports the literal arguments of timestamp, duration and matches that cannot be read. */
export function validateLiterals(expr: Expr, report: Report): void {
  if (expr.type === 'call') validateCall(expr, report);
  for (const child of childrenOf(expr)) validateLiterals(child, report);
}

function validateCall(expr: CallExpr, report: Report): void {
  const arg = expr.args.at(-1);
  if (arg?.type !== 'literal' || typeof arg.value !== 'string') return;
  if (expr.name === 'matches' && compilePattern(arg.value) === undefined) report(arg, 'invalid matches argument');
  if (expr.args.length !== 1) return;
  if (expr.name === 'timestamp' && parseTimestamp(arg.value) === undefined) report(arg, 'invalid timestamp argument');
  if (expr.name === 'duration' && parseDuration(arg.value) === undefined) report(arg, 'invalid duration argument');
}
