// PATCH: each patch type becomes a function from the current object to the next one, which the update loop of the registry calls until it commits.
// This file has the steps that all types share; patch-types.ts parses the patches, apply.ts is server-side apply.
import { isJsonObject } from '../../base/index.ts';
import {
  failure, type FieldError, formatGo, formatGroupVersion, internalError, invalid, type JsonObject, type JsonValue, type KubeObject,
  notRegistered, parseGroupVersion, quoteGo, quoteValue, type StatusError, unsupportedMediaType,
} from '../../apimachinery/index.ts';
import { parseCbor, parseJson, stringifyJson, withoutParameters } from '../../codec/index.ts';
import {
  checkIdentity, defaultObject, describeMisfit, type ObjectType, type Registry, toPatchedScale, UNSET_REPLICAS,
} from '../../registry/index.ts';
import { expectedKind, negotiateRequest, readBody, subresourceOf, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { describeInternal, describeOther, errorsOfMetadata, reportProblems, typeObject } from '../request/decode.ts';
import { describeConversion, notAnObject, notAString, versionKindError } from '../request/decode-errors.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { APPLY_CBOR_PATCH_TYPE, APPLY_PATCH_TYPE, JSON_PATCH_TYPE, MERGE_PATCH_TYPE, STRATEGIC_PATCH_TYPE } from '../request/media.ts';
import { checkContentType } from '../request/negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel } from '../request/options.ts';
import { applyTransform } from './apply.ts';
import { type IsKept, isShared, type PatchContext, type ReadPatch, readPatch } from './patch-types.ts';
import { createsObject, respondWrite, withScale } from './update.ts';

const customTypes: readonly string[] = [JSON_PATCH_TYPE, MERGE_PATCH_TYPE];
const builtInTypes: readonly string[] = [JSON_PATCH_TYPE, MERGE_PATCH_TYPE, STRATEGIC_PATCH_TYPE];

/** The type of the patch; throws the 415 of a type that the resource does not accept. */
export function patchType({ exchange, resource, dependencies: { media } }: ResourceRequest): string {
  const type = withoutParameters(exchange.headers['content-type'] ?? '');
  const types = [...(resource.custom ? customTypes : builtInTypes), ...media.applyTypes];
  if (!resource.custom) checkContentType(exchange, types);
  if (!types.includes(type)) throw unsupportedMediaType(types);
  return type;
}

/** JSON as Go writes a patched document: keys are sorted in the objects that the patch changed, and the others are as before. */
function sortReached(value: JsonValue, before: JsonValue | undefined, isKept: IsKept): JsonValue {
  if (typeof value !== 'object' || value === null || isKept(value, before)) return value;
  if (Array.isArray(value)) return value.map((item, i) => sortReached(item, Array.isArray(before) ? before[i] : undefined, isKept));
  const old = isJsonObject(before) ? before : {};
  const sorted = Object.keys(value).sort();
  return Object.fromEntries(sorted.map((key) => [key, sortReached(value[key] as JsonValue, Object.hasOwn(old, key) ? old[key] : undefined, isKept)]));
}

/** 422 of a patch whose result cannot be read: upstream names neither kind nor object in it, and prints the document. */
function patchInvalid(shown: string, why: string): StatusError {
  const error: FieldError = { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${quoteValue(shown)}: ${why}` };
  return invalid({ group: '', kind: '' }, '', [error]);
}

/** Throws unless a document of a custom resource names a kind and a version at all; that they are the expected ones is validated. */
function checkCustomType(document: JsonObject, text: () => string, fail: (why: string) => StatusError): void {
  if (Array.isArray(document)) throw fail(versionKindError(notAnObject(document)));
  for (const name in document) {
    const value = document[name];
    const isType = (name === 'kind' || name === 'apiVersion') && value !== null && typeof value !== 'string';
    if (isType) throw fail(versionKindError(notAString(name, value)));
  }
  const { kind, apiVersion } = document;
  if (apiVersion && parseGroupVersion(apiVersion as string) === undefined) throw fail(`unexpected GroupVersion string: ${apiVersion as string}`);
  if (!kind) throw fail(`Object 'Kind' is missing in '${text()}'`);
  if (apiVersion === null) throw fail(describeMisfit(['apiVersion'], null, 'string'));
}

/** The type that a patch has given to a custom resource, where it is not the expected one. */
function findOtherType({ kind, apiVersion }: JsonObject, expected: PatchContext['expected']): ObjectType | undefined {
  // Admission converts objects by their version.
  if (!apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const given = { kind, apiVersion } as ObjectType;
  return given.kind === expected.kind && given.apiVersion === formatGroupVersion(expected) ? undefined : given;
}

/** Throws unless a document has the expected type. */
function checkDocumentType(document: JsonObject, { expected, request }: PatchContext, fail: (why: string) => StatusError): void {
  if (Array.isArray(document)) throw fail(versionKindError(notAnObject(document)));
  const { kind, apiVersion } = document;
  for (const [name, value] of [['apiVersion', apiVersion], ['kind', kind]] as const) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw fail(versionKindError(notAString(name, value)));
  }
  if (!apiVersion) {
    if (kind && kind !== expected.kind) throw fail(describeInternal(request.dependencies.catalog, kind as string, expected));
    return;
  }
  const named = parseGroupVersion(apiVersion as string);
  if (named === undefined) throw fail(`unexpected GroupVersion string: ${apiVersion as string}`);
  const given = { ...named, kind: (kind as string) || expected.kind };
  if (given.kind === expected.kind && apiVersion === formatGroupVersion(expected)) return;
  // A custom resource knows no kind but its own.
  throw fail(expected.custom ? notRegistered(given) : describeOther(request.dependencies.catalog, given, expected));
}

/**
 * Reads a document without an apiVersion. The reference reads it into the internal type, which has the members of metadata beside the others, and these by
 * other names.
 */
function readUnversioned(document: JsonObject, { request, expected, level }: PatchContext, fail: (why: string) => StatusError): KubeObject {
  const metaSchema = expected.schema.fields?.get('metadata')?.schema;
  const isMeta = (name: string): boolean => metaSchema?.fields?.has(name) === true;
  const names = Object.keys(document).filter((name) => name !== 'kind' && name !== 'apiVersion');
  const metadata = Object.fromEntries(names.filter(isMeta).map((name) => [name, document[name] as JsonValue]));
  const inPlace = (why: string): string => why.replace('Go struct field ObjectMeta.metadata.', `Go struct field ${expected.kind}.ObjectMeta.`);
  const { object, strictErrors } = typeObject({ value: { metadata } }, expected, (why) => fail(inPlace(why)));
  const unknown = names.filter((name) => !isMeta(name)).sort().map((name) => `unknown field ${quoteGo(name)}`);
  const problems = [...unknown, ...strictErrors.map((problem) => problem.replace('"metadata.', '"'))];
  reportProblems(problems, { level, warnings: request.exchange.warnings }, fail);
  return object;
}

/** How a patched document is printed in the error that it cannot be read. */
interface Shown {
  readonly text: () => string;
  /** Whether the reference converts the document to an object without JSON in between. */
  readonly converted: boolean;
  /** The document as JSON has it: with the keys in the order of Go's encoder. */
  readonly ordered: () => JsonObject;
  /** The typed object that the patch was applied to; absent where that was a Scale of it. */
  readonly before: KubeObject | undefined;
}

/** Reads a document; of several problems the one that the reference meets first is thrown: in the order of JSON, or in that of the schema. */
function readFirst<T>(read: (value: JsonObject, inFieldOrder?: boolean) => T, document: JsonObject, ordered: (() => JsonObject) | undefined): T {
  try {
    return read(document);
  } catch (error) {
    if (ordered === undefined) read(document, true);
    else read(ordered());
    throw error;
  }
}

type Read = Pick<ReturnType<typeof typeObject>, 'object' | 'strictErrors'>;

/** Whether a document is of the kind that is expected, in whatever version. */
const isOfKind = ({ apiVersion, kind }: JsonObject, expected: PatchContext['expected']): boolean =>
  kind === expected.kind && parseGroupVersion(String(apiVersion))?.group === expected.group;

/** Reads a document. Where it is a custom resource of another kind, problems of embedded objects are none: nothing but its own metadata has to be readable. */
function readTyped(document: JsonObject, expected: PatchContext['expected'], read: (value: JsonObject) => Read): Read {
  try {
    return read(document);
  } catch (error) {
    if (!expected.custom || isOfKind(document, expected)) throw error;
    const own = Object.fromEntries(Object.entries(document).filter(([name]) => ['apiVersion', 'kind', 'metadata'].includes(name)));
    const { object, strictErrors } = read(own);
    return { object: { ...document, ...object } as KubeObject, strictErrors };
  }
}

/**
 * A custom resource that a patch has given another type is read by the schema of its metadata alone; all else of another version of its kind is unknown,
 * and dropped.
 */
function withoutUnread(found: Read, document: JsonObject, expected: PatchContext['expected']): Read {
  if (document['kind'] === expected.kind && document['apiVersion'] === formatGroupVersion(expected)) return found;
  const { object, strictErrors } = found;
  const { metadata } = object;
  const known = errorsOfMetadata(strictErrors);
  if (!isOfKind(document, expected)) return { object: { ...object }, strictErrors: known };
  const unknown = Object.keys(document).filter((name) => !['apiVersion', 'kind', 'metadata'].includes(name));
  return {
    object: { apiVersion: object.apiVersion!, kind: expected.kind, metadata },
    strictErrors: [...known, ...unknown.map((name) => `unknown field ${quoteGo(name)}`)],
  };
}

/** Reads the patched document back into an object: types, strictness, defaults. */
function readResult(document: JsonObject, context: PatchContext, { text, converted, ordered, before }: Shown): KubeObject {
  const { request, expected, level, problems } = context;
  const fail = (why: string): StatusError => patchInvalid(text(), why);
  if (expected.custom) checkCustomType(document, text, fail);
  else if (!converted) checkDocumentType(document, context, fail);
  if (!expected.custom && !converted && !document['apiVersion']) return readUnversioned(document, context, fail);
  const unreadable = (why: string): StatusError => (converted ? failure(500, '', why) : fail(why));
  const read = (value: JsonObject, inFieldOrder = false): ReturnType<typeof typeObject> =>
    typeObject({ value, inFieldOrder, untyped: converted, before, unreadable }, expected,
      (why, mismatch) => fail(converted ? describeConversion(why, mismatch) : why));
  const found = readTyped(document, expected, (value) => readFirst(read, value, converted || value !== document ? undefined : ordered));
  const { object, strictErrors } = expected.custom ? withoutUnread(found, document, expected) : found;
  const inOrder = strictErrors.length < 2 ? strictErrors : converted || found.object !== object ? [...strictErrors].sort() : read(ordered()).strictErrors;
  const all = [...problems, ...inOrder];
  if (level === 'Strict' && all.length > 0) throw fail(`strict decoding error: ${all.join(', ')}`);
  if (level === 'Warn') request.exchange.warnings.push(...all);
  return expected.kind === request.resource.kind ? defaultObject(object, request.target, { before }) : object;
}

/** The document that a patch is applied to: the object, or its Scale. Patches change nothing in place. */
const documentOf = ({ subresource, resource }: ResourceRequest, current: KubeObject): JsonObject =>
  (subresource === 'scale' ? toPatchedScale(resource, current, UNSET_REPLICAS) : current) as unknown as JsonObject;

type Change = Pick<Parameters<Registry['update']>[0], 'transform' | 'otherType'>;

/** The transform of a patch, which is parsed in the first call: the error of an absent object comes before those of the patch. */
function patchTransform(base: PatchContext, read: () => ReadPatch): Change {
  const { request } = base;
  let known: ReadPatch | undefined;
  let otherType: ObjectType | undefined;
  const transform = (current: KubeObject | undefined): KubeObject => {
    known ??= read();
    const { patch, shown, problems, isKept = isShared } = known;
    const context = { ...base, problems };
    const before = documentOf(request, current as KubeObject);
    const document = patch(before);
    const ordered = (): JsonObject => sortReached(document, before, isKept) as JsonObject;
    const text = (): string => (shown ? formatGo(shown()) : stringifyJson(ordered()));
    const typed = request.subresource === 'scale' ? undefined : current;
    const next = readResult(document, context, { text, converted: shown !== undefined, ordered, before: typed });
    checkIdentity(request.target, request.name, next);
    if (base.expected.custom) otherType = findOtherType(document, base.expected);
    if (request.subresource !== 'scale') return next;
    const { group, plural, custom } = request.resource;
    const at = { group, resource: custom ? plural : `${plural}/scale` };
    return withScale(request.resource, { current: current as KubeObject, scale: next, at });
  };
  return { transform, otherType: () => otherType };
}

/** The patch as a value; undefined where it cannot be read, which the handler reports. */
async function parseForAudit(request: ResourceRequest, bytes: Uint8Array, type: string): Promise<JsonValue | undefined> {
  try {
    if (type === APPLY_CBOR_PATCH_TYPE) return parseCbor(bytes).value;
    return type === APPLY_PATCH_TYPE ? (await yamlParserOf(request)(bytes)).value : parseJson(bytes).value;
  } catch {
    return undefined;
  }
}

function createsByApply(request: ResourceRequest): boolean {
  const { subresource, resource } = request;
  return subresource === '' || (resource.createOnUpdate && createsObject(subresource)) || subresourceOf(request)?.createsByApply === true;
}

/** Patches an object. */
export async function handlePatch(request: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, target, name, subresource } = request;
  const { media } = dependencies;
  const type = patchType(request);
  const representation = negotiateRequest(request);
  const bytes = await readBody(request);
  const query = parseWriteQuery(exchange.query);
  const isApply = media.applyTypes.includes(type);
  validateWriteQuery('PatchOptions', query, isApply);
  const expected = expectedKind(request);
  if (exchange.audit?.wantsRequest) exchange.audit.recordPatch(await parseForAudit(request, bytes, type));
  const base = { request, expected, query, level: validationLevel(query), problems: [] };
  const change = isApply
    ? await applyTransform(base, { bytes, form: type === APPLY_PATCH_TYPE ? 'yaml' : 'cbor' })
    : patchTransform(base, () => readPatch(type, bytes, base));
  const result = await dependencies.registry.update({
    name, subresource, ...change, managedFields: isApply ? 'keep' : 'update', isPatch: true,
    createIfAbsent: isApply && createsByApply(request),
    context: writeContext(request, query), ...target,
  });
  return respondWrite(request, result, representation);
}
