// What an unquoted YAML scalar means to the reference (go-yaml v2 behind sigs.k8s.io/yaml, YAML 1.1): booleans yes/no/on/off/y/n, octal 017 and
// 0o17, underscores in numbers, times that stay strings. The writer quotes a string exactly if it would mean something else unquoted.
import { formatGoFloat } from '../../apimachinery/index.ts';

type YamlScalar = null | boolean | number | bigint | string;

const words = new Map<string, null | boolean | number>();
for (const word of ['', '~', 'null', 'Null', 'NULL']) words.set(word, null);
for (const word of ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']) words.set(word, true);
for (const word of ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']) words.set(word, false);
for (const word of ['.nan', '.NaN', '.NAN']) words.set(word, Number.NaN);
for (const word of ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF']) words.set(word, Number.POSITIVE_INFINITY);
for (const word of ['-.inf', '-.Inf', '-.INF']) words.set(word, Number.NEGATIVE_INFINITY);

const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const timestamp = /^\d{4}-(\d{1,2})-(\d{1,2})(?:[Tt]([\d:]+)(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| ([\d:]+)(?:\.\d+)?)?$/;
const clock = /^(\d{1,2}):(\d{1,2}):(\d{1,2})$/;

/** The value of a plain scalar. Integers beyond int64 (and uint64) are floats, as in Go. */
export function resolvePlain(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  if (!(first === 0x2b || first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39))) return text;
  const plain = first === 0x2e ? text : text.replaceAll('_', '');
  return resolveInteger(plain) ?? (float.test(plain) ? Number(plain) : text);
}

/** Values of more digits are floats anyway, and cost quadratic time to read exactly. */
const MAX_DIGITS = 70;

function resolveInteger(plain: string): number | bigint | undefined {
  const match = plain.length <= MAX_DIGITS ? integer.exec(plain) : null;
  if (match === null) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const digits = hex !== undefined ? `0x${hex}` : binary !== undefined ? `0b${binary}` : octal !== undefined ? `0o${octal}` : (decimal as string);
  const exact = sign === '-' ? -BigInt(digits) : BigInt(digits);
  if (BigInt.asIntN(64, exact) !== exact) return BigInt.asUintN(64, exact) === exact || decimal === undefined ? Number(exact) : undefined;
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** Would the string, written without quotes, be read as something else? */
export function needsQuotes(text: string): boolean {
  return text === '<<' || typeof resolvePlain(text) !== 'string' || isTimestamp(text) || base60.test(text);
}

function isTimestamp(text: string): boolean {
  const match = timestamp.exec(text);
  if (match === null) return false;
  const month = Number(match[1]);
  const day = Number(match[2]);
  const time = clock.exec(match[3] ?? match[4] ?? '0:0:0');
  if (time === null || Number(time[1]) > 23 || Number(time[2]) > 59 || Number(time[3]) > 59) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000, month, 0)).getUTCDate();
}

/** A float as Go's YAML writes it. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return formatGoFloat(value);
}
