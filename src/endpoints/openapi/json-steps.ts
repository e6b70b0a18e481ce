// JSON of a large value in steps, so that other requests have their turn: each member of a large object is a step.
import type { Steps } from '../../base/index.ts';
import { encodeText, joinBytes } from '../response/encoding.ts';

/** A value with more members than these, at any depth, is large. */
const LARGE = 500;
/** Characters that are encoded together. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Members of a value at all depths, counted up to a limit. */
function countMembers(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const key in value) {
    count += 1 + countMembers((value as Record<string, unknown>)[key], limit - count);
    if (count > limit) break;
  }
  return count;
}

/** Whether a value is written in several steps. */
export const isLarge = (value: unknown): boolean => countMembers(value, LARGE) > LARGE;

function* texts(value: unknown): Generator<string, void> {
  if (Array.isArray(value) || !isLarge(value)) return yield JSON.stringify(value);
  let before = '{';
  for (const [key, member] of Object.entries(value as object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    yield* texts(member);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** The bytes of `JSON.stringify(value)`. */
export function* encodeJsonInSteps(value: unknown): Steps<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let text = '';
  for (const each of texts(value)) {
    text += each;
    if (text.length < CHUNK_CHARACTERS) continue;
    chunks.push(encodeText(text));
    text = '';
    yield;
  }
  chunks.push(encodeText(text));
  yield;
  return joinBytes(chunks);
}
