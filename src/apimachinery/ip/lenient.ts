// Addresses and ranges as older releases read them: with leading zeros, IPv4 inside IPv6, bits beyond the prefix. Fields of those releases accept them
// where a server is lenient, and keep them where they are stored.
import type { FieldError } from '../status.ts';
import { invalidValue } from '../field-error.ts';
import { type IpAddress, type IpRange, parseIpAddress, parseIpRange } from './ip-address.ts';

/** Longer texts are no address, whatever zeros are left out. */
const LONGEST = 1024;
const MAPPED = 0xffffn;

const trimPart = (part: string): string => part.replace(/^0+(?=[0-9])/, '');

/** An address without leading zeros in its decimal parts, and without those that make a group of IPv6 longer than four digits. */
function withoutZeros(text: string): string {
  if (text.length > LONGEST) return text;
  const groups = text.split(':');
  const last = groups.pop() as string;
  const short = groups.map((group) => (group.length > 4 ? group.replace(/^0+(?=[0-9a-f]{4}$)/i, '') : group));
  const end = last.includes('.') ? last.split('.').map(trimPart).join('.') : last.replace(/^0+(?=[0-9a-f]{4}$)/i, '');
  return [...short, end].join(':');
}

const isMappedAddress = ({ family, value }: IpAddress): boolean => family === 'IPv6' && value >> 32n === MAPPED;

/** Whether a text is an IPv4 address inside IPv6. */
export function isMapped(text: string): boolean {
  const address = parseIpAddress(withoutZeros(text));
  return address !== undefined && isMappedAddress(address);
}

/** An address whatever zeros its numbers begin with; one of IPv4 inside IPv6 is of IPv4. */
export function parseLenientIp(text: string): IpAddress | undefined {
  const address = parseIpAddress(withoutZeros(text));
  return address !== undefined && isMappedAddress(address) ? { family: 'IPv4', value: address.value & 0xffff_ffffn } : address;
}

/** A range without leading zeros in its numbers. */
export function withoutRangeZeros(text: string): string {
  const slash = text.lastIndexOf('/');
  return slash < 0 || text.length > LONGEST ? text : `${withoutZeros(text.slice(0, slash))}/${trimPart(text.slice(slash + 1))}`;
}

/** The range that a text stands for, whatever zeros its numbers begin with; one of IPv4 inside IPv6 is of IPv4. */
export function parseLenientRange(text: string): IpRange | undefined {
  const range = parseIpRange(withoutRangeZeros(text));
  const inside = range !== undefined && isMappedAddress({ family: range.family, value: range.base });
  return inside ? { ...range, family: 'IPv4', base: range.base & 0xffff_ffffn } : range;
}

/** A problem that strict servers alone have with a value. */
export const strictProblem = (error: FieldError): FieldError => ({ ...error, when: 'strict' });

/** What `next` finds in a value that has no problem; in one with which strict servers alone have a problem, lenient ones alone look further. */
export function behindStrict(problems: readonly FieldError[], next: () => readonly FieldError[]): readonly FieldError[] {
  if (problems.length === 0) return next();
  if (problems.some(({ when }) => when === undefined)) return [];
  return next().map((error) => ({ ...error, when: '!strict' }));
}

/** Why a text is not accepted as an IP address in a field of older releases. */
export function checkLenientIp(field: string, text: string): readonly FieldError[] {
  if (parseLenientIp(text) === undefined) return [invalidValue(field, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (parseIpAddress(text) === undefined) return [strictProblem(invalidValue(field, text, 'must not have leading 0s'))];
  return isMapped(text) ? [strictProblem(invalidValue(field, text, 'must not be an IPv4-mapped IPv6 address'))] : [];
}
