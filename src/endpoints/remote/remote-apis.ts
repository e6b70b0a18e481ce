// Group versions that other servers answer, as the router, discovery and OpenAPI see them, and the order of all groups together. Mirrors the
// reference's aggregator: APIServices decide which groups exist and in which order, whether or not their servers can be reached.
import { type Catalog, compareVersions, customGroupPriority } from '../../registry/index.ts';
import type { Exchange, Response } from '../exchange.ts';

/** A group and a version. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** What aggregated discovery says of one version of a remote group. */
export interface RemoteDiscovery {
  readonly resources: readonly unknown[];
  /** What the resources were read from; undefined where nothing has been read. */
  readonly document: unknown;
  /** False once the server behind it could not be asked. */
  readonly isFresh: boolean;
}

/** A group version that another server answers, with its place among groups and versions. */
export interface RemoteVersion extends GroupVersion {
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined until the server behind it has answered for the first time. */
  readonly discovery: RemoteDiscovery | undefined;
  /** Documents by their path below `/openapi/v3/`, each with the address that the server behind it gives. */
  readonly openApiV3: ReadonlyMap<string, string>;
  /** The Swagger document, parsed; undefined where there is none. */
  readonly openApiV2: Readonly<Record<string, unknown>> | undefined;
}

/** The group versions of other servers. */
export interface RemoteApis {
  /** Grows with each change of what `versions` returns. */
  readonly generation: number;
  versions(): readonly RemoteVersion[];
  /** The version that an APIService gives to another server. */
  find(group: string, version: string): RemoteVersion | undefined;
  /** Sends the request to the server behind a group version and returns its answer. */
  forward(exchange: Exchange, target: GroupVersion): Promise<Response>;
}

/** No group version belongs to another server. */
export const noRemoteApis: RemoteApis = {
  generation: 0, versions: () => [], find: () => undefined,
  forward: () => {
    throw new Error('no group version is remote');
  },
};

/** A group with its versions in the order of preference. */
export interface MergedGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

/** Local versions of a group that is shared with other servers have the place of custom ones. */
function mergeVersions(local: readonly string[], remote: readonly RemoteVersion[]): readonly string[] {
  if (remote.length === 0) return local;
  const places = new Map(local.map((version) => [version, customGroupPriority.version as number]));
  for (const { version, versionPriority } of remote) if (!places.has(version)) places.set(version, versionPriority);
  return [...places].sort(([a, left], [b, right]) => right - left || compareVersions(a, b)).map(([version]) => version);
}

/** The groups of the catalog and of other servers in one order: by priority, then by name; the group of APIServices is always first. */
export function mergeGroups(catalog: Catalog, remote: RemoteApis): readonly MergedGroup[] {
  const local = catalog.groups();
  const all = remote.versions();
  if (all.length === 0) return local;
  const priorities = new Map(local.map(({ name, priority }) => [name, priority]));
  for (const { group, groupPriority } of all) priorities.set(group, Math.max(priorities.get(group) ?? 0, groupPriority));
  const isFirst = (name: string): number => (name === 'apiregistration.k8s.io' ? 1 : 0);
  const names = [...priorities].sort(([a, left], [b, right]) => isFirst(b) - isFirst(a) || right - left || (a < b ? -1 : 1)).map(([name]) => name);
  return names.map((name) => ({
    name, versions: mergeVersions(local.find((group) => group.name === name)?.versions ?? [], all.filter(({ group }) => group === name)),
  }));
}
