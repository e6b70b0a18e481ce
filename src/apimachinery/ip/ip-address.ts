// IP addresses and ranges as numbers: read strictly (no zones, no leading zeros), written in the canonical form of RFC 5952.
import { AddressError, parseAddress, parsePrefix } from './ip-text.ts';

/** As Service.spec.ipFamilies names them. */
type IpFamily = 'IPv4' | 'IPv6';

/** One address. */
export interface IpAddress {
  readonly family: IpFamily;
  readonly value: bigint;
}

/** A range in prefix notation. */
export interface IpRange {
  readonly family: IpFamily;
  /** The network's own address. */
  readonly base: bigint;
  /** How many addresses the range has. */
  readonly size: bigint;
  /** No bits are set beyond the prefix. */
  readonly exact: boolean;
}

/** An IPv6 address with an IPv4 one at its end, and the length of a prefix. */
const LONGEST = 49;

/** Reads an address; undefined when it is none, or names a zone. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const parsed = readOrNone(text, parseAddress);
  return parsed?.zone === '' ? toIpAddress(parsed.bytes) : undefined;
}

function readOrNone<T>(text: string, read: (text: string) => T): T | undefined {
  if (text.length > LONGEST) return undefined;
  try {
    return read(text);
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}

const toIpAddress = (bytes: Uint8Array): IpAddress =>
  ({ family: bytes.length === 4 ? 'IPv4' : 'IPv6', value: bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) });

const partsOf = (value: bigint, count: number, bits: number): number[] =>
  Array.from({ length: count }, (_, index) => Number((value >> BigInt((count - 1 - index) * bits)) & ((1n << BigInt(bits)) - 1n)));

/** The canonical text of an address. */
export function formatIpAddress({ family, value }: IpAddress): string {
  if (family === 'IPv4') return partsOf(value, 4, 8).join('.');
  const text = partsOf(value, 8, 16).map((word) => word.toString(16)).join(':');
  const [longest] = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((one, two) => two[0].length - one[0].length);
  if (longest === undefined) return text;
  return `${text.slice(0, longest.index)}::${text.slice(longest.index + longest[0].length + 1)}`;
}

/** Reads `10.0.0.0/24`; undefined when it is no range. */
export function parseIpRange(text: string): IpRange | undefined {
  const parsed = readOrNone(text, parsePrefix);
  if (parsed === undefined) return undefined;
  const address = toIpAddress(parsed.bytes);
  const size = 1n << BigInt(parsed.bytes.length * 8 - parsed.length);
  const base = address.value - (address.value % size);
  return { family: address.family, base, size, exact: base === address.value };
}

/** The canonical text of a range. */
export function formatIpRange({ family, base, size }: IpRange): string {
  const free = size.toString(2).length - 1;
  return `${formatIpAddress({ family, value: base })}/${(family === 'IPv4' ? 32 : 128) - free}`;
}

/** Whether a range contains an address. */
export function containsAddress(range: IpRange, { family, value }: IpAddress): boolean {
  return range.family === family && value >= range.base && value < range.base + range.size;
}

const specialRanges = ['0.0.0.0/32', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '255.255.255.255/32', '::/128', '::1/128', 'fe80::/10', 'ff00::/8']
  .map((text) => parseIpRange(text) as IpRange);
const MAPPED = 0xffffn << 32n;

/** Whether a text is an address of one other machine: not this one, no link, no group (Go's IsGlobalUnicast). */
export function isGlobalUnicast(text: string): boolean {
  const parsed = parseIpAddress(text);
  if (parsed === undefined) return false;
  const isMapped = parsed.family === 'IPv6' && parsed.value >> 32n === MAPPED >> 32n;
  const address: IpAddress = isMapped ? { family: 'IPv4', value: parsed.value & 0xffffffffn } : parsed;
  return !specialRanges.some((range) => containsAddress(range, address));
}
