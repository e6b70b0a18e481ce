// IP addresses and CIDR ranges as far as a server needs them for its certificate and the address of its own Service.
import { isIP, isIPv4 } from 'node:net';

/** The 4 or 16 bytes of an address that `isIP` accepts. */
export function packAddress(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split('.').map(Number));
  const words = expandIpv6(address);
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

function expandIpv6(address: string): number[] {
  const [plain = ''] = address.split('%');
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  const text = dotted === null ? plain : `${dotted[1]}${joinDotted(dotted[2] as string)}`;
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':').map((word) => Number.parseInt(word, 16));
  if (tail === undefined) return left;
  const right = tail === '' ? [] : tail.split(':').map((word) => Number.parseInt(word, 16));
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function joinDotted(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** The text form of 4 or 16 bytes; IPv6 without leading zeros, the longest run of zero words shortened. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] as number) << 8) | (bytes[index * 2 + 1] as number));
  const text = words.map((word) => word.toString(16)).join(':');
  const runs = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((one, two) => two[0].length - one[0].length);
  const longest = runs[0];
  if (longest === undefined) return text;
  const head = text.slice(0, longest.index);
  const tail = text.slice(longest.index + longest[0].length + 1);
  return `${head}::${tail}`;
}

/** Reads `10.0.0.0/24`; undefined when it is not a range. */
export function parseRange(text: string): { readonly bytes: Uint8Array; readonly prefixLength: number } | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || isIP(address) === 0 || !/^\d{1,3}$/.test(length)) return undefined;
  const bytes = packAddress(address);
  const prefixLength = Number(length);
  return prefixLength > bytes.length * 8 ? undefined : { bytes, prefixLength };
}

/** The first address after that of the network: `10.0.0.1` for `10.0.0.0/24`. */
export function firstAddress(range: string): string {
  const parsed = parseRange(range);
  if (parsed === undefined) throw new Error(`not an address range: ${range}`);
  const bytes = parsed.bytes.map((byte, index) => byte & (0xff << Math.max(0, Math.min(8, (index + 1) * 8 - parsed.prefixLength))));
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) + 1;
  return formatAddress(bytes);
}
