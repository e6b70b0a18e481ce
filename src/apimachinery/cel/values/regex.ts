// Patterns with RE2's semantics, matched in linear time, by the engine that schemas use: it must have been loaded (loadPatternEngine) before
// an expression with a pattern is compiled or run. Linear is not short, so a match counts the steps of its pattern for each character.
import type { RE2JS } from 're2js';
import { announceWork } from '../../../base/index.ts';
import { checkPattern, compileFor, patternSizeOf } from '../../schema/validate/pattern.ts';
import type { Meter } from './meter.ts';
import { CelError, type Value } from './values.ts';

/** The problem of a pattern, as Go's regexp says it; undefined when the pattern is valid. */
export { checkPattern as patternProblem } from '../../schema/validate/pattern.ts';

/** Measured: a step takes 2 µs to compile, 10 ns to be tried at one character where the engine cannot do better. */
const COMPILE_WORK = 5;
const MATCH_WORK = 0.02;
/** Of one of many matches in a text: most end long before the text does. */
const NEXT_MATCH_WORK = 0.008;
const MATCH_MS = 0.00001;

interface Prepared {
  readonly expression: RE2JS;
  readonly size: number;
}

/** Compiles a pattern for a text; undefined when it is not valid. */
function prepare(meter: Meter, text: string, pattern: string): Prepared | undefined {
  meter.workOnce(pattern, pattern.length);
  if (checkPattern(pattern) !== undefined) return undefined;
  const size = patternSizeOf(pattern);
  meter.workOnce(`compiled ${pattern}`, size * COMPILE_WORK);
  meter.work(size * text.length * MATCH_WORK);
  return { expression: compileFor(pattern, text), size };
}

/** Whether a pattern is found anywhere in a text, or the error of a pattern that is not valid. */
export function matchPattern(meter: Meter, text: string, pattern: string): Value {
  return prepare(meter, text, pattern)?.expression.test(text) ?? new CelError(checkPattern(pattern) ?? 'invalid pattern');
}

/** The first `limit` matches of a pattern in a text, all when it is negative; undefined when the pattern is not valid. */
export function findMatches(meter: Meter, options: { text: string; pattern: string; limit: number }): string[] | undefined {
  const { text, pattern, limit } = options;
  const prepared = prepare(meter, text, pattern);
  if (prepared === undefined) return undefined;
  const matcher = prepared.expression.matcher(text);
  const found: string[] = [];
  for (let end = -1; (limit < 0 || found.length < limit) && matcher.find(); end = matcher.end()) {
    // An empty match right behind another is none, as in Go.
    if (matcher.start() < matcher.end() || matcher.end() !== end) found.push(matcher.group() ?? '');
    const steps = prepared.size * (text.length - matcher.end());
    meter.work(1 + steps * NEXT_MATCH_WORK);
    announceWork(steps * MATCH_MS);
  }
  return found;
}
