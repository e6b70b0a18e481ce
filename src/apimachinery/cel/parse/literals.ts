// What the literals of a text stand for: numbers with their ranges, strings and bytes with their escapes.
import type { Literal } from './ast.ts';
import type { Token } from './lex.ts';
import { CelDouble, CelUint, MAX_INT64, MAX_UINT64, MIN_INT64, narrowInt } from '../values/values.ts';

/** A literal that stands for nothing; the message is the parser's. */
export class LiteralError extends Error {}

/** The value of a number token, with the sign that stood before it. */
export function readNumber(token: Token, negative: boolean): Literal {
  if (token.kind === 'float') {
    const value = Number(token.text);
    if (!Number.isFinite(value)) throw new LiteralError('invalid double literal');
    return new CelDouble(negative ? -value : value);
  }
  const digits = BigInt(token.kind === 'uint' ? token.text.slice(0, -1) : token.text);
  if (token.kind === 'uint') {
    if (digits > MAX_UINT64) throw new LiteralError('invalid uint literal');
    return new CelUint(digits);
  }
  const value = negative ? -digits : digits;
  if (value > MAX_INT64 || value < MIN_INT64) throw new LiteralError('invalid int literal');
  return narrowInt(value);
}

/** The value of a string or bytes token. */
export function readText(token: Token): string | Uint8Array {
  const start = /^([rRbB]*)("""|'''|"|')/.exec(token.text)!;
  const raw = /[rR]/.test(start[1]!);
  const body = token.text.slice(start[0].length, -start[2]!.length).replace(/\r\n?/g, '\n');
  if (token.kind === 'string') return raw ? body : unescapeText(body);
  return raw ? new TextEncoder().encode(body) : unescapeBytes(body);
}

const escapePattern = /\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs;
const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'], ['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'], ['t', '\t'], ['v', '\v'], ['\\', '\\'], ["'", "'"], ['"', '"'], ['`', '`'], ['?', '?'],
]);

function codeOf(match: readonly (string | undefined)[]): number | undefined {
  const hex = match[1] ?? match[2] ?? match[3] ?? match[4];
  if (hex !== undefined) return parseInt(hex, 16);
  return match[5] === undefined ? undefined : parseInt(match[5], 8);
}

function unescapeText(body: string): string {
  return body.replace(escapePattern, (...match: (string | undefined)[]) => {
    const code = codeOf(match);
    if (code === undefined) return simpleEscapes.get(match[6]!) ?? '';
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new LiteralError('invalid unicode code point');
    return String.fromCodePoint(code);
  });
}

function unescapeBytes(body: string): Uint8Array {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const match of body.matchAll(escapePattern)) {
    parts.push(encoder.encode(body.slice(from, match.index)));
    from = match.index + match[0].length;
    const code = codeOf(match);
    if (code === undefined) parts.push(encoder.encode(simpleEscapes.get(match[6]!) ?? ''));
    else if (match[3] !== undefined || match[4] !== undefined) throw new LiteralError('unable to unescape string');
    else if (code > 255) throw new LiteralError('unable to unescape octal sequence in bytes');
    else parts.push(Uint8Array.of(code));
  }
  parts.push(encoder.encode(body.slice(from)));
  return concatBytes(parts);
}

/** The bytes of all parts in a row. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
