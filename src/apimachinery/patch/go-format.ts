// How Go prints JSON data with %v, which some messages of the reference contain: map[a:1 b:[x y]], <nil>.
import { compareKeys } from '../../base/index.ts';

/** The text of a value as `%v` has it. */
export function formatGo(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGo).join(' ')}]`;
  if (typeof value !== 'object') return formatScalar(value);
  const entries = Object.entries(value).sort(([a], [b]) => compareKeys(a, b));
  return `map[${entries.map(([key, inner]) => `${key}:${formatGo(inner)}`).join(' ')}]`;
}

/** The text of a value as `%s` has it: what is no text is shown with its type, as a mistake in the format. */
export function formatGoText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return `[${value.map(formatGoText).join(' ')}]`;
  if (typeof value !== 'object') return `%!s(${goKindOf(value)}=${formatScalar(value)})`;
  const entries = Object.entries(value).sort(([a], [b]) => compareKeys(a, b));
  return `map[${entries.map(([key, inner]) => `${key}:${formatGoText(inner)}`).join(' ')}]`;
}

/** Whole numbers are no floats, but for those beyond 64 bits. */
function formatScalar(value: unknown): string {
  if (typeof value !== 'number' || (Number.isInteger(value) && Math.abs(value) < 1e18)) return String(value);
  return formatGoFloat(value);
}

/** A finite float as Go's strconv writes it with format 'g', and %v too: an exponent, of at least two digits, below 1e-4 and from 1e6 up. */
export function formatGoFloat(value: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** The type of decoded JSON, as `%T` names it; numbers are taken for floats. */
export function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'float64' : 'string';
}

/** The same where whole numbers were read as such. */
export const goKindOf = (value: unknown): string => (typeof value === 'bigint' || Number.isInteger(value) ? 'int64' : goTypeOf(value));
