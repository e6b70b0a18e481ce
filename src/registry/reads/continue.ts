// Continue tokens: unpadded base64url of {"v":"meta.k8s.io/v1","rv":N,"start":"/name\u0000"}, as the reference makes them, so that a
// list may go on at another server over the same store. `start` is relative to the prefix of the list: whatever it says, keys outside
// the list cannot be reached. rv -1 continues in the newest state.
import { badRequest } from '../../apimachinery/index.ts';
import { encodeJson, parseJson } from '../../codec/index.ts';

/** The place where a list continues. */
export interface ContinuePosition {
  /** Key relative to the list's prefix, inclusive. */
  readonly start: string;
  /** Revision of the first page; -1: the newest. */
  readonly revision: number;
}

const TOKEN_API_VERSION = 'meta.k8s.io/v1';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const values = new Map([...ALPHABET].map((c, i) => [c, i]));

/** Bytes of unpadded base64url; a number is the index of the character at which Go's decoder stops. */
function decodeBase64(text: string): Uint8Array | number {
  const clean = text.replace(/[\r\n]/g, '');
  const rest = clean.length % 4;
  const bytes = new Uint8Array(Math.floor((clean.length * 3) / 4));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < clean.length; i++) {
    const value = values.get(clean[i] as string);
    if (value === undefined) return i;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) bytes[at++] = (held >> (bits -= 8)) & 0xff;
  }
  return rest === 1 ? clean.length - 1 : bytes.subarray(0, at);
}

function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 6) text += ALPHABET[(held >> (bits -= 6)) & 63];
  }
  return bits > 0 ? text + ALPHABET[(held << (6 - bits)) & 63] : text;
}

const refuse = (why: string): never => {
  throw badRequest(`invalid continue token: continue key is not valid: ${why}`);
};

/** The token for going on at `position`. */
export function encodeContinue(position: ContinuePosition): string {
  return encodeBase64(encodeJson({ v: TOKEN_API_VERSION, rv: position.revision, start: `/${position.start}` }));
}

function parseToken(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseJson(bytes).value;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  if (value === null) return {};
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (type !== 'object') return refuse(`json: cannot unmarshal ${type === 'boolean' ? 'bool' : type} into Go value of type storage.continueToken`);
  return value as Record<string, unknown>;
}

/** True for a relative key that is written in its shortest form: no `..`, `.`, or empty segments, none at the end. */
function isClean(start: string): boolean {
  const key = start.startsWith('/') ? start.slice(1) : start;
  return key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/** A member of a token as the reference's decoder takes it: null is as if it were absent, and what is of another type is refused. */
function readMember(token: Record<string, unknown>, name: string, type: 'string' | 'int64'): unknown {
  const value = token[name] ?? undefined;
  if (value === undefined || (type === 'string' ? typeof value === 'string' : Number.isSafeInteger(value))) return value;
  const names: Readonly<Record<string, string>> = { boolean: 'bool', number: type === 'int64' ? `number ${String(value)}` : 'number' };
  const found = Array.isArray(value) ? 'array' : names[typeof value] ?? typeof value;
  return refuse(`json: cannot unmarshal ${found} into Go struct field continueToken.${name} of type ${type}`);
}

/** Reads a token; throws 400 StatusErrors with the reference's texts. Anybody can write one: it names a position, it grants nothing. */
export function decodeContinue(token: string): ContinuePosition {
  const bytes = decodeBase64(token);
  if (typeof bytes === 'number') return refuse(`illegal base64 data at input byte ${bytes}`);
  const read = parseToken(bytes);
  const [v, rv, start] = [readMember(read, 'v', 'string'), readMember(read, 'rv', 'int64'), readMember(read, 'start', 'string')];
  if (v !== TOKEN_API_VERSION) return refuse(`server does not recognize this encoded version ${String(v ?? '')}`);
  if (typeof rv !== 'number' || rv === 0) return refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (typeof start !== 'string' || start === '') return refuse('encoded start key empty (version meta.k8s.io/v1)');
  if (!isClean(start)) return refuse(start);
  return { start: start.startsWith('/') ? start.slice(1) : start, revision: rv };
}
