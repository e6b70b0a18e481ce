// RFC 6902 as the reference's library applies it: negative indices count from the end, replacing an absent member adds it,
// copying from an absent one copies null, and a test for null passes where nothing is. Operations, copied bytes and depth are bounded.
// Patches of clients are refused without a reason, those of webhooks with the library's.
import { isJsonObject } from '../../base/index.ts';
import { requestEntityTooLarge, type StatusError, badRequest, failure } from '../status.ts';
import type { JsonValue } from '../object.ts';
import { ownValue } from '../apply/value.ts';
import { DraftError, JsonDraft, MissingContainerError } from './json-draft.ts';

/** The reference's bound on operations of one patch; more are refused with 413. */
const MAX_OPERATIONS = 10_000;
/** Bytes that copy operations of one patch may add up to. */
const MAX_COPY_BYTES = 3 * 1024 * 1024;

/** Deepest result: what parsing accepts. */
const MAX_DEPTH = 1000;

/** A pointer as it was given; without a slash it leads nowhere, but for `''`, the document itself. */
interface Pointer {
  readonly text: string;
  readonly segments: readonly string[] | undefined;
}

interface Operation {
  readonly op: string;
  readonly path: Pointer | undefined;
  readonly from: Pointer | undefined;
  readonly value: JsonValue;
  /** A test for a number in a spelling that no document has: the library compares texts. */
  readonly isHopeless?: boolean;
}

/** Why a patch is none or does not apply, in the words of the library that the reference uses. */
export class JsonPatchError extends Error {
  override readonly name: string = 'JsonPatchError';
}

/** A `test` operation that found something else: policies pass over such a patch. */
export class JsonPatchTestError extends JsonPatchError {
  override readonly name = 'JsonPatchTestError';
}

/** The same while the patch is applied. */
class TestFailure extends DraftError {}

/** What every patch of a client that cannot be applied is answered; the reason stays in the server. */
const refuse = (): StatusError => failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

function readOperation(value: JsonValue, goType: string): Operation {
  if (!isJsonObject(value)) {
    if (value === null) return { op: '', path: undefined, from: undefined, value: null };
    throw new JsonPatchError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${goType}`);
  }
  const op = ownValue(value, 'op');
  const pointer = (name: string): Pointer | undefined => readPointer(ownValue(value, name));
  return { op: typeof op === 'string' ? op : '', path: pointer('path'), from: pointer('from'), value: (ownValue(value, 'value') ?? null) as JsonValue };
}

/** Replaced one by one, a megabyte of these signs takes a second. */
const unescapeSegment = (segment: string): string => segment.split('~1').join('/').split('~0').join('~');

/** Like the library, passes over what stands before the first slash. */
function readPointer(text: unknown): Pointer | undefined {
  if (typeof text !== 'string') return undefined;
  if (text === '') return { text, segments: [] };
  const segments = text.split('/').slice(1).map((segment) => (segment.includes('~') ? unescapeSegment(segment) : segment));
  return { text, segments: segments.length === 0 ? undefined : segments };
}

function readOperations(operations: JsonValue, types: { readonly list: string; readonly item: string }): readonly Operation[] {
  if (operations === null) return [];
  if (!Array.isArray(operations)) throw new JsonPatchError(`json: cannot unmarshal ${jsonKind(operations)} into Go value of type ${types.list}`);
  return operations.map((operation) => readOperation(operation, types.item));
}

/** A patch that was read. */
export interface JsonPatch {
  readonly length: number;
  /** The patch as it was given. */
  readonly operations: JsonValue;
  /** The patched document, which shares unchanged parts with the one given. Throws JsonPatchError where the patch does not apply. */
  apply(document: JsonValue): JsonValue;
}

/** Reads a patch that a webhook or an expression made; throws JsonPatchError for what is no patch or has too many operations. */
export function decodeJsonPatch(operations: JsonValue): JsonPatch {
  const list = readOperations(operations, { list: 'jsonpatch.Patch', item: 'jsonpatch.Operation' });
  if (list.length > MAX_OPERATIONS) throw new JsonPatchError(`the allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${list.length}`);
  return { length: list.length, operations, apply: (document) => applyOperations(document, list) };
}

/**
 * Reads and bounds a patch once, for use on every round of an update; the result shares unchanged parts with the document. Throws StatusError.
 * Objects of the result that an operation led into are added to `reached`. `respelled`: operations with a number in their value that would be written
 * in another way.
 */
export function compileJsonPatch(
  operations: JsonValue, respelled: ReadonlySet<number> = new Set(),
): (current: JsonValue, reached?: WeakSet<object>) => JsonValue {
  const list = withStatus(() => readOperations(operations, { list: '[]handlers.jsonPatchOp', item: 'handlers.jsonPatchOp' }),
    ({ message }) => badRequest(`error decoding patch: ${message}`));
  if (list.length > MAX_OPERATIONS) throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${list.length}`);
  const marked = markHopeless(list, respelled);
  return (current, reached) => withStatus(() => applyOperations(current, marked, reached), refuse);
}

/**
 * Marks the tests for `7.0` or `-0`, which is how no number of an object is written. Where an operation before may have put such a number into the document,
 * numbers are compared by their value.
 */
function markHopeless(list: readonly Operation[], respelled: ReadonlySet<number>): readonly Operation[] {
  const isRespelled = ({ value }: Operation, index: number): boolean => respelled.has(index) || holdsNegativeZero(value);
  const first = list.findIndex((operation, index) => operation.op !== 'test' && isRespelled(operation, index));
  return list.map((operation, index) =>
    (operation.op === 'test' && (first < 0 || index < first) && isRespelled(operation, index) ? { ...operation, isHopeless: true } : operation));
}

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0);
  return Object.values(value).some(holdsNegativeZero);
}

function withStatus<T>(work: () => T, describe: (error: JsonPatchError) => StatusError): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof JsonPatchError ? describe(error) : error;
  }
}

/** Applies all operations; the document is not changed. Throws JsonPatchError for the first that cannot be applied. */
function applyOperations(document: JsonValue, list: readonly Operation[], reached?: WeakSet<object>): JsonValue {
  const draft = new JsonDraft(document, reached);
  const budget: Budget = { bytes: MAX_COPY_BYTES };
  try {
    for (const operation of list) applyOperation(draft, operation, budget);
    const result = draft.finish();
    measure(result, { bytes: Infinity });
    return result;
  } catch (error) {
    if (error instanceof TestFailure) throw new JsonPatchTestError(error.message);
    throw error instanceof DraftError ? new JsonPatchError(error.message) : error;
  }
}

/** How failures at a place are worded: where the pointer leads nowhere, and where the operation fails at its end. */
interface Wording {
  readonly missing: string;
  readonly failed: string;
}

/** Does something at a place of the document. */
function within<T>({ segments }: Pointer, { missing, failed }: Wording, work: (path: readonly string[]) => T): T {
  if (segments === undefined) throw new DraftError(`${missing}: missing value`);
  try {
    return work(segments);
  } catch (error) {
    if (error instanceof MissingContainerError) throw new DraftError(`${missing}: missing value`);
    throw error instanceof DraftError ? new DraftError(`${failed}: ${error.message}`) : error;
  }
}

/** The same where the document itself is no place for the operation. */
function edit(pointer: Pointer, wording: Wording, work: (path: readonly string[]) => void): void {
  within(pointer.text === '' ? { ...pointer, segments: undefined } : pointer, wording, work);
}

const operationNames: ReadonlySet<string> = new Set(['add', 'replace', 'remove', 'test', 'copy', 'move']);

function applyOperation(draft: JsonDraft, operation: Operation, budget: Budget): void {
  const { op, path, value } = operation;
  if (!operationNames.has(op)) throw new DraftError(`Unexpected kind: ${op}`);
  if (path === undefined) throw new DraftError(`${op} operation failed to decode path: missing value`);
  const { text } = path;
  const missing = (what: string): string => `${op} operation does not apply: ${what}: ${text}`;
  switch (op) {
    case 'add': return edit(path, { missing: quoteMissing(op, text), failed: `error in add for path: '${text}'` }, (at) => draft.add(at, value));
    case 'replace': return replace(draft, { path, value, missing: missing('doc is missing path'), missingKey: missing('doc is missing key') });
    case 'remove': return edit(path, { missing: quoteMissing(op, text), failed: `error in remove for path: '${text}'` }, (at) => draft.remove(at));
    case 'test': {
      const found = within(path, { missing: missing('is missing path'), failed: `error in test for path: '${text}'` }, (at) => draft.read(at));
      if (operation.isHopeless === true || !draft.equals(found ?? null, value)) throw new TestFailure(`testing value ${text} failed: test failed`);
      return;
    }
    default: {
      const moved = takeSource(draft, operation, budget);
      const failed = op === 'copy' ? 'error while adding value during copy' : `error in move for path: '${text}'`;
      return edit(path, { missing: missing('doc is missing destination path'), failed }, (at) => draft.add(at, moved));
    }
  }
}

const quoteMissing = (op: string, path: string): string => `${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}`;

function replace(draft: JsonDraft, { path, value, missing, missingKey }: {
  readonly path: Pointer; readonly value: JsonValue; readonly missing: string; readonly missingKey: string;
}): void {
  if (path.text !== '') return edit(path, { missing, failed: missingKey }, (at) => draft.replace(at, value));
  if (typeof value !== 'object' || value === null) throw new DraftError('replace operation value must be object or array');
  draft.reset(value);
}

/** The value that a copy or a move puts elsewhere; a move takes it from its place. */
function takeSource(draft: JsonDraft, { op, path, from }: Operation, budget: Budget): unknown {
  if (from === undefined) throw new DraftError(`${op} operation failed to decode from: missing value`);
  const { text, segments = [] } = from;
  const missing = `${op} operation does not apply: doc is missing from path: ${text}`;
  if (op === 'move') {
    return within(from, { missing, failed: `error in move for path: '${segments.at(-1) ?? ''}'` }, (at) => {
      const moved = draft.read(at);
      if (at.length === 0) throw new MissingContainerError('missing value');
      draft.remove(at);
      return moved;
    });
  }
  return within(from, { missing, failed: `error in copy for from: '${text}'` }, (at) => {
    const read = draft.read(at);
    // The library finds the way to the copy before it makes it.
    if (path?.segments !== undefined) draft.reach(path.segments);
    const found = draft.share(read) ?? null;
    measure(found, budget);
    return draft.copy(found);
  });
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
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    budget.bytes -= key.length + 3;
    measure(value[key], budget, depth + 1);
  }
}
