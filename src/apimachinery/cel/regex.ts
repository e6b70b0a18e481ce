// Patterns with RE2's semantics, matched in linear time, by the engine that schemas use: it must have been loaded (loadPatternEngine) before
// an expression with a pattern is compiled or run.
import type { RE2JS } from 're2js';
import { checkPattern, compile } from '../schema/pattern.ts';

/** Longest pattern that is compiled. */
const maxPatternLength = 10_000;

/** The compiled pattern; undefined when it is not valid. */
export function compilePattern(pattern: string): RE2JS | undefined {
  return patternProblem(pattern) === undefined ? compile(pattern) : undefined;
}

/** What is wrong with a pattern, as Go's regexp says it; undefined when it is valid. */
export function patternProblem(pattern: string): string | undefined {
  return pattern.length > maxPatternLength ? 'expression too large' : checkPattern(pattern);
}
