// Reads of the past: what the server would have answered when its newest resourceVersion was another one.
import { notFound, tooLargeResourceVersion } from '../../apimachinery/index.ts';
import type { KubernetesObject, LocalClient } from '../../client/index.ts';
import { type ListOptions, type Registry, buildPredicate, groupResource } from '../../registry/index.ts';
import { type Located, pathOf } from '../objects.ts';

/** The object at a revision, undefined where there was none; rejects with ApiError (410) when the revision is compacted. */
export async function readObjectAt(client: LocalClient, at: Located, revision: number): Promise<KubernetesObject | undefined> {
  const list = { ...at, name: '' };
  const query = new URLSearchParams({ resourceVersion: String(revision), resourceVersionMatch: 'Exact', fieldSelector: `metadata.name=${at.name}` });
  const { items, apiVersion, kind } = await client.read('GET', `${pathOf(list)}?${query}`) as KubernetesObject & { items: KubernetesObject[] };
  const [item] = items;
  return item && { apiVersion: apiVersion as string, kind: (kind as string).replace(/List$/, ''), ...item };
}

/** All objects at a revision. */
export async function readListAt(client: LocalClient, path: string, revision: number): Promise<KubernetesObject[]> {
  const query = new URLSearchParams({ resourceVersion: String(revision), resourceVersionMatch: 'Exact' });
  return (await client.read('GET', `${path}?${query}`) as { items: KubernetesObject[] }).items;
}

/** A registry whose gets and lists show the state at a revision, as those of a cache that is behind do. */
export function readPast(registry: Registry, revision: number): Registry {
  const checkWanted = (wanted = ''): void => {
    if (Number(wanted) > revision) throw tooLargeResourceVersion(wanted, revision);
  };
  const list = (target: Parameters<Registry['list']>[0], options: ListOptions): ReturnType<Registry['list']> =>
    registry.list(target, { ...options, resourceVersion: String(revision), resourceVersionMatch: 'Exact' });
  return {
    ...registry,
    async get({ name, ...target }, { resourceVersion }) {
      checkWanted(resourceVersion);
      const predicate = buildPredicate(target.resource, { version: target.version, fields: [{ field: 'metadata.name', operator: '=', value: name }] });
      const [object] = (await list(target, { predicate })).items;
      if (object === undefined) throw notFound(groupResource(target.resource), name);
      return object;
    },
    async list(target, options) {
      // A token has a revision of its own: that of the first page.
      if (options.continue !== undefined) return registry.list(target, options);
      checkWanted(options.resourceVersion);
      if (options.resourceVersionMatch === 'Exact') return registry.list(target, options);
      return list(target, options);
    },
  };
}
