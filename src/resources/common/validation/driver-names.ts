// Names of CSI and device drivers.
import { checkDnsSubdomain, invalidValue, required, tooLong } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import type { Errors, Field } from './check.ts';

/** The name of a CSI or device driver: a DNS subdomain of bounded length, any case. */
export function checkDriverName(place: Field): Errors {
  const text = toText(place.value);
  if (text === '') return [required(place.path)];
  return [
    ...(text.length > 63 ? [tooLong(place.path, 63)] : []),
    ...checkDnsSubdomain(text.toLowerCase()).map((problem) => invalidValue(place.path, text, problem)),
  ];
}
