// How the leader of a Lease is chosen, as Leases and their candidates name it.
import { checkQualifiedName, notSupported } from '../../apimachinery/index.ts';
import { type Errors, type Field, checkText, none } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

/** The strategy of Kubernetes. */
export const BY_EMULATION = 'OldestEmulationVersion';

/** Checks that it is that strategy, or a name with a domain. The reference repeats the name of the field in its path. */
export function checkStrategy(place: Field): Errors {
  const repeated = { path: `${place.path}.strategy`, value: place.value };
  if (toText(place.value).includes('/')) return checkText(repeated, checkQualifiedName);
  return place.value === BY_EMULATION ? none : [notSupported(repeated.path, repeated.value, [BY_EMULATION])];
}
