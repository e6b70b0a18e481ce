// The vocabulary of validation: one builder per error type of upstream's field package, with its reason and its text.
import { quoteGo } from './quote.ts';
import type { FieldError } from './status.ts';

/** JSON has no other way to write an integer beyond 2^53: a text that no client can send, since a half of a pair is never read, stands for it. */
const EXACT = '\uD800';
const exactInteger = /"\\ud800(-?\d{1,20})"/g;

/** How a value stands in a message: texts quoted, all else JSON as Go's encoder writes it; undefined is Go's nil. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'bigint') return String(value);
  let hasExact = false;
  const written = JSON.stringify(value, (_, inner) => {
    if (typeof inner !== 'bigint') return inner;
    hasExact = true;
    return `${EXACT}${inner}`;
  }) ?? 'null';
  return escapeJson(hasExact ? written.replace(exactInteger, '$1') : written);
}

/** JSON with what Go's encoder escapes beside the necessary. */
export const escapeJson = (json: string): string => json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

const withDetail = (text: string, detail: string | undefined): string => (detail ? `${text}: ${detail}` : text);

/** A value that must be there is not. */
export const required = (field: string, detail?: string): FieldError =>
  ({ reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) });

/** A value that is malformed or out of bounds. */
export const invalidValue = (field: string, value: unknown, detail?: string): FieldError =>
  ({ reason: 'FieldValueInvalid', field, message: withDetail(`Invalid value: ${quoteValue(value)}`, detail) });

/** The same, of a text that has a type of its own in Go, or a pointer to it: it is shown as JSON. */
export const invalidTyped = (field: string, text: string, detail: string): FieldError =>
  ({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${escapeJson(JSON.stringify(text))}: ${detail}` });

/** The same, of a value that the message does not show. */
export const invalidUnshown = (field: string, detail: string): FieldError => ({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` });

/** A value outside a closed set, whose texts have a type of their own in Go and are shown as JSON; the set is printed sorted unless `keepOrder`. */
export function notSupported(field: string, value: unknown, supported: readonly string[], keepOrder = false): FieldError {
  return unsupported(field, typeof value === 'string' ? escapeJson(JSON.stringify(value)) : quoteValue(value), keepOrder ? supported : [...supported].sort());
}

/** The same of a value that is a plain text in Go. */
export function notSupportedText(field: string, value: unknown, supported: readonly string[], keepOrder = false): FieldError {
  return unsupported(field, quoteValue(value), keepOrder ? supported : [...supported].sort());
}

function unsupported(field: string, shown: string, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? undefined : `supported values: ${supported.map((v) => JSON.stringify(v)).join(', ')}`;
  return { reason: 'FieldValueNotSupported', field, message: withDetail(`Unsupported value: ${shown}`, detail) };
}

/** A value that may not be there, whatever it is. */
export const forbiddenField = (field: string, detail: string): FieldError =>
  ({ reason: 'FieldValueForbidden', field, message: withDetail('Forbidden', detail) });

/** A value that must be unique and is not. */
export const duplicate = (field: string, value: unknown): FieldError =>
  ({ reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${quoteValue(value)}` });

/** A string or map with too many bytes; the value is not repeated, nor is a bound below zero. */
export function tooLong(field: string, maxBytes: number): FieldError {
  const why = maxBytes < 0 ? 'value is too long' : `may not be more than ${maxBytes} ${maxBytes === 1 ? 'byte' : 'bytes'}`;
  return { reason: 'FieldValueTooLong', field, message: `Too long: ${why}` };
}

/** A list with too many items; a bound below zero is not shown. */
export function tooMany(field: string, count: number, max: number): FieldError {
  const why = max < 0 ? 'has too many items' : `must have at most ${max} ${max === 1 ? 'item' : 'items'}`;
  return { reason: 'FieldValueTooMany', field, message: `Too many: ${count}: ${why}` };
}

/** A reference to something that is not there. */
export const notFoundValue = (field: string, value: unknown): FieldError =>
  ({ reason: 'FieldValueNotFound', field, message: `Not found: ${quoteValue(value)}` });

/** Joins a path: `child('spec', 'ports', 0, 'name')` is `spec.ports[0].name`. */
export function fieldPath(...parts: (string | number)[]): string {
  let path = '';
  for (const part of parts) path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`;
  return path;
}

/** The problems of a server where these conditions hold; they are problems without a condition then. Each condition is asked for once. */
export function selectProblems(errors: readonly FieldError[], holds: (condition: string) => boolean): readonly FieldError[] {
  if (errors.every(({ when }) => when === undefined)) return errors;
  const answers = new Map<string, boolean>();
  const isProblem = (when: string): boolean => {
    const known = answers.get(when) ?? (when.startsWith('!') ? !holds(when.slice(1)) : holds(when));
    answers.set(when, known);
    return known;
  };
  return errors.flatMap(({ when, ...error }) => (when === undefined || isProblem(when) ? [error] : []));
}
