// Which resources a server has, as it says itself: the aggregated discovery documents.
import { type AskApi, takeBody } from './api.ts';

/** A kind as requests name it. */
export interface KnownResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** The resources of a server at one moment. */
export interface Discovery {
  /** The resource of a kind at a version. */
  find(apiVersion: string, kind: string): KnownResource | undefined;
  /** The versions at which a kind of a group is served, the preferred one first. */
  versionsOf(group: string, kind: string): readonly KnownResource[];
  /** Every kind once, at the preferred version. */
  readonly kinds: readonly KnownResource[];
}

interface GroupItem {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly resources?: readonly {
      readonly resource: string; readonly responseKind?: { readonly kind: string }; readonly scope: string; readonly verbs?: readonly string[];
      readonly subresources?: readonly { readonly subresource: string }[];
    }[];
  }[];
}

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

/** `v1` and `apps/v1` as group and version. */
export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? { group: '', version: apiVersion } : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Asks a server. Rejects with ApiError. */
export async function discover(ask: AskApi): Promise<Discovery> {
  const documents = await Promise.all(['/api', '/apis'].map(async (path) => takeBody('GET', path, await ask({ path, headers: { accept: ACCEPT } }))));
  const items = documents.flatMap(({ items: groups = [] }: { readonly items?: readonly GroupItem[] }) => groups);
  const resources = items.flatMap(({ metadata, versions = [] }) => versions.flatMap(({ version, resources: rows = [] }) => rows.map((row): KnownResource => ({
    group: metadata?.name ?? '', version, kind: row.responseKind?.kind ?? '', plural: row.resource, namespaced: row.scope === 'Namespaced',
    verbs: row.verbs ?? [], subresources: (row.subresources ?? []).map(({ subresource }) => subresource),
  }))));
  const byKind = new Map<string, KnownResource[]>();
  for (const resource of resources) {
    const key = `${resource.group}/${resource.kind}`;
    const known = byKind.get(key);
    if (known === undefined) byKind.set(key, [resource]);
    else known.push(resource);
  }
  return {
    find(apiVersion, kind) {
      const { group, version } = splitApiVersion(apiVersion);
      return byKind.get(`${group}/${kind}`)?.find((resource) => resource.version === version);
    },
    versionsOf: (group, kind) => byKind.get(`${group}/${kind}`) ?? [],
    kinds: [...byKind.values()].map(([first]) => first as KnownResource),
  };
}

/** The path of an object, or of a list without a name; of all namespaces without one of these either. */
export function resourcePath({ group, version, plural, namespaced }: KnownResource, { namespace = '', name = '' }: {
  readonly namespace?: string | undefined; readonly name?: string | undefined;
} = {}): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const inside = namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${inside}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}
