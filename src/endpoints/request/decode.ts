// Bodies to objects: media type, size, syntax, type, fields, strictness, defaults; each failure in the reference's words.
import { isJsonObject } from '../../base/index.ts';
import {
  DecodeError, decodeCustomObject, decodeObject, formatGroupVersion, type GroupVersionKind, invalid, invalidValue, badRequest, type JsonObject,
  type JsonValue, type KubeObject, notRegistered, parseGroupVersion, type Schema, sortDeep, unsupportedMediaType,
} from '../../apimachinery/index.ts';
import {
  CborError, decodeEnvelope, decodeMessage, formatCbor, formatYamlDuplicates, JsonError, type OddNumber, parseCbor, parseJson, type ParseYaml,
  ProtobufError, YamlError,
} from '../../codec/index.ts';
import { type Catalog, type Resource, versionIn } from '../../registry/index.ts';
import {
  cannotBeHandled, cborDecodeError, cborMismatch, cborTypeError, isFormerVersion, notAnObject, notAString, TYPE_META_NAME, unknownConversion,
  unknownInternally, unrecognized, versionKindError,
} from './decode-errors.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Form } from './media.ts';
import { bodyForm } from './negotiate.ts';

/** Bodies are at most this long. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** More problems than these are not listed. */
const MAX_STRICT_ERRORS = 100;

/** How unknown and duplicate fields are treated: upstream's `fieldValidation`. */
export type Level = 'Ignore' | 'Warn' | 'Strict';

/** The kind that a body has to have. */
export interface Expected extends GroupVersionKind {
  readonly schema: Schema;
  readonly custom: boolean;
  /** Versions that are not served and mean the same. */
  readonly formerVersions?: readonly string[];
  readonly findUnreadable?: Resource['findUnreadable'];
}

/** The catalog that knows kinds, and how problems are reported. */
interface DecodeContext {
  readonly catalog: Catalog;
  readonly level: Level;
  readonly warnings: string[];
  readonly parseYaml: ParseYaml;
  /** Gives other requests a turn between parsing and typing, when one is due. */
  readonly pause: () => Promise<void> | undefined;
  /** Takes another kind that the body of a custom resource names; without it such a body is refused. */
  readonly noteKind?: (kind: string) => void;
}

/** Time that a body may take before other requests have their turn. */
export const BODY_TURN_MS = 12;

/** A body as it was received. */
export interface RawBody {
  readonly bytes: Uint8Array;
  readonly form: Form;
}

/** The form that the request's Content-Type names; throws the 415 of another one. */
export function requireBodyForm({ exchange, dependencies: { media } }: Pick<ResourceRequest, 'exchange' | 'dependencies'>): Form {
  const form = bodyForm(exchange.headers['content-type'], media);
  if (form === undefined) throw unsupportedMediaType(media.objectTypes);
  return form;
}

interface Parsed {
  readonly value: JsonValue;
  /** Keys that were set twice: paths in JSON, lines in YAML. */
  readonly duplicates: readonly string[];
  readonly oddNumbers?: readonly OddNumber[] | undefined;
  /** The apiVersion and kind of the envelope; absent in text, which carries them itself. */
  readonly type?: { readonly apiVersion: string; readonly kind: string };
  readonly raw?: Uint8Array;
  /** What makes well-formed CBOR unacceptable once its type is known. */
  readonly problem?: string | undefined;
  /** The member of the object that it is in. */
  readonly problemField?: string | undefined;
}

function parseCborBody(bytes: Uint8Array): Parsed {
  const { value, problem, problemField, outerProblem, oddNumbers } = parseCbor(bytes);
  if (outerProblem !== undefined) throw new CborError(outerProblem);
  return { value, duplicates: [], oddNumbers, problem, problemField };
}

async function parseBody({ bytes, form }: RawBody, expected: Expected, { parseYaml }: DecodeContext): Promise<Parsed> {
  try {
    if (form === 'yaml') return await parseYaml(bytes);
    if (form === 'cbor') return parseCborBody(bytes);
    if (form === 'json') return parseJson(bytes, { onDuplicate: expected.custom ? 'last' : 'merge' });
    const { apiVersion, kind, raw } = decodeEnvelope(bytes);
    return { value: null, duplicates: [], type: { apiVersion, kind }, raw };
  } catch (error) {
    if (error instanceof CborError) throw unrecognized(expected.kind, cborTypeError(error.message), bytes);
    if (error instanceof JsonError) throw unrecognized(expected.kind, versionKindError(error.message), bytes);
    if (error instanceof YamlError || error instanceof ProtobufError) throw unrecognized(expected.kind, error.message, bytes);
    throw error;
  }
}

/** Text about a body that is no object, or whose apiVersion or kind is no string. */
export function mistyped(value: JsonValue, form: Form, field?: 'apiVersion' | 'kind'): string {
  if (form !== 'cbor') return versionKindError(field === undefined ? notAnObject(value) : notAString(field, value));
  return cborTypeError(field === undefined
    ? cborMismatch(value, 'Go value', TYPE_META_NAME) : cborMismatch(value, `Go struct field v1.TypeMeta.${field}`, 'string'));
}

/** apiVersion and kind of a parsed body; throws the reference's error for values of other types. */
function readType(value: JsonValue, form: Form, fail: (why: string) => Error): { apiVersion: string; kind: string } {
  if (value === null) return { apiVersion: '', kind: '' };
  if (typeof value !== 'object' || Array.isArray(value)) throw fail(mistyped(value, form));
  const read = (field: 'apiVersion' | 'kind'): string => {
    const found = value[field] ?? '';
    if (typeof found !== 'string') throw fail(mistyped(found, form, field));
    return found;
  };
  return { apiVersion: read('apiVersion'), kind: read('kind') };
}

/** The type of the body; fields that it omits come from the path. */
function resolveType(type: { apiVersion: string; kind: string }, expected: GroupVersionKind, fail: (why: string) => Error): GroupVersionKind {
  const groupVersion = parseGroupVersion(type.apiVersion);
  if (!groupVersion) throw fail(`unexpected GroupVersion string: ${type.apiVersion}`);
  const { group, version } = groupVersion.group === '' && groupVersion.version === '' ? expected : groupVersion;
  return { group, version, kind: type.kind === '' ? expected.kind : type.kind };
}

/** Kinds that upstream registers in every group version. */
const metaKinds = new Set(['List', 'Status', 'DeleteOptions', 'ListOptions', 'GetOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'WatchEvent']);

function isRegistered(catalog: Catalog, { group, version, kind }: GroupVersionKind): boolean {
  if (metaKinds.has(kind)) return catalog.groups().some(({ name, versions }) => name === group && versions.includes(version));
  const resource = catalog.findKind(group, kind) ?? catalog.findKind(group, kind.replace(/List$/, ''));
  return resource !== undefined && !resource.custom && (versionIn(resource, version) !== undefined || isFormerVersion(group, version));
}

/** Text about a document of another kind and of no version. */
export function describeInternal(catalog: Catalog, kind: string, expected: GroupVersionKind): string {
  const resource = catalog.findKind(expected.group, kind) ?? catalog.findKind(expected.group, kind.replace(/List$/, ''));
  return unknownInternally(kind, expected, resource !== undefined && !resource.custom);
}

/** Text about a document of another kind or version than that of the path. */
export function describeOther(catalog: Catalog, found: GroupVersionKind, expected: GroupVersionKind): string {
  const isOther = found.kind !== expected.kind || found.group !== expected.group;
  return isOther && isRegistered(catalog, found) ? unknownConversion(found, expected) : notRegistered(found);
}

function mismatchedVersion(found: GroupVersionKind, expected: GroupVersionKind): Error {
  return badRequest(`the API version in the data (${formatGroupVersion(found)}) does not match the expected API version (${formatGroupVersion(expected)})`);
}

/** Throws what is wrong with a body of another kind than that of the path: upstream reads it as what it says before it converts it. */
function readOther(found: GroupVersionKind, value: JsonValue | undefined, catalog: Catalog, fail: (why: string) => Error): void {
  const resource = catalog.findKind(found.group, found.kind);
  const schema = resource === undefined ? undefined : versionIn(resource, found.version)?.schema;
  if (schema === undefined || !isJsonObject(value)) return;
  try {
    decodeObject(schema, value as JsonObject);
  } catch (error) {
    throw error instanceof DecodeError ? fail(error.message) : error;
  }
}

/** Whether objects of two groups are the same ones (Events): bodies of the one can be read as the other. */
function isStoredAlike(catalog: Catalog, one: GroupVersionKind, other: GroupVersionKind): boolean {
  const [first, second] = [one, other].map(({ group, kind }) => catalog.findKind(group, kind));
  const placeOf = ({ storedAs, group, plural }: Resource): string => storedAs ?? `${group}/${plural}`;
  return first !== undefined && second !== undefined && placeOf(first) === placeOf(second);
}

/** Throws unless the body, which `value` is where it is not protobuf, is of the kind of the path. */
function checkType(
  found: GroupVersionKind, expected: Expected, { catalog, value }: { readonly catalog: Catalog; readonly value?: JsonValue | undefined },
): void {
  const isVersion = found.version === expected.version || expected.formerVersions?.includes(found.version) === true;
  if (found.kind === expected.kind && found.group === expected.group && isVersion) return;
  if (!isRegistered(catalog, found)) throw cannotBeHandled(found, expected.kind, notRegistered(found));
  const fail = (why: string): Error => cannotBeHandled(found, expected.kind, why);
  if (found.kind !== expected.kind || found.group !== expected.group) {
    readOther(found, value, catalog, fail);
    if (!isStoredAlike(catalog, found, expected)) throw fail(unknownConversion(found, expected));
  }
  throw mismatchedVersion(found, expected);
}

/** A body in a version that is not served has no schema, so each of its fields is reported as unknown. */
function warnOfUnknown(value: JsonValue, apiVersion: string, { expected, context }: { readonly expected: Expected; readonly context: DecodeContext }): void {
  const found = parseGroupVersion(apiVersion);
  if (context.level !== 'Warn' || found?.group !== expected.group) return;
  const resource = context.catalog.findKind(expected.group, expected.kind);
  if (resource === undefined || versionIn(resource, found.version) !== undefined) return;
  const unknown = Object.keys(value as JsonObject).filter((key) => key !== 'apiVersion' && key !== 'kind' && key !== 'metadata').sort();
  context.warnings.push(...unknown.map((key) => `unknown field ${JSON.stringify(key)}`));
}

/** Upstream reads an apiVersion or kind in CBOR that is no string as absent in custom resources. */
function withoutOddType(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const { apiVersion, kind } = value;
  return { ...(typeof apiVersion === 'string' && { apiVersion }), ...(typeof kind === 'string' && { kind }) };
}

/** Custom resources have to name their type. */
function checkCustomType(
  value: JsonValue, { bytes, form }: RawBody, { expected, context }: { readonly expected: Expected; readonly context: DecodeContext },
): void {
  const shown = (): string => (form === 'cbor' ? formatCbor(value) : new TextDecoder().decode(bytes));
  const { apiVersion, kind } = readType(form === 'cbor' ? withoutOddType(value) : value, form, (why) => unrecognized(expected.kind, why, bytes));
  if (kind === '') throw unrecognized(expected.kind, `Object 'Kind' is missing in '${shown()}'`, bytes);
  if (form === 'cbor' && apiVersion === '') throw cannotBeHandled({ version: '', kind }, expected.kind, `Object 'apiVersion' is missing in '${shown()}'`);
  if (apiVersion !== formatGroupVersion(expected)) {
    warnOfUnknown(value, apiVersion, { expected, context });
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${formatGroupVersion(expected)})`);
  }
  if (kind === expected.kind) return;
  if (context.noteKind !== undefined) return context.noteKind(kind);
  const name = (value as { metadata?: { name?: string } }).metadata?.name ?? '';
  throw invalid({ group: expected.group, kind }, name, [invalidValue('kind', kind, `must be ${expected.kind}`)]);
}

/** Texts about keys that YAML or a custom resource sets twice; they come before what the schema says. */
function duplicateTexts({ duplicates }: Parsed, form: Form, level: Level): string[] {
  if (form !== 'yaml') return duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  return level === 'Strict' && duplicates.length > 0 ? [formatYamlDuplicates(duplicates)] : [...duplicates];
}

/** Adds the problems of one document to the warnings, ignores or throws them, as the level says. */
export function reportProblems(
  problems: readonly string[], { level, warnings }: Pick<DecodeContext, 'level' | 'warnings'>, fail: (why: string) => Error,
): void {
  if (level === 'Ignore' || problems.length === 0) return;
  const shown = problems.slice(0, MAX_STRICT_ERRORS);
  if (level === 'Strict') throw fail(`strict decoding error: ${shown.join(', ')}`);
  warnings.push(...shown);
}

function decodeProtobuf(raw: Uint8Array, expected: Expected, bytes: Uint8Array): KubeObject {
  try {
    return readOwn(withType(decodeMessage(expected.schema, raw) as unknown as KubeObject, expected), expected,
      (why) => cannotBeHandled(expected, expected.kind, why));
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognized(expected.kind, error.message, bytes);
    throw error;
  }
}

/** A parsed body that has no type yet. */
interface Untyped {
  readonly value: JsonObject;
  readonly duplicates?: readonly string[];
  readonly oddNumbers?: readonly OddNumber[] | undefined;
  /** Of several problems, the first in the order of the schema is thrown. */
  readonly inFieldOrder?: boolean;
  /** The value was converted to an object without JSON in between. */
  readonly untyped?: boolean;
  /** The typed object that the value was made from: what the two share is typed already. */
  readonly before?: KubeObject | undefined;
  /** Makes the error of an object that fits its schema and cannot be read all the same; absent: as of one that does not fit. */
  readonly unreadable?: (why: string) => Error;
}

/** The object, if the reference can read it. */
function readOwn(object: KubeObject, { findUnreadable }: Expected, fail: (why: string) => Error): KubeObject {
  const problem = findUnreadable?.(object);
  if (problem !== undefined) throw fail(problem);
  return object;
}

/** Types JSON by a schema; `fail` makes the error of a value that does not fit. Returns the object and the texts about unknown and duplicate fields. */
export function typeObject(
  { value, duplicates, oddNumbers, inFieldOrder = false, untyped = false, before, unreadable }: Untyped, expected: Expected,
  fail: (why: string, mismatch?: DecodeError['mismatch']) => Error,
): { object: KubeObject; strictErrors: readonly string[]; firstUnknownIndex?: number | undefined } {
  try {
    const options = { keepEmptyLists: true, ...(duplicates && { duplicates }), ...(oddNumbers && { oddNumbers }), inFieldOrder, untyped, before };
    if (expected.custom) {
      const decoded = decodeCustomObject(expected.schema, value, { before, keepsNulls: untyped });
      return { object: withType(decoded.object as unknown as KubeObject, expected), strictErrors: decoded.strictErrors };
    }
    const { object, strictErrors, firstUnknownIndex } = decodeObject(expected.schema, value, options);
    const typed = readOwn(withType(object as unknown as KubeObject, expected), expected, unreadable ?? fail);
    if (clearsManagedFields(value)) typed.metadata.managedFields = [];
    if (statesDeletion(value)) typed.metadata.deletionTimestamp ??= '';
    return { object: typed, strictErrors, firstUnknownIndex };
  } catch (error) {
    if (error instanceof DecodeError) throw fail(error.message, error.mismatch);
    throw error;
  }
}

/** An empty list of managedFields asks to remove all of them; typing drops it, as every empty list with omitempty. */
function clearsManagedFields({ metadata }: JsonObject): boolean {
  if (!isJsonObject(metadata)) return false;
  return Array.isArray(metadata['managedFields']) && metadata['managedFields'].length === 0;
}

/** Whether a time of deletion is stated. Go's zero time is one, though typing drops it as unset. */
function statesDeletion({ metadata }: JsonObject): boolean {
  return isJsonObject(metadata) && typeof metadata['deletionTimestamp'] === 'string';
}

/** The texts that do not depend on the schema of a custom resource: what names another kind is read without it, but for its metadata. */
export const errorsOfMetadata = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => !text.startsWith('unknown field') || text.startsWith('unknown field "metadata.'));

/** The object with kind, apiVersion and metadata; kind and apiVersion come first where they were absent. */
function withType(object: KubeObject, expected: Expected): KubeObject {
  const type = { kind: expected.kind, apiVersion: formatGroupVersion(expected) };
  const typed = object.kind && object.apiVersion ? Object.assign(object, type) : { ...type, ...object, ...type };
  typed.metadata ??= {};
  return typed;
}

/** Decodes a body into an object of the expected kind, without defaults. */
export async function decodeBody(body: RawBody, expected: Expected, context: DecodeContext): Promise<KubeObject> {
  const parsed = await parseBody(body, expected, context);
  await context.pause();
  return typeBody(parsed, body, { expected, context });
}

function typeBody(parsed: Parsed, body: RawBody, { expected, context }: { readonly expected: Expected; readonly context: DecodeContext }): KubeObject {
  const fail = (why: string): Error => unrecognized(expected.kind, why, body.bytes);
  if (expected.custom && !parsed.raw) checkCustomType(parsed.value, body, { expected, context });
  const found = resolveType(parsed.type ?? readType(parsed.value, body.form, fail), expected, fail);
  if (!expected.custom || parsed.raw) checkType(found, expected, { catalog: context.catalog, ...(!parsed.raw && { value: parsed.value }) });
  if (parsed.raw) return decodeProtobuf(parsed.raw, expected, body.bytes);
  const cannot = (why: string): Error => cannotBeHandled(found, expected.kind, why);
  // Upstream converts YAML to JSON through a Go map, so its problems are reported in the order of sorted keys.
  const value = (body.form === 'yaml' && !expected.custom ? sortDeep(parsed.value ?? {}) : parsed.value ?? {}) as JsonObject;
  if (parsed.problem !== undefined) throw cannot(expected.custom ? parsed.problem : placeProblem(parsed.problem, parsed.problemField, expected));
  if (body.form === 'cbor' && !expected.custom) return typeCbor({ ...parsed, value }, { expected, context, cannot });
  const inPlace = body.form === 'json' && !expected.custom;
  const { object, strictErrors: all } = typeObject(inPlace ? { ...parsed, value } : { value }, expected, cannot);
  const strictErrors = expected.custom && found.kind !== expected.kind ? errorsOfMetadata(all) : all;
  // As upstream, unknown fields of custom resources that come as CBOR are not reported.
  if (body.form === 'cbor') return object;
  reportProblems(inPlace ? strictErrors : [...duplicateTexts(parsed, body.form, context.level), ...strictErrors], context, cannot);
  return object;
}

/** The text of a problem as the decoder of a struct words it: it names the field that the problem is in. */
function placeProblem(problem: string, field: string | undefined, { version, kind }: GroupVersionKind): string {
  return field === undefined ? problem : problem.replace(' into Go value of', ` into Go struct field ${version}.${kind}.${field} of`);
}

/** Types a built-in object that came as CBOR, whose decoder has words of its own. */
function typeCbor(
  parsed: Untyped, { expected, context, cannot }: { readonly expected: Expected; readonly context: DecodeContext; readonly cannot: (why: string) => Error },
): KubeObject {
  const { object, strictErrors, firstUnknownIndex } = typeObject(parsed, expected, (why, mismatch) => cannot(cborDecodeError(why, expected, mismatch)));
  reportProblems(strictErrors.length > 0 ? [`cbor: found unknown field at map element index ${firstUnknownIndex}`] : [], context, cannot);
  return object;
}
