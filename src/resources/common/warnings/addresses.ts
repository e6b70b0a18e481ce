// Warnings about addresses that are not in canonical form.
import {
  type IpAddress, describeBadIp, formatIpAddress, isMapped, parseIpAddress, parseIpRange, parseLenientIp,
} from '../../../apimachinery/index.ts';
import type { Field } from '../validation/check.ts';
import { toText } from '../values.ts';

/** The text that should stand for an address: IPv4 for one inside IPv6. */
const plainText = ({ family, value }: IpAddress, text: string): string =>
  formatIpAddress(isMapped(text) ? { family: 'IPv4', value: value & 0xffff_ffffn } : { family, value });

/** Warns of an address in a form that is not accepted any more, and of an IPv6 address that is not in its canonical form. */
export function warnOfAddress({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const address = parseLenientIp(text);
  if (address !== undefined && describeBadIp(text) !== undefined) {
    return [`${path}: non-standard IP address "${text}" is invalid: use "${plainText(address, text)}"`];
  }
  if (address?.family !== 'IPv6' || formatIpAddress(address) === text) return [];
  return [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${formatIpAddress(address)}")`];
}

/** Warns of a range with bits beyond its prefix, or of an IPv6 range that is not in its canonical form. */
export function warnOfRange({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const range = parseIpRange(text);
  if (range === undefined) return [];
  const [address = '', length = ''] = text.split('/');
  const network = `${formatIpAddress({ family: range.family, value: range.base })}/${length}`;
  const own = parseIpAddress(address);
  const shown = own === undefined ? address : formatIpAddress(own);
  if (!range.exact) {
    const single = `${shown}/${range.family === 'IPv6' ? 128 : 32}`;
    return [`${path}: CIDR value "${text}" is ambiguous in this context (should be "${network}" or "${single}"?)`];
  }
  if (range.family !== 'IPv6' || network === text) return [];
  return [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${network}")`];
}
