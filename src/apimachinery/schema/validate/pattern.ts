// Regular expressions with RE2's syntax and linear time, as Go's regexp has them. The engine is large, so it loads when the first
// pattern can come along; the code that brings schemas in awaits that. Linear is not short: a pattern may have a thousand steps for each of a
// million characters, so the time that compiling and matching may take is announced before (base/time/time-limit.ts).
import type { RE2JS, RE2Set } from 're2js';
import { BoundedCache, announceWork, invariant, once } from '../../../base/index.ts';
import { estimatePatternSize } from './pattern-size.ts';

interface Engine {
  readonly RE2JS: typeof RE2JS;
  readonly RE2Set: typeof RE2Set;
}

/** A compiled pattern. */
interface Pattern {
  readonly expression: RE2JS;
  readonly size: number;
}

/** Longest pattern, and most steps of one: Go stops at 3,355,443 steps, which take it two seconds and this engine far longer. */
const MAX_PATTERN_LENGTH = 10_000;
const MAX_PATTERN_SIZE = 20_000;
const TOO_LARGE = 'error parsing regexp: expression too large';

/** Measured: what a step takes to compile, and at worst to be tried at one character. */
const COMPILE_MS_PER_STEP = 0.002;
const MATCH_MS_PER_STEP = 0.00001;

/** Set when it has loaded: what uses it is synchronous. */
let engine: Engine | undefined;

/** Compiled patterns are shared by all schemas; a step takes 2 µs to compile again. */
const compiled = new BoundedCache<string, Pattern>({ limit: 200_000, sizeOf: ({ size }) => size });

/** Loads the engine; patterns may be used when this has resolved. */
export const loadPatternEngine: () => Promise<void> = once(async () => {
  const { RE2JS, RE2Set } = await import('re2js');
  engine = { RE2JS, RE2Set };
});

function compile(pattern: string): Pattern {
  invariant(engine !== undefined, 'the pattern engine is loaded before patterns are used');
  let found = compiled.get(pattern);
  if (found === undefined) {
    const size = estimatePatternSize(pattern);
    announceWork(size * COMPILE_MS_PER_STEP);
    found = compiled.set(pattern, { expression: engine.RE2JS.compile(pattern), size });
  }
  return found;
}

/** The compiled pattern, for use on this text; throws what the engine says of one that is not valid. */
export function compileFor(pattern: string, text: string): RE2JS {
  const { expression, size } = compile(pattern);
  announceWork(size * text.length * MATCH_MS_PER_STEP);
  return expression;
}

/**
 * The problem of a pattern, in the words of Go's regexp; undefined when it can be used. Every problem shows when it is parsed:
 * it is not compiled, which costs many times as much, before it is used.
 */
export function checkPattern(pattern: string): string | undefined {
  if (compiled.peek(pattern) !== undefined) return undefined;
  invariant(engine !== undefined, 'the pattern engine is loaded before patterns are used');
  if (pattern.length > MAX_PATTERN_LENGTH) return `${TOO_LARGE}: \`${pattern}\``;
  try {
    new engine.RE2Set().add(pattern);
  } catch (error) {
    return (error as Error).message;
  }
  return estimatePatternSize(pattern) > MAX_PATTERN_SIZE ? `${TOO_LARGE}: \`${pattern}\`` : undefined;
}

/** How many steps a valid pattern is compiled to, about. */
export const patternSizeOf = (pattern: string): number => compiled.peek(pattern)?.size ?? estimatePatternSize(pattern);

/** Whether a pattern is found anywhere in a text. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compileFor(pattern, text).matcher(text).find();
}
