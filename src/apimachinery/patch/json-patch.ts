// RFC 6902 as the reference's library applies it: negative indices count from the end, replacing an absent member adds it,
// copying from an absent one copies null, and a test for null passes where nothing is. Operations, copied bytes and depth are bounded.
import { requestEntityTooLarge, type StatusError, badRequest, failure } from '../status.ts';
import type { JsonValue } from '../object.ts';
import { isMap, ownValue } from '../apply/value.ts';
import { DraftError, JsonDraft } from './json-draft.ts';

/** The reference's bound on operations of one patch; more are refused with 413. */
const MAX_OPERATIONS = 10_000;
/** Bytes that copy operations of one patch may add up to. */
const MAX_COPY_BYTES = 3 * 1024 * 1024;

/** Deepest result: what parsing accepts. */
const MAX_DEPTH = 1000;

/** The segments of a pointer; undefined for what is no pointer. */
type Path = readonly string[] | undefined;

interface Operation {
  readonly op: string;
  readonly path: Path;
  readonly from: Path;
  readonly value: JsonValue;
}

/** What every patch that cannot be applied is answered; the reason stays in the server. */
const refuse = (): StatusError => failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

function readOperation(value: JsonValue): Operation {
  if (!isMap(value)) {
    if (value === null) return { op: '', path: undefined, from: undefined, value: null };
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go value of type handlers.jsonPatchOp`);
  }
  const op = ownValue(value, 'op');
  const path = (name: string): Path => readPointer(ownValue(value, name));
  return { op: typeof op === 'string' ? op : '', path: path('path'), from: path('from'), value: (ownValue(value, 'value') ?? null) as JsonValue };
}

function readPointer(pointer: unknown): Path {
  if (pointer === '') return [];
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) return undefined;
  return pointer.slice(1).split('/').map((segment) => (segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment));
}

/** Reads and bounds a patch once, for use on every round of an update; the result shares unchanged parts with the document. Throws StatusError. */
export function compileJsonPatch(operations: JsonValue): (current: JsonValue) => JsonValue {
  if (operations !== null && !Array.isArray(operations)) {
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`);
  }
  const list = (operations ?? []).map(readOperation);
  if (list.length > MAX_OPERATIONS) throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${list.length}`);
  return (current) => applyOperations(current, list);
}

/** Applies all operations; the document is not changed. Throws StatusError for the first that cannot be applied. */
function applyOperations(document: JsonValue, list: readonly Operation[]): JsonValue {
  const draft = new JsonDraft(document);
  const budget: Budget = { bytes: MAX_COPY_BYTES };
  try {
    for (const operation of list) applyOperation(draft, operation, budget);
    const result = draft.finish();
    measure(result, { bytes: Infinity });
    return result;
  } catch (error) {
    throw error instanceof DraftError ? refuse() : error;
  }
}

/** A path of at least one segment; `''` names the document itself, which no operation replaces. */
function checkPath(path: Path): readonly string[] {
  if (path === undefined || path.length === 0) throw new DraftError('no path');
  return path;
}

function checkSource(path: Path): readonly string[] {
  if (path === undefined) throw new DraftError('no pointer');
  return path;
}

function applyOperation(draft: JsonDraft, { op, path, from, value }: Operation, budget: Budget): void {
  switch (op) {
    case 'add': return draft.add(checkPath(path), value);
    case 'replace': return draft.replace(checkPath(path), value);
    case 'remove': return draft.remove(checkPath(path));
    case 'test': {
      if (!draft.equals(draft.read(checkSource(path)) ?? null, value)) throw new DraftError('another value');
      return;
    }
    case 'copy': {
      const found = draft.share(draft.read(checkSource(from))) ?? null;
      measure(found, budget);
      return draft.add(checkPath(path), found);
    }
    case 'move': {
      const moved = draft.read(checkSource(from));
      draft.remove(checkPath(from));
      return draft.add(checkPath(path), moved);
    }
    default: throw new DraftError('no operation');
  }
}

/** Bytes of JSON that are still allowed. */
interface Budget {
  bytes: number;
}

/** Takes the size of a value from the budget; throws DraftError when it is used up or the value is nested too deep. */
function measure(value: unknown, budget: Budget, depth = 0): void {
  if (depth > MAX_DEPTH) throw new DraftError('nested too deep');
  budget.bytes -= typeof value === 'string' ? value.length + 2 : 4;
  if (budget.bytes < 0) throw new DraftError('too much is copied');
  if (Array.isArray(value)) for (const item of value) measure(item, budget, depth + 1);
  if (!isMap(value)) return;
  for (const key of Object.keys(value)) {
    budget.bytes -= key.length + 3;
    measure(value[key], budget, depth + 1);
  }
}
