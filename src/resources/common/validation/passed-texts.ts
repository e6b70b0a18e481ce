// A text that has passed a check lately passes it again: templates of pods hardly ever change between the writes of the objects that hold them, pods of one
// workload hardly differ, and their validation is the dearest part of such a write. Texts are compared, not digests of them.
import { BoundedCache } from '../../../base/index.ts';

/** What the texts may add up to, in characters, and how long one may be. */
const LIMIT = 1_000_000;
const LONGEST = 16_000;

/** Runs a check that depends on what `text` says alone, unless the same text has passed it lately: nothing was found. Without a text it always runs. */
export type CheckOnce = <T>(text: string | undefined, check: () => readonly T[]) => readonly T[];

/** Remembers the texts that passed one check. */
export function createPassedTexts(): CheckOnce {
  const passed = new BoundedCache<string, true>({ limit: LIMIT, sizeOf: (_, text) => text.length });
  return (text, check) => {
    if (text !== undefined && passed.get(text) === true) return [];
    const found = check();
    if (found.length === 0 && text !== undefined && text.length <= LONGEST) passed.set(text, true);
    return found;
  };
}

/** A value as its JSON; undefined for values that have no plain JSON: numbers beyond its own, for one. */
export function plainText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
