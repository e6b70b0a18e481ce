// The meaning of a path and a method, before any look-up: upstream's RequestInfo, which authorization, audit and flow control read. It
// never consults the catalog, so unknown resources have one as well; the router finds out whether they exist.
import type { Exchange, RequestInfo } from '../exchange.ts';

/** The parts of a request that parseRequestInfo reads. */
type RequestLine = Pick<Exchange, 'method' | 'path' | 'query'>;

const methodVerbs: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
/** Path segments after the API version that name a verb; upstream has no routes below `proxy` any more. */
const specialVerbs = new Set(['proxy', 'watch']);
/** The only third segments below `namespaces/{name}` that are subresources of the namespace. */
const namespaceSubresources = new Set(['status', 'finalize']);

/** The segments of a path without the slashes at its ends; empty for the root. */
export function splitPath(path: string): string[] {
  const slash = 0x2f;
  let [start, end] = [0, path.length];
  while (start < end && path.charCodeAt(start) === slash) start++;
  while (end > start && path.charCodeAt(end - 1) === slash) end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

/** A boolean of the query as upstream converts it: present means true, unless it is `false` or `0`. */
export function isTrue(values: readonly string[]): boolean {
  const first = values[0];
  return first !== undefined && first !== '0' && first.toLowerCase() !== 'false';
}

function nonResource({ method, path }: RequestLine): RequestInfo {
  return {
    isResource: false, path, verb: method.toLowerCase(), prefix: '', group: '', version: '', namespace: '', resource: '', subresource: '', name: '', parts: [],
  };
}

/** Namespace and the segments from the resource on. */
function splitNamespace(segments: readonly string[]): { namespace: string; parts: readonly string[] } {
  if (segments[0] !== 'namespaces') return { namespace: '', parts: segments };
  if (segments.length === 1) return { namespace: '', parts: segments };
  const third = segments[2];
  if (third === undefined || namespaceSubresources.has(third)) return { namespace: segments[1] as string, parts: segments };
  return { namespace: segments[1] as string, parts: segments.slice(2) };
}

/** Terms of a field selector among which a name is looked for. */
const MAX_TERMS = 1000;

/** The name X when the field selector of a read contains `metadata.name=X`. */
function selectedName(selector: string | null): string {
  if (selector === null || !selector.includes('metadata.name=')) return '';
  for (const term of selector.split(',', MAX_TERMS)) {
    const name = /^metadata\.name==?([^=!\\/%]+)$/.exec(term.trim())?.[1];
    if (name !== undefined && name !== '.' && name !== '..') return name;
  }
  return '';
}

function collectionVerb(verb: string, query: URLSearchParams): string {
  if (verb === 'get') return isTrue(query.getAll('watch')) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

/** Reads the path, method and query of a request; never fails. */
export function parseRequestInfo(line: RequestLine): RequestInfo {
  const all = splitPath(line.path);
  const prefix = all[0] ?? '';
  if (all.length < 3 || (prefix !== 'api' && prefix !== 'apis')) return nonResource(line);
  if (prefix === 'apis' && all.length < 4) return nonResource(line);
  const [group, version] = prefix === 'api' ? ['', all[1]] : [all[1], all[2]];
  // No pattern with rest elements: that takes ten times as long for a path of very many segments.
  const below = all.slice(prefix === 'api' ? 2 : 3);
  const special = below.length > 1 && specialVerbs.has(below[0] as string) ? (below[0] as string) : '';
  const { namespace, parts } = splitNamespace(special === '' ? below : below.slice(1));
  let verb = special || (methodVerbs[line.method] ?? '');
  let name = parts[1] ?? '';
  if (name === '' && special === '') {
    if (verb === 'get') name = selectedName(line.query.get('fieldSelector'));
    verb = collectionVerb(verb, line.query);
  }
  return {
    isResource: true, path: line.path, verb, prefix, group: group ?? '', version: version ?? '', namespace, resource: parts[0] ?? '',
    subresource: parts.length >= 3 && special !== 'proxy' ? (parts[2] as string) : '', name, parts,
  };
}
