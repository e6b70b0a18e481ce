// What a path and a method mean before anything is looked up: upstream's RequestInfo, which authorization, audit and flow control
// read. It never consults the catalog, so unknown resources get an info as well; the router decides what exists.
import { BoundedCache } from '../../base/index.ts';
import type { Exchange, RequestInfo } from '../exchange.ts';

/** What parseRequestInfo reads of a request. */
type RequestLine = Pick<Exchange, 'method' | 'path' | 'query'>;

const METHOD_VERBS: Readonly<Record<string, string>> = { POST: 'create', GET: 'get', HEAD: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
/** Path prefixes below the version that name a verb; `proxy` has no routes any more. */
const SPECIAL_VERBS = new Set(['proxy', 'watch']);
/** The only third segments below `namespaces/{name}` that are subresources of the namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

/** The segments of a path without the slashes at its ends; empty for the root. */
export function splitPath(path: string): string[] {
  const slash = 0x2f;
  let [start, end] = [0, path.length];
  while (start < end && path.charCodeAt(start) === slash) start++;
  while (end > start && path.charCodeAt(end - 1) === slash) end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

/** `watch` of the query as Go reads booleans: present means true unless it says `false` or `0`. */
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
  if (third === undefined || NAMESPACE_SUBRESOURCES.has(third)) return { namespace: segments[1] as string, parts: segments };
  return { namespace: segments[1] as string, parts: segments.slice(2) };
}

/** The name in `metadata.name=X` when the selector of a read asks for exactly one. */
function selectedName(selector: string | null): string {
  for (const term of (selector ?? '').split(',')) {
    const name = /^metadata\.name==?([^=!\\/%]+)$/.exec(term.trim())?.[1];
    if (name !== undefined && name !== '.' && name !== '..') return name;
  }
  return '';
}

function collectionVerb(verb: string, query: URLSearchParams): string {
  if (verb === 'get') return isTrue(query.getAll('watch')) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

type Shape = Pick<RequestInfo, 'prefix' | 'group' | 'version' | 'namespace' | 'resource'>;

/** What collections that were seen mean: most requests name an object below one of them. */
const shapes = new BoundedCache<string, Shape>({ limit: 2000 });
const longestShape = 300;

/** Reads the path, method and query of a request. Never fails. */
export function parseRequestInfo(line: RequestLine): RequestInfo {
  const { method, path } = line;
  // What else can be asked of a collection depends on the query.
  if (method === 'POST') return parseCreation(line);
  const slash = path.lastIndexOf('/');
  const [collection, name] = [path.slice(0, slash), path.slice(slash + 1)];
  const shape = name === '' ? undefined : shapes.peek(collection);
  if (shape === undefined) return learnShape(collection, name, parseLine(line));
  const { prefix, group, version, namespace, resource } = shape;
  return {
    isResource: true, path, verb: METHOD_VERBS[method] ?? '', prefix, group, version, namespace, resource, subresource: '', name, parts: [resource, name],
  };
}

function parseCreation(line: RequestLine): RequestInfo {
  const { path } = line;
  const shape = shapes.peek(path);
  if (shape === undefined) {
    const info = parseLine(line);
    return info.isResource && info.parts.length === 1 ? learnShape(path, '', info) : info;
  }
  const { prefix, group, version, namespace, resource } = shape;
  return { isResource: true, path, verb: 'create', prefix, group, version, namespace, resource, subresource: '', name: '', parts: [resource] };
}

/** Remembers a collection if whatever follows it is the name of an object. */
function learnShape(collection: string, name: string, info: RequestInfo): RequestInfo {
  const { prefix, group, version, namespace, resource, parts } = info;
  if ((parts[1] ?? '') !== name || parts.length > 2 || collection.length > longestShape) return info;
  const root = prefix === 'api' ? `/api/${version}` : `/apis/${group}/${version}`;
  if (collection !== `${root}${namespace === '' ? '' : `/namespaces/${namespace}`}/${resource}` || resource === 'namespaces') return info;
  if (resource === '' || SPECIAL_VERBS.has(resource)) return info;
  shapes.set(collection, { prefix, group, version, namespace, resource });
  return info;
}

function parseLine(line: RequestLine): RequestInfo {
  const all = splitPath(line.path);
  const [prefix = '', ...rest] = all;
  if (all.length < 3 || (prefix !== 'api' && prefix !== 'apis')) return nonResource(line);
  if (prefix === 'apis' && all.length < 4) return nonResource(line);
  const [group, version, ...below] = prefix === 'api' ? ['', ...rest] : rest;
  const special = below.length > 1 && SPECIAL_VERBS.has(below[0] as string) ? (below.shift() as string) : '';
  const { namespace, parts } = splitNamespace(below);
  let verb = special || (METHOD_VERBS[line.method] ?? '');
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
