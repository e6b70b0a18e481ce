// JSON as the reference reads it, at nearly the cost of JSON.parse: one scan over the bytes and one walk over the result find out whether
// JSON.parse could have lost anything (duplicate keys, integers beyond 2^53, `1.0`, lone surrogates); only then the strict parser runs.
// Mirrors encoding/json (error texts) and sigs.k8s.io/json (duplicates, int64).
import { type JsonValue } from '../../apimachinery/index.ts';
import { isResumable, remember } from '../../base/index.ts';
import { type JsonPart, cutLargeParts, putPart } from './parts.ts';
import { type StrictJson, parseStrict } from './strict.ts';
import { StringEnds } from './strings.ts';
import { decodeFast } from '../utf8.ts';

export { JsonError } from './strict.ts';
export { encodeJson, stringifyJson } from './write.ts';

/** A number whose value is integral (or beyond int64) but whose text is no int64, as `1.0`, `1e3` or 2^63: typed integers refuse it by its text. */
export interface OddNumber {
  /** Path such as `spec.ports[0].port`. */
  readonly path: string;
  readonly literal: string;
}

interface ParsedJson {
  readonly value: JsonValue;
  /** Paths of the keys that occur more than once in one object, in document order, each once, at most 100. */
  readonly duplicates: readonly string[];
  /** Absent when there are none, at most 100. The values themselves are plain numbers: untyped data does not distinguish `1.0` from `1` either once written. */
  readonly oddNumbers?: readonly OddNumber[];
  /** Paths of numbers that are written again in another way, as `1.0` (`1`) and `1.50` (`1.5`). Absent when there are none, at most 100. */
  readonly respelled?: readonly string[];
}

interface ParseJsonOptions {
  /**
   * What the second of two equal keys does. `last` (the default) replaces, as for custom resources and YAML; `merge` joins objects,
   * as Go's decoding into structs and maps that are already filled does for built-in kinds.
   */
  readonly onDuplicate?: 'last' | 'merge';
}

/**
 * Deepest nesting accepted. The reference stops at 10,000; every recursive walk of the server, and JSON.stringify (about 5,000 levels), must
 * survive what is accepted here, and no real object nests deeper than some dozens.
 */
export const MAX_JSON_DEPTH = 1000;

/** Each walk over a text of more bytes is a step of its own where it is parsed in parts. */
const LARGE_BYTES = 2 ** 17;
const WALK = 1000;

const none: readonly string[] = Object.freeze([]);

/** Parses one JSON text (JSON.parse's cost unless something is special); throws JsonError with Go's text. Integers beyond 2^53 become bigint. */
export function parseJson(bytes: Uint8Array, options: ParseJsonOptions = {}): ParsedJson {
  const keys = countKeys(bytes);
  const value = keys < 0 ? undefined : parseLoosely(bytes);
  if (value === undefined || countTreeKeys(value) !== keys) return parseSlowly(bytes, options);
  return { value, duplicates: none };
}

/** Parses one JSON text: of a large one the walks, and its large parts, are steps of the resumable work that asks for it. */
export function parseJsonInParts(given: Uint8Array): ParsedJson {
  if (given.length <= LARGE_BYTES || !isResumable()) return parseJson(given);
  // The work that begins again may have read others meanwhile.
  const bytes = remember(() => given, 0);
  const keys = remember(() => countKeys(bytes), WALK);
  const value = keys < 0 ? undefined : parsePieces(bytes);
  if (value === undefined || remember(() => countTreeKeys(value), WALK) !== keys) return parseSlowly(bytes, {});
  return { value, duplicates: none };
}

/** parseLoosely, with a step for each large part. */
function parsePieces(bytes: Uint8Array): JsonValue | undefined {
  const { rest, parts } = remember(() => cutLargeParts(bytes, LARGE_BYTES), WALK);
  const value = remember(() => parseLoosely(rest), WALK);
  if (value === undefined) return undefined;
  const isPut = ({ start, end, path }: JsonPart): boolean => {
    const part = parseLoosely(bytes.subarray(start, end));
    return part !== undefined && putPart(value, path, part);
  };
  return parts.every((part) => remember(() => isPut(part), WALK)) ? value : undefined;
}

/** JSON.parse's value; undefined where the text is no JSON, or no UTF-8. */
function parseLoosely(bytes: Uint8Array): JsonValue | undefined {
  const text = decodeFast(bytes, 0, bytes.length);
  try {
    const value = JSON.parse(text) as JsonValue;
    return text.includes('\uFFFD') ? undefined : value;
  } catch {
    return undefined;
  }
}

function parseSlowly(bytes: Uint8Array, options: ParseJsonOptions): StrictJson {
  return parseStrict(bytes, { maxDepth: MAX_JSON_DEPTH, merge: options.onDuplicate === 'merge' });
}

/**
 * Number of colons outside strings, which is the number of keys; -1 when JSON.parse alone would not do: nesting too deep, a number with a
 * fraction or an exponent, an escaped surrogate. Assumes nothing about the bytes.
 */
function countKeys(bytes: Uint8Array): number {
  const end = bytes.length;
  const strings = new StringEnds(bytes);
  let colons = 0;
  let depth = 0;
  for (let i = 0; i < end; i++) {
    const c = bytes[i] as number;
    if (c === 0x22) {
      i = strings.find(i + 1);
      if (strings.hasSurrogate) return -1;
    } else if (c === 0x3a) colons++;
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > MAX_JSON_DEPTH) return -1;
    } else if (c === 0x7d || c === 0x5d) depth--;
    else if (c === 0x2e || ((c === 0x65 || c === 0x45) && isDigit(bytes[i - 1]))) return -1;
  }
  return colons;
}

const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 0x30 && c <= 0x39;

/** Number of keys in the whole tree; -1 when a number is beyond what a double holds exactly. Recursion is bounded by the depth limit. */
function countTreeKeys(value: JsonValue): number {
  if (typeof value === 'number') return value > -(2 ** 53) && value < 2 ** 53 ? 0 : -1;
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const inner = countTreeKeys(value[i] as JsonValue);
      if (inner < 0) return -1;
      keys += inner;
    }
    return keys;
  }
  for (const key in value) {
    const child = value[key] as JsonValue;
    keys++;
    if (typeof child === 'string') continue;
    const inner = countTreeKeys(child);
    if (inner < 0) return -1;
    keys += inner;
  }
  return keys;
}
