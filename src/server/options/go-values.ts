// Values of flags as Go reads them: whole numbers, numbers and truth values of strconv, lists of encoding/csv; with Go's words for what is wrong.
import { quoteGo } from '../../apimachinery/index.ts';

/** A value of a flag that cannot be read; the message is Go's. */
export class ValueError extends Error {}

const [MIN_INT64, MAX_INT64] = [-(2n ** 63n), 2n ** 63n - 1n];
/** Base 0 of strconv.ParseInt: the prefix says the base, and a `_` may stand between digits and behind the prefix. */
const integerForm = /^([-+]?)(?:0x((?:_?[\da-f])+)|0b((?:_?[01])+)|0o?((?:_?[0-7])+)|(0|[1-9](?:_?\d)*))$/i;
const fractionForm = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|inf(?:inity)?|nan)$/i;

const problemOf = (name: string, text: string, problem: string): ValueError => new ValueError(`strconv.${name}: parsing ${quoteGo(text)}: ${problem}`);

/** A whole number; one beyond what JavaScript counts exactly becomes the nearest that it does. */
export function readInteger(text: string): number {
  const [, sign, hex, binary, octal, decimal = ''] = integerForm.exec(text) ?? [];
  if (sign === undefined) throw problemOf('ParseInt', text, 'invalid syntax');
  const [prefix, digits] = hex !== undefined ? ['0x', hex] : binary !== undefined ? ['0b', binary] : octal !== undefined ? ['0o', octal] : ['', decimal];
  const size = BigInt(prefix + digits.replaceAll('_', ''));
  const value = sign === '-' ? -size : size;
  if (value < MIN_INT64 || value > MAX_INT64) throw problemOf('ParseInt', text, 'value out of range');
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

/** A number that may have a fraction. */
export function readFraction(text: string): number {
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
export function readBool(text: string): boolean {
  const value = parseBool(text);
  if (value === undefined) throw problemOf('ParseBool', text, 'invalid syntax');
  return value;
}

/** The fields of one line of comma-separated values; a field in quotes may hold commas, and a quote that is written twice. */
export function readFields(text: string): readonly string[] {
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
