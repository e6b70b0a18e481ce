// The door of apimachinery: objects and their rules. Pure; runs in a browser too.
export {
  type GroupResource, type GroupVersion, type GroupVersionKind, type GroupVersionResource, type JsonObject, type JsonValue,
  type KubeObject, type ManagedFieldsEntry, type ObjectMeta, type OwnerReference,
  formatGroupResource, formatGroupVersion, parseGroupVersion,
} from './object.ts';
export {
  type FieldError, type Status, type StatusCause, type StatusDetails, StatusError, alreadyExists, badRequest, conflict, expired, failure,
  forbidden, internalError, invalid, methodNotSupported, notAcceptable, notFound, requestEntityTooLarge, serviceUnavailable, success,
  timeoutError, tooLargeResourceVersion, tooManyRequests, unauthorized, unsupportedMediaType,
} from './status.ts';
export { type Field, type Schema, type SchemaFormat, type SchemaSet, type SchemaType } from './schema/schema.ts';
export {
  duplicate, fieldPath, forbiddenField, invalidValue, notFoundValue, notSupported, quoteValue, required, tooLong, tooMany,
} from './field-error.ts';
export {
  type NameRule, byteLength, checkConfigMapKey, checkDns1035Label, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkPathSegment,
  checkQualifiedName, checkWildcardDnsSubdomain, validateName,
} from './names.ts';
export {
  type ObjectMetaRules, validateAnnotations, validateFieldManager, validateFinalizers, validateLabels, validateManagedFields, validateObjectMeta,
  validateObjectMetaUpdate, validateOwnerReferences,
} from './object-meta.ts';
export {
  type Quantity, type QuantityFormat, QuantityError, addQuantities, canonicalizeQuantity, compareQuantities, formatQuantity, parseQuantity,
} from './quantity.ts';
export {
  type FieldRequirement, type FieldSelector, type LabelRequirement, type LabelSelector, type MetaLabelSelector, createLabelSelector,
  formatLabelSelector, labelSelectorOf, matchesRequirement, parseFieldSelector, parseLabelSelector,
} from './selector.ts';
export { type CertificateRequestParts, type PemBlock, parseCertificateRequest, parsePem } from './certificate-request.ts';
export { loadSchemas } from './schema/load.ts';
export { type ApplyInput, type ApplyOutput, ApplyConflictError, applyConfiguration } from './apply/apply.ts';
export { type FieldSet, emptySet, fieldSetOf } from './apply/field-set.ts';
export { outlineOf } from './apply/outline.ts';
export {
  type ManagedVersions, type Manager, type Managers, type Updater, decodeManagers, encodeManagers, managersBefore, sameManagers, updateManagers,
} from './apply/managers.ts';
export { compareObjects, toFieldSet } from './apply/compare.ts';
export { typedProblem } from './apply/typed.ts';
export { TypedValueError, equalValues, isMap, ownValue, putKey } from './apply/value.ts';
export { DecodeError, formatStrictError } from './schema/decode-error.ts';
export { type DecodeOptions, type Decoded, decodeObject } from './schema/decode.ts';
export { type Coerced, coerceEmbedded } from './schema/coerce.ts';
export { applyDefaults } from './schema/defaults.ts';
export { nullEmptyLists } from './schema/empty-lists.ts';
export { type OpenAPISchema, toOpenAPIv2, toOpenAPIv3 } from './schema/openapi.ts';
export { type Pruned, pruneUnknown } from './schema/prune.ts';
export { type OpenAPIV3Schema, type StructuralOptions, compileStructuralSchema } from './schema/structural.ts';
export { decodeCustomObject, normalizeCustomObject, validateEmbedded } from './schema/custom.ts';
export { isKnownFormat } from './schema/formats.ts';
export { checkPattern, loadPatternEngine, matchesPattern } from './schema/pattern.ts';
export { type Before, type ValueOptions, validateListTypes, validateValue } from './schema/validate.ts';
export { equalDeep } from './schema/value-type.ts';
export { formatGo } from './patch/go-format.ts';
export { cloneJson, compileJsonPatch } from './patch/json-patch.ts';
export { applyMergePatch } from './patch/merge-patch.ts';
export { applyStrategicMergePatch } from './patch/strategic-merge.ts';
export {
  type AuthorizationAnswer, type AuthorizationQuestion, type Authorize, type Bindings, type CompiledExpression, type DeclaredType, type Environment,
    type Evaluation,
  type FunctionDeclaration, type Library, type Overload, type Program, type RuleInput, type RuleOutcome, type RuleProblems, type SchemaRules,
    type StructProvider,
  type ValidationRule, type Value, CelDouble, CelError, CelList, CelMap, CelOpaque, CelOptional, CelSyntaxError, CelType, CelUint, Failure, anyType,
  authorizerType, boolType, bytesType, checkRules, compileExpression, compileRules, createAuthorizer, createEnvironment, createResourceCheck, declare,
  declareType,
  declaredStructs, doubleType, durationType, dynType, estimateCost, extendEnvironment, formatType, fromDeclared, fromJson, intType, kubernetesEnvironment,
    listOf,
  mapOf, maxRequestBytes, method, nullType, optionalOf, overload, perCallLimit, resourceCheckType, runtimeCostBudget, sizeHintsOf, stringType, structType,
  timestampType, typeOf,
} from './cel/index.ts';
export {
  type IpAddress, type IpFamily, type IpRange, containsAddress, formatIpAddress, parseIpAddress, parseIpRange,
} from './ip-address.ts';
