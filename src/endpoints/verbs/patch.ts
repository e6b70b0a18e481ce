// PATCH: each patch type becomes a function from the current object to the next one, which the update loop of the registry calls until it commits.
// This file has the steps that all types share; patch-types.ts parses the patches, apply.ts is server-side apply.
import {
  type FieldError, formatGo, formatGroupVersion, failure, invalid, invalidValue, type JsonObject, type JsonValue, type KubeObject,
  parseGroupVersion, quoteGo, quoteValue, type StatusError, unsupportedMediaType,
} from '../../apimachinery/index.ts';
import { parseCbor, parseJson, stringifyJson, withoutParameters } from '../../codec/index.ts';
import { checkIdentity, defaultObject, namelessObject, toPatchedScale, UNSET_REPLICAS } from '../../registry/index.ts';
import { expectedKind, negotiateRequest, readBody, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { type Expected, typeObject } from '../request/decode.ts';
import { describeConversion, notAnObject, notAString, notRegistered, notRegisteredInternally, versionKindError } from '../request/decode-errors.ts';
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
  const old = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
  const sorted = Object.keys(value).sort();
  return Object.fromEntries(sorted.map((key) => [key, sortReached(value[key] as JsonValue, Object.hasOwn(old, key) ? old[key] : undefined, isKept)]));
}

/** 422 of a patch whose result cannot be read: upstream names neither kind nor object in it, and prints the document. */
function patchInvalid(shown: string, why: string): StatusError {
  const error: FieldError = { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${quoteValue(shown)}: ${why}` };
  return invalid({ group: '', kind: '' }, '', [error]);
}

/** A patch may remove kind and apiVersion of a custom object, but not change them. */
function checkCustomType({ kind, apiVersion, metadata }: JsonObject, expected: Expected): void {
  const isKind = kind === undefined || kind === null || kind === '' || kind === expected.kind;
  const isVersion = apiVersion === undefined || apiVersion === null || apiVersion === '' || apiVersion === formatGroupVersion(expected);
  if (!isKind && isVersion && apiVersion) {
    const { name = '' } = (metadata ?? {}) as { name?: string };
    throw invalid({ group: expected.group, kind: String(kind) }, name, [invalidValue('kind', kind, `must be ${expected.kind}`)]);
  }
  if (!isKind || !isVersion) throw failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** Throws unless a document has the expected type. Without an apiVersion the reference does not find its name either. */
function checkDocumentType(document: JsonObject, { expected, request, level }: PatchContext, fail: (why: string) => StatusError): void {
  if (Array.isArray(document)) throw fail(versionKindError(notAnObject(document)));
  const { kind, apiVersion } = document;
  for (const [name, value] of [['apiVersion', apiVersion], ['kind', kind]] as const) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw fail(versionKindError(notAString(name, value)));
  }
  if (!apiVersion) {
    if (kind && kind !== expected.kind) throw fail(notRegisteredInternally(expected.group, kind as string));
    // The reference reads such a document into the internal type, whose fields have other names.
    const unknown = Object.keys(document).filter((name) => name !== 'kind' && name !== 'apiVersion').sort();
    const problems = unknown.map((name) => `unknown field ${quoteGo(name)}`);
    if (level === 'Strict' && problems.length > 0) throw fail(`strict decoding error: ${problems.join(', ')}`);
    if (level === 'Warn') request.exchange.warnings.push(...problems);
    throw namelessObject(request.name);
  }
  const named = parseGroupVersion(apiVersion as string);
  if (named === undefined) throw fail(`unexpected GroupVersion string: ${apiVersion as string}`);
  const given = { ...named, kind: (kind as string) || expected.kind };
  if (given.kind !== expected.kind || apiVersion !== formatGroupVersion(expected)) throw fail(notRegistered(given));
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

/** Reads the patched document back into an object: types, strictness, defaults. */
function readResult(document: JsonObject, context: PatchContext, { text, converted, ordered, before }: Shown): KubeObject {
  const { request, expected, level, problems } = context;
  const fail = (why: string): StatusError => patchInvalid(text(), why);
  if (expected.custom) checkCustomType(document, expected);
  else if (!converted) checkDocumentType(document, context, fail);
  const read = (value: JsonObject, inFieldOrder = false): ReturnType<typeof typeObject> =>
    typeObject({ value, inFieldOrder, untyped: converted, before }, expected, (why, mismatch) => fail(converted ? describeConversion(why, mismatch) : why));
  const { object, strictErrors } = readFirst(read, document, converted ? undefined : ordered);
  const inOrder = strictErrors.length < 2 ? strictErrors : converted ? [...strictErrors].sort() : read(ordered()).strictErrors;
  const found = [...problems, ...inOrder];
  if (level === 'Strict' && found.length > 0) throw fail(`strict decoding error: ${found.join(', ')}`);
  if (level === 'Warn') request.exchange.warnings.push(...found);
  return expected.kind === request.resource.kind ? defaultObject(object, request.target, { before }) : object;
}

/** The document that a patch is applied to: the object, or its Scale. Patches change nothing in place. */
const documentOf = ({ subresource, resource }: ResourceRequest, current: KubeObject): JsonObject =>
  (subresource === 'scale' ? toPatchedScale(resource, current, UNSET_REPLICAS) : current) as unknown as JsonObject;

/** The transform of a patch, which is parsed in the first call: the error of an absent object comes before those of the patch. */
function patchTransform(base: PatchContext, read: () => ReadPatch): (current: KubeObject | undefined) => KubeObject {
  const { request } = base;
  let known: ReadPatch | undefined;
  return (current) => {
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
    if (request.subresource !== 'scale') return next;
    const { group, plural, custom } = request.resource;
    const at = { group, resource: custom ? plural : `${plural}/scale` };
    return withScale(request.resource, { current: current as KubeObject, scale: next, at });
  };
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
  const transform = isApply
    ? await applyTransform(base, { bytes, form: type === APPLY_PATCH_TYPE ? 'yaml' : 'cbor' })
    : patchTransform(base, () => readPatch(type, bytes, base));
  const result = await dependencies.registry.update({
    name, subresource, transform, managedFields: isApply ? 'keep' : 'update', isPatch: true,
    createIfAbsent: isApply && (subresource === '' || (request.resource.createOnUpdate && createsObject(subresource))),
    context: writeContext(request, query), ...target,
  });
  return respondWrite(request, result, representation);
}
