// A value that has passed a check lately passes it again: templates of pods hardly ever change between the writes of the objects that hold them, and their
// validation is the dearest part of such a write. Texts are compared, not digests of them.
import { BoundedCache } from '../../../base/index.ts';
import { type Errors, none } from './check.ts';

/** What the texts may add up to, in characters, and how long one may be. */
const LIMIT = 1_000_000;
const LONGEST = 16_000;

/** Runs a check that depends on `value` alone, unless the same value has passed it lately. */
export type CheckOnce = (value: unknown, check: () => Errors) => Errors;

/** Remembers the values that passed one check. */
export function createPassedTexts(): CheckOnce {
  const passed = new BoundedCache<string, true>({ limit: LIMIT, sizeOf: (_, text) => text.length });
  return (value, check) => {
    const text = textOf(value);
    if (text !== undefined && passed.get(text) === true) return none;
    const errors = check();
    if (errors.length === 0 && text !== undefined && text.length <= LONGEST) passed.set(text, true);
    return errors;
  };
}

/** undefined for values that have no plain JSON: numbers beyond its own, for one. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
