// Values of flags as Go reads them: whole numbers, numbers and truth values of strconv, lists of encoding/csv; with Go's words for what is wrong.
import { QuantityError, parseQuantity, quoteGo } from '../../apimachinery/index.ts';
import { parseDuration } from '../../base/index.ts';

/** A value of a flag that cannot be read; the message is Go's. */
export class ValueError extends Error {}

/** How the value of a flag is read: `natural` is a whole number without a sign, `patterns` the numbers of --vmodule. */
export type FlagType = keyof typeof readers;

const readers = {
  text: (text: string) => text,
  integer: readInteger,
  natural: readNatural,
  number: readFraction,
  switch: readBool,
  duration: readDuration,
  quantity: readQuantity,
  list: readFields,
  words: (text: string) => text.split(',').map((item) => item.trim()).filter((item) => item !== ''),
  texts: (text: string) => [text],
  patterns: readPatterns,
} satisfies Record<string, (text: string) => unknown>;

/** The value that `text` has for a type; durations are milliseconds. Throws ValueError. */
export const readValue = (type: FlagType, text: string): unknown => readers[type](text);

const [MIN_INT64, MAX_INT64, MAX_UINT64] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n];
/** Base 0 of strconv.ParseInt: the prefix says the base, and a `_` may stand between digits and behind the prefix. */
const integerForm = /^([-+]?)(?:0x((?:_?[\da-f])+)|0b((?:_?[01])+)|0o?((?:_?[0-7])+)|(0|[1-9](?:_?\d)*))$/i;
const fractionForm = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)$/i;

const problemOf = (name: string, text: string, problem: string): ValueError => new ValueError(`strconv.${name}: parsing ${quoteGo(text)}: ${problem}`);

function parseInteger(text: string, name: string, [least, most]: readonly [bigint, bigint]): number {
  const [, sign, hex, binary, octal, decimal = ''] = integerForm.exec(text) ?? [];
  if (sign === undefined || (least === 0n && sign !== '')) throw problemOf(name, text, 'invalid syntax');
  const [prefix, digits] = hex !== undefined ? ['0x', hex] : binary !== undefined ? ['0b', binary] : octal !== undefined ? ['0o', octal] : ['', decimal];
  const size = BigInt(prefix + digits.replaceAll('_', ''));
  const value = sign === '-' ? -size : size;
  if (value < least || value > most) throw problemOf(name, text, 'value out of range');
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

/** A whole number; one beyond what JavaScript counts exactly becomes the nearest that it does. */
function readInteger(text: string): number {
  return parseInteger(text, 'ParseInt', [MIN_INT64, MAX_INT64]);
}

function readNatural(text: string): number {
  return parseInteger(text, 'ParseUint', [0n, MAX_UINT64]);
}

/** A number that may have a fraction. */
function readFraction(text: string): number {
  if (!fractionForm.test(text)) throw problemOf('ParseFloat', text, 'invalid syntax');
  const named = /^([-+]?)inf/i.exec(text);
  const value = named === null ? Number(text) : named[1] === '-' ? -Infinity : Infinity;
  if (named === null && Math.abs(value) === Infinity) throw problemOf('ParseFloat', text, 'value out of range');
  return value;
}

/** A truth value; undefined for anything else. */
export function parseBool(text: string): boolean | undefined {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(?:0|f|F|FALSE|false|False)$/.test(text) ? false : undefined;
}

/** A truth value of a flag. */
function readBool(text: string): boolean {
  const value = parseBool(text);
  if (value === undefined) throw problemOf('ParseBool', text, 'invalid syntax');
  return value;
}

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (typeof ms === 'string') throw new ValueError(ms);
  return ms;
}

function readQuantity(text: string): string {
  try {
    parseQuantity(text);
    return text;
  } catch (error) {
    throw error instanceof QuantityError ? new ValueError(error.message) : error;
  }
}

/** Items `pattern=N` with commas between them. */
function readPatterns(text: string): readonly string[] {
  const items = text.split(',').filter((item) => item !== '');
  for (const item of items) {
    const [pattern, level, more] = item.split('=');
    const hasBoth = pattern !== '' && level !== undefined && level !== '';
    if (!hasBoth || more !== undefined) throw new ValueError(`${quoteGo(item)} does not have the pattern=N format`);
    const problem = !/^\d+$/.test(level) ? 'invalid syntax' : BigInt(level) >= 2n ** 31n ? 'value out of range' : undefined;
    if (problem !== undefined) throw new ValueError(`parsing verbosity in ${quoteGo(item)}: ${problemOf('ParseUint', level, problem).message}`);
  }
  return items;
}

/** The fields of one line of comma-separated values; a field in quotes may hold commas, and a quote that is written twice. */
function readFields(text: string): readonly string[] {
  if (text === '') return [];
  const fields: string[] = [];
  const fail = (at: number, what: string): ValueError =>
    new ValueError(`parse error on line 1, column ${new TextEncoder().encode(text.slice(0, at)).length + 1}: ${what}`);
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] !== '"') {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      const quote = text.indexOf('"', at);
      if (quote >= 0 && quote < end) throw fail(quote, 'bare " in non-quoted-field');
      fields.push(text.slice(at, end));
      at = end;
      continue;
    }
    const { field, end } = readQuoted(text, at + 1);
    if (end === undefined) throw fail(text.length, 'extraneous or missing " in quoted-field');
    if (end < text.length && text[end] !== ',') throw fail(end - 1, 'extraneous or missing " in quoted-field');
    fields.push(field);
    at = end;
  }
  return fields;
}

/** A quoted field from behind its first quote, and the place behind its last one; undefined where that is missing. */
function readQuoted(text: string, start: number): { readonly field: string; readonly end: number | undefined } {
  for (let at = start; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { field: '', end: undefined };
    if (text[quote + 1] !== '"') return { field: text.slice(start, quote).replaceAll('""', '"'), end: quote + 1 };
    at = quote + 2;
  }
}
