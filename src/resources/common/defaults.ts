// Helpers for defaults. Upstream has two kinds of absent: a Go value that is zero ('' or 0), and a nil pointer. The kind of a field decides whether
// an explicit zero is kept, so every default names it by the helper that it uses.
import { isJsonObject } from '../../base/index.ts';
import { type JsonObject, type JsonValue, canonicalizeQuantity, formatQuantity, parseQuantity } from '../../apimachinery/index.ts';
import { cloneJson } from '../../registry/index.ts';
import { toObject } from './values.ts';

/** The default port of a `service` member that names a Service, in webhooks, conversions and API services. */
export function applyServicePort(parent: JsonObject | undefined): void {
  const service = readPointer(parent, 'service');
  if (service !== undefined) setAbsent(service, { port: 443 });
}

/** Fields with their defaults. */
export type Defaults = Readonly<Record<string, JsonValue>>;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Sets pointer fields that are absent; values are copied, so that objects never share them. */
export function setAbsent(object: JsonObject, defaults: Defaults): void {
  for (const name in defaults) if (isAbsent(object[name])) object[name] = cloneJson(defaults[name]);
}

/** Sets plain fields that are absent or zero. */
export function setZero(object: JsonObject, defaults: Defaults): void {
  for (const name in defaults) {
    const value = object[name];
    if (isAbsent(value) || value === '' || value === 0) object[name] = defaults[name];
  }
}

/** The struct at a field, made when it is absent: Go's structs are never nil. */
export function ensureStruct(parent: Record<string, unknown>, name: string): JsonObject {
  const value = parent[name];
  if (isJsonObject(value)) return value as JsonObject;
  const made: JsonObject = {};
  if (isAbsent(value)) parent[name] = made;
  return made;
}

/** The struct that a pointer field holds; undefined when it is absent. */
export function readPointer(parent: unknown, name: string): JsonObject | undefined {
  if (typeof parent !== 'object' || parent === null) return undefined;
  const value = (parent as Record<string, unknown>)[name];
  return isJsonObject(value) ? (value as JsonObject) : undefined;
}

/** The structs of a list; other elements are skipped. */
export function readStructs(parent: unknown, name: string): readonly JsonObject[] {
  const value = typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>)[name] : undefined;
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is JsonObject => isJsonObject(item));
}

/** The entries of `given`, and those of `fallback` for keys that are missing in it; `given` itself where none is. */
export function mergeMissing(given: unknown, fallback: unknown): JsonObject {
  const [own, more] = [toObject(given), toObject(fallback)];
  return Object.keys(more).every((key) => Object.hasOwn(own, key)) ? own : { ...more, ...own };
}

const MILLI_EXPONENT = -3;

/** Away from zero to whole thousandths, which is all that a resource list keeps; the text stays where nothing is rounded. */
function roundUpToMilli(text: string): string {
  const { mantissa, exponent, format } = parseQuantity(text);
  if (exponent >= MILLI_EXPONENT || mantissa === 0n) return canonicalizeQuantity(text);
  const unit = 10n ** BigInt(MILLI_EXPONENT - exponent);
  const sign = mantissa < 0n ? -1n : 1n;
  return formatQuantity({ format, mantissa: sign * ((mantissa * sign + unit - 1n) / unit), exponent: MILLI_EXPONENT });
}

/** Rounds the quantities of a resource list in place; texts that are no quantities are left for validation. */
export function roundResources(parent: unknown, ...names: readonly string[]): void {
  for (const name of names) {
    const list = readPointer(parent, name);
    if (list === undefined) continue;
    for (const [key, value] of Object.entries(list)) {
      if (typeof value !== 'string' || !/[un.]|e-/i.test(value)) continue;
      try {
        Object.defineProperty(list, key, { value: roundUpToMilli(value), enumerable: true, writable: true, configurable: true });
      } catch {
        continue;
      }
    }
  }
}
