// The door of cel: expressions compiled and evaluated as Kubernetes does, and the validation rules of custom resources.
export { type CompiledExpression, compileExpression } from './compile.ts';
export { checkRules } from './rules/check-rules.ts';
export { type SchemaRules, compileRules } from './rules/compile-rules.ts';
export { type Environment, extendEnvironment } from './check/environment.ts';
export { kubernetesEnvironment } from './kubernetes.ts';
export { UrlError, checkEscapes, checkHost, schemeOf } from './library/urls.ts';
export { MATCH_CONDITIONS_COST_BUDGET, PER_CALL_LIMIT, RUNTIME_COST_BUDGET } from './limits.ts';
export { anyType, mapOf, stringType } from './values/types.ts';
export { type DeclaredType, declareType, declaredStructs } from './schema/declared.ts';
export { CelList, Failure, type Value } from './values/values.ts';
export { fromDeclared, fromJson } from './schema/json-values.ts';
export { type PolicyScope, compilePolicyExpression, policyEnvironment, typeOfVariable } from './policies/policies.ts';
