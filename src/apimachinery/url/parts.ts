// The parts of URLs as Go's net/url reads them, with its words for what is wrong with one.
import { AddressError, parseAddress } from '../ip/ip-text.ts';
import { quoteGo } from '../quote.ts';

/** What Go's parser says of a text that is no URL. */
export class UrlError extends Error {}

/** The scheme that a text begins with; '' for none. Throws UrlError. */
export function schemeOf(text: string): string {
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  if (match === null && text.startsWith(':')) throw new UrlError('missing protocol scheme');
  return match?.[1] ?? '';
}

/** The host of an authority, with its port. Throws UrlError. */
export function checkHost(authority: string, scheme: string): string {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1), scheme.toLowerCase());
  if (at < 0) return host;
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('net/url: invalid userinfo');
  checkEscapes(user);
  return host;
}

function parseHost(host: string, scheme: string): string {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) throw new UrlError('invalid IP-literal');
  if (bracket === 0) return parseLiteral(host);
  // A host holds no colon, and schemes beside those of the web are given the benefit of the doubt.
  const colon = scheme === 'http' || scheme === 'https' ? host.indexOf(':') : host.lastIndexOf(':');
  if (colon >= 0) checkPort(host.slice(colon));
  return unescapeHost(host);
}

function checkPort(tail: string): void {
  if (!/^(?::\d*)?$/.test(tail)) throw new UrlError(`invalid port ${quoteGo(tail)} after host`);
}

/** An address of IPv6 in brackets, and what follows it. */
function parseLiteral(host: string): string {
  const end = host.lastIndexOf(']');
  if (end < 0) throw new UrlError("missing ']' in host");
  const tail = host.slice(end + 1);
  checkPort(tail);
  const name = host.slice(1, end);
  const zone = name.indexOf('%25');
  const text = zone < 0 ? unescapeHost(name) : unescapeHost(name.slice(0, zone)) + unescapeBytes(name.slice(zone));
  try {
    if (parseAddress(text).bytes.length === 4) throw new UrlError('invalid IP-literal');
  } catch (error) {
    throw error instanceof AddressError ? new UrlError(`invalid host: ${error.message}`) : error;
  }
  return `[${text}]${tail}`;
}

/** Only bytes beyond ASCII, and the percent sign, may be escaped in a host. */
function unescapeHost(host: string): string {
  const wrong = /%(?!25|[89a-fA-F][0-9a-fA-F]).{0,2}|[\x00-\x20#/?@\\^`{|}\x7f]/.exec(host)?.[0];
  if (wrong?.startsWith('%') === true) throw new UrlError(`invalid URL escape ${quoteGo(wrong)}`);
  if (wrong !== undefined) throw new UrlError(`invalid character ${quoteGo(wrong)} in host name`);
  return unescapeBytes(host);
}

/** A text without its escapes, as it is where these are no UTF-8. Throws UrlError for a percent sign without two digits. */
export function unescapeBytes(text: string): string {
  checkEscapes(text);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Throws UrlError for a percent sign without two digits. */
export function checkEscapes(text: string): void {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text);
  if (wrong !== null) throw new UrlError(`invalid URL escape ${quoteGo(wrong[0])}`);
}
