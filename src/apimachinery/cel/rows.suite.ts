// For tests of expressions: rows of a text and what it evaluates to, written as a literal of the language.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadPatternEngine } from '../schema/validate/pattern.ts';
import { compileExpression } from './compile.ts';
import { kubernetesEnvironment } from './kubernetes.ts';
import { PER_CALL_LIMIT } from './limits.ts';
import { CelSyntaxError } from './parse/source.ts';
import { formatDuration, formatTimestamp } from './values/time.ts';
import { CelType } from './values/types.ts';
import {
  CelDouble, CelDuration, CelError, CelList, CelMap, CelOptional, CelTimestamp, CelUint, type Value, typeOf,
} from './values/values.ts';

/** A value as a literal: `1`, `1u`, `1.0`, `"a"`, `[1, 2]`, `duration(1s)`; `!` and the message for a failure. */
export function showValue(value: Value): string {
  if (value instanceof CelError) return `!${value.message}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof CelDouble) return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelList) return `[${value.toArray().map(showValue).join(', ')}]`;
  if (value instanceof CelMap) return `{${value.keys().map((key) => `${showValue(key)}: ${showValue(value.find(key)!)}`).join(', ')}}`;
  if (value instanceof CelTimestamp) return `timestamp(${formatTimestamp(value)})`;
  if (value instanceof CelDuration) return `duration(${formatDuration(value)})`;
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : `optional(${showValue(value.value)})`;
  if (value instanceof Uint8Array) return `b"${Buffer.from(value).toString('hex')}"`;
  return value instanceof CelType ? `type(${value.name})` : typeOf(value).name;
}

/** What a text without variables evaluates to in the environment of Kubernetes; for a text that does not compile the message of the first problem. */
export function evaluateText(text: string): string {
  try {
    return showValue(compileExpression(text, kubernetesEnvironment).program.evaluate(() => undefined, PER_CALL_LIMIT).value);
  } catch (error) {
    if (error instanceof CelSyntaxError) return `?${error.issues[0]!.message}`;
    throw error;
  }
}

/** One test for each row: a text, and what it evaluates to. */
export function testRows(about: string, rows: readonly (readonly [text: string, expected: string])[]): void {
  before(loadPatternEngine);
  for (const [text, expected] of rows) test(`${about}: ${text}`, () => assert.equal(evaluateText(text), expected));
}
