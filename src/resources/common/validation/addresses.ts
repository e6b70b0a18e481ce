// IP addresses and CIDR ranges, as the validation of new fields accepts them (upstream's IsValidIP and IsValidCIDR).
import {
  type FieldError, checkLenientIp, formatIpAddress, isMapped, parseIpAddress, parseLenientRange, strictProblem, withoutRangeZeros,
} from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import { type Errors, type Field, isWrong, none } from './check.ts';

/** Problems that there are whether or not the gate StrictIPCIDRValidation is on. */
const always = (errors: Errors): Errors => errors.map(({ when, ...error }): FieldError => error);

/** An IP address; leading zeros and IPv4 inside IPv6 are accepted where the gate is off, or where the stored object has the same text (`known`). */
export function checkIp(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  return known.has(text) ? none : checkLenientIp(place.path, text);
}

/** A CIDR range; leading zeros, IPv4 inside IPv6 and bits beyond the prefix are accepted where the gate is off, or where the stored object has them. */
export function checkRange(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  if (known.has(text)) return none;
  const shown = { path: place.path, value: text };
  const range = parseLenientRange(text);
  if (range === undefined) return [isWrong(shown, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  const refuse = (detail: string): Errors => [strictProblem(isWrong(shown, detail))];
  const [address = ''] = text.split('/');
  if (withoutRangeZeros(text) !== text) return refuse('must not have leading 0s in IP or prefix length');
  if (isMapped(address)) return refuse('must not have an IPv4-mapped IPv6 address');
  return parseIpAddress(address)?.value === range.base ? none : refuse('must not have bits set beyond the prefix length');
}

/** An IP address in a field that never knew other forms: the form is the canonical one. */
export function checkCanonicalIp(place: Field): Errors {
  const errors = checkIp(place);
  const address = parseIpAddress(toText(place.value));
  if (errors.length > 0 || address === undefined) return always(errors);
  return checkForm(place, formatIpAddress(address));
}

/** The same of a range. */
export function checkCanonicalRange(place: Field): Errors {
  const errors = checkRange(place);
  const text = toText(place.value);
  const range = parseLenientRange(text);
  if (errors.length > 0 || range === undefined) return always(errors);
  return checkForm(place, `${formatIpAddress({ family: range.family, value: range.base })}/${text.split('/')[1]}`);
}

function checkForm({ path, value }: Field, canonical: string): Errors {
  const text = toText(value);
  return canonical === text ? none : [isWrong({ path, value: text }, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
