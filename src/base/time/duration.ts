// Go's duration texts: `300ms`, `1m30s`, `1.5h`, `0`. With Go's words for what is wrong with one.
import { trimEnd } from '../text.ts';

const unitNanos: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n], ['us', 1000n], ['µs', 1000n], ['μs', 1000n], ['ms', 1_000_000n], ['s', 1_000_000_000n], ['m', 60_000_000_000n], ['h', 3_600_000_000_000n],
]);
const MAX_NANOS = 2n ** 63n - 1n;
/** Digits that an int64 has; a longer number overflows, a longer fraction is finer than a nanosecond. */
const MAX_DIGITS = 19;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_X = 0x78;
const BEYOND_ASCII = 0x80;
const hexDigits = new TextEncoder().encode('0123456789abcdef');

/** Nanoseconds, cut off below one, or the text of Go's error. */
export function parseDurationNanos(text: string): bigint | string {
  const start = text.startsWith('-') || text.startsWith('+') ? 1 : 0;
  if (text.slice(start) === '0') return 0n;
  const describeInvalid = (): string => `time: invalid duration ${quote(text)}`;
  const part = /(0*)(\d*)(?:\.(\d*))?([^\d.]*)/y;
  let total = 0n;
  for (let at = start; at < text.length || at === start; at = part.lastIndex) {
    part.lastIndex = at;
    const [, zeros = '', whole = '', fraction = '', unit = ''] = part.exec(text) ?? [];
    if (zeros + whole + fraction === '' || whole.length > MAX_DIGITS) return describeInvalid();
    if (unit === '') return `time: missing unit in duration ${quote(text)}`;
    const size = unitNanos.get(unit);
    if (size === undefined) return `time: unknown unit ${quote(unit)} in duration ${quote(text)}`;
    const digits = fraction.slice(0, MAX_DIGITS);
    total += BigInt(whole || 0) * size + (BigInt(digits || 0) * size) / 10n ** BigInt(digits.length);
    if (total > MAX_NANOS) return describeInvalid();
  }
  return text.startsWith('-') ? -total : total;
}

/** A text as Go's package of times shows it: all but printable ASCII byte by byte. Texts of a megabyte come from clients, so it is one pass. */
function quote(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const shown = new Uint8Array(4 * bytes.length + 2);
  let at = 0;
  shown[at++] = QUOTE;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const isPrintable = byte >= SPACE && byte < BEYOND_ASCII;
    if (!isPrintable || byte === QUOTE || byte === BACKSLASH) shown[at++] = BACKSLASH;
    if (isPrintable) shown[at++] = byte;
    else {
      shown[at++] = LETTER_X;
      shown[at++] = hexDigits[byte >> 4] as number;
      shown[at++] = hexDigits[byte & 15] as number;
    }
  }
  shown[at++] = QUOTE;
  return new TextDecoder().decode(shown.subarray(0, at));
}

/** Milliseconds, or the text of Go's error. */
export function parseDuration(text: string): number | string {
  const nanos = parseDurationNanos(text);
  return typeof nanos === 'string' ? nanos : Number(nanos) / 1e6;
}

/** Nanoseconds as Go prints a duration: `1h0m0.5s`, `1.5ms`. */
export function formatDurationNanos(nanos: number | bigint): string {
  let rest = BigInt(nanos);
  if (rest === 0n) return '0s';
  const sign = rest < 0n ? '-' : '';
  if (rest < 0n) rest = -rest;
  if (rest < 1_000_000_000n) {
    const [unit, size] = rest < 1000n ? ['ns', 1n] as const : rest < 1_000_000n ? ['µs', 1000n] as const : ['ms', 1_000_000n] as const;
    return `${sign}${formatDecimal(rest, size)}${unit}`;
  }
  const hours = rest / 3_600_000_000_000n;
  const minutes = (rest / 60_000_000_000n) % 60n;
  const seconds = formatDecimal(rest % 60_000_000_000n, 1_000_000_000n);
  return `${sign}${hours > 0n ? `${hours}h` : ''}${hours > 0n || minutes > 0n ? `${minutes}m` : ''}${seconds}s`;
}

function formatDecimal(value: bigint, size: bigint): string {
  const digits = String(size).length - 1;
  const fraction = trimEnd(String(value % size).padStart(digits, '0'), '0');
  return fraction === '' || digits === 0 ? String(value / size) : `${value / size}.${fraction}`;
}
