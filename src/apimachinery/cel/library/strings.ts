// The string extension: positions count runes. The texts of its errors are those of cel-go.
import { type Library, declare, method, metered, overload } from '../check/environment.ts';
import { indexOfRune, lengthAt, runeCount, runesBefore } from '../values/runes.ts';
import { listOf, stringType, intType, dynListType } from '../values/types.ts';
import { ArrayList, CelError, type CelList, type Value, noSuchOverload } from '../values/values.ts';
import { formatText } from './format-text.ts';

const text = stringType;
const outOfRange = (index: number): CelError => new CelError(`index out of range: ${index}`);

function charAt(value: string, at: number): Value {
  const index = indexOfRune(value, at);
  if (index === undefined) return outOfRange(at);
  return index === value.length ? '' : value.slice(index, index + lengthAt(value, index));
}

function indexOf(value: string, part: string, from = 0): Value {
  if (part === '') return from;
  const start = indexOfRune(value, from);
  if (start === undefined) return from < 0 ? outOfRange(from) : -1;
  const at = start === value.length ? -1 : value.indexOf(part, start);
  return at < 0 ? -1 : runesBefore(value, at);
}

function lastIndexOf(value: string, part: string, from?: number): Value {
  if (part === '') return from ?? runeCount(value);
  const limit = from === undefined ? value.length : indexOfRune(value, from);
  if (limit === undefined || (from !== undefined && limit === value.length)) return from! < 0 ? outOfRange(from!) : -1;
  const at = value.lastIndexOf(part, limit);
  return at < 0 ? -1 : runesBefore(value, at);
}

function substring(value: string, start: number, end?: number): Value {
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  const first = indexOfRune(value, start);
  if (first === undefined) return outOfRange(start);
  const stop = end === undefined ? value.length : indexOfRune(value, end);
  return stop === undefined ? outOfRange(end!) : value.slice(first, stop);
}

/** Replaces the first `count` occurrences, all when it is negative. */
function replace(value: string, part: string, ...rest: readonly [replacement: string, count?: number | bigint]): Value {
  const [replacement] = rest;
  const count = Number(rest[1] ?? -1);
  if (part === '') return replaceEverywhere(Array.from(value), replacement, count);
  const pieces = value.split(part);
  if (pieces.length * replacement.length > MAX_RESULT_LENGTH) return tooLong;
  const limit = count < 0 ? pieces.length : Math.min(count, pieces.length);
  const head = pieces.slice(0, limit + 1).join(replacement);
  return limit + 1 >= pieces.length ? head : `${head}${part}${pieces.slice(limit + 1).join(part)}`;
}

/** Longer results would reach the cost limit of a call with the next function that reads them. */
const MAX_RESULT_LENGTH = 5_000_000;
const tooLong = new CelError('operation cancelled: actual cost limit exceeded');

function replaceEverywhere(runes: readonly string[], replacement: string, count: number): string {
  const limit = count < 0 ? runes.length + 1 : Math.min(count, runes.length + 1);
  return runes.map((rune, i) => (i < limit ? replacement + rune : rune)).join('') + (limit > runes.length ? replacement : '');
}

function split(value: string, separator: string, limit = -1): Value {
  if (limit === 0) return new ArrayList([]);
  const parts = separator === '' ? Array.from(value) : value.split(separator);
  if (limit < 0 || parts.length <= limit) return new ArrayList(parts);
  return new ArrayList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]);
}

function join(list: CelList, separator = ''): Value {
  const items = list.toArray();
  const wrong = items.find((item) => typeof item !== 'string');
  return wrong === undefined ? items.join(separator) : wrong instanceof CelError ? wrong : noSuchOverload;
}

/** What Go's unicode.IsSpace takes for white space. */
const spaces: ReadonlySet<string> = new Set('\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000');

function trim(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && spaces.has(value[start]!)) start++;
  while (end > start && spaces.has(value[end - 1]!)) end--;
  return value.slice(start, end);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'], ['\b', '\\b'], ['\f', '\\f'], ['\n', '\\n'], ['\r', '\\r'], ['\t', '\\t'], ['\v', '\\v'], ['\\', '\\\\'], ['"', '\\"'],
]);

const quote = (value: string): string => `"${value.toWellFormed().replace(/[\x07-\r\\"]/g, (char) => escapes.get(char)!)}"`;
const ascii = /^[\x00-\x7f]*$/;
const lower = (value: string): string => (ascii.test(value) ? value.toLowerCase() : value.replace(/[A-Z]+/g, (part) => part.toLowerCase()));
const upper = (value: string): string => (ascii.test(value) ? value.toUpperCase() : value.replace(/[a-z]+/g, (part) => part.toUpperCase()));

/** Version 2 of the string extension, and `reverse` of version 3. */
export const stringsLibrary: Library = {
  functions: [
    declare('charAt', method('string_char_at_int', [text, intType], [text, charAt])),
    declare('indexOf', method('string_index_of_string', [text, text], [intType, indexOf]), method('string_index_of_string_int', [text, text, intType],
      [intType, indexOf])),
    declare('lastIndexOf', method('string_last_index_of_string', [text, text], [intType, lastIndexOf]),
      method('string_last_index_of_string_int', [text, text, intType], [intType, lastIndexOf])),
    declare('lowerAscii', method('string_lower_ascii', [text], [text, lower])),
    declare('upperAscii', method('string_upper_ascii', [text], [text, upper])),
    declare('replace', method('string_replace_string_string', [text, text, text], [text, replace]),
      method('string_replace_string_string_int', [text, text, text, intType], [text, replace])),
    declare('split', method('string_split_string', [text, text], [listOf(text), split]), method('string_split_string_int', [text, text, intType],
      [listOf(text), split])),
    declare('substring', method('string_substring_int', [text, intType], [text, substring]), method('string_substring_int_int', [text, intType, intType],
      [text, substring])),
    declare('trim', method('string_trim', [text], [text, trim])),
    declare('format', method('string_format', [text, dynListType], [text, metered(formatText)])),
    declare('strings.quote', overload('strings_quote', [text], [text, quote])),
    declare('join', method('list_join', [listOf(text)], [text, join]), method('list_join_string', [listOf(text), text], [text, join])),
  ],
};
