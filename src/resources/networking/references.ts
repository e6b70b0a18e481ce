// Validation of references to objects of the same namespace by group, kind and name.
import { checkDnsSubdomain, checkPathSegment, required } from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkText, isGiven } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

/** Validates a reference by group, kind and name. */
export function checkReference(reference: Field): Errors {
  const group = at(reference, 'apiGroup');
  return [
    ...(isGiven(group) ? checkText(group, checkDnsSubdomain) : []),
    ...['kind', 'name'].flatMap((member) => {
      const place = at(reference, member);
      return toText(place.value) === '' ? [required(place.path)] : checkText(place, checkPathSegment);
    }),
  ];
}
