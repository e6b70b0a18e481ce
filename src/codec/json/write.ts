// JSON as the reference writes it: JSON.stringify, then Go's escapes for HTML. Values with bigint, or nested deeper than JSON.stringify
// survives, take an iterative writer instead.
import { type JsonObject, type JsonValue } from '../../apimachinery/index.ts';
import { encodeUtf8 } from '../utf8.ts';

const everySpecial = /[<>&\u2028\u2029]/g;
const escapes: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026', '\u2028': '\\u2028', '\u2029': '\\u2029' };

/** JSON text with Go's HTML escapes, keys in the order of the objects, no newline at the end; `indent` spaces per level when given. */
export function stringifyJson(value: unknown, indent = 0): string {
  const text = writeJson(value, indent);
  return hasSpecial(text) ? text.replace(everySpecial, (c) => escapes[c] as string) : text;
}

/** Searches for single characters run many times faster than a class of them. */
function hasSpecial(text: string): boolean {
  return text.includes('<') || text.includes('>') || text.includes('&') || text.includes('\u2028') || text.includes('\u2029');
}

/** The UTF-8 bytes of `stringifyJson(value)`. */
export function encodeJson(value: unknown): Uint8Array {
  return encodeUtf8(stringifyJson(value));
}

/** JSON text without escapes for HTML. */
export function writeJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    // TypeError: a bigint is inside; RangeError: nested too deep for the stack.
    if (!(error instanceof RangeError || (error instanceof TypeError && error.message.includes('BigInt')))) throw error;
    return writeIteratively(value as JsonValue, indent);
  }
}

interface Frame {
  readonly keys: readonly string[] | undefined;
  readonly values: readonly JsonValue[];
  next: number;
}

function openFrame(value: JsonValue[] | JsonObject): Frame {
  if (Array.isArray(value)) return { keys: undefined, values: value, next: 0 };
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  return { keys, values: keys.map((key) => value[key] as JsonValue), next: 0 };
}

function writeIteratively(root: JsonValue, indent: number): string {
  const out: string[] = [];
  const stack: Frame[] = [];
  const newLine = (): void => {
    if (indent > 0) out.push('\n', ' '.repeat(indent * stack.length));
  };
  const start = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) {
      out.push(writeScalar(value));
      return;
    }
    const frame = openFrame(value);
    const isArray = frame.keys === undefined;
    if (frame.values.length === 0) out.push(isArray ? '[]' : '{}');
    else {
      out.push(isArray ? '[' : '{');
      stack.push(frame);
    }
  };
  start(root);
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.values.length) {
      stack.pop();
      newLine();
      out.push(frame.keys === undefined ? ']' : '}');
      continue;
    }
    if (frame.next > 0) out.push(',');
    newLine();
    if (frame.keys !== undefined) out.push(JSON.stringify(frame.keys[frame.next]), indent > 0 ? ': ' : ':');
    start(frame.values[frame.next++] as JsonValue);
  }
  return out.join('');
}

function writeScalar(value: JsonValue | undefined): string {
  if (typeof value === 'bigint') return value.toString();
  return value === undefined ? 'null' : JSON.stringify(value);
}
