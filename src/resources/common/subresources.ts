// Verbs and subresources as most kinds have them.
import type { ResourceVerb, Subresource } from '../../registry/index.ts';

/** The verbs of most kinds. */
export const allVerbs: readonly ResourceVerb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The verbs of kinds that are never stored. */
export const createOnly: readonly ResourceVerb[] = ['create'];

/** Verbs of a resource that has no collection to delete (namespaces). */
export const withoutDeleteCollection: readonly ResourceVerb[] = allVerbs.filter((verb) => verb !== 'deletecollection');

/** A subresource that reads and writes the parent's kind, such as status. */
export function subresource(name: string): Subresource {
  return { name, verbs: ['get', 'patch', 'update'] };
}

/** A connect subresource; `verbs` are those of its HTTP methods. */
export function connectSubresource(name: string, kind: string, verbs: readonly ResourceVerb[]): Subresource {
  return { name, verbs, kind: { group: '', version: 'v1', kind }, connect: true };
}

/** `status`, as most kinds have it. */
export const status = subresource('status');

/** `scale`, whose body is autoscaling/v1 Scale. */
export const scale: Subresource = { ...subresource('scale'), kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } };

/** The paths of scale in all kinds that have it; the reader of the path accepts both forms of selectors. */
export const scalePaths = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' } as const;

/** The verbs of the HTTP methods of tunnels such as exec. */
export const tunnel: readonly ResourceVerb[] = ['create', 'get'];

/** The verbs of the HTTP methods of proxies. */
export const proxy: readonly ResourceVerb[] = ['create', 'delete', 'get', 'patch', 'update'];
