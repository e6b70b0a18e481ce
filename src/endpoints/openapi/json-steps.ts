// JSON of a large value in steps: each member of an outer or very wide object is one.
import type { Steps } from '../../base/index.ts';
import { encodeText, joinBytes } from '../response/encoding.ts';

/** Objects at this depth and below are one step, unless they are wide. */
const DEEP = 3;
/** An object with more members than these is wide. */
const WIDE = 500;
/** Characters that are encoded together. */
const PIECE_CHARACTERS = 64 * 1024;

function* texts(value: unknown, depth: number): Generator<string, void> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return yield JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // A wide object may be anywhere in a document of one kind, and its properties are what is wide.
  if (depth >= DEEP && members.length <= WIDE && !members.some(([, member]) => isWide(member))) return yield JSON.stringify(value);
  let before = '{';
  for (const [key, member] of members) {
    yield `${before}${JSON.stringify(key)}:`;
    yield* texts(member, depth + 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function isWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.values(value);
  return members.length > WIDE || members.some((member) => typeof member === 'object' && member !== null && Object.keys(member).length > WIDE);
}

/** The bytes of `JSON.stringify(value)`. */
export function* encodeJsonInSteps(value: unknown): Steps<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let text = '';
  for (const each of texts(value, 0)) {
    text += each;
    if (text.length < PIECE_CHARACTERS) continue;
    pieces.push(encodeText(text));
    text = '';
    yield;
  }
  pieces.push(encodeText(text));
  yield;
  return joinBytes(pieces);
}
