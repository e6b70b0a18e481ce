// The door of cel: expressions compiled and evaluated as Kubernetes does, and the validation rules of custom resources.
export { type CompiledExpression, compileExpression } from './compile.ts';
export { type RuleProblems, checkRules } from './rules-check.ts';
export { type RuleInput, type RuleOutcome } from './rules-validate.ts';
export { type SchemaRules, compileRules } from './compile-rules.ts';
export { type ValidationRule } from './rules.ts';
export { type Environment, type FunctionDeclaration, type Library, type Overload, type StructProvider, createEnvironment, declare, extendEnvironment, method,
  overload } from './environment.ts';
export { kubernetesEnvironment, maxRequestBytes, perCallLimit, runtimeCostBudget } from './kubernetes.ts';
export { type Bindings, type Evaluation, type Program } from './evaluate.ts';
export { CelSyntaxError } from './source.ts';
export { CelType, anyType, boolType, bytesType, doubleType, dynType, formatType, intType, listOf, mapOf, nullType, optionalOf, stringType, structType,
  timestampType, durationType } from './types.ts';
export { type DeclaredType, declareType, declaredStructs, sizeHintsOf } from './declared.ts';
export { estimateCost } from './cost.ts';
export { CelDouble, CelError, CelList, CelMap, CelOpaque, CelOptional, CelUint, Failure, type Value, typeOf } from './values.ts';
export { fromDeclared, fromJson } from './json-values.ts';
export {
  type AuthorizationAnswer, type AuthorizationQuestion, type Authorize, authorizerType, createAuthorizer, createResourceCheck, resourceCheckType,
} from './library/authorizer.ts';
