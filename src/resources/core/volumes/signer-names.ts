// Names of signers, and of the trust bundles that carry the name of a signer.
import { type FieldError, checkDnsLabel, checkDnsSubdomain, invalidValue, required, tooLong } from '../../../apimachinery/index.ts';
import type { Errors, Field } from '../../common/validation/check.ts';
import { toText } from '../../common/values.ts';

const MAX_DOMAIN = 253;
const MAX_NAME = MAX_DOMAIN + 1 + (MAX_DOMAIN + 63 + 1);

/** Problems of the first of the dotted parts that has any. */
function checkParts(path: string, text: string, check: (part: string) => readonly string[]): Errors {
  const wrong = text.split('.').find((part) => check(part).length > 0);
  return wrong === undefined ? [] : check(wrong).map((problem) => invalidValue(path, text, `validating label ${JSON.stringify(wrong)}: ${problem}`));
}

/** The name of a signer: a domain and a path below it. */
export function checkSignerName({ path, value }: Field): Errors {
  const name = toText(value);
  if (name === '') return [required(path)];
  const [domain = '', last, ...more] = name.split('/');
  if (last === undefined || more.length > 0) {
    return [invalidValue(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const errors: FieldError[] = domain.length > MAX_DOMAIN ? [tooLong(path, MAX_DOMAIN)] : [];
  errors.push(...checkParts(path, domain, checkDnsLabel));
  if (!domain.includes('.')) errors.push(invalidValue(path, domain, 'should be a domain with at least two segments separated by dots'));
  errors.push(...checkParts(path, last, checkDnsSubdomain));
  return name.length > MAX_NAME ? [...errors, tooLong(path, MAX_NAME)] : errors;
}

/** Problems of the name of a trust bundle; one that belongs to a signer begins with the signer's name. */
export function checkBundleName(name: string): readonly string[] {
  const end = name.lastIndexOf(':');
  if (end < 0) return checkDnsSubdomain(name);
  const prefix = `${name.slice(0, end)}:`;
  return checkDnsSubdomain(name.slice(prefix.length));
}
