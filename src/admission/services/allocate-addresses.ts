// Cluster IPs of one Service: those asked for by name are taken or refused, the others come from the range of their family.
import {
  type IpRange, StatusError, containsAddress, formatIpAddress, formatIpRange, internalError, invalid, invalidValue, parseLenientIp,
} from '../../apimachinery/index.ts';
import type { Random } from '../../base/index.ts';
import { poolOf } from './addresses.ts';
import { type Claims, takeAny } from './pool.ts';
import type { Reservation } from './reservation.ts';
import { type ServiceSpec, heldAddresses, isHeadless, listIps, needsClusterIp } from './service.ts';

interface AddressWish {
  /** Nothing is kept: upstream looks at the first range alone, takes any address of it, and shows its first where none is asked for. */
  readonly isDry: boolean;
  readonly spec: ServiceSpec;
  readonly before: ServiceSpec | undefined;
  readonly reservation: Reservation;
  readonly claims: Claims;
  readonly ranges: readonly IpRange[];
  readonly random: Random;
}

/** The name of an address's claim, however the address was written. */
export function canonicalIp(ip: string): string {
  const address = parseLenientIp(ip);
  return address === undefined ? ip : formatIpAddress(address);
}

function refuse({ spec, reservation }: AddressWish, why: string): StatusError {
  const error = invalidValue('spec.clusterIPs', listIps(spec), `failed to allocate IP${why}`);
  return invalid({ group: '', kind: 'Service' }, reservation.owner.name, [error]);
}

/** The network's own address, and the last of IPv4, are never given out. */
function findRangeProblem({ ranges, isDry }: AddressWish, ip: string): string | undefined {
  const address = parseLenientIp(ip);
  const inside = address && ranges.find((one) => containsAddress(one, address));
  const range = inside ?? (isDry ? ranges.find(({ family }) => family === address?.family) : undefined);
  if (address === undefined || range === undefined) return 'the provided network does not match the current range';
  const offset = address.value - range.base;
  if (inside !== undefined && offset !== 0n && !(range.family === 'IPv4' && offset === range.size - 1n)) return undefined;
  return `the provided IP (${formatIpAddress(address)}) is not in the valid range. The range of valid IPs is ${formatIpRange(range)}`;
}

async function takeNamed(wish: AddressWish, ip: string): Promise<string> {
  const problem = findRangeProblem(wish, ip);
  if (problem !== undefined) throw refuse(wish, ` ${ip}: ${problem}`);
  if (wish.isDry) return ip;
  const key = canonicalIp(ip);
  if (!(await wish.claims.claim(key, wish.reservation.owner))) throw refuse(wish, ` ${ip}: provided IP is already allocated`);
  wish.reservation.addTaken(wish.claims, key);
  return ip;
}

async function takeFree(wish: AddressWish, family: string): Promise<string> {
  const { claims, ranges, reservation, random, isDry } = wish;
  const first = ranges.find((one) => one.family === family);
  if (isDry && first !== undefined) return formatIpAddress({ family: first.family, value: first.base });
  for (const range of ranges.filter((one) => one.family === family)) {
    const ip = await takeAny({ claims, owner: reservation.owner, random }, poolOf(range)).catch((error: unknown) => {
      throw error instanceof StatusError ? refuse(wish, `: ${error.message}`) : error;
    });
    if (ip === undefined) continue;
    reservation.addTaken(claims, ip);
    return ip;
  }
  throw internalError('failed to allocate a serviceIP: range is full');
}

/** Gives the Service the addresses that its families ask for, in place. Addresses that it has are left to validation. */
export async function allocateAddresses(wish: AddressWish): Promise<void> {
  const { spec, before, reservation, claims } = wish;
  const held = before === undefined ? [] : heldAddresses(before);
  if (needsClusterIp(spec) && !isHeadless(spec)) {
    const known = before !== undefined && needsClusterIp(before) ? listIps(before).length : 0;
    const families = spec.ipFamilies ?? [];
    // A refusal shows the place of each address that is missing.
    const asked = families.map((_, index) => listIps(spec)[index] ?? '');
    spec.clusterIPs = asked;
    const ips: string[] = [];
    for (const [index, family] of families.entries()) {
      const ip = asked[index] as string;
      if (index < known) ips.push(ip);
      else ips.push(ip === '' ? await takeFree(wish, family) : await takeNamed(wish, ip));
    }
    spec.clusterIPs = ips;
  }
  if (needsClusterIp(spec) && listIps(spec).length > 0) spec.clusterIP = listIps(spec)[0] as string;
  const kept = new Set(heldAddresses(spec));
  for (const ip of held) if (!kept.has(ip)) reservation.addObsolete(claims, canonicalIp(ip));
}
