// IP addresses and CIDRs as Go's netip reads them; no zones, no IPv4 mapped into IPv6.
import { quoteGo } from '../../quote.ts';
import { AddressError, parseAddress, parsePrefix } from '../../ip/ip-text.ts';
import { type Library, declare, method, overload } from '../check/environment.ts';
import { boolType, intType, opaqueType, stringType } from '../values/types.ts';
import { CelError, CelOpaque, type Value, noSuchOverload } from '../values/values.ts';

const ipType = opaqueType('net.IP');
const cidrType = opaqueType('net.CIDR');

class CelIp extends CelOpaque {
  readonly type = ipType;
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }

  /** What comparing it costs. */
  get byteLength(): number {
    return this.bytes.length;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelIp && samePrefix(this.bytes, other.bytes, this.bytes.length * 8);
  }
}

class CelCidr extends CelOpaque {
  readonly type = cidrType;
  readonly ip: CelIp;
  readonly prefix: number;

  constructor(ip: CelIp, prefix: number) {
    super();
    this.ip = ip;
    this.prefix = prefix;
  }

  get byteLength(): number {
    return Math.ceil(this.prefix / 8);
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelCidr && other.prefix === this.prefix && this.ip.equals(other.ip);
  }
}

function samePrefix(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < bits; i += 8) {
    const mask = bits - i >= 8 ? 0xff : (0xff << (8 - (bits - i))) & 0xff;
    if ((a[i / 8]! & mask) !== (b[i / 8]! & mask)) return false;
  }
  return true;
}

const isMapped = (bytes: Uint8Array): boolean => bytes.length === 16 && bytes.subarray(0,
  10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;

function parseIp(text: string): CelIp | CelError {
  try {
    const { bytes, zone } = parseAddress(text);
    if (zone !== '') return new CelError(`IP address ${quoteGo(text)} with zone value is not allowed`);
    return isMapped(bytes) ? mapped(text) : new CelIp(bytes);
  } catch (error) {
    if (error instanceof AddressError) return new CelError(`IP Address ${quoteGo(text)} parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

const mapped = (text: string): CelError => new CelError(`IPv4-mapped IPv6 address ${quoteGo(text)} is not allowed`);
const NO_CIDR = 'network address parse error during conversion from string: ';

function parseCidr(text: string): CelCidr | CelError {
  try {
    const { bytes, length } = parsePrefix(text);
    return isMapped(bytes) ? new CelError(NO_CIDR + mapped(text).message) : new CelCidr(new CelIp(bytes), length);
  } catch (error) {
    if (error instanceof AddressError) return new CelError(NO_CIDR + NO_CIDR + error.message);
    throw error;
  }
}

/** The canonical text: the longest run of two or more zero groups is left out. */
function formatIp(ip: CelIp): string {
  if (ip.bytes.length === 4) return ip.bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (ip.bytes[2 * i]! << 8) | ip.bytes[2 * i + 1]!);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = groups.map((group) => group.toString(16));
  if (best.start < 0) return hex.join(':');
  return `${hex.slice(0, best.start).join(':')}::${hex.slice(best.start + best.length).join(':')}`;
}

function masked(cidr: CelCidr): CelCidr {
  const bytes = cidr.ip.bytes.map((byte, i) => {
    const kept = Math.max(0, Math.min(8, cidr.prefix - i * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return new CelCidr(new CelIp(bytes), cidr.prefix);
}

const containsIp = (cidr: CelCidr, ip: CelIp | CelError): Value => (ip instanceof CelError ? noSuchOverload : samePrefix(cidr.ip.bytes, ip.bytes, cidr.prefix));

function containsCidr(cidr: CelCidr, other: CelCidr | CelError): Value {
  return other instanceof CelError ? other : other.prefix >= cidr.prefix && samePrefix(cidr.ip.bytes, other.ip.bytes, cidr.prefix);
}

const isUnspecified = ({ bytes }: CelIp): boolean => bytes.every((byte) => byte === 0);
const isLoopback = ({ bytes }: CelIp): boolean => (bytes.length === 4 ? bytes[0] === 127 : bytes.subarray(0,
  15).every((byte) => byte === 0) && bytes[15] === 1);
const isMulticast = ({ bytes }: CelIp): boolean => (bytes.length === 4 ? (bytes[0]! & 0xf0) === 0xe0 : bytes[0] === 0xff);
const isLinkLocalMulticast = ({ bytes }: CelIp): boolean =>
  (bytes.length === 4 ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0 : bytes[0] === 0xff && (bytes[1]! & 0x0f) === 2);
const isLinkLocalUnicast = ({ bytes }: CelIp): boolean =>
  (bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && (bytes[1]! & 0xc0) === 0x80);
const isBroadcast = ({ bytes }: CelIp): boolean => bytes.length === 4 && bytes.every((byte) => byte === 255);
const isGlobalUnicast = (ip: CelIp): boolean => !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip) && !isBroadcast(ip);

function isCanonical(text: string): Value {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : formatIp(ip) === text;
}

const property = (name: string, id: string, holds: (ip: CelIp) => boolean): ReturnType<typeof declare> => declare(name, method(id, [ipType], [boolType,
  holds]));

/** Kubernetes' functions for addresses. */
export const networkLibrary: Library = {
  types: new Map([[ipType.name, ipType], [cidrType.name, cidrType]]),
  functions: [
    declare('ip', overload('string_to_ip', [stringType], [ipType, parseIp]), method('cidr_ip', [cidrType], [ipType, (cidr: CelCidr) => cidr.ip])),
    declare('isIP', overload('is_ip', [stringType], [boolType, (text: string) => parseIp(text) instanceof CelIp])),
    declare('ip.isCanonical', overload('ip_is_canonical', [stringType], [boolType, isCanonical])),
    declare('family', method('ip_family', [ipType], [intType, (ip: CelIp) => (ip.bytes.length === 4 ? 4 : 6)])),
    property('isUnspecified', 'ip_is_unspecified', isUnspecified), property('isLoopback', 'ip_is_loopback', isLoopback),
    property('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast), property('isLinkLocalUnicast', 'ip_is_link_local_unicast',
      isLinkLocalUnicast),
    property('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    declare('cidr', overload('string_to_cidr', [stringType], [cidrType, parseCidr])),
    declare('isCIDR', overload('is_cidr', [stringType], [boolType, (text: string) => parseCidr(text) instanceof CelCidr])),
    declare('containsIP', method('cidr_contains_ip_string', [cidrType, stringType], [boolType, (cidr: CelCidr, text: string) => containsIp(cidr,
      parseIp(text))]),
      method('cidr_contains_ip_ip', [cidrType, ipType], [boolType, containsIp])),
    declare('containsCIDR', method('cidr_contains_cidr_string', [cidrType, stringType], [boolType, (cidr: CelCidr, text: string) => containsCidr(cidr,
      parseCidr(text))]),
      method('cidr_contains_cidr', [cidrType, cidrType], [boolType, containsCidr])),
    declare('prefixLength', method('cidr_prefix_length', [cidrType], [intType, (cidr: CelCidr) => cidr.prefix])),
    declare('masked', method('cidr_masked', [cidrType], [cidrType, masked])),
    declare('string', overload('ip_to_string', [ipType], [stringType, formatIp]),
      overload('cidr_to_string', [cidrType], [stringType, (cidr: CelCidr) => `${formatIp(cidr.ip)}/${cidr.prefix}`])),
  ],
};
