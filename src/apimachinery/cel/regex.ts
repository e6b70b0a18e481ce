// Patterns with RE2's semantics, matched in linear time. Compiled patterns are kept, the least used of many is dropped.
import { RE2JS, RE2JSException } from 're2js';

const cache = new Map<string, RE2JS>();
const cacheLimit = 512;
/** Longest pattern that is compiled. */
const maxPatternLength = 10_000;

/** The compiled pattern; undefined when it is not valid. */
export function compilePattern(pattern: string): RE2JS | undefined {
  const known = cache.get(pattern);
  if (known !== undefined) {
    cache.delete(pattern);
    cache.set(pattern, known);
    return known;
  }
  const compiled = compile(pattern);
  if (compiled !== undefined) {
    if (cache.size >= cacheLimit) cache.delete(cache.keys().next().value as string);
    cache.set(pattern, compiled);
  }
  return compiled;
}

function compile(pattern: string): RE2JS | undefined {
  if (pattern.length > maxPatternLength) return undefined;
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/** What is wrong with a pattern, as Go's regexp says it; undefined when it is valid. */
export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
