// From a text to a program: parse, check, compile.
import { type CheckedExpr, checkExpression } from './check.ts';
import type { Environment } from './environment.ts';
import { type Program, compileProgram } from './evaluate.ts';
import { parseExpression } from './parse.ts';
import type { CelType } from './types.ts';

export interface CompiledExpression {
  readonly checked: CheckedExpr;
  readonly program: Program;
  readonly resultType: CelType;
  /** True when the expression reads the variable. */
  uses(variable: string): boolean;
}

/** Compiles a text in an environment; throws CelSyntaxError with the whole report. */
export function compileExpression(text: string, env: Environment): CompiledExpression {
  const checked = checkExpression(parseExpression(text, env), env);
  const uses = (variable: string): boolean => {
    for (const reference of checked.references.values()) if (reference.type === 'variable' && reference.name === variable) return true;
    return false;
  };
  return { checked, program: compileProgram(checked, env), resultType: checked.resultType, uses };
}
