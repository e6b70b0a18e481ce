// Regular expressions with RE2's syntax and linear time, as Go's regexp has them. The engine is large, so it loads when the first
// pattern can come along; whoever brings schemas in awaits that.
import type { RE2JS, RE2Set } from 're2js';
import { invariant } from '../../base/index.ts';

interface Engine {
  readonly RE2JS: typeof RE2JS;
  readonly RE2Set: typeof RE2Set;
}

let engine: Engine | undefined;
let loading: Promise<void> | undefined;

/** Compiled patterns are shared by all schemas; the oldest go when there are too many. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 2000;

/** Loads the engine; patterns may be used when this has resolved. */
export function loadPatternEngine(): Promise<void> {
  loading ??= import('re2js').then((module) => {
    engine = { RE2JS: module.RE2JS, RE2Set: module.RE2Set };
  });
  return loading;
}

/** The compiled pattern; throws what the engine says of one that is not valid. */
export function compile(pattern: string): RE2JS {
  invariant(engine !== undefined, 'the pattern engine is loaded before patterns are used');
  let found = compiled.get(pattern);
  if (found === undefined) {
    found = engine.RE2JS.compile(pattern);
    if (compiled.size >= maxCompiled) compiled.delete(compiled.keys().next().value as string);
    compiled.set(pattern, found);
  }
  return found;
}

/**
 * What is wrong with a pattern, in the words of Go's regexp; undefined when it can be used. All that can be wrong shows when it is parsed:
 * it is not compiled, which costs many times as much, before it is used.
 */
export function checkPattern(pattern: string): string | undefined {
  if (compiled.has(pattern)) return undefined;
  invariant(engine !== undefined, 'the pattern engine is loaded before patterns are used');
  try {
    new engine.RE2Set().add(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether a pattern is found anywhere in a text. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compile(pattern).matcher(text).find();
}
