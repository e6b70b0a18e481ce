// The door of cel: expressions compiled and evaluated as Kubernetes does, and the validation rules of custom resources.
export { type CompiledExpression, compileExpression } from './compile.ts';
export { checkRules } from './rules-check.ts';
export { type SchemaRules, compileRules } from './compile-rules.ts';
export { type Environment, extendEnvironment } from './environment.ts';
export { kubernetesEnvironment, runtimeCostBudget } from './kubernetes.ts';
export { anyType, mapOf, stringType } from './types.ts';
export { type DeclaredType, declareType, declaredStructs } from './declared.ts';
export { CelList, Failure, type Value } from './values.ts';
export { fromDeclared, fromJson } from './json-values.ts';
export { type PolicyScope, compilePolicyExpression, policyEnvironment, typeOfVariable } from './policies.ts';
