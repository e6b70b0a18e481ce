// The names of signers: a domain of two segments or more, and a path of one.
import { type FieldError, checkDnsSubdomain, invalidValue, required } from '../../apimachinery/index.ts';

/** The problems of the name of a signer. */
export function checkSignerName(path: string, name: string): readonly FieldError[] {
  if (name === '') return [required(path)];
  const [domain = '', last = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    return [invalidValue(path, name, 'must be a fully qualified domain and path of the form \'example.com/signer-name\'')];
  }
  const errors = checkDnsSubdomain(domain).map((problem) => invalidValue(path, domain, `validating label ${JSON.stringify(domain)}: ${problem}`));
  if (errors.length === 0 && !domain.includes('.')) errors.push(invalidValue(path, domain, 'should be a domain with at least two segments separated by dots'));
  errors.push(...checkDnsSubdomain(last).map((problem) => invalidValue(path, last, `validating label ${JSON.stringify(last)}: ${problem}`)));
  return errors;
}
