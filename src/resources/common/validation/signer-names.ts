// Names of signers, of the trust bundles that carry the name of a signer, and of what a pod's author says to a signer.
import {
  type FieldError, TOTAL_ANNOTATION_BYTES, byteLength, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, invalidValue, required, tooLong,
} from '../../../apimachinery/index.ts';
import { toObject, toText } from '../values.ts';
import type { Errors, Field } from './check.ts';

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

/** Signers of the Kubernetes project give certificates for a day at most. */
export function isKubernetesSigner(name: string): boolean {
  const domain = name.split('/', 1)[0] ?? '';
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io');
}

/** Annotations that the author of a pod gives a signer: keys with a domain, in any case. */
export function checkUserAnnotations({ path, value }: Field): Errors {
  const entries = Object.entries(toObject(value));
  const bytes = entries.reduce((sum, [key, text]) => sum + byteLength(key) + byteLength(toText(text)), 0);
  const wrong = entries.map(([key]) => key.toLowerCase()).sort().flatMap((key): Errors => {
    if (key === '') return [required(path)];
    const problems = checkQualifiedName(key);
    if (problems.length === 0 && !key.includes('/')) problems.push('must be a domain-prefixed key (such as "acme.io/foo")');
    return problems.map((problem) => invalidValue(path, key, problem));
  });
  return bytes > TOTAL_ANNOTATION_BYTES ? [...wrong, tooLong(path, TOTAL_ANNOTATION_BYTES)] : wrong;
}
