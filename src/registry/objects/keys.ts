// Objects and their keys: `<root>/<storage prefix>/[<namespace>/]<name>`, laid out as kube-apiserver lays them out in etcd, so that a store
// can be shared with it. Whatever a client sends, a key stays below its own prefix: names and namespaces are single, ordinary path segments.
import { type KeyRange, keyRange, prefixRange } from '../../storage/index.ts';
import { badRequest, checkPathSegment } from '../../apimachinery/index.ts';
import type { Resource } from '../resource.ts';

/** Where kube-apiserver keeps everything. */
export const DEFAULT_ROOT = '/registry';

/** Nearly all names: each part of a write asks again. */
const ordinary = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A name or namespace that cannot leave its place in a key. */
export function isSafeSegment(segment: string): boolean {
  if (ordinary.test(segment)) return true;
  return segment !== '' && segment !== '.' && segment !== '..' && !segment.includes('/') && !segment.includes('%') && !segment.includes('\u0000')
    && segment.isWellFormed();
}

/** The prefix of all objects of a row, with its slash at the end. */
export function resourcePrefix(root: string, resource: Resource): string {
  return `${root}/${resource.storagePrefix}/`;
}

function checkSegment(kind: string, segment: string): void {
  if (isSafeSegment(segment)) return;
  const problems = checkPathSegment(segment);
  throw badRequest(`${kind} parameter invalid: ${JSON.stringify(segment)}: ${problems.length > 0 ? problems.join(';') : 'may not be used in a key'}`);
}

/** The prefix of a list: all objects of the row, or those of one namespace. */
export function collectionPrefix(root: string, resource: Resource, namespace: string): string {
  const prefix = resourcePrefix(root, resource);
  if (namespace === '' || !resource.namespaced) return prefix;
  checkSegment('Namespace', namespace);
  return `${prefix}${namespace}/`;
}

/** The key of one object; a 400 StatusError for names that are no path segment. */
export function objectKey(root: string, resource: Resource, { namespace, name }: { readonly namespace: string; readonly name: string }): string {
  if (resource.namespaced && namespace === '') throw badRequest('Namespace parameter required.');
  checkSegment('Name', name);
  return collectionPrefix(root, resource, namespace) + name;
}

/** Namespace and name of a key below `prefix` of a row. */
export function splitKey(prefix: string, resource: Resource, key: string): { readonly namespace: string; readonly name: string } {
  if (!resource.namespaced) return { namespace: '', name: key.slice(prefix.length) };
  const slash = key.indexOf('/', prefix.length);
  return slash < 0 ? { namespace: '', name: key.slice(prefix.length) } : { namespace: key.slice(prefix.length, slash), name: key.slice(slash + 1) };
}

/** The keys that a read looks at: a collection, or one name in it. */
export function readRange(prefix: string, name: string | undefined): KeyRange {
  return name === undefined ? prefixRange(prefix) : keyRange(prefix + name);
}
