// IP addresses and CIDR ranges, as the validation of new fields accepts them (upstream's IsValidIP and IsValidCIDR).
import { type IpRange, describeBadIp, formatIpAddress, isMapped, parseIpAddress, parseIpRange, withoutZeros } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import { type Errors, type Field, isWrong, none } from './check.ts';


/** An IP address; leading zeros and IPv4 inside IPv6 are not accepted, unless the stored object has the same text (`known`). */
export function checkIp(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  if (known.has(text)) return none;
  const problem = describeBadIp(text);
  return problem === undefined ? none : [isWrong({ path: place.path, value: text }, problem)];
}

/** A range without leading zeros, as all ranges are read before they are held to the rules of new ones. */
function withoutLeadingZeros(text: string): string {
  const [address = '', length = ''] = text.split('/');
  return `${withoutZeros(address)}/${length.replace(/^0+(?=[0-9])/, '')}`;
}

/** The range that a text stands for, whatever zeros it begins its numbers with. */
export const readRange = (text: string): IpRange | undefined => parseIpRange(withoutLeadingZeros(text));

/** A CIDR range; leading zeros, IPv4 inside IPv6 and bits beyond the prefix are not accepted, unless the stored object has the same text. */
export function checkRange(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  if (known.has(text)) return none;
  const shown = { path: place.path, value: text };
  const range = readRange(text);
  const [address = ''] = text.split('/');
  if (range === undefined) return [isWrong(shown, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (withoutLeadingZeros(text) !== text) return [isWrong(shown, 'must not have leading 0s in IP or prefix length')];
  if (isMapped(address)) return [isWrong(shown, 'must not have an IPv4-mapped IPv6 address')];
  return parseIpAddress(address)?.value === range.base ? none : [isWrong(shown, 'must not have bits set beyond the prefix length')];
}

/** The same of a field that never knew another form of ranges: the form is the canonical one. */
export function checkCanonicalRange(place: Field): Errors {
  const errors = checkRange(place);
  const text = toText(place.value);
  const range = readRange(text);
  if (errors.length > 0 || range === undefined) return errors;
  const canonical = `${formatIpAddress({ family: range.family, value: range.base })}/${text.split('/')[1]}`;
  return canonical === text ? none : [isWrong({ path: place.path, value: text }, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
