// Warnings about addresses that are not in canonical form.
import {
  type IpAddress, type IpRange, checkLenientIp, formatIpAddress, isMapped, parseIpRange, parseLenientIp, parseLenientRange,
} from '../../../apimachinery/index.ts';
import type { Field } from '../validation/check.ts';
import { toText } from '../values.ts';

const IPV4_BITS = 32;
const IPV6_BITS = 128;

/** Warns of an address in a form that is not accepted any more, and of an IPv6 address that is not in its canonical form. */
export function warnOfAddress({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const address = parseLenientIp(text);
  if (address !== undefined && checkLenientIp(path, text).length > 0) {
    return [`${path}: non-standard IP address "${text}" is invalid: use "${formatIpAddress(address)}"`];
  }
  if (address?.family !== 'IPv6' || formatIpAddress(address) === text) return [];
  return [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${formatIpAddress(address)}")`];
}

/** A network as Go writes it: as one of IPv4 where its addresses are IPv4 inside IPv6. */
function formatNetwork({ family, base }: IpRange, length: number): string {
  const address = parseLenientIp(formatIpAddress({ family, value: base })) as IpAddress;
  return `${formatIpAddress(address)}/${address.family === family ? length : length - (IPV6_BITS - IPV4_BITS)}`;
}

/** Warns of a range with bits beyond its prefix, of one in a form that is not accepted any more, and of an IPv6 range not in its canonical form. */
export function warnOfRange({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const range = parseLenientRange(text);
  if (range === undefined) return [];
  const [address = '', length = ''] = text.split('/');
  const network = formatNetwork(range, Number(length));
  const own = parseLenientIp(address) as IpAddress;
  const warnings: string[] = [];
  if (!range.exact) {
    const single = `${formatIpAddress(own)}/${range.family === 'IPv6' ? IPV6_BITS : IPV4_BITS}`;
    warnings.push(`${path}: CIDR value "${text}" is ambiguous in this context (should be "${network}" or "${single}"?)`);
  }
  if (parseIpRange(text) === undefined || isMapped(address)) warnings.push(`${path}: non-standard CIDR value "${text}" is invalid: use "${network}"`);
  if (warnings.length > 0 || range.family !== 'IPv6' || network === text) return warnings;
  return [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${network}")`];
}
