// The patch types but apply: each is parsed to a function from the current document to the next one, with the problems of the patch itself.
// Error texts mirror upstream's patchers; patch.ts reads the result back into an object.
import { isJsonObject } from '../../base/index.ts';
import {
  applyMergePatch, applyStrategicMergePatch, badRequest, compileJsonPatch, failure, type JsonObject, type JsonValue, type StatusError,
} from '../../apimachinery/index.ts';
import { JsonError, parseJson } from '../../codec/index.ts';
import { cloneJson } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Expected, Level } from '../request/decode.ts';
import { jsonType } from '../request/decode-errors.ts';
import { JSON_PATCH_TYPE, MERGE_PATCH_TYPE } from '../request/media.ts';
import type { WriteQuery } from '../request/options.ts';

/** A JSON patch may have this many operations. */
const MAX_OPERATIONS = 10_000;

/** A patch request, and the rules for the document that it results in. */
export interface PatchContext {
  readonly request: ResourceRequest;
  readonly expected: Expected;
  readonly query: WriteQuery;
  readonly level: Level;
  /** Problems of the patch itself, which are reported before those of its result. */
  readonly problems: readonly string[];
}

/** From the current document to the next one. */
type PatchDocument = (current: JsonObject) => JsonObject;

interface ParsedPatch {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
  readonly respelled?: readonly string[];
}

function parsePatch(bytes: Uint8Array, describe: (why: string) => string): ParsedPatch {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw badRequest(describe(error.message));
    throw error;
  }
}

const textFields = new Set(['op', 'path', 'from']);
const operationFields = new Set([...textFields, 'value']);

/** 400 of a part of a patch that is of a wrong type: validation of fields reads a patch first, in words of its own. */
function unreadableOperation(value: JsonValue, level: Level, type: 'Operation' | 'Patch'): StatusError {
  const found = `json: cannot unmarshal ${jsonType(value)} into Go value of type`;
  if (level === 'Ignore') return badRequest(`${found} jsonpatch.${type}`);
  return badRequest(`error decoding patch: ${found} ${type === 'Patch' ? '[]' : ''}handlers.jsonPatchOp`);
}

function checkOperations(value: JsonValue, level: Level): JsonObject[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw unreadableOperation(value, level, 'Patch');
  if (value.length > MAX_OPERATIONS) {
    throw failure(413, 'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${value.length}`);
  }
  const operations = value.map((operation) => operation ?? {});
  for (const operation of operations) {
    if (typeof operation !== 'object' || Array.isArray(operation)) throw unreadableOperation(operation, level, 'Operation');
    if (level !== 'Ignore') checkTexts(operation);
  }
  return operations as JsonObject[];
}

/** Throws the 400 of a member that must be text and is not. Without field validation such a patch fails where it is applied. */
function checkTexts(operation: JsonObject): void {
  for (const [name, text] of Object.entries(operation)) {
    if (!textFields.has(name) || typeof text === 'string' || text === null) continue;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(text)} into Go struct field jsonPatchOp.${name} of type string`);
  }
}

/** Whether something in a patched document is as it was before. */
export type IsKept = (value: JsonValue, before: JsonValue | undefined) => boolean;

/** Merge patches share the values that they do not change, and copy the values that they set. */
export const isShared: IsKept = (value, before) => value === before;

/** A parsed patch. */
export interface ReadPatch {
  readonly patch: PatchDocument;
  readonly problems: readonly string[];
  /** The document that errors print, for strategic merge patches: what was left of the patch. Errors of other patches print the result. */
  readonly shown?: () => JsonObject;
  readonly isKept?: IsKept;
}

function readJsonPatch(bytes: Uint8Array, level: Level): ReadPatch {
  const name = (why: string): string => why.replace('into Go value of type float64', 'into Go struct field jsonPatchOp.value of type float64');
  const { value, duplicates, respelled = [] } = parsePatch(bytes, (why) => (level === 'Ignore' ? why : `error decoding patch: ${name(why)}`));
  const operations = checkOperations(value, level);
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(operation).filter((key) => !operationFields.has(key)).map((key) => `json patch unknown field ${JSON.stringify(`[${index}].${key}`)}`));
  const repeated = duplicates.filter((path) => /^\[\d+\]\.[^.[]+$/.test(path)).map((path) => `json patch duplicate field ${JSON.stringify(path)}`);
  const compiled = compileJsonPatch(operations, new Set(respelled.map((path) => Number(/^\[(\d+)\]\.value/.exec(path)?.[1]))));
  let reached = new WeakSet<object>();
  const patch = (current: JsonObject): JsonObject => compiled(current, (reached = new WeakSet())) as JsonObject;
  // Objects that no operation led into keep the order of their keys.
  const isKept: IsKept = (value) => typeof value !== 'object' || value === null || (!Array.isArray(value) && !reached.has(value));
  return { patch, problems: [...unknown, ...repeated], isKept };
}

/** The value as an object; throws the 400 of another one, with `prefix` before Go's text. */
export function requireObject(value: JsonValue, prefix: string): JsonObject {
  if (!isJsonObject(value)) {
    throw badRequest(`${prefix}json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`);
  }
  return value;
}

const duplicateTexts = (duplicates: readonly string[]): string[] => duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);

const NO_PATCH = 'Invalid JSON Patch';

function readMergePatch(bytes: Uint8Array, level: Level): ReadPatch {
  const { value, duplicates } = parsePatch(bytes, (why) => (level === 'Ignore' ? NO_PATCH : `error decoding patch: ${why}`));
  if (value === null || (level === 'Ignore' && typeof value !== 'object')) throw badRequest(NO_PATCH);
  // Where fields are not validated a list takes the place of the object, which is refused after that.
  if (level === 'Ignore' && Array.isArray(value)) return { patch: () => value as unknown as JsonObject, problems: [] };
  const patch = requireObject(value, 'error decoding patch: ');
  return { patch: (current) => applyMergePatch(current, patch), problems: duplicateTexts(duplicates) };
}

function readStrategicPatch(bytes: Uint8Array, { schema }: Expected): ReadPatch {
  const { value, duplicates } = parsePatch(bytes, (why) => why);
  const patch = requireObject(value ?? {}, '');
  let left = patch;
  const apply = (current: JsonObject): JsonObject => {
    left = cloneJson(patch);
    return applyStrategicMergePatch(current, left, schema);
  };
  return { patch: apply, problems: duplicateTexts(duplicates), shown: () => left };
}

/** Parses a patch of this media type; throws the 400 of one that is malformed. */
export function readPatch(type: string, bytes: Uint8Array, { expected, level }: Pick<PatchContext, 'expected' | 'level'>): ReadPatch {
  if (type === JSON_PATCH_TYPE) return readJsonPatch(bytes, level);
  return type === MERGE_PATCH_TYPE ? readMergePatch(bytes, level) : readStrategicPatch(bytes, expected);
}
