// The entry for expressions over declared variables: names with a schema, or without one, are an environment to compile in and bindings to
// evaluate with. A compiled expression is immutable and is evaluated as often as there are values.
//
//   const scope = declareScope({ object: schema, request: undefined });
//   const expression = compileExpression("object.spec.replicas <= 5", scope.environment);     throws CelSyntaxError with the reference's report
//   expression.resultType; expression.estimateCost(scope.sizes).max                           the worst that the schemas allow
//   expression.program.evaluate(scope.bind({ object, request }), PER_CALL_LIMIT)              { value, cost, work, exceeded }
import type { OpenAPIV3Schema } from '../schema/structural.ts';
import { type Environment, extendEnvironment } from './check/environment.ts';
import type { SizeHints } from './cost/node.ts';
import type { Bindings } from './evaluate/frame.ts';
import { kubernetesEnvironment } from './kubernetes.ts';
import { type DeclaredType, declareType, declaredStructs, sizeHintsOf } from './schema/declared.ts';
import { fromDeclared, fromJson } from './schema/json-values.ts';
import { dynType } from './values/types.ts';
import type { Value } from './values/values.ts';

/** Declared variables: where expressions over them are compiled, and how their values are bound. */
export interface ExpressionScope {
  readonly environment: Environment;
  /** Bounds of sizes from the schemas, for estimates. */
  readonly sizes: SizeHints;
  /** Values of one evaluation, as JSON; a variable that is left out is null. */
  bind(values: Readonly<Record<string, unknown>>): Bindings;
}

/** Declares variables by name: typed by a structural schema, dynamic without one. */
export function declareScope(variables: Readonly<Record<string, OpenAPIV3Schema | undefined>>, base = kubernetesEnvironment): ExpressionScope {
  const declared = new Map<string, DeclaredType | undefined>();
  for (const [name, schema] of Object.entries(variables)) {
    declared.set(name, schema === undefined ? undefined : declareType(schema, { root: false, name: `${name}Type` }));
  }
  const typed = [...declared.values()].filter((type) => type !== undefined);
  const environment = extendEnvironment(base, {
    structs: typed.map(declaredStructs), variables: new Map(Array.from(declared, ([name, type]) => [name, type?.type ?? dynType])),
  });
  const sizes: SizeHints = (path) => {
    const type = declared.get(path[0] ?? '');
    return type === undefined ? undefined : sizeHintsOf(type)(path);
  };
  return { environment, sizes, bind: (values) => bindDeclared(declared, values) };
}

function bindDeclared(declared: ReadonlyMap<string, DeclaredType | undefined>, values: Readonly<Record<string, unknown>>): Bindings {
  const bound = new Map<string, Value>();
  return (name) => {
    let value = bound.get(name);
    if (value !== undefined || !declared.has(name)) return value;
    const json = Object.hasOwn(values, name) ? values[name] ?? null : null;
    const type = declared.get(name);
    value = type === undefined || json === null ? fromJson(json) : fromDeclared(json, type);
    bound.set(name, value);
    return value;
  };
}
