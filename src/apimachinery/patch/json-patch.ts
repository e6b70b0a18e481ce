// RFC 6902 as the reference's library applies it: negative indices count from the end, replacing an absent member adds it,
// copying from an absent one copies null, and a test for null passes where nothing is. Operations and copied bytes are bounded.
import { requestEntityTooLarge, type StatusError, badRequest, failure } from '../status.ts';
import type { JsonValue } from '../object.ts';
import { equalValues, isMap, ownValue, putKey } from '../apply/value.ts';

/** The reference's bound on operations of one patch; more are refused with 413. */
const maxOperations = 10_000;
/** Bytes that copy operations of one patch may add up to. */
const maxCopyBytes = 3 * 1024 * 1024;

interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
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
  const text = (name: string): string | undefined => {
    const found = ownValue(value, name);
    return typeof found === 'string' ? found : undefined;
  };
  return { op: text('op') ?? '', path: text('path'), from: text('from'), value: (ownValue(value, 'value') ?? null) as JsonValue };
}

/** Reads and bounds a patch once, for use on every round of an update. Throws StatusError for what is not a patch. */
export function compileJsonPatch(operations: JsonValue): (current: JsonValue) => JsonValue {
  if (operations !== null && !Array.isArray(operations)) {
    throw badRequest(`error decoding patch: json: cannot unmarshal ${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`);
  }
  const list = (operations ?? []).map(readOperation);
  if (list.length > maxOperations) throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${list.length}`);
  return (current) => applyOperations(cloneJson(current), list);
}

/** A deep copy of JSON data; cheaper than structuredClone and safe for any key. */
function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T;
  if (!isMap(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) putKey(copy, key, cloneJson(value[key]));
  return copy as T;
}

function applyOperations(document: JsonValue, list: readonly Operation[]): JsonValue {
  let copied = 0;
  for (const operation of list) {
    if (operation.path === undefined) throw refuse();
    if (operation.op === 'copy') {
      copied += sizeOf(lookUp(document, operation.from));
      if (copied > maxCopyBytes) throw refuse();
    }
    applyOperation(document, operation);
  }
  return document;
}

const sizeOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? String(v) : v)).length);

function applyOperation(document: JsonValue, { op, path, from, value }: Operation): void {
  const target = path as string;
  switch (op) {
    case 'add': return add(document, target, cloneJson(value));
    case 'replace': return replace(document, target, cloneJson(value));
    case 'remove': return remove(document, target);
    case 'test': return test(document, target, value);
    case 'copy': return add(document, target, cloneJson((lookUp(document, from) ?? null) as JsonValue));
    case 'move': {
      const moved = lookUp(document, from);
      remove(document, from as string);
      return add(document, target, moved as JsonValue);
    }
    default: throw refuse();
  }
}

/** The container that holds the last segment of a pointer, and that segment. */
function locate(document: JsonValue, pointer: string | undefined): { container: Record<string, unknown> | unknown[]; key: string } {
  if (pointer === undefined || !pointer.startsWith('/')) throw refuse();
  const segments = pointer.slice(1).split('/').map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at: unknown = document;
  for (const segment of segments.slice(0, -1)) at = Array.isArray(at) ? at[indexOf(at, segment)] : isMap(at) ? ownValue(at, segment) : undefined;
  if (!Array.isArray(at) && !isMap(at)) throw refuse();
  return { container: at, key: segments.at(-1) as string };
}

/** An index of an existing item; negative ones count from the end. */
function indexOf(list: readonly unknown[], segment: string): number {
  if (!/^-?\d+$/.test(segment)) throw refuse();
  const index = Number(segment) < 0 ? Number(segment) + list.length : Number(segment);
  if (index < 0 || index >= list.length) throw refuse();
  return index;
}

function lookUp(document: JsonValue, pointer: string | undefined): unknown {
  if (pointer === '') return document;
  const { container, key } = locate(document, pointer);
  return Array.isArray(container) ? container[indexOf(container, key)] : ownValue(container, key);
}

function add(document: JsonValue, pointer: string, value: JsonValue): void {
  const { container, key } = locate(document, pointer);
  if (!Array.isArray(container)) return putKey(container, key, value);
  if (key === '-') return void container.push(value);
  if (!/^-?\d+$/.test(key)) throw refuse();
  const index = Number(key) < 0 ? Number(key) + container.length + 1 : Number(key);
  if (index < 0 || index > container.length) throw refuse();
  container.splice(index, 0, value);
}

function replace(document: JsonValue, pointer: string, value: JsonValue): void {
  const { container, key } = locate(document, pointer);
  if (Array.isArray(container)) container[indexOf(container, key)] = value;
  else putKey(container, key, value);
}

function remove(document: JsonValue, pointer: string): void {
  const { container, key } = locate(document, pointer);
  if (Array.isArray(container)) return void container.splice(indexOf(container, key), 1);
  if (!Object.hasOwn(container, key)) throw refuse();
  delete container[key];
}

function test(document: JsonValue, pointer: string, value: JsonValue): void {
  const found = lookUp(document, pointer) ?? null;
  if (!equalValues(found, value)) throw refuse();
}
