// Warnings about addresses that are valid and not in canonical form.
import { formatIpAddress, parseIpAddress, parseIpRange } from '../../../apimachinery/index.ts';
import type { Field } from '../validation/check.ts';
import { toText } from '../values.ts';

/** Warns of an IPv6 address that is not in its canonical form. */
export function warnOfAddress({ path, value }: Field): readonly string[] {
  const text = toText(value);
  const address = parseIpAddress(text);
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
