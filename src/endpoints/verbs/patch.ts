// PATCH: each patch type becomes a function from the current object to the next one; the registry's loop calls it until it commits.
import {
  applyMergePatch, applyStrategicMergePatch, badRequest, compileJsonPatch, type DecodeError, equalJson, failure, type FieldError, formatGo, formatGroupVersion,
  invalid, invalidValue, type JsonObject, type JsonValue, type KubeObject, parseGroupVersion, quoteValue, type StatusError, typedProblem,
  unsupportedMediaType,
} from '../../apimachinery/index.ts';
import { formatYamlDuplicates, JsonError, parseJson, stringifyJson, withoutParameters, YamlError } from '../../codec/index.ts';
import { applyObject, checkIdentity, defaultObject, namelessObject, toScale, unsetReplicas } from '../../registry/index.ts';
import { expectedKind, negotiateCall, readBody, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { type Expected, type Level, typeObject } from '../request/decode.ts';
import { notAString, notRegistered, versionKindError } from '../request/decode-errors.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { APPLY_PATCH_TYPE, JSON_PATCH_TYPE, MERGE_PATCH_TYPE, STRATEGIC_PATCH_TYPE } from '../request/media.ts';
import { checkContentType } from '../request/negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel, type WriteQuery } from '../request/options.ts';
import { checkScale, respondWrite, withScale } from './update.ts';

/** A JSON patch may have this many operations. */
const MAX_OPERATIONS = 10_000;
const CUSTOM_TYPES: readonly string[] = [JSON_PATCH_TYPE, MERGE_PATCH_TYPE, APPLY_PATCH_TYPE];
const BUILT_IN_TYPES: readonly string[] = [JSON_PATCH_TYPE, MERGE_PATCH_TYPE, STRATEGIC_PATCH_TYPE, APPLY_PATCH_TYPE];

/** What a patched document is judged by. */
interface PatchContext {
  readonly call: ResourceRequest;
  readonly expected: Expected;
  readonly query: WriteQuery;
  readonly level: Level;
  /** Problems of the patch itself, told before those of its result. */
  readonly problems: readonly string[];
}

/** From the document as it is to the document as it shall be. */
type PatchDocument = (current: JsonObject) => JsonObject;

/** The type of the patch; throws the 415 of one that the resource does not take. */
export function patchType({ exchange, resource }: ResourceRequest): string {
  const type = withoutParameters(exchange.headers['content-type'] ?? '');
  const types = resource.custom ? CUSTOM_TYPES : BUILT_IN_TYPES;
  if (!resource.custom) checkContentType(exchange, types);
  if (!types.includes(type)) throw unsupportedMediaType(types);
  return type;
}

const jsonType = (value: JsonValue): string =>
  (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value);

interface ParsedPatch {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

function parsePatch(bytes: Uint8Array, prefix: string): ParsedPatch {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(`${prefix}${error.message}`);
    throw error;
  }
}

const OPERATION_FIELDS = new Set(['op', 'path', 'from', 'value']);

function checkOperations(value: JsonValue): JsonObject[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type []handlers.jsonPatchOp`);
  if (value.length > MAX_OPERATIONS) {
    throw failure(413, 'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`);
  }
  for (const operation of value) {
    if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
      throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(operation)} into Go value of type handlers.jsonPatchOp`);
    }
  }
  return value as JsonObject[];
}

/** Whether something in a patched document is as it was before. */
type IsKept = (value: JsonValue, before: JsonValue | undefined) => boolean;

/** Merge patches share what they do not reach, and write what they bring anew. */
const isShared: IsKept = (value, before) => value === before;
/** JSON patches work on a copy; what they bring stands as it came. */
const isUntouched: IsKept = (value, before) => before === undefined || equalJson(value, before);

interface ReadPatch {
  readonly patch: PatchDocument;
  readonly problems: readonly string[];
  /** The patch as strategic merge patches that fail are shown; the others are shown by the document that they lead to. */
  readonly shown?: JsonObject;
  readonly isKept?: IsKept;
}

function readJsonPatch(bytes: Uint8Array): ReadPatch {
  const { value, duplicates } = parsePatch(bytes, 'error decoding patch: ');
  const operations = checkOperations(value);
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(operation).filter((key) => !OPERATION_FIELDS.has(key)).map((key) => `json patch unknown field ${JSON.stringify(`[${index}].${key}`)}`));
  const repeated = duplicates.filter((path) => /^\[\d+\]\.[^.[]+$/.test(path)).map((path) => `json patch duplicate field ${JSON.stringify(path)}`);
  const compiled = compileJsonPatch(operations);
  return { patch: (current) => compiled(current) as JsonObject, problems: [...unknown, ...repeated], isKept: isUntouched };
}

function requireObject(value: JsonValue, prefix: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest(`${prefix}json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`);
  }
  return value;
}

const duplicateTexts = (duplicates: readonly string[]): string[] => duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);

function readMergePatch(bytes: Uint8Array): ReadPatch {
  const { value, duplicates } = parsePatch(bytes, 'error decoding patch: ');
  if (value === null) throw badRequest('Invalid JSON Patch');
  const patch = requireObject(value, 'error decoding patch: ');
  return { patch: (current) => applyMergePatch(current, patch), problems: duplicateTexts(duplicates) };
}

function readStrategicPatch(bytes: Uint8Array, { schema }: Expected): ReadPatch {
  const { value, duplicates } = parsePatch(bytes, '');
  const patch = requireObject(value ?? {}, '');
  return { patch: (current) => applyStrategicMergePatch(current, patch, schema), problems: duplicateTexts(duplicates), shown: patch };
}

/** JSON as Go writes a patched document: with sorted keys where the patch reached, and elsewhere as it was. */
function sortReached(value: JsonValue, before: JsonValue | undefined, isKept: IsKept): JsonValue {
  if (typeof value !== 'object' || value === null || isKept(value, before)) return value;
  if (Array.isArray(value)) return value.map((item, i) => sortReached(item, Array.isArray(before) ? before[i] : undefined, isKept));
  const old = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
  const sorted = Object.keys(value).sort();
  return Object.fromEntries(sorted.map((key) => [key, sortReached(value[key] as JsonValue, Object.hasOwn(old, key) ? old[key] : undefined, isKept)]));
}

/** 422 of a patch whose result cannot be read: it names neither kind nor object, and shows the document. */
function patchInvalid(shown: string, why: string): StatusError {
  const error: FieldError = { reason: 'FieldValueInvalid', field: 'patch', message: `Invalid value: ${quoteValue(shown)}: ${why}` };
  return invalid({ group: '', kind: '' }, '', [error]);
}

const KINDS: Readonly<Record<string, string>> = { object: 'map', array: 'slice', number: 'int64' };

/** A value of the wrong type as upstream's converter of untyped objects words it, which strategic merge patches end in. */
function describeConversion(why: string, mismatch: DecodeError['mismatch']): string {
  if (mismatch === undefined) return why;
  const { found, wanted, kind, isFraction = false } = mismatch;
  if (kind === undefined) return `json: cannot unmarshal ${found} into Go value of type ${wanted}`;
  if (found.startsWith('number ')) return `cannot convert float64 to ${wanted}`;
  const source = isFraction ? 'float64' : KINDS[found] ?? found;
  if (kind === 'struct') return `cannot restore struct from: ${source}`;
  if (kind === 'map' || kind === 'slice') return `cannot restore ${kind} from ${source}`;
  // Go would make a character of a number.
  return kind === 'string' && source === 'int64' ? `cannot convert int64 to ${wanted}` : `unrecognized type: ${kind}`;
}

/** The kind of custom objects may be taken away, but not changed. */
function checkCustomType({ kind, apiVersion, metadata }: JsonObject, expected: Expected): void {
  const isKind = kind === undefined || kind === null || kind === '' || kind === expected.kind;
  const isVersion = apiVersion === undefined || apiVersion === null || apiVersion === '' || apiVersion === formatGroupVersion(expected);
  if (!isKind && isVersion && apiVersion) {
    const { name = '' } = (metadata ?? {}) as { name?: string };
    throw invalid({ group: expected.group, kind: String(kind) }, name, [invalidValue('kind', kind, `must be ${expected.kind}`)]);
  }
  if (!isKind || !isVersion) throw failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** Reads the type that a document says it has, which must be the expected one; without a version the reference finds no name in it either. */
function checkDocumentType({ kind, apiVersion }: JsonObject, { expected, call }: PatchContext, fail: (why: string) => StatusError): void {
  for (const [name, value] of [['apiVersion', apiVersion], ['kind', kind]] as const) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw fail(versionKindError(notAString(name, value)));
  }
  if (!apiVersion) throw namelessObject(call.name);
  const named = parseGroupVersion(apiVersion as string);
  if (named === undefined) throw fail(`unexpected GroupVersion string: ${apiVersion as string}`);
  const given = { ...named, kind: (kind as string) || expected.kind };
  if (given.kind !== expected.kind || apiVersion !== formatGroupVersion(expected)) throw fail(notRegistered(given));
}

/** How a patched document that cannot be read is told of. */
interface Shown {
  readonly text: () => string;
  /** The reference gets the object from the document without JSON in between. */
  readonly converted: boolean;
}

/** Reads the patched document back into an object: types, strictness, defaults. */
function readResult(document: JsonObject, context: PatchContext, { text, converted }: Shown): KubeObject {
  const { call, expected, level, problems } = context;
  const fail = (why: string): StatusError => patchInvalid(text(), why);
  if (expected.custom) checkCustomType(document, expected);
  else if (!converted) checkDocumentType(document, context, fail);
  const { object, strictErrors } = typeObject({ value: document }, expected, (why, mismatch) => fail(converted ? describeConversion(why, mismatch) : why));
  const found = [...problems, ...[...strictErrors].sort()];
  if (level === 'Strict' && found.length > 0) throw fail(`strict decoding error: ${found.join(', ')}`);
  if (level === 'Warn') call.exchange.warnings.push(...found);
  return expected.kind === call.resource.kind ? defaultObject(object, call.target) : object;
}

/** The document that a patch sees: the object, or its Scale. Patches change nothing in place. */
const documentOf = ({ subresource, resource }: ResourceRequest, current: KubeObject): JsonObject =>
  (subresource === 'scale' ? toScale(resource, current, unsetReplicas) : current) as unknown as JsonObject;

/** The patch is read when there is an object to apply it to: an absent object is told first. */
function patchTransform(base: PatchContext, read: () => ReadPatch): (current: KubeObject | undefined) => KubeObject {
  const { call } = base;
  let known: ReadPatch | undefined;
  return (current) => {
    known ??= read();
    const { patch, shown, problems, isKept = isShared } = known;
    const context = { ...base, problems };
    const before = documentOf(call, current as KubeObject);
    const document = patch(before);
    const text = (): string => (shown ? formatGo(shown) : stringifyJson(sortReached(document, before, isKept)));
    const next = readResult(document, context, { text, converted: shown !== undefined });
    checkIdentity(call.target, call.name, next);
    return call.subresource === 'scale' ? withScale(call.resource, current as KubeObject, next) : next;
  };
}

function readPatch(type: string, bytes: Uint8Array, expected: Expected): ReadPatch {
  if (type === JSON_PATCH_TYPE) return readJsonPatch(bytes);
  return type === MERGE_PATCH_TYPE ? readMergePatch(bytes) : readStrategicPatch(bytes, expected);
}

/** The configuration of a server-side apply. Duplicate keys are judged by the YAML reader, everything else by apply itself. */
async function readApplied(bytes: Uint8Array, level: Level, call: ResourceRequest): Promise<JsonObject> {
  const { exchange: { warnings } } = call;
  const { value, duplicates } = await yamlParserOf(call)(bytes).catch((error: unknown) => {
    throw error instanceof YamlError ? badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`) : error;
  });
  if (level === 'Strict' && duplicates.length > 0) {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${formatYamlDuplicates(duplicates)}`);
  }
  if (level === 'Warn') warnings.push(...duplicates);
  return requireObject(value ?? {}, 'error decoding YAML: error unmarshaling JSON: while decoding JSON: ');
}

/** 500 of a configuration that the schema does not allow; upstream names it before its namespace is filled in. */
function untypedConfiguration({ metadata }: KubeObject, { group, version, kind }: Expected, why: string): StatusError {
  const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  return failure(500, '', `failed to create typed patch object (${name}; ${group}/${version}, Kind=${kind}): ${why}`);
}

/** A configuration has to name its type and must not state owners. */
function checkAppliedType({ apiVersion, kind, metadata }: KubeObject, expected: Expected): void {
  if (apiVersion !== formatGroupVersion(expected) || kind !== expected.kind) {
    // What is no text is none, and without a group version there is no kind either.
    const version = typeof apiVersion === 'string' ? apiVersion : '';
    const named = parseGroupVersion(version);
    const shown = named === undefined || version === '' ? '/' : `${named.group}/${named.version}`;
    throw badRequest(`invalid object type: ${shown}, Kind=${named !== undefined && typeof kind === 'string' ? kind : ''}`);
  }
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) throw badRequest('metadata.managedFields must be nil');
}

/** What a write says of an object that its schema cannot read back. */
function unreadable({ metadata }: KubeObject, { group, version, kind }: Expected, why: string): StatusError {
  const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  const type = `${group}/${version}, Kind=${kind}`;
  return failure(500, '', `failed to convert new object (${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ` +
    `error decoding from json: ${why}`);
}

async function applyTransform(context: PatchContext, bytes: Uint8Array): Promise<(current: KubeObject | undefined) => KubeObject> {
  const { call, query, expected, level } = context;
  const applied = (await readApplied(bytes, level, call)) as unknown as KubeObject;
  applied.metadata ??= {};
  checkAppliedType(applied, expected);
  // It fills the namespace in, which is not the applier's to own.
  checkIdentity(call.target, call.name, { metadata: Object.assign({}, applied.metadata) });
  const problem = typedProblem(expected.schema, applied);
  if (problem !== undefined) throw untypedConfiguration(applied, expected, problem);
  return (current) => {
    const next = applyObject({
      resource: call.resource, version: call.target.version, subresource: call.subresource, schema: expected.schema, manager: query.fieldManager,
      force: query.force ?? false, nowMs: call.dependencies.clock.now(), current, applied,
    });
    if (call.subresource === 'scale') return checkScale(call.resource, next);
    const { object } = typeObject({ value: next as unknown as JsonObject }, expected, (why) => unreadable(applied, expected, why));
    return defaultObject(object, call.target, { keepNulls: true });
  };
}

/** Patches an object. */
export async function handlePatch(call: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, target, name, subresource } = call;
  const type = patchType(call);
  const representation = negotiateCall(call);
  const bytes = await readBody(call);
  const query = parseWriteQuery(exchange.query);
  const isApply = type === APPLY_PATCH_TYPE;
  validateWriteQuery('PatchOptions', query, isApply);
  const expected = expectedKind(call);
  const base = { call, expected, query, level: validationLevel(query), problems: [] };
  const transform = isApply ? await applyTransform(base, bytes) : patchTransform(base, () => readPatch(type, bytes, expected));
  const result = await dependencies.registry.update({
    name, subresource, transform, managedFields: isApply ? 'keep' : 'update', isPatch: true, createIfAbsent: isApply && subresource === '',
    context: writeContext(call, query), ...target,
  });
  return respondWrite(call, result, representation);
}
