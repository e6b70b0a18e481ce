// Warnings about addresses that are not in canonical form.
import {
  type IpAddress, checkLenientIp, formatIpAddress, formatIpRange, isMapped, parseIpRange, parseLenientIp, parseLenientRange,
} from '../../../apimachinery/index.ts';
import type { Field } from '../validation/check.ts';
import { toText } from '../values.ts';

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

/** Warns of a range with bits beyond its prefix, of one in a form that is not accepted any more, and of an IPv6 range not in its canonical form. */
export function warnOfRange({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const range = parseLenientRange(text);
  if (range === undefined) return [];
  const [address = ''] = text.split('/');
  const network = formatIpRange(range);
  const own = parseLenientIp(address) as IpAddress;
  const warnings: string[] = [];
  if (!range.exact) {
    const single = `${formatIpAddress(own)}/${address.includes(':') ? 128 : 32}`;
    warnings.push(`${path}: CIDR value "${text}" is ambiguous in this context (should be "${network}" or "${single}"?)`);
  }
  if (parseIpRange(text) === undefined || isMapped(address)) warnings.push(`${path}: non-standard CIDR value "${text}" is invalid: use "${network}"`);
  if (warnings.length > 0 || range.family !== 'IPv6' || network === text) return warnings;
  return [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${network}")`];
}
