// The parts of the store that other etcds keep (--etcd-servers-overrides), as key prefixes.
import { builtIn } from './built-in.ts';
import { parseOverrides } from './options/etcd-overrides.ts';
import type { ServerOptions } from './options/options.ts';

/** The servers of one etcd, and where the keys that it keeps begin. */
export interface StorePart {
  readonly servers: readonly string[];
  readonly prefixes: readonly string[];
}

/** Groups whose objects stay where definitions of custom resources are, as in the reference. */
const fixedGroups: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/**
 * The parts of what begins with `root`, in the order in which their etcds are first named. Of two overrides that name a resource the last one counts, and
 * one of a resource more than `*`, which is for all of a group. Those that name no built-in resource are for nothing.
 */
export function listStoreParts({ etcdServersOverrides }: Pick<ServerOptions, 'etcdServersOverrides'>, root: string): StorePart[] {
  if (etcdServersOverrides.length === 0) return [];
  const overrides = parseOverrides(etcdServersOverrides) ?? [];
  const chosen = new Map(overrides.map(({ group, resource, servers }) => [`${group}/${resource}`, servers]));
  const parts = new Map(overrides.map(({ servers }) => [identify(servers), { servers, prefixes: [] as string[] }]));
  for (const { group, plural, storedAs, storagePrefix } of builtIn().rows) {
    const servers = storedAs === undefined && !fixedGroups.has(group) ? chosen.get(`${group}/${plural}`) ?? chosen.get(`${group}/*`) : undefined;
    if (servers !== undefined) parts.get(identify(servers))?.prefixes.push(`${root}/${storagePrefix}/`);
  }
  return [...parts.values()].filter(({ prefixes }) => prefixes.length > 0);
}

/** Servers of one etcd may be named in any order. */
const identify = (servers: readonly string[]): string => [...servers].sort().join(';');
