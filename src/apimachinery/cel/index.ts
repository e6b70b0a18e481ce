// The door of cel: expressions compiled and evaluated as Kubernetes does.
//   scope.ts      declared variables, for any expression               compile.ts    a text to a program, with its type and its worst cost
//   rules/        the validation rules of custom resources             policies/     the expressions of admission
// Inside, each folder imports those before it: values, parse, check, library, evaluate, cost, schema, then rules and policies.
export { type CompiledExpression, compileExpression } from './compile.ts';
export { type ExpressionScope, declareScope } from './scope.ts';
export { type Environment, extendEnvironment } from './check/environment.ts';
export { deviceSelectorProblem } from './device-selectors.ts';
export { type Evaluation, type Program } from './evaluate/evaluate.ts';
export { type Bindings } from './evaluate/frame.ts';
export { kubernetesEnvironment } from './kubernetes.ts';
export { type AccessAttributes, type AccessDecision } from './library/authorizer.ts';
export { MATCH_CONDITIONS_COST_BUDGET, PER_CALL_LIMIT, RUNTIME_COST_BUDGET } from './limits.ts';
export { CelSyntaxError } from './parse/source.ts';
export { type PolicyScope, compilePolicyExpression, policyEnvironment, typeOfVariable } from './policies/policies.ts';
export {
  PolicyEvaluation, type PolicyInput, type PolicyResult, type PolicyVariable, jsonOfResult, patchOfResult,
} from './policies/policy-evaluation.ts';
export { checkRuleFields, checkRules } from './rules/check-rules.ts';
export { followPath } from './rules/rule-paths.ts';
export { type SchemaRules, compileRules } from './rules/compile-rules.ts';
export { type DeclaredType, declareType, declaredStructs } from './schema/declared.ts';
export { declareKind } from './schema/kinds.ts';
export { fromDeclared, fromJson } from './schema/json-values.ts';
export { toJson } from './values/to-json.ts';
export { anyType, mapOf, stringType } from './values/types.ts';
export { CelError, CelList, Failure, type Value } from './values/values.ts';
