// URLs as Go's net/url reads them: absolute ones, or absolute paths.
import { quoteGo } from '../../quote.ts';
import { UrlError, checkEscapes, checkHost, schemeOf } from '../../url/index.ts';
import { mapFrom } from '../values/compare.ts';
import { type Library, declare, method, overload } from '../check/environment.ts';
import { boolType, listOf, mapOf, stringType, structType } from '../values/types.ts';
import { ArrayList, CelError, type CelMap, CelOpaque } from '../values/values.ts';

const urlType = structType('kubernetes.URL');

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
