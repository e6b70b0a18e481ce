// IP addresses and CIDR ranges, as the validation of new fields accepts them (upstream's IsValidIP and IsValidCIDR).
import { describeBadIp, isMapped, parseIpAddress, parseIpRange, withoutZeros } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import { type Errors, type Field, isWrong, none } from './check.ts';


/** An IP address; leading zeros and IPv4 inside IPv6 are not accepted, unless the stored object has the same text (`known`). */
export function checkIp(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  if (known.has(text)) return none;
  const problem = describeBadIp(text);
  return problem === undefined ? none : [isWrong({ path: place.path, value: text }, problem)];
}

/** A CIDR range; leading zeros, IPv4 inside IPv6 and bits beyond the prefix are not accepted, unless the stored object has the same text. */
export function checkRange(place: Field, known: ReadonlySet<unknown> = new Set()): Errors {
  const text = toText(place.value);
  if (known.has(text)) return none;
  const shown = { path: place.path, value: text };
  const [address = '', length = ''] = text.split('/');
  const plain = `${withoutZeros(address)}/${length.replace(/^0+(?=[0-9])/, '')}`;
  const range = parseIpRange(plain);
  if (range === undefined) return [isWrong(shown, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (plain !== text) return [isWrong(shown, 'must not have leading 0s in IP or prefix length')];
  if (isMapped(address)) return [isWrong(shown, 'must not have an IPv4-mapped IPv6 address')];
  return parseIpAddress(address)?.value === range.base ? none : [isWrong(shown, 'must not have bits set beyond the prefix length')];
}
