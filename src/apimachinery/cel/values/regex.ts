// Patterns with RE2's semantics, matched in linear time, by the engine that schemas use: it must have been loaded (loadPatternEngine) before
// an expression with a pattern is compiled or run.
import type { RE2JS } from 're2js';
import { checkPattern, compileFor } from '../../schema/validate/pattern.ts';

/** The compiled pattern, for use on this text; undefined when it is not valid. */
export function compilePattern(pattern: string, text: string): RE2JS | undefined {
  return checkPattern(pattern) === undefined ? compileFor(pattern, text) : undefined;
}

/** What is wrong with a pattern, as Go's regexp says it; undefined when it is valid. */
export { checkPattern as patternProblem } from '../../schema/validate/pattern.ts';
