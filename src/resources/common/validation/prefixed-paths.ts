// Paths with a domain before them, which name controllers.
import { checkDnsSubdomain, invalidValue, required } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import { type Errors, type Field, checkText } from './check.ts';

const httpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const PATH_PROBLEM = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/** Validates a path with a domain before it. */
export function checkPrefixedPath({ path, value }: Field): Errors {
  const text = toText(value);
  if (text === '') return [required(path)];
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) return [invalidValue(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const rest = text.slice(slash + 1);
  return [
    ...checkText({ path, value: text.slice(0, slash) }, checkDnsSubdomain), ...(httpPath.test(rest) ? [] : [invalidValue(path, rest, PATH_PROBLEM)]),
  ];
}
