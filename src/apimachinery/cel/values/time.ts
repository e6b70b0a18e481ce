// Timestamps and durations: their texts as Go reads and prints them, their ranges, and the parts of a date in a zone.
import { BoundedCache } from '../../../base/index.ts';
import { CelDuration, CelError, CelTimestamp, type Value, MAX_INT64, MIN_INT64, integerOverflow } from './values.ts';

const MIN_SECONDS = -62135596800;
const MAX_SECONDS = 253402300799;
const NANOS_PER_SECOND = 1_000_000_000n;
const timePattern = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;
const unitNanos: ReadonlyMap<string, number> = new Map([['ns', 1], ['us', 1e3], ['µs', 1e3], ['μs', 1e3], ['ms', 1e6], ['s', 1e9], ['m', 6e10], ['h', 3.6e12]]);

/** Seconds since 1970 of a date in UTC. */
function secondsOf(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && month >= 1 ? date.getTime() / 1000 : NaN;
}

/** The instant that an RFC 3339 text names; undefined when it names none. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = timePattern.exec(text);
  if (match === null) return undefined;
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  if (hour > 23 || minute > 59 || second > 59 || Number(match[3]) < 1) return undefined;
  const offset = match[8] !== undefined ? 0 : (Number(match[10]) * 3600 + Number(match[11]) * 60) * (match[9] === '-' ? -1 : 1);
  if (Number(match[10] ?? 0) > 24 || Number(match[11] ?? 0) > 60) return undefined;
  const seconds = secondsOf(Number(match[1]), Number(match[2]), Number(match[3])) + hour * 3600 + minute * 60 + second - offset;
  if (Number.isNaN(seconds) || seconds < MIN_SECONDS || seconds > MAX_SECONDS) return undefined;
  return new CelTimestamp(seconds, Number((match[7] ?? '').padEnd(9, '0').slice(0, 9)), offset);
}

/** The instant of a date, at midnight UTC; undefined when the text is not one. */
export function parseDate(text: string): CelTimestamp | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

/** RFC 3339 with as much fraction as there is, in the zone the instant was written in. */
export function formatTimestamp(time: CelTimestamp): string {
  const local = new Date((time.seconds + time.offsetSeconds) * 1000).toISOString().replace(/\.\d+Z$/, '').replace(/^\+00/, '');
  const fraction = time.nanos === 0 ? '' : `.${String(time.nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return local + fraction + formatOffset(time.offsetSeconds);
}

function formatOffset(seconds: number): string {
  if (seconds === 0) return 'Z';
  const minutes = Math.abs(seconds) / 60;
  return `${seconds < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(Math.floor(minutes % 60)).padStart(2, '0')}`;
}

/** The span that a Go duration text names; undefined when it names none. Read from left to right, each character once. */
export function parseDuration(text: string): CelDuration | undefined {
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.length === start + 1 && text[start] === '0') return new CelDuration(0n);
  let nanos = 0n;
  for (let at = start; at < text.length || at === start;) {
    const part = readSpan(text, at);
    if (part === undefined) return undefined;
    nanos += part.nanos;
    if (nanos > -MIN_INT64) return undefined;
    at = part.end;
  }
  if (negative) nanos = -nanos;
  return nanos > MAX_INT64 ? undefined : new CelDuration(nanos);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function skipDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Whole numbers of more digits than this are no int64, whatever their unit; leading zeros do not count. */
const MAX_WHOLE_DIGITS = 19;
/** Digits of a fraction that 63 bits hold, whatever they are. */
const MAX_FRACTION_DIGITS = 18;

/** One number with its unit. */
function readSpan(text: string, from: number): { nanos: bigint; end: number } | undefined {
  const dot = skipDigits(text, from);
  const end = text[dot] === '.' ? skipDigits(text, dot + 1) : dot;
  if (end - from === 0 || (end - from === 1 && dot === from)) return undefined;
  const unit = unitAt(text, end);
  if (unit === undefined) return undefined;
  let first = from;
  while (first < dot && text[first] === '0') first++;
  if (dot - first > MAX_WHOLE_DIGITS) return undefined;
  const scale = unitNanos.get(unit)!;
  const whole = first === dot ? 0n : BigInt(text.slice(first, dot)) * BigInt(scale);
  return { nanos: whole + nanosOfFraction(text.slice(dot + 1, end), scale), end: end + unit.length };
}

/** A fraction of a unit, rounded as Go does: in doubles, of the digits that 63 bits hold. */
function nanosOfFraction(digits: string, scale: number): bigint {
  let zeros = 0;
  while (digits[zeros] === '0') zeros++;
  const first = digits.slice(zeros, zeros + MAX_FRACTION_DIGITS);
  const kept = BigInt(first) > MAX_INT64 / 10n ? first : digits.slice(zeros, zeros + MAX_FRACTION_DIGITS + 1);
  return BigInt(Math.trunc(Number(kept) * (scale / 10 ** (zeros + kept.length))));
}

function unitAt(text: string, at: number): string | undefined {
  const two = text.slice(at, at + 2);
  if (unitNanos.has(two)) return two;
  const one = text.slice(at, at + 1);
  return unitNanos.has(one) ? one : undefined;
}

/** Seconds with as much fraction as there is: `90s`, `1.5s`. */
export function formatDuration(duration: CelDuration): string {
  const negative = duration.nanos < 0n;
  const nanos = negative ? -duration.nanos : duration.nanos;
  const fraction = nanos % NANOS_PER_SECOND;
  const shown = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${negative ? '-' : ''}${nanos / NANOS_PER_SECOND}${shown}s`;
}

const outOfRange = new CelError('timestamp overflow');

/** A duration if 64 bits hold it. */
export function makeDuration(nanos: bigint): Value {
  return nanos > MAX_INT64 || nanos < MIN_INT64 ? integerOverflow : new CelDuration(nanos);
}

const nanosOf = (time: CelTimestamp): bigint => BigInt(time.seconds) * NANOS_PER_SECOND + BigInt(time.nanos);

/** The instant a span after another. */
export function addDuration(time: CelTimestamp, nanos: bigint): Value {
  const total = nanosOf(time) + nanos;
  let seconds = total / NANOS_PER_SECOND;
  let rest = total % NANOS_PER_SECOND;
  if (rest < 0n) {
    rest += NANOS_PER_SECOND;
    seconds -= 1n;
  }
  return seconds < BigInt(MIN_SECONDS) || seconds > BigInt(MAX_SECONDS) ? outOfRange : new CelTimestamp(Number(seconds), Number(rest), time.offsetSeconds);
}

/** The span from `b` to `a`. */
export function subtractTimes(a: CelTimestamp, b: CelTimestamp): Value {
  return makeDuration(nanosOf(a) - nanosOf(b));
}

/** An instant of whole seconds, if it is in range. */
export function timestampOfSeconds(seconds: number | bigint): Value {
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? new CelError('timestamp overflow') : new CelTimestamp(Number(seconds), 0);
}

/** Formats by zone: making one takes 40 µs. */
const formats = new BoundedCache<string, Intl.DateTimeFormat>({ limit: 64 });
const fixedZone = /^([+-]?)(\d{1,2}):(\d{2})$/;

/** Whether the date in a zone takes more than arithmetic. */
export const isNamedZone = (zone: string): boolean => zone !== 'UTC' && zone !== '' && !fixedZone.test(zone);

/** The date of an instant in a zone, as a Date whose UTC parts are the local ones; undefined when there is no such zone. */
export function localDate(time: CelTimestamp, zone: string): Date | undefined {
  const fixed = fixedZone.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return new Date((time.seconds + (fixed[1] === '-' ? -minutes : minutes) * 60) * 1000);
  }
  if (zone === 'UTC' || zone === '') return new Date(time.seconds * 1000);
  const format = formatOf(zone);
  if (format === undefined) return undefined;
  const parts = new Map(format.formatToParts(new Date(time.seconds * 1000)).map((part) => [part.type, part.value]));
  const year = Number(parts.get('year'));
  const date = new Date(0);
  date.setUTCFullYear(parts.get('era') === 'B' ? 1 - year : year, Number(parts.get('month')) - 1, Number(parts.get('day')));
  date.setUTCHours(Number(parts.get('hour')) % 24, Number(parts.get('minute')), Number(parts.get('second')));
  return date;
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric' as const;
  const parts = { era: 'narrow', year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric, hourCycle: 'h23' } as const;
  try {
    return formats.getOrMake(zone, () => new Intl.DateTimeFormat('en-US', { timeZone: zone, ...parts }));
  } catch {
    return undefined;
  }
}
