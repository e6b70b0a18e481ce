// IP addresses and prefixes as Go's netip reads them, with what it says of those that are none.
import { quoteGo } from '../quote.ts';

/** An address as it was read. */
export interface ParsedAddress {
  /** Four bytes, or sixteen. */
  readonly bytes: Uint8Array;
  readonly zone: string;
}

/** A text that is no address or prefix; the message is Go's. */
export class AddressError extends Error {}

const problem = (text: string, message: string, at = ''): AddressError =>
  new AddressError(`ParseAddr(${quoteGo(text)}): ${message}${at === '' ? '' : ` (at ${quoteGo(at)})`}`);

/** Reads an address; throws AddressError. */
export function parseAddress(text: string): ParsedAddress {
  const sign = /[.:%]/.exec(text)?.[0];
  if (sign === '.') return { bytes: parseOctets(text, text), zone: '' };
  if (sign === ':') return parseGroups(text);
  throw problem(text, sign === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

/** Reads the four octets of `part`, which is in `text`. */
function parseOctets(text: string, part: string): Uint8Array {
  const octets: number[] = [];
  let digits = '';
  for (let i = 0; i < part.length; i++) {
    const char = part[i]!;
    if (char >= '0' && char <= '9') {
      if (digits === '0') throw problem(text, 'IPv4 field has octet with leading zero');
      digits += char;
      if (Number(digits) > 255) throw problem(text, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (digits === '' || i === part.length - 1) throw problem(text, 'IPv4 field must have at least one digit', part.slice(i));
      if (octets.length === 3) throw problem(text, 'IPv4 address too long');
      octets.push(Number(digits));
      digits = '';
    } else throw problem(text, 'unexpected character', part.slice(i));
  }
  if (octets.length < 3) throw problem(text, 'IPv4 address too short');
  return Uint8Array.of(...octets, Number(digits));
}

function parseGroups(text: string): ParsedAddress {
  const mark = text.indexOf('%');
  const zone = mark < 0 ? '' : text.slice(mark + 1);
  if (mark >= 0 && zone === '') throw problem(text, 'zone must be a non-empty string');
  const address = mark < 0 ? text : text.slice(0, mark);
  const bytes: number[] = [];
  let ellipsis = address.startsWith('::') ? 0 : -1;
  let rest = ellipsis === 0 ? address.slice(2) : address;
  let ended = rest === '';
  while (!ended && bytes.length < 16) {
    const read = readGroup(text, rest);
    if (rest[read.length] === '.') {
      if (ellipsis < 0 && bytes.length !== 12) throw problem(text, 'embedded IPv4 address must replace the final 2 fields of the address', rest);
      if (bytes.length > 12) throw problem(text, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest);
      bytes.push(...parseOctets(text, rest));
      rest = '';
      break;
    }
    bytes.push(read.value >> 8, read.value & 0xff);
    rest = rest.slice(read.length);
    if (rest === '') break;
    rest = skipColon(text, rest);
    if (!rest.startsWith(':')) continue;
    if (ellipsis >= 0) throw problem(text, 'multiple :: in address', rest);
    ellipsis = bytes.length;
    rest = rest.slice(1);
    ended = rest === '';
  }
  if (rest !== '') throw problem(text, 'trailing garbage after address', rest);
  return { bytes: expand(text, bytes, ellipsis), zone };
}

function readGroup(text: string, rest: string): { value: number; length: number } {
  const { length } = /^[0-9a-fA-F]{0,5}/.exec(rest)![0];
  if (length > 4) throw problem(text, 'each group must have 4 or less digits', rest);
  if (length === 0) throw problem(text, 'each colon-separated field must have at least one digit', rest);
  return { value: parseInt(rest.slice(0, length), 16), length };
}

function skipColon(text: string, rest: string): string {
  if (!rest.startsWith(':')) throw problem(text, 'unexpected character, want colon', rest);
  if (rest.length === 1) throw problem(text, 'colon must be followed by more characters', rest);
  return rest.slice(1);
}

function expand(text: string, bytes: readonly number[], ellipsis: number): Uint8Array {
  if (bytes.length === 16) {
    if (ellipsis >= 0) throw problem(text, 'the :: must expand to at least one field of zeros');
    return Uint8Array.from(bytes);
  }
  if (ellipsis < 0) throw problem(text, 'address string too short');
  return Uint8Array.of(...bytes.slice(0, ellipsis), ...new Array<number>(16 - bytes.length).fill(0), ...bytes.slice(ellipsis));
}

const INT64_DIGITS = 19;
const MAX_INT64 = (1n << 63n) - 1n;
const fitsInt64 = (digits: string): boolean => digits.length <= INT64_DIGITS && BigInt(digits) <= MAX_INT64;

/** Reads an address with the length of a prefix; throws AddressError. */
export function parsePrefix(text: string): { readonly bytes: Uint8Array; readonly length: number } {
  const wrong = (message: string): AddressError => new AddressError(`netip.ParsePrefix(${quoteGo(text)}): ${message}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw wrong("no '/'");
  const { bytes, zone } = addressOf(text.slice(0, slash), wrong);
  if (zone !== '') throw wrong('IPv6 zones cannot be present in a prefix');
  const bits = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]+)$/.test(bits) || !fitsInt64(bits)) throw wrong(`bad bits after slash: ${quoteGo(bits)}`);
  if (Number(bits) > bytes.length * 8) throw wrong('prefix length out of range');
  return { bytes, length: Number(bits) };
}

function addressOf(text: string, wrong: (message: string) => AddressError): ParsedAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    throw error instanceof AddressError ? wrong(error.message) : error;
  }
}
