// URLs as Go's net/url reads them: absolute ones, or absolute paths.
import { AddressError, parseAddress } from '../../ip/ip-text.ts';
import { quoteGo } from '../../quote.ts';
import { mapFrom } from '../values/compare.ts';
import { type Library, declare, method, overload } from '../check/environment.ts';
import { boolType, listOf, mapOf, stringType, structType } from '../values/types.ts';
import { ArrayList, CelError, type CelMap, CelOpaque } from '../values/values.ts';

const urlType = structType('kubernetes.URL');

/** What Go's parser says of a text that is no URL. */
export class UrlError extends Error {}

/** The parts of a URL. */
class CelUrl extends CelOpaque {
  readonly type = urlType;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly text: string;
  /** Its query as a map, read once. */
  #parameters: CelMap | undefined;

  constructor(parts: { scheme: string; host: string; path: string; query: string; text: string }) {
    super();
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
    this.text = parts.text;
  }

  get parameters(): CelMap {
    return (this.#parameters ??= parametersOf(this.query));
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && other.text === this.text;
  }
}

function parseUrl(text: string): CelUrl {
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlError('net/url: invalid control character in URL');
  if (text === '') throw new UrlError('empty url');
  const mark = text.indexOf('#');
  const bare = mark < 0 ? text : text.slice(0, mark);
  const scheme = schemeOf(bare);
  const rest = scheme === '' ? bare : bare.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const before = question < 0 ? rest : rest.slice(0, question);
  const query = question < 0 ? '' : rest.slice(question + 1);
  if (text === '*') return new CelUrl({ scheme: '', host: '', path: text, query: '', text });
  if (!before.startsWith('/')) {
    if (scheme === '') throw new UrlError('invalid URI for request');
    return new CelUrl({ scheme: scheme.toLowerCase(), host: '', path: '', query, text });
  }
  const slash = scheme !== '' && before.startsWith('//') ? before.indexOf('/', 2) : 0;
  const authority = scheme !== '' && before.startsWith('//') ? before.slice(2, slash < 0 ? undefined : slash) : '';
  const path = slash < 0 ? '' : before.slice(slash);
  return new CelUrl({ scheme: scheme.toLowerCase(), host: checkHost(authority, scheme), path: escapePath(path), query, text });
}

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

function escapePath(path: string): string {
  checkEscapes(path);
  return path.replace(/[^A-Za-z0-9\-._~$&+,/:;=@!'()*%[\]]+/g, (part) => encodeURIComponent(part.toWellFormed()));
}

const unescape = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return undefined;
  }
};

function parametersOf(query: string): CelMap {
  const found = new Map<string, string[]>();
  for (const part of query === '' ? [] : query.split('&')) {
    const equals = part.indexOf('=');
    const key = unescape(equals < 0 ? part : part.slice(0, equals));
    const value = unescape(equals < 0 ? '' : part.slice(equals + 1));
    if (part === '' || part.includes(';') || key === undefined || value === undefined) continue;
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return mapFrom(Array.from(found, ([key, values]) => [key, new ArrayList(values)] as const));
}

/** The URL of a text, or what is wrong with it in Go's words. */
function tryUrl(text: string): CelUrl | string {
  try {
    return parseUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return `parse ${quoteGo(text)}: ${error.message}`;
    throw error;
  }
}

function attempt(text: string): CelUrl | CelError {
  const found = tryUrl(text);
  return typeof found === 'string' ? new CelError(`URL parse error during conversion from string: ${found}`) : found;
}

const isRequestUri = (text: string): boolean => tryUrl(text) instanceof CelUrl;

/** The problems of a text as the URI of a request: one, or none. */
export function describeUri(text: string): readonly string[] {
  const found = tryUrl(text);
  return typeof found === 'string' ? [found] : [];
}

/** Where the port of a host begins: at its last colon, unless that is within the brackets of an IPv6 address. */
const portAt = (host: string): number => (host.lastIndexOf(':') > host.lastIndexOf(']') ? host.lastIndexOf(':') : host.length);
const port = ({ host }: CelUrl): string => host.slice(portAt(host) + 1);

function hostname({ host }: CelUrl): string {
  const name = host.slice(0, portAt(host));
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

/** Kubernetes' URL functions. */
export const urlsLibrary: Library = {
  types: new Map([[urlType.name, urlType]]),
  functions: [
    declare('url', overload('string_to_url', [stringType], [urlType, attempt])),
    declare('isURL', overload('is_url_string', [stringType], [boolType, isRequestUri])),
    declare('getScheme', method('url_get_scheme', [urlType], [stringType, (url: CelUrl) => url.scheme])),
    declare('getHost', method('url_get_host', [urlType], [stringType, (url: CelUrl) => url.host])),
    declare('getHostname', method('url_get_hostname', [urlType], [stringType, hostname])),
    declare('getPort', method('url_get_port', [urlType], [stringType, port])),
    declare('getEscapedPath', method('url_get_escaped_path', [urlType], [stringType, (url: CelUrl) => url.path])),
    declare('getQuery', method('url_get_query', [urlType], [mapOf(stringType, listOf(stringType)), (url: CelUrl) => url.parameters])),
  ],
};
