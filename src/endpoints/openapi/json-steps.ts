// JSON of a large value in steps, so that other requests have their turn: each member of a large object is a step.
import type { Steps } from '../../base/index.ts';
import { encodeText, joinBytes } from '../response/encoding.ts';

/** A value with more members than these, at any depth, is large. */
const LARGE = 500;
/** Characters that are encoded together. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Members of a value at all depths, counted up to a limit. */
function countMembers(value: unknown, limit: number): number {
  return typeof value === 'object' && value !== null ? countIn(value as Members, Object.keys(value), limit) : 0;
}

type Members = Readonly<Record<string, unknown>>;

/** The same for an object whose keys are listed: to list those of a wide one takes milliseconds. */
function countIn(value: Members, keys: readonly string[], limit: number): number {
  let count = keys.length;
  for (const key of keys) {
    if (count > limit) break;
    count += countMembers(value[key], limit - count);
  }
  return count;
}

/** Whether a value is written in several steps. */
export const isLarge = (value: unknown): boolean => countMembers(value, LARGE) > LARGE;

function* texts(value: unknown): Generator<string, void> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return yield JSON.stringify(value);
  const keys = Object.keys(value);
  const members = value as Members;
  if (countIn(members, keys, LARGE) <= LARGE) return yield JSON.stringify(value);
  let before = '{';
  for (const key of keys) {
    const member = members[key];
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
