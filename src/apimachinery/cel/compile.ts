// From a text to a program: parse, check, compile.
import { announceWork, isResumable, remember } from '../../base/index.ts';
import { type Expr, childrenOf } from './parse/ast.ts';
import { type CheckedExpr, checkExpression } from './check/check.ts';
import type { Environment } from './check/environment.ts';
import { estimateCost } from './cost/cost.ts';
import type { SizeHints } from './cost/node.ts';
import type { Range } from './cost/ranges.ts';
import { type Program, compileProgram } from './evaluate/evaluate.ts';
import { parseExpression } from './parse/parse.ts';
import type { CelType } from './values/types.ts';

/** An expression that was checked and is ready to be evaluated. */
export interface CompiledExpression {
  readonly checked: CheckedExpr;
  readonly program: Program;
  readonly resultType: CelType;
  /** True when the expression reads the variable. */
  uses(variable: string): boolean;
  /** True when the expression selects a field of a variable by name: `variable.field`, `variable.?field`, `has(variable.field)`. */
  selects(variable: string, field: string): boolean;
  /** What one evaluation may cost, in units of the reference: from the sizes that the schemas of variables allow, unbounded where none does. */
  estimateCost(sizes?: SizeHints): Range;
}

/** Compiles a text in an environment; throws CelSyntaxError with the whole report. Within resumable work it can be broken off. */
export function compileExpression(text: string, env: Environment): CompiledExpression {
  return remember(() => compileText(text, env));
}

/** What a rune of an expression takes to compile: long ones under a limit of time are left to a worker, and take turns where they can. */
const MS_PER_RUNE = 0.005;

function compileText(text: string, env: Environment): CompiledExpression {
  if (!isResumable()) announceWork(text.length * MS_PER_RUNE);
  const parsed = remember(() => parseExpression(text, env));
  const checked = remember(() => checkExpression(parsed, env));
  const uses = (variable: string): boolean => {
    for (const reference of checked.references.values()) if (reference.type === 'variable' && reference.name === variable) return true;
    return false;
  };
  const selects = (variable: string, field: string) => findSelection(checked.root, { variable, field });
  const estimate = (sizes: SizeHints = () => undefined): Range => remember(() => estimateCost(checked, sizes));
  const program = remember(() => compileProgram(checked, env));
  return { checked, program, resultType: checked.resultType, uses, selects, estimateCost: estimate };
}

function findSelection(expr: Expr, wanted: { readonly variable: string; readonly field: string }): boolean {
  const isVariable = (one: Expr | undefined) => one?.type === 'ident' && one.name === wanted.variable;
  if (expr.type === 'select' && expr.field === wanted.field && isVariable(expr.operand)) return true;
  const [operand, field] = expr.type === 'call' && expr.name === '_?._' ? expr.args : [];
  if (isVariable(operand) && field?.type === 'literal' && field.value === wanted.field) return true;
  return childrenOf(expr).some((child) => findSelection(child, wanted));
}
