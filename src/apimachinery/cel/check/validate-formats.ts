// Calls of format with a constant template and a list of arguments: the clauses must take the types of the arguments, and there must be as many.
import type { CallExpr, Expr } from '../parse/ast.ts';
import { type Clause, TemplateError, fillTemplate, wrongArgument } from '../values/format-template.ts';
import { type CelType, dynType } from '../values/types.ts';

const whole = ['int', 'uint'];
const floating = ['double', 'string'];
const kindsOf: Readonly<Record<string, readonly string[]>> = {
  s: ['list', 'map', ...whole, ...floating, 'bool', 'timestamp', 'bytes', 'duration', 'type', 'null', 'dyn'],
  d: whole, f: floating, e: floating, b: [...whole, 'bool'],
  x: [...whole, 'string', 'bytes'], X: [...whole, 'string', 'bytes'], o: whole,
};

/** Reports what a call of format cannot do with its arguments. */
export function validateFormat(expr: CallExpr, types: ReadonlyMap<number, CelType>, report: (place: { id: number }, message: string) => void): void {
  const [args] = expr.args;
  if (expr.name !== 'format' || expr.target?.type !== 'literal' || typeof expr.target.value !== 'string' || args?.type !== 'list') return;
  const { elements } = args;
  let asked = 0;
  const enter = (): void => {
    asked++;
  };
  const format = (index: number, clause: Clause): string => {
    const found = misfit(elements[index]!, clause, types);
    if (found === undefined) return '';
    throw wrongArgument(clause.verb, types.get(found.id)!.name, found);
  };
  try {
    fillTemplate(expr.target.value, { size: elements.length, enter, format });
    if (elements.length > asked) report(expr, `too many arguments supplied to string.format (expected ${asked}, got ${elements.length})`);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    report(error.place ?? expr, error.message);
  }
}

/** What of an argument a clause does not take: itself, or for texts something in a literal. */
function misfit(arg: Expr, clause: Clause, types: ReadonlyMap<number, CelType>): Expr | undefined {
  const type = types.get(arg.id) ?? dynType;
  if (type.kind !== 'dyn' && (type.nullable || !kindsOf[clause.verb]!.includes(type.kind))) return arg;
  if (clause.verb !== 's') return undefined;
  const inner = arg.type === 'list' ? arg.elements : arg.type === 'map' ? arg.entries.flatMap(({ key, value }) => [key, value]) : [];
  for (const part of inner) {
    const found = misfit(part, clause, types);
    if (found !== undefined) return found;
  }
  return undefined;
}
