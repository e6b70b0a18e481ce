// The door of apimachinery: objects and their rules. Pure; runs in a browser too.
export {
  type GroupResource, type GroupVersionKind, type JsonObject, type JsonValue, type KubeObject, type ManagedFieldsEntry, type ObjectMeta, type OwnerReference,
  formatGroupResource, formatGroupVersion, parseGroupVersion,
} from './object.ts';
export {
  BUILT_IN_SCHEME, type FieldError, type Status, StatusError, alreadyExists, badRequest, conflict, expired, failure, forbidden, internalError, invalid,
  methodNotSupported, notAcceptable, notFound, notRegistered, requestEntityTooLarge, serviceUnavailable, success, timeoutError, tooLargeResourceVersion,
  tooManyRequests, unauthorized, unsupportedMediaType,
} from './status.ts';
export { type Field, type Schema, type SchemaSet, type SchemaType } from './schema/schema.ts';
export {
  duplicate, fieldPath, forbiddenField, invalidTyped, invalidUnshown, invalidValue, notFoundValue, notSupported, notSupportedText, quoteValue, required,
  selectProblems, tooLong, tooMany,
} from './field-error.ts';
export { quoteGo } from './quote.ts';
export { checkPrefixedPath } from './prefixed-path.ts';
export {
  type NameRule, byteLength, checkCIdentifier, checkConfigMapKey, checkDns1035Label, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkPathSegment,
  checkQualifiedName, checkWildcardDnsSubdomain, validateName,
} from './names.ts';
export { TOTAL_ANNOTATION_BYTES, validateAnnotations, validateLabels, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts';
export {
  type Quantity, QuantityError, addQuantities, approximateQuantity, canonicalizeQuantity, compareQuantities, formatQuantity, negateQuantity, parseQuantity,
} from './quantity.ts';
export {
  type FieldRequirement, type LabelRequirement, type LabelSelector, type MetaLabelSelector, createLabelSelector, formatLabelSelector, labelSelectorOf,
  matchesRequirement, parseFieldSelector, parseFieldSelectorSteps, parseLabelSelector, parseLabelSelectorSteps,
} from './selector.ts';
export { type CertificateRequestParts, type NameKind, parseCertificateRequest } from './x509/certificate-request.ts';
export { type Certificate, isAuthorityCertificate, parseCertificate } from './x509/certificate.ts';
export { countCertificates } from './x509/certificate-problem.ts';
export { parsePem } from './x509/pem.ts';
export { describeBadKey, parsePublicKey } from './x509/public-key.ts';
export { findRequestFault, findSubjectFault } from './x509/request-faults.ts';
export { loadSchemas } from './schema/load.ts';
export { ApplyConflictError, applyConfiguration } from './apply/apply.ts';
export { type FieldSet, emptySet, fieldSetOf } from './apply/field-set.ts';
export { PathsByOutline, outlineOf } from './apply/outline.ts';
export {
  type ManagedVersions, type Manager, type ResetFields, UnfitVersionError, type Updater, decodeManagers, encodeManager, encodeManagers, managersBefore,
  sameEntries, updateManagers, withoutOwners,
} from './apply/managers.ts';
export { compareObjects, toFieldSet } from './apply/compare.ts';
export { typedProblem } from './apply/typed.ts';
export { mergeValues } from './apply/merge.ts';
export { findAtomics } from './apply/atomics.ts';
export { TypedValueError } from './apply/value.ts';
export { DecodeError, describeJson } from './schema/decode/error.ts';
export { canonicalizeTime, isZeroTime } from './schema/decode/time.ts';
export { decodeObject } from './schema/decode/decode.ts';
export { statesRules } from './schema/statements.ts';
export { inFieldOrder } from './schema/order.ts';
export { applyDefaults } from './schema/decode/defaults.ts';
export { nullEmptyLists } from './schema/decode/empty-lists.ts';
export { toOpenAPIv2, toOpenAPIv3 } from './schema/openapi.ts';
export { pruneConverted, pruneUnknown, sortDeep } from './schema/decode/prune.ts';
export { type OpenAPIV3Schema, compileStructuralSchema } from './schema/structural.ts';
export { decodeCustomObject, normalizeCustomObject, findMalformed, validateEmbedded } from './schema/decode/custom.ts';
export { isKnownFormat } from './schema/validate/formats.ts';
export { checkPattern, loadPatternEngine, matchesPattern } from './schema/validate/pattern.ts';
export { validateListTypes, validateValue } from './schema/validate/validate.ts';
export { equalJson } from './equal.ts';
export { formatGo, formatGoFloat, goTypeOf } from './patch/go-format.ts';
export { type JsonPatch, JsonPatchError, JsonPatchTestError, compileJsonPatch, decodeJsonPatch } from './patch/json-patch.ts';
export { applyMergePatch } from './patch/merge-patch.ts';
export { applyStrategicMergePatch } from './patch/strategic-merge.ts';
export {
  type AccessAttributes, type AccessDecision, type Bindings, type CompiledExpression, type DeclaredType, type Environment, type Evaluation,
  type ExpressionScope, type PolicyInput, type PolicyResult, type PolicyScope, type PolicyVariable, type Program, type SchemaRules, type Value,
  CelError, CelList, CelSyntaxError, Failure, MATCH_CONDITIONS_COST_BUDGET, PER_CALL_LIMIT, PolicyEvaluation, RUNTIME_COST_BUDGET, anyType,
  checkRuleFields, checkRules, compileExpression, compilePolicyExpression, compileRules, declareKind, declareScope, declareType, declaredStructs,
  deviceSelectorProblem, extendEnvironment, followPath, fromDeclared, fromJson, jsonOfResult,
  kubernetesEnvironment, mapOf, patchOfResult, policyEnvironment, stringType, toJson, typeOfVariable,
} from './cel/index.ts';
export { type ShardSelector, ShardSelectorError, parseShardSelector } from './shard-selector.ts';
export { type PodContainers, type ResourceList, joinInto, sumContainers } from './container-amounts.ts';
export {
  type IpAddress, type IpRange, containsAddress, formatIpAddress, formatIpRange, isGlobalUnicast, parseIpAddress, parseIpRange,
} from './ip/ip-address.ts';
export {
  behindStrict, checkLenientIp, isMapped, parseLenientIp, parseLenientRange, strictProblem, withoutRangeZeros,
} from './ip/lenient.ts';
export { checkServiceAddresses } from './ip/service-addresses.ts';
export { type UrlParts, parseUrl } from './url/index.ts';
export { type WebhookService, checkWebhookService, checkWebhookUrl } from './webhook-client.ts';
export { type SemanticVersion, compareVersions, parseVersion } from './semantic-version.ts';
