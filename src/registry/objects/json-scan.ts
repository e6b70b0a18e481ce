// Finding a member of a JSON object by looking at bytes alone. Relies on compact JSON as our own encoder writes it: no white space,
// and the bytes are known to be well-formed.

/** Where a member of an object is: its key's opening quote, its value, and the end of its value. */
export interface MemberSpan {
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Index after the closing quote of the string whose opening quote is at `at`. */
function skipString(bytes: Uint8Array, at: number): number {
  let i = at + 1;
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

function skipNested(bytes: Uint8Array, at: number): number {
  let depth = 0;
  let i = at;
  while (i < bytes.length) {
    const c = bytes[i];
    if (c === QUOTE) {
      i = skipString(bytes, i);
      continue;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if ((c === CLOSE_BRACE || c === CLOSE_BRACKET) && --depth === 0) return i + 1;
    i++;
  }
  return i;
}

function skipValue(bytes: Uint8Array, at: number): number {
  const c = bytes[at];
  if (c === QUOTE) return skipString(bytes, at);
  if (c === OPEN_BRACE || c === OPEN_BRACKET) return skipNested(bytes, at);
  let i = at;
  while (i < bytes.length && bytes[i] !== COMMA && bytes[i] !== CLOSE_BRACE && bytes[i] !== CLOSE_BRACKET) i++;
  return i;
}

function keyEquals(bytes: Uint8Array, start: number, key: string): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[start + i] !== key.charCodeAt(i)) return false;
  return bytes[start + key.length] === QUOTE;
}

/** The member `key` (ASCII) of the object whose first key, or closing brace, is at `from`; undefined when it has none. */
export function findMember(bytes: Uint8Array, from: number, key: string): MemberSpan | undefined {
  let i = from;
  while (bytes[i] === QUOTE) {
    const keyStart = i;
    const found = keyEquals(bytes, i + 1, key);
    const valueStart = skipString(bytes, i) + 1;
    const valueEnd = skipValue(bytes, valueStart);
    if (found) return { keyStart, valueStart, valueEnd };
    if (bytes[valueEnd] !== COMMA) return undefined;
    i = valueEnd + 1;
  }
  return undefined;
}

/** True when `bytes` has `part` at `at`. */
export function hasBytesAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  if (bytes.length < at + part.length) return false;
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}
