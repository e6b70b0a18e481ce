// The large parts of a JSON text, which are parsed by themselves where the whole would take long. Nothing is assumed about the bytes: what is left of a
// text that is no JSON is none either, since `null` in the place of a part is a value of its own wherever the part is one.
import type { JsonValue } from '../../apimachinery/index.ts';
import { StringEnds } from './strings.ts';

/** Where a part is in the text, and the keys and indexes that lead to it. */
export interface JsonPart {
  readonly start: number;
  readonly end: number;
  readonly path: readonly (string | number)[];
}

/** Objects and lists that are deeper are no parts of their own. */
const DEEPEST = 16;

/** An object or list that is open. */
interface Open {
  readonly start: number;
  /** Of its current member: the index in a list, the place of the key in an object. */
  index: number;
  keyStart: number;
  keyEnd: number;
  hasLargePart: boolean;
}

/** The innermost objects and lists of at least `minBytes`, in their order, and the text with null in their places. */
export function cutLargeParts(bytes: Uint8Array, minBytes: number): { readonly rest: Uint8Array; readonly parts: readonly JsonPart[] } {
  const parts: JsonPart[] = [];
  const open: Open[] = [];
  const strings = new StringEnds(bytes);
  let depth = 0;
  let textStart = 0;
  let textEnd = 0;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i] as number;
    if (c === 0x22) {
      textStart = i;
      textEnd = strings.find(i + 1) + 1;
      i = textEnd - 1;
    } else if (depth > DEEPEST && c !== 0x7d && c !== 0x5d) {
      if (c === 0x7b || c === 0x5b) depth++;
    } else if (c === 0x3a) {
      const inside = open[depth - 1];
      if (inside === undefined) continue;
      inside.keyStart = textStart;
      inside.keyEnd = textEnd;
    } else if (c === 0x2c) {
      const inside = open[depth - 1];
      if (inside !== undefined) inside.index++;
    } else if (c === 0x7b || c === 0x5b) {
      if (depth++ < DEEPEST) open[depth - 1] = { start: i, index: 0, keyStart: -1, keyEnd: -1, hasLargePart: false };
    } else if (c === 0x7d || c === 0x5d) {
      if (depth <= DEEPEST && i + 1 - (open[depth - 1]?.start ?? i) >= minBytes) notePart(parts, open.slice(0, depth), { bytes, end: i + 1 });
      if (--depth < 0) break;
    }
  }
  return { rest: cutValues(bytes, parts), parts };
}

function notePart(parts: JsonPart[], open: readonly Open[], { bytes, end }: { readonly bytes: Uint8Array; readonly end: number }): void {
  const own = open.at(-1) as Open;
  // The whole is no part of itself.
  if (open.length === 1) return;
  for (const outer of open.slice(0, -1)) outer.hasLargePart = true;
  if (own.hasLargePart) return;
  const path = open.slice(0, -1).map(({ index, keyStart, keyEnd }) => (keyStart < 0 ? index : readKey(bytes, keyStart, keyEnd)));
  parts.push({ start: own.start, end, path });
}

function readKey(bytes: Uint8Array, start: number, end: number): string {
  try {
    return JSON.parse(decoder.decode(bytes.subarray(start, end))) as string;
  } catch {
    return '';
  }
}

const decoder = new TextDecoder();
const nothing = new TextEncoder().encode('null');

/** A text with null in the places of values, given in their order. */
export function cutValues(bytes: Uint8Array, values: readonly { readonly start: number; readonly end: number }[]): Uint8Array {
  if (values.length === 0) return bytes;
  const rest = new Uint8Array(bytes.length - values.reduce((sum, { start, end }) => sum + end - start - nothing.length, 0));
  let [from, at] = [0, 0];
  for (const { start, end } of values) {
    rest.set(bytes.subarray(from, start), at);
    rest.set(nothing, (at += start - from));
    at += nothing.length;
    from = end;
  }
  rest.set(bytes.subarray(from), at);
  return rest;
}

/** Puts a part in its place; false where the value has no such place. */
export function putPart(value: JsonValue, path: readonly (string | number)[], part: JsonValue): boolean {
  let at = value as Record<string | number, JsonValue> | null;
  for (const [i, key] of path.entries()) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    if (i < path.length - 1) at = at[key] as Record<string | number, JsonValue>;
    else if (at[key] !== null) return false;
    // The key is the object's own, so that it means no prototype.
    else at[key] = part;
  }
  return path.length > 0;
}
