// Reads of the past: what the server would have answered when its newest resourceVersion was another one.
import type { KubernetesObject, LocalClient } from '../../client/index.ts';
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
