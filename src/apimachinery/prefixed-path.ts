// Paths with a domain before them (`acme.io/foo`), which name controllers and the keys of extra fields of users.
import { invalidValue, required } from './field-error.ts';
import { checkDnsSubdomain } from './names.ts';
import type { FieldError } from './status.ts';

const httpPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;
const PATH_PROBLEM = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

/** The problems of a path that must have a domain before it. */
export function checkPrefixedPath(field: string, text: string): FieldError[] {
  if (text === '') return [required(field)];
  const slash = text.indexOf('/');
  if (slash <= 0 || slash === text.length - 1) return [invalidValue(field, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  return [
    ...checkDnsSubdomain(domain).map((problem) => invalidValue(field, domain, problem)),
    ...(httpPath.test(rest) ? [] : [invalidValue(field, rest, PATH_PROBLEM)]),
  ];
}
