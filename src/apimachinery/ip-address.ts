// IP addresses and ranges as numbers: parsed strictly (no zones, no leading zeros), written in the canonical form of RFC 5952.

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

const decimalPart = /^(?:0|[1-9]\d{0,2})$/;

function parseDotted(text: string): number[] | undefined {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => decimalPart.test(part) && Number(part) < 256) ? parts.map(Number) : undefined;
}

/** The 16-bit words of one side of `::`. */
function parseWords(text: string): number[] | undefined {
  if (text === '') return [];
  const words: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const dotted = index === parts.length - 1 && part.includes('.') ? parseDotted(part) : undefined;
    if (dotted !== undefined) words.push(dotted[0]! * 256 + dotted[1]!, dotted[2]! * 256 + dotted[3]!);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) words.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return words;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2 || text.length > 45) return undefined;
  const [head, tail] = halves.map(parseWords);
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined) return missing === 0 ? head : undefined;
  return missing < 1 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...tail];
}

/** Reads an address; undefined when it is none. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const join = (parts: number[], bits: bigint): bigint => parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
  if (text.includes(':')) {
    const words = parseIpv6(text);
    return words && { family: 'IPv6', value: join(words, 16n) };
  }
  const bytes = parseDotted(text);
  return bytes && { family: 'IPv4', value: join(bytes, 8n) };
}

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
  const [, addressText = '', lengthText = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseIpAddress(addressText);
  const bits = address?.family === 'IPv6' ? 128 : 32;
  const length = Number(lengthText);
  if (address === undefined || lengthText === '' || length > bits) return undefined;
  const size = 1n << BigInt(bits - length);
  const base = address.value - (address.value % size);
  return { family: address.family, base, size, exact: base === address.value };
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
