// The addresses that a request came by: those that proxies name, then the connection's own. All but the last can be chosen by the client.
import { isIP } from 'node:net';
import type { RequestHead } from '../http/exchange.ts';

/** Answers the addresses in the order of the reference: X-Forwarded-For, X-Real-Ip unless named already, the connection unless it is the last. */
export function listSourceIps({ headers, remoteAddress }: Pick<RequestHead, 'headers' | 'remoteAddress'>): string[] {
  const forwarded = headers['x-forwarded-for'];
  const real = headers['x-real-ip']?.trim() ?? '';
  const remote = plainAddress(remoteAddress);
  if (forwarded === undefined && real === '') return remote === '' ? [] : [remote];
  const addresses = (forwarded ?? '').split(',').map((text) => text.trim()).filter((text) => isIP(text) !== 0).map(plainAddress);
  if (isIP(real) !== 0 && !addresses.includes(plainAddress(real))) addresses.push(plainAddress(real));
  if (remote !== '' && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

/** Go shows IPv4 addresses in IPv6 as IPv4. */
const plainAddress = (address: string): string => (address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address);
