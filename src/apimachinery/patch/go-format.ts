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

/** Floats print with an exponent of at least two digits where %v uses one. */
function formatScalar(value: unknown): string {
  if (typeof value !== 'number' || (Number.isInteger(value) && Math.abs(value) < 1e18)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value.toExponential()).replace(/e\+(\d)$/, 'e+0$1');
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** The type of decoded JSON, as `%T` names it; numbers are taken for floats. */
export function goTypeOf(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'number' ? 'float64' : 'string';
}
