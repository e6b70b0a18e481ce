// find and findAll: what a pattern matches in a text.
import { type Library, declare, method } from '../check/environment.ts';
import { compilePattern, patternProblem } from '../values/regex.ts';
import { intType, listOf, stringType } from '../values/types.ts';
import { ArrayList, CelError, type Value } from '../values/values.ts';

const illegal = (pattern: string): CelError => new CelError(`Illegal regex: ${patternProblem(pattern) ?? 'not supported'}`);

function find(text: string, pattern: string): Value {
  const matcher = compilePattern(pattern, text)?.matcher(text);
  if (matcher === undefined) return illegal(pattern);
  return matcher.find() ? matcher.group() ?? '' : '';
}

function findAll(text: string, pattern: string, limit = -1): Value {
  const matcher = compilePattern(pattern, text)?.matcher(text);
  if (matcher === undefined) return illegal(pattern);
  const found: string[] = [];
  while ((limit < 0 || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return new ArrayList(found);
}

/** Kubernetes' pattern functions. */
export const patternsLibrary: Library = {
  functions: [
    declare('find', method('string_find_string', [stringType, stringType], [stringType, find])),
    declare('findAll', method('string_find_all_string', [stringType, stringType], [listOf(stringType), findAll]),
      method('string_find_all_string_int', [stringType, stringType, intType], [listOf(stringType), findAll])),
  ],
};
