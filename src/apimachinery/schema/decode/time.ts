// Times as metav1.Time and MicroTime read and write them: RFC 3339 in UTC, to the second or with exactly six digits of fraction.
// The errors are those of Go's time.Parse, which names the part of the layout that did not fit.
import { quoteGo } from '../../quote.ts';
import { DecodeError } from './error.ts';

const SECOND_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';
const ZERO_SECONDS = '0001-01-01T00:00:00Z';

/** On an object: the names of its fields that were set to Go's zero time. They are left out of it, as they are shown and stored. */
const zeroTimes = Symbol('zero times');

/** Notes on an object which of its fields were set to the zero time. Copies by spreading keep the note; JSON does not show it. */
export function noteZeroTimes(object: object, fields: readonly string[]): void {
  (object as { [zeroTimes]?: readonly string[] })[zeroTimes] = fields;
}

/** Whether a field was set to Go's zero time, which validations of the reference that compare structs take for a time. */
export const isZeroTime = (object: unknown, field: string): boolean =>
  (object as { [zeroTimes]?: readonly string[] } | null | undefined)?.[zeroTimes]?.includes(field) === true;

/** A metav1.Time in canonical form; undefined for Go's zero time, which counts as unset. Throws DecodeError. */
export function canonicalizeTime(text: string): string | undefined {
  if (text.length === 20 && text[19] === 'Z' && beginsPlainly(text)) return text === ZERO_SECONDS ? undefined : text;
  const canonical = new TimeParser(text, SECOND_LAYOUT).parse().slice(0, 19) + 'Z';
  return canonical === ZERO_SECONDS ? undefined : canonical;
}

/** A metav1.MicroTime in canonical form; undefined for Go's zero time. Throws DecodeError. */
export function canonicalizeMicroTime(text: string): string | undefined {
  // Leases come with times like this twice a minute from each node: the parser took 1.5 % of such a write.
  const isPlain = text.length === 27 && text[19] === '.' && text[26] === 'Z' && beginsPlainly(text)
    && readTwo(text, 20) >= 0 && readTwo(text, 22) >= 0 && readTwo(text, 24) >= 0;
  const canonical = isPlain ? text : new TimeParser(text, MICRO_LAYOUT).parse();
  return canonical === '0001-01-01T00:00:00.000000Z' ? undefined : canonical;
}

/** True for texts that begin with `YYYY-MM-DDThh:mm:ss` with a day that every month has; anything else is read the slow way. */
function beginsPlainly(text: string): boolean {
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return false;
  const month = readTwo(text, 5);
  const day = readTwo(text, 8);
  return readTwo(text, 0) >= 0 && readTwo(text, 2) >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= 28
    && isBelow(readTwo(text, 11), 24) && isBelow(readTwo(text, 14), 60) && isBelow(readTwo(text, 17), 60);
}

function isBelow(value: number, limit: number): boolean {
  return value >= 0 && value < limit;
}

function readTwo(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

class TimeParser {
  readonly #text: string;
  readonly #layout: string;
  #rest: string;

  constructor(text: string, layout: string) {
    this.#text = text;
    this.#layout = layout;
    this.#rest = text;
  }

  /** The time in UTC with six digits of fraction. */
  parse(): string {
    const year = this.#readYear();
    this.#skip('-');
    const month = this.#readNumber({ element: '01', name: 'month', from: 1, below: 13 });
    this.#skip('-');
    const day = this.#readNumber({ element: '02', name: '', from: 0, below: 100 });
    this.#skip('T');
    const hour = this.#readHour();
    this.#skip(':');
    const minute = this.#readNumber({ element: '04', name: 'minute', from: 0, below: 60 });
    this.#skip(':');
    const second = this.#readNumber({ element: '05', name: 'second', from: 0, below: 60 });
    const micros = this.#readFraction();
    const offsetMinutes = this.#readZone();
    if (this.#rest !== '') throw this.#fail(`: extra text: ${quoteGo(this.#rest)}`);
    if (day < 1 || day > daysIn(year, month)) throw this.#fail(': day out of range');
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute - offsetMinutes, second);
    return `${date.toISOString().slice(0, -4)}${micros}Z`;
  }

  #readYear(): number {
    if (this.#rest.length < 4 || !isDigit(this.#rest, 0)) throw this.#mismatch('2006', this.#rest);
    const digits = this.#rest.slice(0, 4);
    if (!/^\d{4}$/.test(digits)) throw this.#mismatch('2006', this.#rest);
    this.#rest = this.#rest.slice(4);
    return Number(digits);
  }

  #readNumber(part: { element: string; name: string; from: number; below: number }): number {
    if (!isDigit(this.#rest, 0) || !isDigit(this.#rest, 1)) throw this.#mismatch(part.element, this.#rest);
    return this.#take(2, part);
  }

  /** Go takes an hour of one digit too. */
  #readHour(): number {
    if (!isDigit(this.#rest, 0)) throw this.#mismatch('15', this.#rest);
    return this.#take(isDigit(this.#rest, 1) ? 2 : 1, { name: 'hour', from: 0, below: 24 });
  }

  #take(length: number, range: { name: string; from: number; below: number }): number {
    const value = Number(this.#rest.slice(0, length));
    this.#rest = this.#rest.slice(length);
    if (value < range.from || value >= range.below) throw this.#fail(`: ${range.name} out of range`);
    return value;
  }

  /** Six digits where the layout has them; where it has none, any number of digits is read over. */
  #readFraction(): string {
    if (this.#layout === MICRO_LAYOUT) {
      if (!/^[.,]\d{6}/.test(this.#rest)) throw this.#mismatch('.000000', this.#rest);
      const digits = this.#rest.slice(1, 7);
      this.#rest = this.#rest.slice(7);
      return digits;
    }
    const fraction = /^[.,]\d+/.exec(this.#rest);
    if (fraction) this.#rest = this.#rest.slice(fraction[0].length);
    return '000000';
  }

  #readZone(): number {
    if (this.#rest.startsWith('Z')) {
      this.#rest = this.#rest.slice(1);
      return 0;
    }
    const zone = /^([+-])(\d\d):(\d\d)/.exec(this.#rest);
    if (!zone) throw this.#mismatch('Z07:00', this.#rest);
    this.#rest = this.#rest.slice(6);
    if (Number(zone[2]) > 24) throw this.#fail(': time zone offset hour out of range');
    if (Number(zone[3]) > 60) throw this.#fail(': time zone offset minute out of range');
    const minutes = Number(zone[2]) * 60 + Number(zone[3]);
    return zone[1] === '-' ? -minutes : minutes;
  }

  #skip(separator: string): void {
    if (!this.#rest.startsWith(separator)) throw this.#mismatch(separator, this.#rest);
    this.#rest = this.#rest.slice(1);
  }

  #mismatch(element: string, rest: string): DecodeError {
    return this.#fail(` as ${quoteGo(this.#layout)}: cannot parse ${quoteGo(rest)} as ${quoteGo(element)}`);
  }

  #fail(message: string): DecodeError {
    return new DecodeError(`parsing time ${quoteGo(this.#text)}${message}`);
  }
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
