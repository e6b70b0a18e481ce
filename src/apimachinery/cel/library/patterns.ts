// find and findAll: what a pattern matches in a text.
import { type Library, declare, method, metered } from '../check/environment.ts';
import { findMatches, patternProblem } from '../values/regex.ts';
import { intType, listOf, stringType } from '../values/types.ts';
import { ArrayList, CelError, type Value } from '../values/values.ts';

const illegal = (pattern: string): CelError => new CelError(`Illegal regex: ${patternProblem(pattern) ?? 'not supported'}`);

const find = metered((meter, text: string, pattern: string): Value => {
  const found = findMatches(meter, { text, pattern, limit: 1 });
  return found === undefined ? illegal(pattern) : found[0] ?? '';
});

const findAll = metered((meter, text: string, ...[pattern, limit = -1]: readonly [pattern: string, limit?: number]): Value => {
  const found = findMatches(meter, { text, pattern, limit: Number(limit) });
  return found === undefined ? illegal(pattern) : new ArrayList(found);
});

/** Kubernetes' pattern functions. */
export const patternsLibrary: Library = {
  functions: [
    declare('find', method('string_find_string', [stringType, stringType], [stringType, find])),
    declare('findAll', method('string_find_all_string', [stringType, stringType], [listOf(stringType), findAll]),
      method('string_find_all_string_int', [stringType, stringType, intType], [listOf(stringType), findAll])),
  ],
};
