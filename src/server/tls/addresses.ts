// IP addresses and CIDR ranges as bytes, as certificates hold them, and the address of the server's own Service.
import { type IpAddress, formatIpAddress, parseIpAddress, parseIpRange } from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';

const addressBytes = { IPv4: 4, IPv6: 16 } as const;

/** The 4 or 16 bytes of an address; a zone (`%eth0`) is not part of them. */
export function packAddress(address: string): Uint8Array {
  const parsed = parseIpAddress(address.split('%')[0] as string);
  invariant(parsed !== undefined, 'only addresses are packed');
  const length = addressBytes[parsed.family];
  return Uint8Array.from({ length }, (_, index) => Number((parsed.value >> BigInt((length - 1 - index) * 8)) & 0xffn));
}

/** The canonical text of 4 or 16 bytes. */
export function formatAddress(bytes: Uint8Array): string {
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return formatIpAddress({ family: bytes.length === 4 ? 'IPv4' : 'IPv6', value } satisfies IpAddress);
}

/** The first address after that of the (first) network: `10.0.0.1` for `10.0.0.0/24,fd00::/112`. */
export function firstAddress(ranges: string): string {
  const [range = ''] = ranges.split(',');
  const parsed = parseIpRange(range);
  if (parsed === undefined) throw new Error(`not an address range: ${range}`);
  return formatIpAddress({ family: parsed.family, value: parsed.base + 1n });
}
